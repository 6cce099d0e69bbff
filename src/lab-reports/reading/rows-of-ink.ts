// Rows of ink on pictures that are in no result.
import { numberOf } from '../../lab-values/values.ts'
import {
  areInLine,
  type Box,
  boxAround,
  centerX,
  centerY,
  heightOf,
  overlapX,
  type PageText,
  widthOf,
  type Word,
} from '../pages/page.ts'
import { type Column, columnsOf } from '../tables/headers.ts'
import { drawnColumns } from './drawn-columns.ts'
import type { ReadingFinding, ReportFinding, RowFinding } from './finding.ts'
import { type Reading, type TableOfRows, tablesOf } from './table-doubts.ts'
import { isBesideResult, isFlagNotRead, readBy, textsOf, tokensOf } from './unread-text.ts'

/** Multiple of the distance of rows: what is further above the first row or below the last one belongs to no table. */
const INK_REACH = 2.2
/** Multiple of the height of letters: texts of a row are further apart than words. */
const APART = 1.2
/** Shares of the height of results: lower ink is a speck, narrower ink the rest of a ruled line. */
const [HEIGHT_MIN, WIDTH_MIN] = [0.5, 0.24]
/** So many rows that nothing was read of are a table, wherever they stand. */
const ROWS_OF_TABLE = 3

const ROW_NOT_READ = 'The picture of the page shows a row of a table here that was not read.'
const BESIDE_ROW: ReadingFinding = {
  kind: 'letters_not_read',
  text: 'The picture of the page has ink in the line of this row that was not read.',
}
const SEVERAL: ReadingFinding = {
  kind: 'rows_not_read',
  text: 'The picture of the page has several results where this row was read.',
}

export function rowsOfInk(reading: Reading): { rows: RowFinding[]; report: ReportFinding[] } {
  const findings: { rows: RowFinding[]; report: ReportFinding[] } = { rows: [], report: [] }
  const tables = tablesOf(reading)
  for (const { page } of reading.pages) {
    if (!page.ink?.length) continue
    const lost: Box[] = []
    for (const table of tables.filter((item) => item.page.number === page.number)) {
      const inside = againstRows(table, page.ink, reading)
      findings.rows.push(...inside.rows)
      lost.push(...inside.lostRows)
    }
    if (!lost.length) lost.push(...tableNotRead(page, reading))
    findings.report.push(
      ...lost.map((box): ReportFinding => ({ kind: 'rows_not_read', text: ROW_NOT_READ, page: page.number, box })),
    )
  }
  return findings
}

/** Where the names and the results of a table stand, and how far its rows are apart. */
interface Zones {
  names: Box
  values: Box
  pitch: number
  height: number
}

function zonesOf(boxes: readonly { row: Box; value: Box }[]): Zones | undefined {
  const values = boxAround(boxes.map(({ value }) => value))
  const all = boxAround(boxes.map(({ row }) => row))
  const lefts = boxes.map(({ row }) => row.left).toSorted((a, b) => a - b)
  const left = lefts[lefts.length >> 1]!
  const height = medianOf(boxes.map(({ value }) => heightOf(value)))
  if (values.left - left < height) return undefined
  const middles = boxes.map(({ value }) => centerY(value)).toSorted((a, b) => a - b)
  const gaps = middles.slice(1).map((y, index) => y - middles[index]!)
  return { names: { ...all, left: left - height, right: values.left }, values, pitch: medianOf(gaps) || height * 2, height }
}

/** Zones of a table without rows, by the names of its columns. */
function zonesOfColumns({ columns, lines }: TableOfRows): Zones | undefined {
  const name = columns?.find(({ kind }) => kind === 'name')?.box
  const value = columns?.find(({ kind }) => kind === 'value')?.box
  if (!name || !value || value.left < name.right) return undefined
  const { top, bottom } = boxAround(lines.map(({ box }) => box))
  const height = heightOf(value)
  return {
    names: { left: name.left - height, right: value.left - height, top, bottom },
    values: { left: value.left - height, right: value.right + height, top, bottom },
    pitch: height * 2,
    height,
  }
}

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const lettersIn = (ink: readonly Box[], height: number): Box[] =>
  ink.filter((box) => heightOf(box) > height * HEIGHT_MIN && widthOf(box) > height * WIDTH_MIN)

