// The rows of a table: by what is drawn between them, else by the whitespace over its whole width, and by what overlaps from top to bottom.
import { centerY, heightOf, overlapY, widthOf, type Box } from '../pages/page.ts'
import type { TableColumn, TableOfRuns } from './table-columns.ts'
import { textOf, type Run } from './table-runs.ts'

/** A text of a table: one line of one cell. */
export interface Part {
  run: Run
  column: TableColumn
}

/** Of the height of letters: what overlaps more stands in one row. */
const ROW_OVERLAP = 0.15
/** Of the tables whose rows are parted by what is drawn: of their rows, those with one result alone. */
const RULED_SHARE = 0.8
/** Points: lines of a cell are closer than rows by more. */
const LINES_CLOSER = 0.8
/** Lines of results in one drawn row: more are rows that nothing parts. */
const RESULTS_MAX = 3
/** Of the height of letters: lines of a cell are no further apart. */
const CELL_LINE_GAP = 0.85
/** Points by which a text that was broken may seem to have had room. */
const BREAK_ROOM = 0.6

/** Of the height of letters: those of one cell differ less, in a text and in a picture, in which it is measured. */
const [CELL_HEIGHT_IN_TEXT, CELL_HEIGHT_IN_PICTURE] = [0.06, 0.22]

export interface TableRow {
  parts: Part[]
  top: number
  bottom: number
}

export interface RowsOptions {
  /** Heights at which something is drawn between rows. */
  separators: readonly number[]
  /** The columns of results, and of names. */
  isResult: (column: TableColumn) => boolean
  isName: (column: TableColumn) => boolean
}

/** A line that crosses the columns, or a row. */
export type TableItem = { row: TableRow } | { line: Extract<TableOfRuns['lines'][number], { parts: null }>['line'] }

export function rowsOfTable({ lines }: TableOfRuns, options: RowsOptions): TableItem[] {
  const stretches: ({ parts: Part[] } | { line: TableOfRuns['lines'][number]['line'] })[] = []
  for (const one of lines) {
    const last = stretches.at(-1)
    if (!one.parts) stretches.push({ line: one.line })
    else if (last && 'parts' in last) last.parts.push(...one.parts)
    else stretches.push({ parts: [...one.parts] })
  }
  const slots = stretches.map((item) => ('parts' in item ? splitIntoSlots(item.parts, options.separators) : undefined))
  const closedSlots = slots.flatMap((item) => item ?? []).filter(({ isClosed, parts }) => isClosed && resultLines(parts, options) > 0)
  const singleSlots = closedSlots.filter(({ parts }) => resultLines(parts, options) <= 1)
  const isRuled = closedSlots.length > 1 && singleSlots.length >= closedSlots.length * RULED_SHARE
  const firsts = slots.map((item) =>
    item?.map(({ parts, isClosed }) =>
      isRuled && isClosed && resultLines(parts, options) <= RESULTS_MAX
        ? { ruled: joinNearBands(bandsOf(parts), options) }
        : { bands: bandsOf(parts) },
    ),
  )
  const gaps = gapsOf(
    firsts.flatMap((item) => (item ? [item.flatMap((part) => part.ruled ?? part.bands)] : [])),
    options,
  )
  return stretches.flatMap((item, index): TableItem[] =>
    'line' in item
      ? [{ line: item.line }]
      : firsts[index]!.flatMap((part) => part.ruled ?? mergeBands(part.bands, gaps, options)).map((row) => ({ row })),
  )
}

export const rowOf = (parts: Part[]): TableRow => ({
  parts,
  top: Math.min(...parts.map(({ run }) => run.box.top)),
  bottom: Math.max(...parts.map(({ run }) => run.box.bottom)),
})

interface Slot {
  parts: Part[]
  /** Whether something is drawn above and below it. */
  isClosed: boolean
}

function splitIntoSlots(parts: readonly Part[], separators: readonly number[]): Slot[] {
  const bySlot = Map.groupBy(parts, ({ run }) => separators.filter((y) => y < centerY(run.box)).length)
  return [...bySlot]
    .toSorted(([one], [other]) => one - other)
    .map(([count, own]) => ({ parts: own, isClosed: count > 0 && count < separators.length }))
}

