// The rows of a table, by what is drawn between them, else by whitespace and overlap.
import { valueKind } from '../../lab-values/values.ts'
import { areInLine, type Box, centerY, heightOf, overlapY } from '../pages/page.ts'
import { columnKind } from './headers.ts'
import { isPanelTitle, isStage } from './row-parts.ts'
import { type Run, textOf } from './runs.ts'
import { isMethod, namesSpecimen } from './statements.ts'
import type { TableColumn, TableOfRuns } from './table-columns.ts'
import {
  type Part,
  type TableRow,
  isBroken,
  isNote,
  isNoteBelow,
  goesOn,
  inOrder,
  isSmaller,
  isUnfinished,
  segmentsOf,
  cellOfRuns,
} from './cell-runs.ts'
import * as tolerances from './tolerances.ts'

/** Lines of results in one drawn row: more are rows that nothing parts. */
const RESULTS_MAX = 3

/** Fewer texts in brackets below rows may be parts of names. */
const METHODS_MIN = 3

export interface RowsOptions {
  /** Heights at which something is drawn between rows. */
  separators: readonly number[]
  /** The columns of results, and of names. */
  isResult: (column: TableColumn) => boolean
  isName: (column: TableColumn) => boolean
  /** Whether a text is, word for word, the name of something that laboratories measure. */
  isNamed: (name: string) => boolean
  isPicture: boolean
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
        ? { ruled: joinNearBands(createBands(parts, options), options) }
        : { bands: createBands(parts, options).flatMap((band) => (options.isPicture ? splitBand(band, options) : [band])) },
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
function createBands(parts: readonly Part[], { isPicture }: RowsOptions): TableRow[] {
  const bands: TableRow[] = []
  for (const part of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = bands.at(-1)
    const { box } = part.run
    // In a slanted picture a range reaches into the row above; below a range of that row it is that of the next one.
    const isBelow = isPicture && last?.parts.some(({ column, run }) => column === part.column && run.box.bottom <= box.top)
    const least = isBelow ? tolerances.SLANTED_ROW_OVERLAP : tolerances.ROW_OVERLAP
    const overlaps = (boxInBand: Box) => overlapY(boxInBand, box) > Math.min(heightOf(boxInBand), heightOf(box)) * least
    if (last && last.parts.some(({ run }) => overlaps(run.box))) bands[bands.length - 1] = rowOf([...last.parts, part])
    else bands.push(rowOf([part]))
  }
  return bands
}

/**
 * The rows of a band that has as many names as numbers: in a slanted picture ranges stand halfway between their row and the next one. What a column
 * has for each of them follows their order, other texts belong to the nearest number.
 */
function splitBand(band: TableRow, options: RowsOptions): TableRow[] {
  const linesIn = (isOwn: (column: TableColumn) => boolean) => linesOfParts(band.parts.filter(({ column }) => isOwn(column)))
  const [names, numbers] = [linesIn(options.isName), linesIn(options.isResult)]
  const areNames = names.every(
    (line, index) =>
      /^\p{L}/u.test(cellTextOf(line)) &&
      (index === names.length - 1 || !(goesOn(cellTextOf(line)) || isUnfinished(cellTextOf(line)))) &&
      (index === 0 || !isNoteBelow(cellTextOf(names[index - 1]!), cellTextOf(line))),
  )
  const areNumbers = numbers.every(([first]) => BEGINS_WITH_NUMBER.test(textOf(first!.run)))
  if (numbers.length < 2 || names.length !== numbers.length || !areNames || !areNumbers) return [band]
  const heights = numbers.map(([first]) => centerY(first!.run.box))
  const nearest = (y: number) =>
    heights.reduce((best, height, index) => (Math.abs(height - y) < Math.abs(heights[best]! - y) ? index : best), 0)
  const rows = heights.map((): Part[] => [])
  for (const parts of Map.groupBy(band.parts, ({ column }) => column).values()) {
    const lines = linesOfParts(parts)
    for (const [index, line] of lines.entries())
      rows[lines.length === rows.length ? index : nearest(centerY(line[0]!.run.box))]!.push(...line)
  }
  return rows.map(rowOf)
}

/** Parts by the lines in which they stand, from top to bottom. */
function linesOfParts(parts: readonly Part[]): Part[][] {
  const lines: Part[][] = []
  for (const part of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = lines.at(-1)
    if (last && areInLine(last[0]!.run.box, part.run.box)) last.push(part)
    else lines.push([part])
  }
  return lines
}

/** `Hematocrit 01`: a known name, also with the number of a laboratory. */
const isNameWithMark = (text: string, { isNamed }: RowsOptions): boolean =>
  isNamed(text) || isNamed(text.replace(/\s?[oO0°]\d$/u, ''))

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
      // A known name next to a number does not go on from a note on the row above.
      !partsContinued(rowAbove, band).some(({ column, run }) => options.isName(column) && !isNameWithMark(textOf(run), options))
    const isHeadingAbove =
      rowAbove &&
      (isHeading(rowAbove, band, options) || isHeadingInPicture(rowAbove, band, options)) &&
      !isNameAbove(rowAbove, band, options)
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

/**
 * Whether a row of a picture has the name of a test by itself, and none together with the text above it: `Bone profile` above `Calcium`.
 * Rules between them may not be seen.
 */
function isHeadingInPicture(upper: TableRow, lower: TableRow, options: RowsOptions): boolean {
  const nameIn = ({ parts }: TableRow) => cellTextOf(parts.filter(({ column }) => options.isName(column)))
  const [above, below] = [nameIn(upper), nameIn(lower)]
  return (
    options.isPicture &&
    above !== '' &&
    !isWhole(upper, options) &&
    isWhole(lower, options) &&
    !goesOn(above) &&
    !isUnfinished(above) &&
    options.isNamed(below) &&
    (isPanelTitle(above) || !options.isNamed(`${above} ${below}`))
  )
}

const cellTextOf = (parts: readonly Part[]): string => (parts.length ? cellOfRuns(inOrder(parts.map(({ run }) => run))).text : '')

const BEGINS_WITH_NUMBER = /^[<>≤≥]?\s?\d/u

/** Whether a row has a number as its result. */
const hasNumber = ({ parts }: TableRow, { isResult }: RowsOptions): boolean =>
  parts.some(({ column, run }) => isResult(column) && BEGINS_WITH_NUMBER.test(textOf(run)))

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
  const notes = new Set(options.isPicture ? methodsInBrackets(bands, options) : [])
  for (const [index, band] of bands.entries()) {
    const rowAbove = rows.at(-1)
    const isJoined =
      rowAbove &&
      !isHeadingInPicture(rowAbove, band, options) &&
      ((isClose(rowAbove, band, gaps) && isNearer(rows, bands, index, options) && continues(rowAbove, band, options)) ||
        isNameAbove(rowAbove, band, options) ||
        isNameBegun(rowAbove, band, options) ||
        isNameContinued(rowAbove, band, { next: bands[index + 1], gaps, options }) ||
        isResultBegun(rowAbove, band, options) ||
        isRangeAbove(rows, band, options) ||
        isSpecimenBelow(rowAbove, band, { next: bands[index + 1], gaps, options }))
    if (isJoined && !notes.has(band)) rows[rows.length - 1] = rowOf([...rowAbove.parts, ...band.parts])
    else rows.push(band)
  }
  return joinBegunNames(rows, options)
}

