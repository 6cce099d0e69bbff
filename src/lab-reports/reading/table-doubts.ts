// What the rows of a table show together: lost cells, missing flags, results that are in the rows of others.
import { statementOfFlag } from '../../lab-values/interpret.ts'
import { flagOf, numberOf } from '../../lab-values/values.ts'
import type { MetadataPlaces } from '../heading/metadata.ts'
import { areInLine, type Box, centerY, heightOf, overlapX, type PageText, widthOf, type Word } from '../pages/page.ts'
import type { Cell, Line } from '../tables/table-cells.ts'
import type { Column, ColumnKind } from '../tables/headers.ts'
import { nearestColumn, regionsOfPages } from '../tables/regions.ts'
import { KINDS_WITHOUT_RANGES, isRange } from '../tables/table-columns.ts'
import type { ReadRowsOptions, Row } from '../tables/row-parts.ts'
import type { ReadingFinding, RowFinding } from './finding.ts'
import type { ReportResult } from './result.ts'

/** What was read of a report. */
export interface Reading {
  pages: readonly { page: PageText; lines: readonly Line[] }[]
  rows: readonly Row[]
  /** In the order of the rows. */
  results: readonly ReportResult[]
  /** Before they are turned to the page as it is drawn. */
  places: MetadataPlaces
}

/** Rows of one table, with its columns. */
export interface TableOfRows {
  page: PageText
  columns: Column[] | null
  lines: readonly Line[]
  /** Indexes. */
  rows: number[]
}

/** Each row in the table in whose lines it stands. */
export function tablesOf({ pages, rows }: Pick<Reading, 'pages' | 'rows'>): TableOfRows[] {
  const tables = [...regionsOfPages(pages)].map(({ page, region }): TableOfRows => ({ page, ...region, rows: [] }))
  for (const [index, row] of rows.entries()) {
    const middle = centerY(row.value_box)
    // Next to a table may stand another one, or particulars.
    const isWithin = ({ box }: Line) => box.top <= middle && middle <= box.bottom && overlapX(box, row.value_box) > 0
    const own = tables.find(({ page, lines }) => page.number === row.page && lines.some(isWithin))
    own?.rows.push(index)
  }
  return tables
}

export function tableDoubts(reading: Reading, names: Names): RowFinding[] {
  const tables = tablesOf(reading)
  return [
    ...tables.flatMap((table) => [
      ...lostCells(table, reading),
      ...strayRanges(table, reading),
      ...missingFlags(table, reading),
      ...strayStatuses(table, reading),
    ]),
    ...unknownNames(tables, reading, names),
    ...namesInPanels(reading, names),
    ...starredFlags(tables, reading),
  ]
}

type Names = Pick<ReadRowsOptions, 'isNamed'>

const UNKNOWN: ReadingFinding = {
  kind: 'name_is_unknown',
  text: 'The row stands outside of the tables of the report, has no range, and laboratories know no test of its name.',
}

