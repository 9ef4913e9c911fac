// The page browser: a list of pages, and for one of them what each system kept and dropped.
// All that comes from a page is set as text or as a number, never as markup.

const at = id => document.getElementById(id)
const GOLD = -1
// At first the two best systems: with gold they fill a small screen.
const FIRST_SHOWN = 2
const view = { data: null, page: 0, matching: [], shown: new Set(), base: GOLD }

function add(parent, tag, className = '', text = '') {
  const element = parent.appendChild(document.createElement(tag))
  if (className) element.className = className
  if (text) element.textContent = text
  return element
}

async function startPages() {
  const bytes = Uint8Array.from(atob(at('data').textContent), character => character.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  view.data = await new Response(stream).json()
  const { systems, pages } = view.data
  systems.slice(0, FIRST_SHOWN).forEach((_, system) => view.shown.add(system))
  const hasGold = pages.some(page => page.gold !== null)
  view.base = hasGold ? GOLD : 0
  if (hasGold) addOption(at('base'), GOLD, 'gold')
  systems.forEach((name, system) => { addOption(at('base'), system, name); addChoice(system, name) })
  const types = [...new Set(pages.map(page => page.type))].filter(Boolean)
  types.sort().forEach(type => addOption(at('type'), type, type))
  at('typeLabel').hidden = types.length < 2
  at('base').onchange = () => { view.base = Number(at('base').value); showPage() }
  at('type').onchange = at('search').oninput = () => { listPages(); showPage() }
  document.addEventListener('keydown', onKey)
  listPages()
  showPage()
}

function addOption(select, value, text) {
  add(select, 'option', '', text).value = value
}

function addChoice(system, name) {
  const label = add(at('chosen'), 'label', 'choice')
  const box = add(label, 'input')
  box.type = 'checkbox'
  box.checked = view.shown.has(system)
  add(label, 'span', '', name)
  box.onchange = () => {
    view.shown[box.checked ? 'add' : 'delete'](system)
    listPages()
    showPage()
  }
}

// List of pages

function listPages() {
  const type = at('type').value, wanted = at('search').value.trim().toLowerCase()
  const { pages } = view.data
  view.matching = pages.flatMap((page, i) => isWanted(page, type, wanted) ? [i] : [])
  if (!view.matching.includes(view.page)) view.page = view.matching[0]
  at('count').textContent = `${view.matching.length} of ${pages.length} pages, worst first`
  at('list').replaceChildren()
  for (const i of view.matching) addEntry(i, pages[i])
}

function isWanted(page, type, wanted) {
  if (type && page.type !== type) return false
  if (!wanted) return true
  page.words ??= [page.id, page.url, page.gold, ...page.blocks, ...page.outputs].join('\n').toLowerCase()
  return page.words.includes(wanted)
}

function addEntry(i, page) {
  const entry = add(at('list'), 'button', 'entry')
  entry.type = 'button'
  entry.dataset.page = i
  add(entry, 'strong', '', page.id)
  if (page.type) add(entry, 'span', 'soft', page.type)
  add(entry, 'span', 'url', page.url)
  const strip = add(entry, 'span', 'strip')
  page.scores.forEach((score, system) => {
    if (score === null) return
    const dot = add(strip, 'i', view.shown.has(system) ? 'shown' : '')
    dot.style.left = `${100 * Math.min(Math.max(score, 0), 1)}%`
    dot.title = `${view.data.systems[system]}: ${scoreText(score)}`
  })
  entry.onclick = () => { view.page = i; showPage() }
}

function onKey(event) {
  const inList = event.target.closest('#list')
  const steps = { ArrowRight: 1, ArrowLeft: -1, ...(inList && { ArrowDown: 1, ArrowUp: -1 }) }
  const step = steps[event.key]
  const busy = event.target.closest('input:not([type=checkbox]), select, .scroll, .pane')
  if (!step || busy || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
  const next = view.matching[view.matching.indexOf(view.page) + step]
  event.preventDefault()
  if (next === undefined) return
  view.page = next
  showPage()
  if (inList) at('list').querySelector('[aria-current]').focus()
}

// One page

const scoreText = score => score === null ? '–' : score.toFixed(3).replace(/^0/, '')

function showPage() {
  const article = at('page'), page = view.data.pages[view.page]
  article.replaceChildren()
  for (const entry of at('list').children) {
    entry.removeAttribute('aria-current')
    if (Number(entry.dataset.page) !== view.page) continue
    entry.setAttribute('aria-current', 'true')
    keepInSight(entry)
  }
  if (!page) { add(article, 'p', 'card soft', 'No page matches.'); return }
  const head = add(article, 'div', 'card title')
  add(head, 'h3', '', page.id)
  if (page.type) add(head, 'span', 'letter', page.type)
  add(head, 'span', 'url', page.url)
  const shown = [...view.shown].sort((a, b) => a - b)
  // A page may lack the gold text that others have.
  const base = view.base === GOLD && page.gold === null ? shown[0] ?? 0 : view.base
  const columns = [base, ...shown.filter(system => system !== base)]
  if (page.blocks.length) drawBlocks(add(article, 'section', 'card'), page, columns)
  drawTexts(add(article, 'section', 'card'), page, columns)
}

function keepInSight(entry) {
  const list = at('list'), top = entry.offsetTop
  const bottom = top + entry.offsetHeight - list.clientHeight
  if (list.scrollTop > top || list.scrollTop < bottom) list.scrollTop = list.scrollTop > top ? top : bottom
}

// A pane that scrolls its columns together, each under its name; body: their cells.
function addPane(section, title, page, columns) {
  add(section, 'h4', '', title)
  const legend = add(section, 'p', 'note')
  const pane = add(section, 'div', 'pane')
  pane.tabIndex = 0
  pane.setAttribute('role', 'region')
  pane.setAttribute('aria-label', title)
  const grid = add(pane, 'div', 'columns')
  grid.style.setProperty('--columns', columns.length)
  for (const column of columns) {
    const head = add(grid, 'div', 'head')
    add(head, 'strong', '', column === GOLD ? 'gold' : view.data.systems[column])
    if (column !== GOLD) add(head, 'span', 'soft', scoreText(page.scores[column]))
  }
  return { legend, grid }
}

function drawBlocks(section, page, columns) {
  const known = columns.filter(column => keptBy(page, column))
  const { legend, grid } = addPane(section, 'Blocks', page, known)
  add(legend, 'span', 'kept', 'kept')
  add(legend, 'span', 'dropped', 'dropped')
  for (const column of known) {
    const cell = add(grid, 'div', 'cell')
    cell.dataset.column = column
    if (page.boxes) drawStage(cell, page, keptBy(page, column))
    else drawList(cell, page, keptBy(page, column))
  }
}

const keptBy = (page, column) => column === GOLD ? page.goldKept : page.kept[column]
const keptClass = flag => flag === '1' ? 'kept' : 'dropped'

async function drawStage(cell, page, kept) {
  const stage = add(cell, 'div', 'stage')
  const source = document.querySelectorAll('.picture')[view.data.pages.indexOf(page)].textContent
  const sides = page.boxes.map(([x, y, width, height]) => [x + width, y + height])
  // Without a picture, a stage as large as what is on it.
  let width = Math.max(1, ...sides.map(([right]) => right))
  let height = Math.max(1, ...sides.map(([, bottom]) => bottom))
  if (source) {
    const picture = add(stage, 'img')
    picture.alt = ''
    picture.src = `data:image/jpeg;base64,${source}`
    await picture.decode().catch(() => {})
    width = picture.naturalWidth / page.scale || width
    height = picture.naturalHeight / page.scale || height
  }
  stage.style.aspectRatio = `${width} / ${height}`
  page.boxes.forEach(([x, y, wide, high], block) => {
    const tint = add(stage, 'div', `block ${keptClass(kept[block])}`)
    tint.title = page.blocks[block]
    tint.style.left = `${100 * x / width}%`
    tint.style.top = `${100 * y / height}%`
    tint.style.width = `${100 * wide / width}%`
    tint.style.height = `${100 * high / height}%`
  })
}

function drawList(cell, page, kept) {
  page.blocks.forEach((text, block) => add(cell, 'p', `block ${keptClass(kept[block])}`, text))
}

function drawTexts(section, page, columns) {
  const [base, ...others] = columns
  const name = base === GOLD ? 'gold' : view.data.systems[base]
  const { legend, grid } = addPane(section, 'Texts', page, columns)
  add(legend, 'del', '', `only in ${name}`)
  add(legend, 'ins', '', `not in ${name}`)
  const cells = columns.map(column => add(grid, 'div', 'cell text'))
  cells.forEach((cell, i) => { cell.dataset.column = columns[i] })
  const textOf = column => column === GOLD ? page.gold : page.outputs[column]
  add(cells[0], 'div', '', textOf(base))
  noteFailure(cells[0], page, base)
  // One after the other, so that the page is seen before long texts are compared.
  others.forEach((column, i) => setTimeout(() => {
    noteFailure(cells[i + 1], page, column)
    drawRuns(cells[i + 1], diffTexts(textOf(base), textOf(column)))
  }))
}

function noteFailure(cell, page, column) {
  if (page.failures[column]) add(cell, 'p', 'failure', `Failed: ${page.failures[column]}`)
}

function drawRuns(cell, runs) {
  const tags = { missing: 'del', extra: 'ins' }
  const words = { missing: 0, extra: 0 }
  const text = document.createElement('div')
  for (const [kind, part] of runs) {
    if (kind === 'same') { text.append(part); continue }
    words[kind] += part.match(WORDS)?.length ?? 0
    add(text, tags[kind], '', part)
  }
  add(cell, 'p', 'note', `${words.missing} words missing, ${words.extra} extra`)
  cell.append(text)
}