/** `(Urease UV)`: texts in brackets alone below rows, where a table has one below most of them; in a picture their letters do not show it. */
function methodsInBrackets(bands: readonly TableRow[], options: RowsOptions): TableRow[] {
  const rowsWithResult = bands.filter((band) => isWhole(band, options))
  const notes = bands.filter(({ parts }) => {
    const text = parts.length === 1 && options.isName(parts[0]!.column) ? textOf(parts[0]!.run) : ''
    return /^\([^()]+\)$/u.test(text) && !options.isNamed(text.slice(1, -1))
  })
  return notes.length >= METHODS_MIN && notes.length * 2 >= rowsWithResult.length ? notes : []
}

/** Joins the first line of a name to its row, whose own lines (a day and its time) had to be joined first. */
function joinBegunNames(rows: readonly TableRow[], options: RowsOptions): TableRow[] {
  const joined: TableRow[] = []
  for (const row of rows) {
    const rowAbove = joined.at(-1)
    if (rowAbove && isNameBegun(rowAbove, row, options) && !isHeadingInPicture(rowAbove, row, options))
      joined[joined.length - 1] = rowOf([...rowAbove.parts, ...row.parts])
    else joined.push(row)
  }
  return joined
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
  const first = upper.parts.filter(({ column }) => options.isName(column)).at(-1)
  const rest = inOrder(lower.parts.filter(({ column }) => options.isName(column)).map(({ run }) => run))[0]
  // A day may stand above its time.
  const goesOnBelow = ({ column }: Part) => !options.isResult(column) && lower.parts.some((part) => part.column === column)
  return (
    first !== undefined &&
    rest !== undefined &&
    upper.parts.every(goesOnBelow) &&
    (/,$|[([][^)\]]*$/u.test(textOf(first.run)) ||
      /^[(,]/u.test(textOf(rest)) ||
      (options.isPicture &&
        /^\p{L}/u.test(textOf(first.run)) &&
        !isNote(textOf(first.run)) &&
        !isStage(textOf(first.run)) &&
        !options.isNamed(textOf(first.run)) &&
        isRestOfName(textOf(first.run), textOf(rest), options))) &&
    isWhole(lower, options) &&
    isNear(upper, lower)
  )
}

/**
 * Whether nothing but the rest of its name stands below a row: `(ALP)` below `Alkaline Phosphatase`, `Aminotransferase` below `Alanine`. In a
 * picture the gaps of lines and rows are too uneven to tell it.
 */
function isNameContinued(
  upper: TableRow,
  lower: TableRow,
  { next, gaps, options }: { next: TableRow | undefined; gaps: Gaps; options: RowsOptions },
): boolean {
  const isOfName = ({ column }: Part) => options.isName(column)
  const runsAbove = inOrder(upper.parts.filter(isOfName).map(({ run }) => run))
  if (!runsAbove.length || !lower.parts.every(isOfName) || !isWhole(upper, options) || !isNear(upper, lower)) return false
  const name = cellOfRuns(runsAbove).text
  const text = cellOfRuns(inOrder(lower.parts.map(({ run }) => run))).text
  const gap = lower.top - upper.bottom
  // As far below a row as rows are from each other.
  const isFar = gap > (gaps.rows ?? gaps.lines ?? 0) - tolerances.LINES_CLOSER
  // `Result:` is complete.
  if (name.endsWith(':') || (isFar && (isStage(text) || !options.isPicture))) return false
  const isOfNext =
    next !== undefined &&
    !goesOn(name) &&
    (next.top - lower.bottom <= gap - tolerances.LINES_CLOSER || isNameBegun(lower, next, options))
  return (
    !isOfNext && !isNoteBelow(name, text) && !isSmaller(lower.parts[0]!.run, runsAbove[0]!) && isRestOfName(name, text, options)
  )
}

const SHORT_FORM = /^\((?=(?:[^()]*\p{Lu}){2})[^()\s]+\)$/u

/** Whether a text is the short form of a name in brackets, or makes a longer known name of it and is not a name alone. */
function isRestOfName(name: string, text: string, { isNamed, isPicture }: RowsOptions): boolean {
  const isShortForm = (bracket: string) => SHORT_FORM.test(bracket) && isNamed(bracket.slice(1, -1))
  if (isShortForm(text)) return !name.includes('(')
  const wordsOf = (item: string): string[] => item.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const before = wordsOf(name)
  // Names are known without brackets: other texts in brackets must be part of the joined name.
  const joined = `${name} ${text}`.replaceAll(/\([^()]+\)/gu, (bracket) => (isShortForm(bracket) ? '' : bracket.slice(1, -1)))
  // `Vitamins` above `25-Hydroxyvitamin D` is a heading.
  const isRepeated = (word: string) =>
    before.some((wordOfName) => word === wordOfName || (wordOfName.length > 4 && word.includes(wordOfName.replace(/s$/u, ''))))
  // `Absolute` in front of `Basophil Count`: a name alone may be a heading.
  const isRest = !isNamed(text) || (isPicture && !isNamed(name) && columnKind(name) === undefined)
  return isRest && !wordsOf(text).some(isRepeated) && isNamed(joined)
}

/** Whether the result of a row begins with a word that says the opposite of the next line: `Non-` above `Reactive`, `Not` above `Detected`. */
function isResultBegun(upper: TableRow, lower: TableRow, { isResult }: RowsOptions): boolean {
  const resultsIn = ({ parts }: TableRow) => inOrder(parts.filter(({ column }) => isResult(column)).map(({ run }) => run))
  const [above, below] = [resultsIn(upper).at(-1), resultsIn(lower)[0]]
  return (
    above !== undefined &&
    below !== undefined &&
    /^(?:non-?|not)$/iu.test(textOf(above)) &&
    /^\p{L}/u.test(textOf(below)) &&
    isNear(upper, lower)
  )
}

/** `(Urease GLDH)` in smaller letters below `Urea`. */
const isMethodInBrackets = (note: Run, name: Run): boolean => isSmaller(note, name) && /^\([^()]*\)$/u.test(textOf(note))

const INTERVAL = /^\d[\d.,]*\s?[-–]\s?\d[\d.,]*$/u

/** Whether the first lines of a range stand above the line of the name, and nearer to it than to the row above. */
function isRangeAbove(rows: readonly TableRow[], lower: TableRow, { isName, isResult }: RowsOptions): boolean {
  const [rowBefore, upper] = [rows.at(-2), rows.at(-1)!]
  // `Diabetes: > 126` above `2.4 - 5.7`, which has no name: the range of another row.
  const isOther = ({ column, run }: Part) =>
    !isName(column) &&
    !isResult(column) &&
    /[\d<>≤≥:]|[-–]$/u.test(textOf(run)) &&
    lower.parts.some((part) => part.column === column && !(/\p{L}:/u.test(textOf(run)) && INTERVAL.test(textOf(part.run))))
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
    return isBrokenResult && !hasNumber(lower, options) && ![upper, lower].every((row) => isComplete(row, options))
  }
  const continuedParts = partsContinued(upper, lower)
  if (lower.parts.some(({ column, run }) => options.isName(column) && isNote(textOf(run)))) return false
  const [shorter] = [upper, lower].toSorted((a, b) => a.parts.length - b.parts.length)
  return continuedParts.length > 0 && shorter!.parts.every(({ column }) => continuedParts.some((part) => part.column === column))
}

/** Whether a row has a name that is known and a word that is a whole result: `Glucose  Negative`. */
function isComplete({ parts }: TableRow, { isName, isResult, isNamed }: RowsOptions): boolean {
  const textIn = (isOwn: (column: TableColumn) => boolean) => cellTextOf(parts.filter(({ column }) => isOwn(column)))
  return isNamed(textIn(isName)) && valueKind(textIn(isResult)) !== undefined && !/^(?:non-?|not)$/iu.test(textIn(isResult))
}

/** The texts of a row that go on from the row above because they had no room there. */
const partsContinued = (upper: TableRow, lower: TableRow): Part[] =>
  lower.parts.filter(({ column, run }) => {
    const last = upper.parts.filter((part) => part.column === column).at(-1)
    return last !== undefined && isBroken(last.run, run, column)
  })