/** How many lines the cells of results have, at most. */
function resultLines(parts: readonly Part[], { isResult }: RowsOptions): number {
  const byColumn = Map.groupBy(
    parts.filter(({ column }) => isResult(column)),
    ({ column }) => column,
  )
  return Math.max(0, ...[...byColumn.values()].map((own) => own.length))
}

/** Texts that overlap from top to bottom, directly or by way of others: a name on two lines and the result that is centered beside it. */
function bandsOf(parts: readonly Part[]): TableRow[] {
  const bands: TableRow[] = []
  for (const part of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = bands.at(-1)
    const { box } = part.run
    const overlaps = (other: Box) => overlapY(other, box) > Math.min(heightOf(other), heightOf(box)) * ROW_OVERLAP
    if (last && last.parts.some(({ run }) => overlaps(run.box))) bands[bands.length - 1] = rowOf([...last.parts, part])
    else bands.push(rowOf([part]))
  }
  return bands
}

/** One row, but for what stands further apart than lines of a cell do, and for headings above it. */
function joinNearBands(bands: readonly TableRow[], options: RowsOptions): TableRow[] {
  const rows: TableRow[] = []
  for (const band of bands) {
    const rowAbove = rows.at(-1)
    const isNear = rowAbove && band.top - rowAbove.bottom < heightOf(band.parts[0]!.run.box) * CELL_LINE_GAP
    const isNext =
      rowAbove &&
      isWhole(rowAbove, options) &&
      isWhole(band, options) &&
      hasNumber(band, options) &&
      !partsContinued(rowAbove, band).some(({ column }) => options.isName(column))
    if (isNear && !isNext && !isHeading(rowAbove, band, options)) rows[rows.length - 1] = rowOf([...rowAbove.parts, ...band.parts])
    else rows.push(band)
  }
  return rows
}

/** Whether what stands above a row does not go on in it. */
function isHeading(upper: TableRow, lower: TableRow, options: RowsOptions): boolean {
  if (isWhole(upper, options)) return false
  return upper.parts.some(({ run, column }, index) => {
    if (upper.parts.slice(index + 1).some((part) => part.column === column)) return false
    const next = lower.parts.find((part) => part.column === column)
    return !next || !isBroken(run, next.run, column)
  })
}

/** Whether a row has a number as its result. */
const hasNumber = ({ parts }: TableRow, { isResult }: RowsOptions): boolean =>
  parts.some(({ column, run }) => isResult(column) && /^[<>≤≥]?\s?\d/u.test(textOf(run)))

interface Gaps {
  /** Between rows, and between the lines of a cell; undefined where the table does not show it. */
  rows: number | undefined
  lines: number | undefined
}

function gapsOf(stretches: readonly (readonly TableRow[])[], options: RowsOptions): Gaps {
  const gapsOfRows = stretches.flatMap((rows) =>
    rows.slice(1).flatMap((row, index) => {
      const rowAbove = rows[index]!
      return isWhole(rowAbove, options) && isWhole(row, options) ? [row.top - rowAbove.bottom] : []
    }),
  )
  const gapsOfLines = stretches
    .flat()
    .flatMap(({ parts }) =>
      [...Map.groupBy(parts, ({ column }) => column).values()].flatMap((own) =>
        own.slice(1).map(({ run }, index) => run.box.top - own[index]!.run.box.bottom),
      ),
    )
  const quantile = (values: number[], share: number) =>
    values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)]
  return {
    rows: quantile(gapsOfRows, 0.25),
    lines: quantile(
      gapsOfLines.filter((gap) => gap > -2),
      0.5,
    ),
  }
}

/** Whether a row has a result and a further text. */
const isWhole = ({ parts }: TableRow, { isResult }: RowsOptions): boolean =>
  parts.some(({ column }) => isResult(column)) && parts.some(({ column }) => !isResult(column))

