// Columns of a picture that hold drawings: a bar for each result, of which no letter can be read.
import { areInLine, type Box, boxAround, centerX, heightOf, overlapX, widthOf } from '../pages/page.ts'
import type { Row } from '../tables/row-parts.ts'
import type { TableOfRows } from './table-doubts.ts'

/** So many rows, and this share of the rows of a table, with a bar between two columns show that the table has bars. */
const [BARS_MIN, BARS_SHARE] = [3, 0.5]
/** Multiple of the height of results: a bar is wider, and signs and numbers are not. */
const BAR_WIDTH_MIN = 4
/** Multiple of the height of results within which texts are aligned, and the share of a column of texts that is. */
const [ALIGNED, ALIGNED_SHARE] = [0.7, 0.6]

interface Gap {
  left: number
  right: number
}

/** Whether what was not read stands where most rows of a table have a bar, or the marker of a bar that is too light to be seen. */
export function drawnColumns(
  { page, columns, rows: own }: TableOfRows,
  rows: readonly Row[],
  isRead: (box: Box) => boolean,
): (box: Box) => boolean {
  const unread = [...(page.ink ?? []), ...(page.unread ?? [])].filter((box) => !isRead(box))
  if (own.length < BARS_MIN || !unread.length) return () => false
  const ofTable = own.map((index) => rows[index]!)
  const gaps = columns
    ? gapsBetween(columns.map(({ box }) => box))
    : gapsBetween(
        page.words
          .filter(({ text, box }) => text.length > 1 && ofTable.some((row) => areInLine(row.box, box)))
          .map(({ box }) => box),
      )
  const bars = gaps.filter((gap) => {
    const drawings = ofTable.flatMap((row) => {
      const ink = unread.filter((box) => box.left >= gap.left && box.right <= gap.right && areInLine(row.box, box))
      return ink.length ? [{ box: boxAround(ink), height: heightOf(row.value_box) }] : []
    })
    const wide = drawings.filter(({ box, height }) => widthOf(box) > height * BAR_WIDTH_MIN)
    const isMany = (count: number) => count >= BARS_MIN && count >= own.length * BARS_SHARE
    return (columns !== null && isMany(wide.length)) || (isMany(drawings.length) && areUnaligned(drawings))
  })
  return (box) => bars.some(({ left, right }) => overlapX(box, { ...box, left, right }) >= widthOf(box))
}

/** Texts of a column begin, end or have their middles below each other; bars and their markers stand where their results are. */
function areUnaligned(drawings: readonly { box: Box; height: number }[]): boolean {
  return [({ left }: Box) => left, ({ right }: Box) => right, centerX].every((placeOf) => {
    const places = drawings.map(({ box }) => placeOf(box)).toSorted((a, b) => a - b)
    const middle = places[places.length >> 1]!
    const aligned = drawings.filter(({ box, height }) => Math.abs(placeOf(box) - middle) < height * ALIGNED)
    return aligned.length < drawings.length * ALIGNED_SHARE
  })
}

/** The spaces that no box reaches into. */
function gapsBetween(boxes: readonly Box[]): Gap[] {
  const gaps: Gap[] = []
  let reached = Infinity
  for (const { left, right } of boxes.toSorted((a, b) => a.left - b.left)) {
    if (left > reached) gaps.push({ left: reached, right: left })
    reached = reached === Infinity ? right : Math.max(reached, right)
  }
  return gaps
}
