// Columns of a picture that hold drawings: a bar for each result, of which no letter can be read.
import { areInLine, type Box, boxAround, heightOf, overlapX, widthOf } from '../pages/page.ts'
import type { Row } from '../tables/row-parts.ts'
import type { TableOfRows } from './table-doubts.ts'

/** So many rows, and this share of the rows of a table, with a bar between two named columns show that the table has bars. */
const [BARS_MIN, BARS_SHARE] = [3, 0.5]
/** Multiple of the height of results: a bar is wider, and signs and numbers are not. */
const BAR_WIDTH_MIN = 4

/** Whether what was not read stands where most rows of a table have a bar, below no name of a column. */
export function drawnColumns(
  { page, columns, rows: own }: TableOfRows,
  rows: readonly Row[],
  isRead: (box: Box) => boolean,
): (box: Box) => boolean {
  const unread = [...(page.ink ?? []), ...(page.unread ?? [])].filter((box) => !isRead(box))
  if (!columns || own.length < BARS_MIN || !unread.length) return () => false
  const names = columns.map(({ box }) => box).toSorted((a, b) => a.left - b.left)
  const gaps = names.slice(1).map((name, index) => ({ left: names[index]!.right, right: name.left }))
  const bars = gaps.filter(({ left, right }) => {
    const isBetween = (box: Box) => box.left >= left && box.right <= right
    const withBar = own.filter((index) => {
      const row = rows[index]!
      const ink = unread.filter((box) => isBetween(box) && areInLine(row.box, box))
      return ink.length > 0 && widthOf(boxAround(ink)) > heightOf(row.value_box) * BAR_WIDTH_MIN
    })
    return withBar.length >= BARS_MIN && withBar.length >= own.length * BARS_SHARE
  })
  return (box) => bars.some(({ left, right }) => overlapX(box, { ...box, left, right }) >= widthOf(box))
}
