// What one text has and another has not, by words; where the texts are too long for that, by lines.

// Scripts that do not write spaces between words: a character is a word.
const ALONE = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}'
const WORDS = new RegExp(`(?:[${ALONE}]|[^\\s${ALONE}]+)\\s*`, 'gu')
// What scores do not see either: quotes of two kinds, a full stop more or less.
const PUNCTUATION = /[^\p{L}\p{M}\p{N}_]+/gu
const LINES = /[^\n]*\n+|[^\n]+/g
// Numbers in the table that finds what is common: 64 MB, some tenths of a second.
const MOST_NUMBERS = 1 << 24

// Runs [kind, text] that together are both texts: 'same', 'missing' (only in gold), 'extra' (only
// in text).
function diffTexts(gold, text) {
  return diffPieces(gold.match(WORDS) ?? [], text.match(WORDS) ?? []) ?? diffLines(gold, text)
}

function diffLines(gold, text) {
  const found = []
  const gap = { missing: '', extra: '' }
  const closeGap = () => {
    const words = [gap.missing.match(WORDS) ?? [], gap.extra.match(WORDS) ?? []]
    found.push(...(diffPieces(...words) ?? [['missing', gap.missing], ['extra', gap.extra]]))
    gap.missing = gap.extra = ''
  }
  const whole = [['missing', gold], ['extra', text]]
  for (const [kind, part] of diffPieces(gold.match(LINES) ?? [], text.match(LINES) ?? []) ?? whole) {
    if (kind !== 'same') { gap[kind] += part; continue }
    closeGap()
    found.push([kind, part])
  }
  closeGap()
  return found
}

// The runs of two lists of pieces, null where they are too many; their letters and digits count.
function diffPieces(gold, text) {
  const numbers = new Map()
  const number = piece => {
    const key = piece.replace(PUNCTUATION, '') || piece.trimEnd()
    if (!numbers.has(key)) numbers.set(key, numbers.size)
    return numbers.get(key)
  }
  const common = findCommon(gold.map(number), text.map(number))
  if (!common) return null
  const [inGold, inText] = common
  const found = []
  const take = (kind, pieces, from, goes) => {
    let to = from
    while (to < pieces.length && goes(to)) to++
    if (to > from) found.push([kind, pieces.slice(from, to).join('')])
    return to
  }
  for (let i = 0, j = 0; i < gold.length || j < text.length;) {
    i = take('missing', gold, i, k => !inGold[k])
    j = take('extra', text, j, k => !inText[k])
    const start = j
    j = take('same', text, j, k => inText[k] && inGold[i + k - start])
    i += j - start
  }
  return found
}

// A longest common subsequence of two lists of numbers, as a flag for each element; null where the
// table would be too large. Bit-parallel (Hyyrö 2004, "Bit-parallel LCS-length computation
// revisited"): 32 elements of `first` a step. After a row of `second`, bit i is 0 where element i
// makes the common subsequence longer.
function findCommon(first, second) {
  const inFirst = new Uint8Array(first.length), inSecond = new Uint8Array(second.length)
  let start = 0, end = first.length, last = second.length
  while (start < end && start < last && first[start] === second[start]) {
    inFirst[start] = inSecond[start] = 1
    start++
  }
  while (end > start && last > start && first[end - 1] === second[last - 1]) {
    inFirst[--end] = inSecond[--last] = 1
  }
  const width = Math.ceil((end - start) / 32)
  if (width * (last - start + 1) > MOST_NUMBERS) return null
  const rows = fillRows(first.slice(start, end), second.slice(start, last), width)
  const isFree = (row, bit) => rows[row * width + (bit >>> 5)] >>> (bit & 31) & 1
  let i = end - start, j = last - start
  while (i && j) {
    if (isFree(j, i - 1)) i--
    else if (!isFree(j - 1, i - 1)) j--
    else inFirst[start + --i] = inSecond[start + --j] = 1
  }
  return [inFirst, inSecond]
}

function fillRows(first, second, width) {
  const places = new Map()
  first.forEach((element, i) => places.has(element) ? places.get(element).push(i) : places.set(element, [i]))
  const rows = new Int32Array(width * (second.length + 1)).fill(-1, 0, width)
  const mask = new Int32Array(width)
  second.forEach((element, row) => {
    const from = row * width, to = from + width
    if (!places.has(element)) { rows.copyWithin(to, from, to); return }
    for (const i of places.get(element)) mask[i >>> 5] |= 1 << (i & 31)
    for (let k = 0, carry = 0; k < width; k++) {
      const before = rows[from + k], hits = before & mask[k]
      const sum = (before + hits + carry) | 0
      // The bit that left the 32, as hits are a part of before.
      carry = (hits | (before & ~sum)) >>> 31
      rows[to + k] = sum | (before & ~mask[k])
    }
    mask.fill(0)
  })
  return rows
}
