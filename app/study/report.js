// The table's order, the charts' tooltips, and the start of the page browser.

function cellValue(row, column) {
  const { number, value } = row.cells[column].dataset
  return number === undefined ? value : number === '' ? null : Number(number)
}

function sortBy(head) {
  const column = head.cellIndex, body = head.closest('table').tBodies[0]
  const opposite = { ascending: 'descending', descending: 'ascending' }
  const order = opposite[head.ariaSort] ?? head.dataset.first
  for (const other of head.parentNode.cells) other.ariaSort = other === head ? order : 'none'
  const rows = [...body.rows].map(row => [cellValue(row, column), row])
  const sign = order === 'ascending' ? 1 : -1
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null)
    return sign * (typeof a === 'number' ? a - b : a.localeCompare(b, 'en', { numeric: true }))
  })
  body.append(...rows.map(([, row]) => row))
}

for (const head of document.querySelectorAll('#figures thead th')) {
  head.querySelector('button').onclick = () => sortBy(head)
}

for (const mark of document.querySelectorAll('figure svg .role-mark [aria-label]')) {
  const title = document.createElementNS('http://www.w3.org/2000/svg', 'title')
  title.textContent = mark.ariaLabel
  mark.append(title)
}

if (document.getElementById('pages')) startPages()