/** Ink within the area of a table: next to a row that was read, and rows of which the name or the result was not read. */
function againstRows(
  table: TableOfRows,
  ink: readonly Box[],
  { pages, rows, results }: Reading,
): { rows: RowFinding[]; lostRows: Box[] } {
  const own = table.rows.map((index) => ({ at: index, row: rows[index]!.box, value: rows[index]!.value_box }))
  const zones = own.length ? zonesOf(own) : zonesOfColumns(table)
  if (!zones) return { rows: [], lostRows: [] }
  const { values, height } = zones
  const isRead = readBy(table.page.words)
  const onPage = rows.filter(({ page }) => page === table.page.number)
  const found: RowFinding[] = []
  const lost: Box[] = []
  const high = lettersIn(ink, height)
  const top = findTop(table, pages)
  const isDrawn = drawnColumns(table, rows, isRead)
  for (const line of linesWithin(linesOfInk(high.filter(({ bottom }) => bottom > top)), zones)) {
    const unread = line.filter((box) => !isRead(box) && !isBesideResult(box, table.columns) && !isDrawn(box))
    if (!unread.length) continue
    const beside = own.filter(({ at: index, row }) =>
      unread.some(
        (box) => areInLine(row, box) && overlapX(row, box) > 0 && !isFlagNotRead({ box }, table, rows[index]!, results[index]!),
      ),
    )
    found.push(...beside.map(({ at: index }) => ({ row: index, finding: BESIDE_ROW })))
    const isOfRow = onPage.some(({ box }) => line.some((item) => areInLine(box, item)))
    if (!isOfRow && isUnreadRow(line, zones, isRead)) lost.push(boxAround(line))
  }
  for (const { at: index, row } of own) {
    if (numberOf(rows[index]!.value) === undefined) continue
    const results = linesOfInk(high.filter((box) => overlapX(box, values) > widthOf(box) / 2 && areInside(box, row)))
    // A card has its range in another line than its result.
    const said = new Set(rows[index]!.range_lines.flatMap(tokensOf))
    const words = table.page.words.filter(({ text }) => !tokensOf(text).every((token) => said.has(token)))
    const numbers = results.filter((line) => line.some((box) => words.some((word) => isNumberIn(word, box)) || !isRead(box)))
    if (numbers.length < 2) continue
    found.push({ row: index, finding: SEVERAL })
    // A number that the row does not say is the result of a row that was lost in this one.
    const rowTokens = new Set(textsOf(rows[index]!).flatMap(tokensOf))
    const lines = numbers.filter((line) =>
      words.some(
        (word) => !tokensOf(word.text).every((token) => rowTokens.has(token)) && line.some((box) => isNumberIn(word, box)),
      ),
    )
    lost.push(...lines.map(boxAround))
  }
  return { rows: found, lostRows: lost }
}

/** Where the names of the columns of a table stand, if they are on its page: above them are a letterhead and other tables. */
function findTop({ page, columns }: TableOfRows, pages: Reading['pages']): number {
  if (!columns) return -Infinity
  const lines = pages.find((item) => item.page.number === page.number)?.lines ?? []
  const [{ box: first }] = columns as [Column]
  const isHere = lines.some((line) => columnsOf(line)?.some(({ box }) => box.left === first.left && box.top === first.top))
  return isHere ? Math.min(...columns.map(({ box }) => box.top)) : -Infinity
}

/** Whether a line has a name and a result of which one was not read, or several texts of which none was. */
function isUnreadRow(line: readonly Box[], { names, values, height }: Zones, isRead: (box: Box) => boolean): boolean {
  const isApart = (bottom: number, top: number) => top - bottom > height * APART
  if (line.every((box) => !isRead(box))) return line.some((box, index) => index > 0 && isApart(line[index - 1]!.right, box.left))
  const ofName = line.filter((box) => centerX(box) > names.left && centerX(box) < values.left)
  const ofValue = line.filter((box) => overlapX(box, values) > 0 && !ofName.includes(box))
  const isRow = ofName.length > 0 && ofValue.length > 0 && isApart(ofName.at(-1)!.right, ofValue[0]!.left)
  return isRow && (ofName.every((box) => !isRead(box)) || ofValue.some((box) => !isRead(box)))
}

const areInside = (box: Box, row: Box): boolean => centerY(box) > row.top && centerY(box) < row.bottom

const isNumberIn = ({ text, box }: Word, ink: Box): boolean =>
  numberOf(text) !== undefined && overlapX(box, ink) > widthOf(ink) / 2 && areInLine(box, ink)

/** Ink by lines, from top to bottom. */
function linesOfInk(ink: readonly Box[]): Box[][] {
  const lines: Box[][] = []
  for (const box of ink.toSorted((a, b) => centerY(a) - centerY(b))) {
    const last = lines.at(-1)
    if (last && areInLine(boxAround(last.slice(0, 3)), box)) last.push(box)
    else lines.push([box])
  }
  return lines.map((line) => line.toSorted((a, b) => a.left - b.left))
}

/** The lines at the height of a table, and those above and below it up to a gap. */
function linesWithin(lines: readonly Box[][], { names, values, pitch }: Zones): Box[][] {
  const index = (line: readonly Box[]) => centerY(boxAround(line))
  const inside = lines.filter((line) => index(line) > names.top && index(line) < names.bottom)
  const grow = (linesOutward: readonly Box[][], edge: number) => {
    let reached = edge
    for (const line of linesOutward) {
      if (Math.abs(index(line) - reached) > pitch * INK_REACH) break
      reached = index(line)
      inside.push(line)
    }
  }
  const first = inside.length ? Math.min(...inside.map(index)) : values.top
  const last = inside.length ? Math.max(...inside.map(index)) : values.bottom
  const above = lines.filter((line) => index(line) < first).toReversed()
  const below = lines.filter((line) => index(line) > last)
  grow(above, first)
  grow(below, last)
  return inside
}

/** The place of a table of which nothing was read: lines of several texts without a word. */
function tableNotRead(page: PageText, { rows }: Reading): Box[] {
  const isRead = readBy(page.words)
  const height = medianOf(page.ink!.map(heightOf))
  const lines = linesOfInk(lettersIn(page.ink!, height)).filter(
    (line) =>
      line.every((box) => !isRead(box)) &&
      line.some((box, index) => index > 0 && box.left - line[index - 1]!.right > height * APART) &&
      !rows.some((row) => row.page === page.number && line.some((box) => areInLine(row.box, box))),
  )
  return lines.length < ROWS_OF_TABLE ? [] : [boxAround(lines.flat())]
}
