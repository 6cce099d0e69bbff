// Tables side by side: where a page has the names of two tables in one height, each side is read as a page of its own.
import { centerX, centerY, heightOf, type PageText, type Word } from '../pages/page.ts'
import { columnKind, type ColumnKind } from './headers.ts'
import type { Cell, Line } from './lines.ts'

/** Of the height of a line: the names of both tables begin at heights that differ less, as where one of them has names on two lines. */
const SIDES_LEVEL = 2.5
/** Of the height of a line: headings are no further above the names of the columns. */
const SIDES_HEADING_GAP = 2.2
/** Points: the cells of a table begin so far right of its edge. */
const SIDES_EDGE = 12

const RESULTS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value'])

/**
 * The page in parts that are read one after the other: what is above the tables, their sides from left to right, and what is below.
 * Undefined if no tables stand side by side, or if a text crosses from one into the other.
 */
export function splitSides(page: PageText, lines: readonly Line[]): PageText[] | undefined {
  if (page.source !== 'text') return undefined
  const cells = lines.flatMap((line) => line.cells)
  const names = cells.filter(({ text }) => columnKind(text) === 'name')
  const pairs = names.flatMap((left) => names.filter((right) => areTwoTables(left, right, cells)).map((right) => ({ left, right })))
  const [first] = pairs.toSorted((a, b) => a.left.box.top - b.left.box.top)
  if (!first) return undefined
  const height = heightOf(first.left.box)
  const from = Math.min(first.left.box.top, first.right.box.top) - height * 0.2
  const edge = findEdge(page.words, first.right, from)
  if (edge === undefined) return undefined
  const crosses = ({ box }: Word) => box.left < edge && box.right > edge
  const headings = lines.filter(
    ({ box, cells: own }) =>
      box.bottom <= from + height * 0.5 &&
      box.bottom > from - height * SIDES_HEADING_GAP &&
      own.length <= 2 &&
      own.every(({ box: one }) => one.right <= edge || one.left >= edge) &&
      own.every(({ text }) => /^\p{L}/u.test(text) && !/:|\d{3}/u.test(text)),
  )
  const top = Math.min(from, ...headings.map(({ box }) => box.top - 1))
  const bottom = Math.min(
    Infinity,
    ...page.words.filter((word) => centerY(word.box) > from && crosses(word)).map(({ box }) => box.top - 1),
  )
  const part = (isIn: (word: Word) => boolean): PageText => ({ ...page, words: page.words.filter(isIn) })
  const isWithin = ({ box }: Word) => centerY(box) >= top && centerY(box) < bottom
  return [
    part(({ box }) => centerY(box) < top),
    part((word) => isWithin(word) && centerX(word.box) < edge),
    part((word) => isWithin(word) && centerX(word.box) >= edge),
    part(({ box }) => centerY(box) >= bottom),
  ].filter(({ words }) => words.length > 0)
}

/** Whether the names of columns, which are the same, begin two tables: the results of the first stand between them, and those of the second behind. */
function areTwoTables(left: Cell, right: Cell, cells: readonly Cell[]): boolean {
  const isLevel = (other: Cell) => Math.abs(other.box.top - left.box.top) < heightOf(left.box) * SIDES_LEVEL
  if (right.box.left <= left.box.right || right.text.toLowerCase() !== left.text.toLowerCase() || !isLevel(right)) return false
  const results = cells.filter(
    (cell) => isLevel(cell) && cell.text.split(' ').some((_, from, words) => isResult(words.slice(from))),
  )
  return (
    results.some(({ box }) => box.left > left.box.right && box.left < right.box.left) &&
    results.some(({ box }) => box.left > right.box.right)
  )
}

/** Whether words begin with the name of a column of results: names close to each other are one cell. */
const isResult = (words: readonly string[]): boolean =>
  words.some((_, count) => RESULTS.has(columnKind(words.slice(0, count + 1).join(' '))!))

/** Where the second table begins: left of its names, where the first lines below have no text. */
function findEdge(words: readonly Word[], { box, words: own }: Cell, from: number): number | undefined {
  const wordsBelow = words.filter((word) => centerY(word.box) > from && !own.includes(word))
  const nearWords = wordsBelow.filter((word) => centerY(word.box) < box.bottom + heightOf(box) * 6)
  const isFree = (x: number) => nearWords.every((word) => word.box.left >= x || word.box.right <= x)
  return [box.left - SIDES_EDGE, box.left - SIDES_EDGE / 2, box.left - 2].find(isFree)
}