/** Bands that are one row: closer than rows are, and with texts that had no room in the line above. */
function mergeBands(bands: readonly TableRow[], gaps: Gaps, options: RowsOptions): TableRow[] {
  const rows: TableRow[] = []
  for (const [index, band] of bands.entries()) {
    const rowAbove = rows.at(-1)
    if (rowAbove && isClose(rowAbove, band, gaps) && isNearer(rows, bands, index, options) && continues(rowAbove, band, options))
      rows[rows.length - 1] = rowOf([...rowAbove.parts, ...band.parts])
    else rows.push(band)
  }
  return rows
}

/** Whether a band and the row above it are closer than what is incomplete of both is to the row on its other side. */
function isNearer(rows: readonly TableRow[], bands: readonly TableRow[], index: number, options: RowsOptions): boolean {
  const [rowAbove, band] = [rows.at(-1)!, bands[index]!]
  const gap = band.top - rowAbove.bottom
  const [previous, next] = [rows.at(-2), bands[index + 1]]
  const isFar = (other: number) => other >= gap + LINES_CLOSER
  if (!isWhole(band, options) && next && !isFar(next.top - band.bottom) && !continues(band, next, options)) return false
  return isWhole(rowAbove, options) || !previous || isFar(rowAbove.top - previous.bottom)
}

function isClose(upper: TableRow, lower: TableRow, { rows, lines }: Gaps): boolean {
  const gap = lower.top - upper.bottom
  if (lines !== undefined && rows !== undefined && rows < lines + LINES_CLOSER) return false
  if (lines !== undefined) return gap <= lines + (rows === undefined ? LINES_CLOSER : Math.max(LINES_CLOSER / 2, (rows - lines) * 0.35))
  return rows !== undefined && rows - gap >= LINES_CLOSER && gap < rows * 0.7
}

function continues(upper: TableRow, lower: TableRow, options: RowsOptions): boolean {
  if (isWhole(upper, options) && isWhole(lower, options)) {
    const isBrokenResult = partsContinued(upper, lower).some(({ column }) => options.isResult(column))
    return isBrokenResult && !hasNumber(lower, options)
  }
  const continuedParts = partsContinued(upper, lower)
  if (lower.parts.some(({ column, run }) => options.isName(column) && isNote(textOf(run)))) return false
  const [shorter] = [upper, lower].toSorted((a, b) => a.parts.length - b.parts.length)
  return continuedParts.length > 0 && shorter!.parts.every(({ column }) => continuedParts.some((part) => part.column === column))
}

/** The texts of a row that go on from the row above because they had no room there. */
const partsContinued = (upper: TableRow, lower: TableRow): Part[] =>
  lower.parts.filter(({ column, run }) => {
    const last = upper.parts.filter((part) => part.column === column).at(-1)
    return last !== undefined && isBroken(last.run, run, column)
  })

/** Whether a text goes on in the next line because it had no room in its own. */
export function isBroken(upper: Run, lower: Run, column: TableColumn): boolean {
  const [last, first] = [upper.words.at(-1)!, lower.words[0]!]
  const tolerance = last.font === undefined ? CELL_HEIGHT_IN_PICTURE : CELL_HEIGHT_IN_TEXT
  if (last.font !== first.font || Math.abs(heightOf(last.box) - heightOf(first.box)) > heightOf(last.box) * tolerance)
    return false
  const isJoined = /[\p{L}\d][-–/]$/u.test(last.text)
  if (isJoined || isUnfinished(textOf(upper))) return true
  // A word that can be parted is broken where its first part has no room.
  const part = /^.+?[-–/](?=\S)/u.exec(first.text)?.[0] ?? first.text
  const wide = (widthOf(first.box) * part.length) / first.text.length + heightOf(last.box) * 0.25
  return widthOf(upper.box) + wide > column.width - BREAK_ROOM
}

/** A specimen or method that is stated, and a text with a label. */
export const isNote = (text: string): boolean =>
  /^\(?(?:method|methodology|serum|plasma|urine|calculated|specimen|sample)\b|:/iu.test(text)

/** An open bracket, and a range without its end. */
const isUnfinished = (text: string): boolean =>
  /[([][^)\]]*$|\d\s?(?:[-–—]|to)$|^(?:less|greater|more) than$|^[<>≤≥]$/u.test(text)