const NO_RESULT: ReadingFinding = {
  kind: 'name_is_unknown',
  text: 'The row has no range and stands under a heading of medicines or vital signs: it may be no result of a laboratory.',
}
const OF_NO_LABORATORY =
  /^(?:(?:current|home|active|regular|your|patient'?s?)\s)?(?:medications?|medicines?|meds|prescriptions?|supplements?|drug history|vitals?(?: signs)?)(?:\s(?:list|history|taken))?:?$/iu

/** So many of the rows under a heading, and such a share: if they are known tests, the others are tests as well. */
const [NAMED_MIN, NAMED_SHARE] = [4, 0.7]

/** Rows of lines outside the tables of a report, which may say something else than a result. */
function unknownNames(tables: readonly TableOfRows[], { rows }: Reading, { isNamed }: Names): RowFinding[] {
  const hasTables = tables.some((table) => table.columns && table.rows.length > 0)
  const outside = tables.filter(({ columns }) => !columns).flatMap((table) => table.rows)
  // `Sediment` in a list of urine tests that are known.
  const panels = Map.groupBy(outside, (index) => rows[index]!.panel)
  const namedPanels = [...panels].flatMap(([panel, own]) => {
    const named = own.filter((index) => isNamed(rows[index]!.name))
    return named.length >= NAMED_MIN && named.length >= own.length * NAMED_SHARE ? [panel] : []
  })
  return outside.flatMap((row): RowFinding[] => {
    const { range_lines, name, panel } = rows[row]!
    if (range_lines.length) return []
    if (panel !== null && OF_NO_LABORATORY.test(panel)) return [{ row, finding: NO_RESULT }]
    if (panel !== null && namedPanels.includes(panel)) return []
    return hasTables && !isNamed(name) ? [{ row, finding: UNKNOWN }] : []
  })
}

const GOES_ON: ReadingFinding = {
  kind: 'name_is_incomplete',
  text: 'The name is known with the heading of the rows below: it may go on there.',
}

/** Rows whose name goes on in what was read as the heading of the next rows: `Alkaline` at the end of a page, `Phosphatase` on the next one. */
function namesInPanels({ rows }: Reading, { isNamed }: Names): RowFinding[] {
  return rows.flatMap(({ name, panel }, row): RowFinding[] => {
    const next = rows[row + 1]?.panel
    return next && next !== panel && !isNamed(name) && isNamed(`${name} ${next}`) ? [{ row, finding: GOES_ON }] : []
  })
}

const STARRED: ReadingFinding = {
  kind: 'flag_is_not_understood',
  text: 'The flag has a star that other flags of this report do not have: the result may be critical.',
}

/** `H*` in a report that has `H` as well. */
function starredFlags(tables: readonly TableOfRows[], { rows }: Reading): RowFinding[] {
  const flagged = tables.flatMap(({ page, rows: own }) =>
    own.map((row) => ({
      row,
      texts: page.words.filter(({ box }) => areInLine(box, rows[row]!.box)).map(({ text }) => text),
    })),
  )
  if (!flagged.some(({ texts }) => texts.some((text) => /^[HL]$/u.test(text)))) return []
  return flagged
    .filter(({ row, texts }) => rows[row]!.flag !== null && texts.some((text) => /^(?:[HL]\*|\*[HL])$/u.test(text)))
    .map(({ row }) => ({ row, finding: STARRED }))
}

/** What shows that columns were misread. */
const OF_COLUMNS = new Set<ReadingFinding['kind']>([
  'unit_is_no_unit',
  'range_is_not_understood',
  'range_is_missing',
  'column_is_empty',
  'text_not_read',
])
/** Share of the rows of a table: if more are doubtful, its columns may be misread. */
const DOUBTFUL = 0.5

/** The other rows of tables of which most are doubtful. `findings`: in the order of the rows. */
export function doubtfulTables(reading: Reading, findings: readonly ReadingFinding[][]): RowFinding[] {
  const finding: ReadingFinding = { kind: 'table_is_doubtful', text: 'Most rows of this table are doubtful.' }
  return tablesOf(reading).flatMap(({ rows }) => {
    const doubtful = rows.filter((row) => findings[row]!.some(({ kind }) => OF_COLUMNS.has(kind)))
    if (doubtful.length < 3 || doubtful.length < rows.length * DOUBTFUL) return []
    return rows.filter((row) => !findings[row]!.length).map((row) => ({ row, finding }))
  })
}

/** What shows that the range of a row was lost or cut. */
const OF_RANGES = new Set<ReadingFinding['kind']>(['range_is_not_understood', 'range_is_missing'])
const NEXT_TO_LOST: ReadingFinding = {
  kind: 'range_is_doubtful',
  text: 'The range of the row above or below was lost or cut: this range may be that of another row.',
}

/** `200`: a bound whose sign was not read. It stands in its row. */
const isBoundAlone = (range: string): boolean => /^\d[\d.,]*$/u.test(range)

/** Rows of pictures above and below one whose range was lost, where others are lost as well: ranges may have moved. */
export function movedRanges(reading: Reading, findings: readonly ReadingFinding[][]): RowFinding[] {
  return tablesOf(reading).flatMap(({ page, rows: own }) => {
    const isLost = (row: number | undefined) =>
      row !== undefined &&
      findings[row]!.some(({ kind }) => OF_RANGES.has(kind)) &&
      !isBoundAlone(reading.rows[row]!.range_lines.join(' '))
    if (page.source !== 'ocr' || own.filter(isLost).length < 2) return []
    return own.flatMap((row, index) =>
      !isLost(row) && reading.rows[row]!.range_lines.length > 0 && (isLost(own[index - 1]) || isLost(own[index + 1]))
        ? [{ row, finding: NEXT_TO_LOST }]
        : [],
    )
  })
}

/** Quantities without a unit. */
const UNITLESS = /\b(?:ph|gravity|ratio|inr|index|titre|titer|score)\b|\//iu

/** Share of the numeric rows of a table: fewer rows without a range are not a lost column. */
const MOST = 0.5

const EMPTY: ReadingFinding = { kind: 'column_is_empty', text: 'Nothing was read in a column that the table names.' }
const MISSING: ReadingFinding = {
  kind: 'range_is_missing',
  text: 'Most rows of this table have no range, although it has a column of ranges.',
}

const LOST_RANGE: ReadingFinding = { kind: 'range_is_missing', text: 'Other rows of this table have a range, this one has none.' }

/** Multiple of the height of its result: a row that is higher has several lines. */
const LINE_HEIGHT_MAX = 1.8
const isOneLine = ({ box, value_box }: Row): boolean => heightOf(box) < heightOf(value_box) * LINE_HEIGHT_MAX

/** Whether the line of a row goes on behind its result and unit: with ink, or with words that may be its range. */
function hasMoreBehind({ box: row, value_box, unit }: Row, { ink = [], words }: PageText): boolean {
  const isMore = ({ text, box }: Word) => box.left >= value_box.right && !unit?.includes(text) && flagOf(text) === undefined
  return (
    ink.some((box) => areInLine(row, box) && box.left > row.right) ||
    words.some((word) => areInLine(row, word.box) && isMore(word))
  )
}

/** `No normal range available`, `Reference range not established` */
const NO_RANGE = /^no (?:\w+ )?range|range not (?:available|established|defined|provided)/iu

/** Whether the line below a row says that its test has no range. */
function saysNoRange({ box: row, value_box: value }: Row, { words }: PageText): boolean {
  const end = row.bottom + heightOf(value) * LINE_HEIGHT_MAX
  const below = words.filter(({ box }) => overlapX(box, row) > 0 && centerY(box) > row.bottom - 1 && centerY(box) < end)
  const texts = below.toSorted((a, b) => a.box.left - b.box.left).map(({ text }) => text)
  return NO_RANGE.test(texts.join(' '))
}

/** Numeric rows without what a column of the table is for. */
function lostCells({ page, columns, rows: own }: TableOfRows, { rows }: Reading): RowFinding[] {
  // Of two results in a line the second may have the range, as counts behind percentages do.
  const hasOtherRange = (row: Row) =>
    own.some((index) => {
      const { range_lines: ranges, box, name, value_box: value } = rows[index]!
      return ranges.length > 0 && name === row.name && areInLine(box, row.box) && value.left > row.value_box.right
    })
  const isNumeric = (row: Row) => numberOf(row.value) !== undefined && (row.range_lines.length > 0 || !hasOtherRange(row))
  const numeric = own.filter((index) => isNumeric(rows[index]!))
  if (numeric.length < 2) return []
  if (!columns) {
    // Cards of a picture: a single range may be lost, or taken for that of another card.
    const lost = numeric.filter((index) => !rows[index]!.range_lines.length && !saysNoRange(rows[index]!, page))
    const isLoss = page.source === 'ocr' && lost.length < numeric.length * MOST
    // Where ranges stand at the end of lines, nothing is lost behind a line that has no ink there.
    const areLines = page.ink?.length && numeric.every((index) => isOneLine(rows[index]!))
    const isLost = (row: number) => !areLines || hasMoreBehind(rows[row]!, page)
    return isLoss ? lost.filter(isLost).map((row) => ({ row, finding: LOST_RANGE })) : []
  }
  const has = (kind: ColumnKind) => columns.some((column) => column.kind === kind)
  const without = (empty: (row: Row) => boolean) => numeric.filter((index) => empty(rows[index]!))
  const [noRange, noUnit] = [
    without(({ range_lines }) => !range_lines.length),
    without(({ unit, name }) => unit === null && !UNITLESS.test(name)),
  ]
  const found: RowFinding[] = []
  if (has('range') && noRange.length > numeric.length * MOST) {
    const finding = wordsUnder('range', columns, page, rows, own).length ? MISSING : EMPTY
    // Where most results are words, as those of urine, the others may have no range.
    if (finding === MISSING || numeric.length >= own.length * MOST) found.push(...noRange.map((row) => ({ row, finding })))
  }
  // In a picture a single range may be lost.
  else if (page.source === 'ocr' && has('range'))
    found.push(
      ...noRange
        .filter((row) => !page.ink?.length || hasInkUnder('range', columns, page, rows[row]!))
        .map((row) => ({ row, finding: LOST_RANGE })),
    )
  if (has('unit') && noUnit.length > 1 && numeric.every((index) => rows[index]!.unit === null))
    found.push(...noUnit.map((row) => ({ row, finding: EMPTY })))
  return found
}

const STRAY_RANGE: ReadingFinding = {
  kind: 'range_is_not_understood',
  text: 'What looks like the range stands in a column that holds no ranges.',
}

/** Numeric rows without a range whose line has one in the column of comments, methods, or the like. */
function strayRanges({ columns, lines, rows: own }: TableOfRows, { rows }: Reading): RowFinding[] {
  if (!columns) return []
  const isStray = ({ text, box }: Cell) => KINDS_WITHOUT_RANGES.has(nearestColumn(box, columns)?.kind) && isRange(text)
  return own.flatMap((row) => {
    const { range_lines: ranges, value, box } = rows[row]!
    if (ranges.length || numberOf(value) === undefined) return []
    const cells = lines.filter((line) => areInLine(line.box, box)).flatMap((line) => line.cells)
    return cells.some(isStray) ? [{ row, finding: STRAY_RANGE }] : []
  })
}

/** Share of the width of ink that is a unit: with a range in front of it a unit covers less. */
const OF_UNIT = 0.6

/** Whether the picture of a page has ink in the line of a row where the cells of a column stand, other than the unit of the row. */
function hasInkUnder(
  kind: ColumnKind,
  columns: readonly Column[],
  { ink = [], words }: PageText,
  { box: row, unit }: Row,
): boolean {
  const ofUnit = words.filter(({ text, box }) => unit?.split(' ').includes(text) && areInLine(row, box))
  const isUnit = (box: Box) =>
    ofUnit.reduce((sum, word) => sum + Math.max(0, overlapX(word.box, box)), 0) >= widthOf(box) * OF_UNIT
  return ink.some((box) => areInLine(row, box) && nearestColumn(box, columns)?.kind === kind && !isUnit(box))
}

const STATUS: ReadingFinding = {
  kind: 'value_is_no_result',
  text: 'What was read as the result stands apart from all other results: it may say what was done about the report.',
}

/** Rows of lines with nothing but `Satisfactory` or `Normal`, behind where each of the other results ends. */
function strayStatuses({ columns, rows: own }: TableOfRows, { rows }: Reading): RowFinding[] {
  if (columns) return []
  const isStatus = (index: number) => {
    const { value, unit, range_lines: ranges } = rows[index]!
    return unit === null && !ranges.length && /^(?:un)?satisfactory$|^(?:ab)?normal$|^borderline$/iu.test(value)
  }
  const others = own.filter((index) => !isStatus(index))
  const end = Math.max(...others.map((index) => rows[index]!.value_box.right))
  return others.length < 2
    ? []
    : own.filter((index) => isStatus(index) && rows[index]!.value_box.left > end).map((row) => ({ row, finding: STATUS }))
}

function wordsUnder(
  kind: ColumnKind,
  columns: readonly Column[],
  page: PageText,
  rows: readonly Row[],
  rowIndexes: readonly number[],
): Word[] {
  const boxes = rowIndexes.map((index) => rows[index]!.box)
  return page.words.filter(
    ({ box }) =>
      boxes.some(({ top, bottom }) => top <= centerY(box) && centerY(box) <= bottom) &&
      nearestColumn(box, columns)?.kind === kind,
  )
}

const NO_FLAG: ReadingFinding = {
  kind: 'flag_is_missing',
  text: 'The value is outside of the range that was read, and other such rows have a flag, but this one has none.',
}

/** Whether words are expected of a result. */
const isOfWords = ({ basis }: ReportResult): boolean => (basis?.range?.word ?? null) !== null

/** `Equivocal`: neither what is expected nor its opposite, and no flag says it. */
const isBetween = ({ value, interpretation }: ReportResult): boolean =>
  interpretation === 'unknown' && /^(?:equivocal|indeterminate|inconclusive|borderline)$/iu.test(value)

/** Rows outside of their range without a flag, where most others have one. */
function missingFlags({ page, rows: own, lines, columns }: TableOfRows, { rows, results }: Reading): RowFinding[] {
  const isOutside = ({ is_above_max_range, is_below_min_range }: ReportResult) =>
    is_above_max_range === true || is_below_min_range === true
  const outside = own.filter((index) => isOutside(results[index]!))
  // A dash in the column of flags says that there is none, or that a result is low: then no other row has one.
  const isDash = ({ text, box }: Cell) => text === '-' && columns !== null && nearestColumn(box, columns)?.kind === 'flag'
  const dashed = own.filter((index) => lines.some(({ box, cells }) => areInLine(box, rows[index]!.box) && cells.some(isDash)))
  const lowRows = dashed.every((index) => results[index]!.is_below_min_range === true) ? dashed : []
  const flaggedWords = own.filter(
    (index) => isOfWords(results[index]!) && statementOfFlag(rows[index]!.flag) === 'abnormal' && !outside.includes(index),
  )
  const unflaggedOutside = outside.filter((index) => rows[index]!.flag === null && !lowRows.includes(index))
  const unflagged = [
    ...unflaggedOutside,
    // `Equivocal` where `Immune` is expected: a flag that was not seen decides it.
    ...own.filter((index) => page.source === 'ocr' && isOfWords(results[index]!) && isBetween(results[index]!)),
  ]
  const hasNormalFlags = own.some((index) => rows[index]!.flag === 'normal')
  // `Positive` for `Negative` without a flag shows that not all have one.
  const unflaggedWords = own.filter(
    (index) => isOfWords(results[index]!) && results[index]!.interpretation === 'abnormal' && rows[index]!.flag === null,
  )
  const flaggedCount = outside.length - unflaggedOutside.length + flaggedWords.length
  const unflaggedCount = unflagged.length + unflaggedWords.length
  if (unflagged.length === 0 || (flaggedCount < unflaggedCount && !hasNormalFlags)) return []
  return unflagged.map((row) => ({ row, finding: NO_FLAG }))
}

/** What shows that a result, its unit or its range is that of another test. */
const OF_OTHER_ROWS: ReadonlySet<string> = new Set([
  'outside_human_limits',
  'unit_does_not_fit',
  'contradicts_parts',
  'range_is_not_understood',
  'flag_contradicts_range',
])
/** Number and share of the results of a page: if as many do not fit their names, no row of it is certain. */
const [ROWS_MIN, ROWS_SHARE] = [3, 0.2]

const MOVED: ReadingFinding = {
  kind: 'table_is_doubtful',
  text: 'Several results of this page do not fit their names: results may be in the rows of others.',
}

/** Results with a finding where they stand on the picture of a page whose results may have moved. @param pictures numbers of such pages */
export function withMovedRows(results: readonly ReportResult[], pictures: ReadonlySet<number>): ReportResult[] {
  const isOdd = ({ findings, basis }: ReportResult) =>
    findings.some(
      ({ kind }) => OF_OTHER_ROWS.has(kind) && !(kind === 'range_is_not_understood' && isBoundAlone(basis?.range?.text ?? '')),
    )
  const moved = [...pictures].filter((page) => {
    const own = results.filter(({ place }) => place.page === page)
    const odd = own.filter(isOdd).length
    return odd >= ROWS_MIN && odd >= own.length * ROWS_SHARE
  })
  return results.map((result) =>
    moved.includes(result.place.page) && !result.findings.length ? { ...result, findings: [MOVED] } : result,
  )
}
