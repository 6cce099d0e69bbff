// The rows of a table, by what is drawn between them, else by whitespace and overlap, and their cells.
import { type Box, boxAround, centerY, heightOf, overlapY, widthOf, type Word } from '../pages/page.ts'
import { type Cell, cellOf, type Line, toLine } from './table-cells.ts'
import { joinsName } from './row-parts.ts'
import { type Run, textOf } from './runs.ts'
import { isMethod, namesSpecimen } from './statements.ts'
import type { TableColumn, TableOfRuns } from './table-columns.ts'
import * as tolerances from './tolerances.ts'

/** A text of a table: one line of one cell. */
export interface Part {
  run: Run
  column: TableColumn
}

/** Lines of results in one drawn row: more are rows that nothing parts. */
const RESULTS_MAX = 3

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
  const closedSlots = slots
    .flatMap((item) => item ?? [])
    .filter(({ isClosed, parts }) => isClosed && resultLines(parts, options) > 0)
  const singleSlots = closedSlots.filter(({ parts }) => resultLines(parts, options) <= 1)
  const isRuled = closedSlots.length > 1 && singleSlots.length >= closedSlots.length * tolerances.RULED_SHARE
  const firsts = slots.map((item) =>
    item?.map(({ parts, isClosed }) =>
      isRuled && isClosed && resultLines(parts, options) <= RESULTS_MAX
        ? { ruled: joinNearBands(bandsOf(parts), options) }
        : { bands: bandsOf(parts) },
    ),
  )
  const gaps = measureGaps(
    firsts.flatMap((item) => (item ? [item.flatMap((part) => part.ruled ?? part.bands)] : [])),
    options,
  )
  return stretches.flatMap((item, index): TableItem[] =>
    'line' in item
      ? [{ line: item.line }]
      : firsts[index]!.flatMap((part) => part.ruled ?? mergeBands(part.bands, gaps, options)).map((row) => ({ row })),
  )
}

