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
const BESIDE = 0.15
/** Of the tables whose rows are parted by what is drawn: of their rows, those with one result alone. */
const RULED = 0.8
/** Points: lines of a cell are closer than rows by more. */
const CLOSER = 0.8
/** Lines of results in one drawn row: more are rows that nothing parts. */
const RESULTS_MAX = 3
/** Of the height of letters: lines of a cell are no further apart. */
const REACH = 0.85
/** Points by which a text that was broken may seem to have had room. */
const ROOM = 0.6

/** Of the height of letters: those of one cell differ less, in a text and in a picture, in which it is measured. */
const [HEIGHT_OF_FONT, HEIGHT_OF_PICTURE] = [0.06, 0.22]

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
  const slots = stretches.map((one) => ('parts' in one ? slotsOf(one.parts, options.separators) : undefined))
  const closed = slots.flatMap((one) => one ?? []).filter(({ isClosed, parts }) => isClosed && resultLines(parts, options) > 0)
  const single = closed.filter(({ parts }) => resultLines(parts, options) <= 1)
  const isRuled = closed.length > 1 && single.length >= closed.length * RULED
  const firsts = slots.map((one) =>
    one?.map(({ parts, isClosed }) =>
      isRuled && isClosed && resultLines(parts, options) <= RESULTS_MAX
        ? { ruled: withinReach(bandsOf(parts), options) }
        : { bands: bandsOf(parts) },
    ),
  )
  const gaps = gapsOf(
    firsts.flatMap((one) => (one ? [one.flatMap((part) => part.ruled ?? part.bands)] : [])),
    options,
  )
  return stretches.flatMap((one, at): TableItem[] =>
    'line' in one
      ? [{ line: one.line }]
      : firsts[at]!.flatMap((part) => part.ruled ?? merged(part.bands, gaps, options)).map((row) => ({ row })),
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

function slotsOf(parts: readonly Part[], separators: readonly number[]): Slot[] {
  const bySlot = Map.groupBy(parts, ({ run }) => separators.filter((at) => at < centerY(run.box)).length)
  return [...bySlot]
    .toSorted(([one], [other]) => one - other)
    .map(([at, own]) => ({ parts: own, isClosed: at > 0 && at < separators.length }))
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
  for (const part of parts.toSorted((one, other) => one.run.box.top - other.run.box.top)) {
    const last = bands.at(-1)
    const { box } = part.run
    const overlaps = (other: Box) => overlapY(other, box) > Math.min(heightOf(other), heightOf(box)) * BESIDE
    if (last && last.parts.some(({ run }) => overlaps(run.box))) bands[bands.length - 1] = rowOf([...last.parts, part])
    else bands.push(rowOf([part]))
  }
  return bands
}

/** One row, but for what stands further apart than lines of a cell do, and for headings above it. */
function withinReach(bands: readonly TableRow[], options: RowsOptions): TableRow[] {
  const rows: TableRow[] = []
  for (const band of bands) {
    const above = rows.at(-1)
    const isNear = above && band.top - above.bottom < heightOf(band.parts[0]!.run.box) * REACH
    const isNext =
      above &&
      isWhole(above, options) &&
      isWhole(band, options) &&
      hasNumber(band, options) &&
      !shared(above, band).some(({ column }) => options.isName(column))
    if (isNear && !isNext && !isHeading(above, band, options)) rows[rows.length - 1] = rowOf([...above.parts, ...band.parts])
    else rows.push(band)
  }
  return rows
}

/** Whether what stands above a row does not go on in it. */
function isHeading(above: TableRow, below: TableRow, options: RowsOptions): boolean {
  if (isWhole(above, options)) return false
  return above.parts.some(({ run, column }, index) => {
    if (above.parts.slice(index + 1).some((part) => part.column === column)) return false
    const next = below.parts.find((part) => part.column === column)
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
  const between = stretches.flatMap((rows) =>
    rows.slice(1).flatMap((row, index) => {
      const above = rows[index]!
      return isWhole(above, options) && isWhole(row, options) ? [row.top - above.bottom] : []
    }),
  )
  const within = stretches
    .flat()
    .flatMap(({ parts }) =>
      [...Map.groupBy(parts, ({ column }) => column).values()].flatMap((own) =>
        own.slice(1).map(({ run }, index) => run.box.top - own[index]!.run.box.bottom),
      ),
    )
  const at = (values: number[], share: number) =>
    values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)]
  return {
    rows: at(between, 0.25),
    lines: at(
      within.filter((gap) => gap > -2),
      0.5,
    ),
  }
}

/** Whether a row has a result and a further text. */
const isWhole = ({ parts }: TableRow, { isResult }: RowsOptions): boolean =>
  parts.some(({ column }) => isResult(column)) && parts.some(({ column }) => !isResult(column))

/** Bands that are one row: closer than rows are, and with texts that had no room in the line above. */
function merged(bands: readonly TableRow[], gaps: Gaps, options: RowsOptions): TableRow[] {
  const rows: TableRow[] = []
  for (const [index, band] of bands.entries()) {
    const above = rows.at(-1)
    if (above && isClose(above, band, gaps) && isNearer(rows, bands, index, options) && continues(above, band, options))
      rows[rows.length - 1] = rowOf([...above.parts, ...band.parts])
    else rows.push(band)
  }
  return rows
}

/** Whether a band and the row above it are closer than what is incomplete of both is to the row on its other side. */
function isNearer(rows: readonly TableRow[], bands: readonly TableRow[], index: number, options: RowsOptions): boolean {
  const [above, band] = [rows.at(-1)!, bands[index]!]
  const gap = band.top - above.bottom
  const [before, after] = [rows.at(-2), bands[index + 1]]
  const isFar = (other: number) => other >= gap + CLOSER
  if (!isWhole(band, options) && after && !isFar(after.top - band.bottom) && !continues(band, after, options)) return false
  return isWhole(above, options) || !before || isFar(above.top - before.bottom)
}

function isClose(above: TableRow, below: TableRow, { rows, lines }: Gaps): boolean {
  const gap = below.top - above.bottom
  if (lines !== undefined && rows !== undefined && rows < lines + CLOSER) return false
  if (lines !== undefined) return gap <= lines + (rows === undefined ? CLOSER : Math.max(CLOSER / 2, (rows - lines) * 0.35))
  return rows !== undefined && rows - gap >= CLOSER && gap < rows * 0.7
}

function continues(above: TableRow, below: TableRow, options: RowsOptions): boolean {
  if (isWhole(above, options) && isWhole(below, options)) {
    const isBrokenResult = shared(above, below).some(({ column }) => options.isResult(column))
    return isBrokenResult && !hasNumber(below, options)
  }
  const both = shared(above, below)
  if (below.parts.some(({ column, run }) => options.isName(column) && isNote(textOf(run)))) return false
  const [few] = [above, below].toSorted((one, other) => one.parts.length - other.parts.length)
  return both.length > 0 && few!.parts.every(({ column }) => both.some((part) => part.column === column))
}

/** The texts of a row that go on from the row above because they had no room there. */
const shared = (above: TableRow, below: TableRow): Part[] =>
  below.parts.filter(({ column, run }) => {
    const last = above.parts.filter((part) => part.column === column).at(-1)
    return last !== undefined && isBroken(last.run, run, column)
  })

/** Whether a text goes on in the next line because it had no room in its own. */
export function isBroken(upper: Run, lower: Run, column: TableColumn): boolean {
  const [last, first] = [upper.words.at(-1)!, lower.words[0]!]
  const tolerance = last.font === undefined ? HEIGHT_OF_PICTURE : HEIGHT_OF_FONT
  if (last.font !== first.font || Math.abs(heightOf(last.box) - heightOf(first.box)) > heightOf(last.box) * tolerance)
    return false
  const isJoined = /[\p{L}\d][-–/]$/u.test(last.text)
  if (isJoined || isUnfinished(textOf(upper))) return true
  // A word that can be parted is broken where its first part has no room.
  const part = /^.+?[-–/](?=\S)/u.exec(first.text)?.[0] ?? first.text
  const wide = (widthOf(first.box) * part.length) / first.text.length + heightOf(last.box) * 0.25
  return widthOf(upper.box) + wide > column.width - ROOM
}

/** A specimen or method that is stated, and a text with a label. */
export const isNote = (text: string): boolean =>
  /^\(?(?:method|methodology|serum|plasma|urine|calculated|specimen|sample)\b|:/iu.test(text)

/** An open bracket, and a range without its end. */
const isUnfinished = (text: string): boolean =>
  /[([][^)\]]*$|\d\s?(?:[-–—]|to)$|^(?:less|greater|more) than$|^[<>≤≥]$/u.test(text)