const rowOf = (parts: Part[]): TableRow => ({
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

/** How many results stand in the cells of results, at most: one that goes on in the next line is one. */
function resultLines(parts: readonly Part[], { isResult }: RowsOptions): number {
  const byColumn = Map.groupBy(
    parts.filter(({ column }) => isResult(column)),
    ({ column }) => column,
  )
  return Math.max(0, ...[...byColumn.values()].map((columnParts) => segmentsOf(columnParts).length))
}

/** Texts that overlap from top to bottom, directly or by way of others: a name on two lines and the result that is centered next to it. */
function bandsOf(parts: readonly Part[]): TableRow[] {
  const bands: TableRow[] = []
  for (const part of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = bands.at(-1)
    const { box } = part.run
    const overlaps = (boxInBand: Box) =>
      overlapY(boxInBand, box) > Math.min(heightOf(boxInBand), heightOf(box)) * tolerances.ROW_OVERLAP
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
    const isNext =
      rowAbove &&
      isWhole(rowAbove, options) &&
      isWhole(band, options) &&
      hasNumber(band, options) &&
      !partsContinued(rowAbove, band).some(({ column }) => options.isName(column))
    const isHeadingAbove = rowAbove && isHeading(rowAbove, band, options) && !isNameAbove(rowAbove, band, options)
    if (rowAbove && isNear(rowAbove, band) && !isNext && !isHeadingAbove)
      rows[rows.length - 1] = rowOf([...rowAbove.parts, ...band.parts])
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
    // Lines of a range: each class of risk has its own.
    if (next && !options.isName(column) && !options.isResult(column)) return false
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

function measureGaps(stretches: readonly (readonly TableRow[])[], options: RowsOptions): Gaps {
  const gapsOfRows = stretches.flatMap((rows) =>
    rows.slice(1).flatMap((row, index) => {
      const rowAbove = rows[index]!
      return isWhole(rowAbove, options) && isWhole(row, options) ? [row.top - rowAbove.bottom] : []
    }),
  )
  const gapsOfLines = stretches
    .flat()
    .flatMap(({ parts }) =>
      [...Map.groupBy(parts, ({ column }) => column).values()].flatMap((columnParts) =>
        columnParts.slice(1).map(({ run }, index) => run.box.top - columnParts[index]!.run.box.bottom),
      ),
    )
  const lines = quantile(
    gapsOfLines.filter((gap) => gap > -2),
    0.5,
  )
  const rows = quantile(gapsOfRows, 0.25)
  return (rows === undefined ? gapsOfTwoSizes(stretches) : undefined) ?? { rows, lines }
}

const quantile = (values: readonly number[], share: number): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)]

/** Fewer gaps show nothing. */
const GAPS_MIN = 3

/** The gaps of a table in which no two rows of one line follow each other: small ones are within cells if the others are clearly larger. */
function gapsOfTwoSizes(stretches: readonly (readonly TableRow[])[]): Gaps | undefined {
  const gaps = stretches
    .flatMap((rows) => rows.slice(1).map((row, index) => row.top - rows[index]!.bottom))
    .toSorted((a, b) => a - b)
  const jumps = gaps.slice(1).map((gap, index) => gap - gaps[index]!)
  const widest = jumps.indexOf(Math.max(...jumps))
  const [small, large] = [gaps.slice(0, widest + 1), gaps.slice(widest + 1)]
  const height = heightOf(stretches.flat()[0]?.parts[0]?.run.box ?? { left: 0, right: 0, top: 0, bottom: 0 })
  const isClear =
    gaps.length >= GAPS_MIN &&
    jumps[widest]! > height * tolerances.LINES_JUMP &&
    small.at(-1)! < height * tolerances.CELL_LINE_GAP
  return isClear ? { rows: quantile(large, 0.25), lines: small.at(-1) } : undefined
}

/** Whether a row has a result and a further text. */
const isWhole = ({ parts }: TableRow, { isResult }: RowsOptions): boolean =>
  parts.some(({ column }) => isResult(column)) && parts.some(({ column }) => !isResult(column))

/** Bands that are one row: closer than rows are, and with texts that had no room in the line above. */
function mergeBands(bands: readonly TableRow[], gaps: Gaps, options: RowsOptions): TableRow[] {
  const rows: TableRow[] = []
  for (const [index, band] of bands.entries()) {
    const rowAbove = rows.at(-1)
    const isJoined =
      rowAbove &&
      ((isClose(rowAbove, band, gaps) && isNearer(rows, bands, index, options) && continues(rowAbove, band, options)) ||
        isNameAbove(rowAbove, band, options) ||
        isNameBegun(rowAbove, band, options) ||
        isRangeAbove(rows, band, options) ||
        isSpecimenBelow(rowAbove, band, { next: bands[index + 1], gaps, options }))
    if (isJoined) rows[rows.length - 1] = rowOf([...rowAbove.parts, ...band.parts])
    else rows.push(band)
  }
  return rows
}

const isNear = (upper: TableRow, lower: TableRow): boolean =>
  lower.top - upper.bottom < heightOf(lower.parts[0]!.run.box) * tolerances.CELL_LINE_GAP

/** Whether a name stands above the line of its result, which has a note on it in its place: `Calcium` above `Method: Arsenazo 9.5`. */
function isNameAbove(upper: TableRow, lower: TableRow, options: RowsOptions): boolean {
  const namesIn = ({ parts }: TableRow) => inOrder(parts.filter(({ column }) => options.isName(column)).map(({ run }) => run))
  const [nameAbove, note] = [namesIn(upper).at(-1), namesIn(lower)[0]]
  return (
    nameAbove !== undefined &&
    note !== undefined &&
    !isWhole(upper, options) &&
    isWhole(lower, options) &&
    (/^\(?(?:method|technique|principle)/iu.test(textOf(note)) ||
      namesSpecimen(textOf(note)) ||
      isMethod(textOf(note)) ||
      isMethodInBrackets(note, nameAbove)) &&
    /^\p{L}/u.test(textOf(nameAbove)) &&
    !isNote(textOf(nameAbove)) &&
    isNear(upper, lower)
  )
}

/**
 * Whether nothing but a name stands above the line of its result, and either does not end or is not begun there: `LDL Cholesterol,` above
 * `Calculated 107`, `Immunoglobulin A` above `(IgA) 2.49`.
 */
function isNameBegun(upper: TableRow, lower: TableRow, options: RowsOptions): boolean {
  const [first, ...others] = upper.parts
  const rest = inOrder(lower.parts.filter(({ column }) => options.isName(column)).map(({ run }) => run))[0]
  return (
    others.length === 0 &&
    rest !== undefined &&
    options.isName(first!.column) &&
    (/,$|[([][^)\]]*$/u.test(textOf(first!.run)) || /^[(,]/u.test(textOf(rest))) &&
    isWhole(lower, options) &&
    isNear(upper, lower)
  )
}

/** `(Urease GLDH)` in smaller letters below `Urea`. */
const isMethodInBrackets = (note: Run, name: Run): boolean => isSmaller(note, name) && /^\([^()]*\)$/u.test(textOf(note))

/** Whether the first lines of a range stand above the line of the name, and nearer to it than to the row above. */
function isRangeAbove(rows: readonly TableRow[], lower: TableRow, { isName, isResult }: RowsOptions): boolean {
  const [rowBefore, upper] = [rows.at(-2), rows.at(-1)!]
  const isOther = ({ column, run }: Part) =>
    !isName(column) &&
    !isResult(column) &&
    /[\d<>≤≥:]|[-–]$/u.test(textOf(run)) &&
    lower.parts.some((part) => part.column === column)
  return (
    upper.parts.every(isOther) &&
    lower.parts.some(({ column }) => isName(column)) &&
    isNear(upper, lower) &&
    (!rowBefore || upper.top - rowBefore.bottom >= lower.top - upper.bottom + tolerances.LINES_CLOSER)
  )
}

/** Whether a specimen stands below the name of a row, and nearer to it than to the row below, of which it may be the heading. */
function isSpecimenBelow(
  rowAbove: TableRow,
  band: TableRow,
  { next, gaps, options }: { next: TableRow | undefined; gaps: Gaps; options: RowsOptions },
): boolean {
  const isOfName = ({ column }: Part) => options.isName(column)
  return (
    band.parts.every((part) => isOfName(part) && namesSpecimen(textOf(part.run))) &&
    !goesOn(
      inOrder(rowAbove.parts.filter(isOfName).map(({ run }) => run))
        .map(textOf)
        .join(' '),
    ) &&
    isWhole(rowAbove, options) &&
    isClose(rowAbove, band, gaps) &&
    (!next || next.top - band.bottom >= band.top - rowAbove.bottom + tolerances.LINES_CLOSER)
  )
}

/** Whether a band and the row above it are closer than what is incomplete of both is to the row on its other side. */
function isNearer(rows: readonly TableRow[], bands: readonly TableRow[], index: number, options: RowsOptions): boolean {
  const [rowAbove, band] = [rows.at(-1)!, bands[index]!]
  const gap = band.top - rowAbove.bottom
  const [previous, next] = [rows.at(-2), bands[index + 1]]
  const isFar = (neighborGap: number) => neighborGap >= gap + tolerances.LINES_CLOSER
  const isOfNext = next && !isFar(next.top - band.bottom) && !next.parts.every(({ run }) => isNote(textOf(run)))
  if (!isWhole(band, options) && isOfNext && !continues(band, next, options)) return false
  return isWhole(rowAbove, options) || !previous || isFar(rowAbove.top - previous.bottom)
}

function isClose(upper: TableRow, lower: TableRow, { rows, lines }: Gaps): boolean {
  const gap = lower.top - upper.bottom
  if (lines !== undefined && rows !== undefined && rows < lines + tolerances.LINES_CLOSER) return false
  if (lines !== undefined)
    return (
      gap <= lines + (rows === undefined ? tolerances.LINES_CLOSER : Math.max(tolerances.LINES_CLOSER / 2, (rows - lines) * 0.35))
    )
  return rows !== undefined && rows - gap >= tolerances.LINES_CLOSER && gap < rows * 0.8
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
  const tolerance = last.font === undefined ? tolerances.CELL_HEIGHT_IN_PICTURE : tolerances.CELL_HEIGHT_IN_TEXT
  if (last.font !== first.font || Math.abs(heightOf(last.box) - heightOf(first.box)) > heightOf(last.box) * tolerance)
    return false
  if (isTitleOfNote(textOf(lower)) || BEGINS_WITH_LABEL.test(textOf(lower))) return false
  const isJoined = /[\p{L}\p{N}][-–/]$/u.test(last.text)
  if (isJoined || isUnfinished(textOf(upper))) return true
  // Numbers below each other are as wide as their column.
  if (BEGINS_WITH_NUMBER.test(textOf(upper)) && BEGINS_WITH_NUMBER.test(textOf(lower)) && !/[-–—]$/u.test(textOf(upper)))
    return false
  // A word with a hyphen is broken where its first part has no room. Browsers do not part words at a slash.
  const part = /^.+?[-–](?=\S)/u.exec(first.text)?.[0] ?? first.text
  const wide = (widthOf(first.box) * part.length) / first.text.length + heightOf(last.box) * 0.25
  return widthOf(upper.box) + wide > column.width - tolerances.BREAK_ROOM
}

/** `Method: Dipstick` */
const BEGINS_WITH_LABEL = /^\p{L}[\p{L} ]{2,20}:(?:\s|$)/u
const BEGINS_WITH_NUMBER = /^[([]?[<>≤≥]?\s?\d/u

/** A specimen or method that is stated, and a text with a label. */
const isNote = (text: string): boolean =>
  /^\(?(?:method|methodology|serum|plasma|urine|calculated|specimen|sample)\b|:/iu.test(text) ||
  isMethod(text) ||
  namesSpecimen(text)

/** The title of an explanation below a row. */
const isTitleOfNote = (text: string): boolean => /^(?:interpretation|comments?|notes?|remarks?):?$/iu.test(text)

/** `Protein, Total,`, `Protein in`: the next line is part of the name. */
const goesOn = (name: string): boolean => /[,–-]$|\b(?:in|of)$/iu.test(name)

/** An open bracket, and a range without its end. */
export const isUnfinished = (text: string): boolean =>
  /[([][^)\]]*$|\d\s?(?:[-–—]|to)$|^(?:less|greater|more) than$|^[<>≤≥]$/u.test(text)

export interface Writer {
  page: number
  columns: readonly TableColumn[]
  isName: (column: TableColumn) => boolean
  isRange: (column: TableColumn) => boolean
  /** The column of upper bounds next to one of lower bounds. */
  upperOf: (column: TableColumn) => TableColumn | undefined
  /** Whether the second line of a name is one of its own in most rows. */
  isSystematic: boolean
  /** Whether several names have a specimen or a method below them: a specimen there is not part of these names. */
  hasSpecimens: boolean
  /** Whether a text is, word for word, the name of something that laboratories measure. */
  isNamed: (name: string) => boolean
}

const inOrder = (runs: readonly Run[]): Run[] => runs.toSorted((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)

/** What names a column; empty if nothing does. */
export const nameOfColumn = ({ names }: TableColumn): string => (names.length ? cellOfRuns(inOrder(names)).text : '')

/** What names columns in the page before, as wide as the texts below it reached there. */
export const continuedNames = (columns: readonly TableColumn[]): Run[] =>
  columns.flatMap(({ names, left, right }) => {
    if (!names.length) return []
    const { words, box } = cellOfRuns(inOrder(names))
    return [{ words, box: { ...box, left, right } }]
  })

/** The line that names the columns; two columns of bounds are one of ranges. */
export function headerLine(page: number, columns: readonly TableColumn[], upperOf: Writer['upperOf']): Line {
  const uppers = new Set(columns.flatMap((column) => upperOf(column) ?? []))
  return toLine(
    page,
    columns.flatMap((column): Cell[] => {
      if (!column.names.length || uppers.has(column)) return []
      const upper = upperOf(column)
      const cell = cellOfRuns(inOrder([...column.names, ...(upper?.names ?? [])]))
      if (!upper) return [{ ...cell, band: column.band }]
      return [{ ...cell, text: 'Reference range', words: cell.words, band: { left: column.band.left, right: upper.band.right } }]
    }),
  )
}

/** A row as a line, and below it the lines of names and ranges that stand for themselves. */
export function linesOfRow({ parts }: TableRow, writer: Writer): Line[] {
  const lines: Cell[][] = []
  const uppers = new Set<TableColumn>()
  for (const column of writer.columns) {
    if (uppers.has(column)) continue
    const own = parts.filter((part) => part.column === column)
    const upper = writer.upperOf(column)
    if (upper) {
      uppers.add(upper)
      const range = rangeOfBounds(
        own,
        parts.filter((part) => part.column === upper),
      )
      if (range) (lines[0] ??= []).push({ ...range, band: { left: column.band.left, right: upper.band.right } })
    } else if (own.length)
      for (const [index, segment] of cellsOfColumn(own, column, writer).entries())
        (lines[index] ??= []).push({
          ...segment,
          band: column.band,
          ...(index > 0 && writer.isName(column) && { isBelowName: true }),
        })
  }
  for (const { run, column } of parts) {
    if (column.detailsOf === 'result') (lines[0] ??= []).push({ ...cellOf(run.words), isDetail: true })
    if (column.detailsOf === 'note')
      lines.push([{ ...cellOf(run.words), band: writer.columns.find(writer.isName)!.band, isBelowName: true }])
  }
  return lines.flatMap((cells) => (cells ? [toLine(writer.page, cells)] : []))
}

/** The bounds of two columns as a range. */
function rangeOfBounds(lower: readonly Part[], upper: readonly Part[]): Cell | undefined {
  const [low, high] = [lower, upper].map((parts) => (parts.length ? cellOfRuns(inOrder(parts.map(({ run }) => run))) : undefined))
  const sign = (text: string, { words: [first], box }: Cell): Word => ({ ...first!, text, box: { ...box, right: box.left } })
  const isText = (cell: Cell | undefined) => cell !== undefined && !/^\d/u.test(cell.text)
  if (isText(low) || isText(high)) return low && high ? cellOf([...low.words, ...high.words]) : (low ?? high)
  if (low && high) return cellOf([...low.words, sign('-', high), ...high.words])
  if (low) return cellOf([sign('>=', low), ...low.words])
  return high && cellOf([sign('<=', high), ...high.words])
}

function cellsOfColumn(parts: readonly Part[], column: TableColumn, writer: Writer): Cell[] {
  const all = inOrder(parts.map(({ run }) => run))
  if (!writer.isName(column) && !writer.isRange(column)) return [cellOfRuns(all)]
  const segments = segmentsOf(parts).flatMap((segment) => (writer.isName(column) ? splitNote(segment, writer) : [segment]))
  if (writer.isRange(column)) return segments.map(cellOfRuns)
  const cells: Run[][] = []
  for (const segment of segments) {
    const lastCell = cells.at(-1)
    if (!lastCell || standsAlone(lastCell, segment, writer)) cells.push([...segment])
    else lastCell.push(...segment)
  }
  return cells.map(cellOfRuns)
}

/**
 * A name and the specimen or method below it, which in a narrow column looks like its last word. `Blood` is part of `Fecal Occult Blood`, and
 * `Calculated` of `LDL Cholesterol, Calculated`.
 */
function splitNote(segment: Run[], { isNamed, hasSpecimens }: Writer): Run[][] {
  const index = segment.findIndex((run, i) => {
    const [name, text] = [i > 0 ? cellOfRuns(segment.slice(0, i)).text : '', textOf(run)]
    const isOne = (hasSpecimens && namesSpecimen(text)) || (isMethod(text) && !/calculated/iu.test(text))
    return isOne && !goesOn(name) && isNamed(name)
  })
  return index < 0 ? [segment] : [segment.slice(0, index), segment.slice(index)]
}

/** Whether a line below a name is not part of it: a note, or nothing that makes a longer name of a name. */
function standsAlone(runsAbove: readonly Run[], segment: readonly Run[], { isSystematic, isNamed }: Writer): boolean {
  const [first, next] = [runsAbove[0]!, segment[0]!]
  const [name, text] = [cellOfRuns(runsAbove).text, textOf(next)]
  if (isSmaller(next, first) || isNote(text) || isTitleOfNote(text)) return true
  if (joinsName(name, text, isNamed) || isNamed(cellOfRuns([...runsAbove, ...segment]).text)) return false
  return isSystematic || isNamed(name)
}

/** Whether a text has smaller letters, as notes have. */
export function isSmaller(note: Run, { box }: Run): boolean {
  const share = note.words[0]!.font === undefined ? tolerances.NOTE_HEIGHT_IN_PICTURE : tolerances.NOTE_HEIGHT
  return heightOf(note.box) < heightOf(box) * share
}

/** The lines of a cell that had no room in one. */
export function segmentsOf(parts: readonly Part[]): Run[][] {
  const segments: Run[][] = []
  for (const { run, column } of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = segments.at(-1)?.at(-1)
    if (last && isBroken(last, run, column)) segments.at(-1)!.push(run)
    else segments.push([run])
  }
  return segments
}

/** The lines of a cell as one text; a word that was parted at a hyphen or slash is one again. */
export function cellOfRuns(runs: readonly Run[]): Cell {
  const words: Word[] = []
  for (const run of runs)
    for (const [index, word] of run.words.entries()) {
      const last = words.at(-1)
      if (last && index === 0 && /[\p{L}\p{N})][-–/]$/u.test(last.text))
        words[words.length - 1] = {
          ...last,
          text: last.text + word.text,
          box: boxAround([last.box, word.box]),
          confidence: Math.min(last.confidence, word.confidence),
        }
      else words.push(word)
    }
  return cellOf(words)
}
