// Texts of tables that are in no result.
import { rangeOf } from '../../lab-values/ranges.ts'
import { flagOf, numberOf, valueKind } from '../../lab-values/values.ts'
import {
  areInLine,
  type Box,
  boxAround,
  boxesOverlap,
  heightOf,
  overlapX,
  overlapY,
  type PageText,
  widthOf,
  type Word,
} from '../pages/page.ts'
import { type Cell, type Line, splitCell, type TypedCell, withoutPrintedCodes } from '../tables/table-cells.ts'
import { type Column, columnKind, type ColumnKind, columnsOf, isStatus } from '../tables/headers.ts'
import { hasMisreadUnit } from '../tables/misread-units.ts'
import { isDescription, isEarlierResult } from '../tables/notes.ts'
import { nearestColumn } from '../tables/regions.ts'
import type { ReadRowsOptions, Row } from '../tables/row-parts.ts'
import { isMethod, statementsIn } from '../tables/statements.ts'
import { dateIn, withoutDay } from '../texts/dates.ts'
import { cleanName, isPossibleName, looksLikeSentence, namesPanel } from '../texts/names.ts'
import { drawnColumns } from './drawn-columns.ts'
import type { ReadingFinding, ReportFinding, RowFinding } from './finding.ts'
import { isSpecimen, type ReportResult, TIME } from './result.ts'
import { type Reading, type TableOfRows, tablesOf } from './table-doubts.ts'
import * as tolerances from '../tables/tolerances.ts'

const NOT_READ: ReadingFinding = { kind: 'text_not_read', text: 'Text in the line of this row is in none of its fields.' }
const BESIDE_LINE: ReadingFinding = {
  kind: 'line_without_row',
  text: 'A line above or below this row belongs to no row: a name, a value or a range may go on there.',
}

/** What is in them is not part of a result. */
const OTHER_COLUMNS = new Set<ColumnKind>([
  'previous',
  'comment',
  'other',
  'date',
  'dated_value',
  'flag',
  'method',
  'specimen',
  'laboratory',
])
const RESULTS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value'])
/** Multiple of the height of a line: a line that is further above the first row or below the last one belongs to no table. */
const REACH = 0.5
/** Multiple of the height of letters, of the line or of the row: a line between rows does not refer to rows further away, nor do bounds. */
const [NEIGHBOR, BOUNDS_NEIGHBOR] = [1.5, 2]
/** Multiple of the height of a line: the line refers to a row that is nearer by more. */
const NEARER = 0.4
/** Share of the height of results: what is lower is a speck or a rule. */
const SIGN_HEIGHT_MIN = 0.5
/** What so many rows of a table have is how it is printed: a label, a former result. */
const [USUAL_ROWS_MIN, USUAL_SHARE] = [3, 0.3]

const COMPARED = /^[<>≤≥]=?\d[\d.,:]*$/u

/** `1.`, `2)`, `2345-7`: a number or a LOINC code in front of a name. */
const NUMBERING = /^(?:\d{1,2}[.)]|\d{3,5}-\d)$/u

/**
 * `Cutoff=500`: from where on a drug is reported, and no bound of the result; `Optimal`: what a portal says of a result in its range; `H250116.0212`:
 * the number of a specimen.
 */
const NO_PART = /^(?:cut-?off[=:]?\d*|optimal|\p{L}{1,4}[-.]?\d{5,}[\d./-]*)$/iu

/** `38 169`: the range of the row above, whose dash was not seen. */
const BOUNDS = /^\d[\d.,]*\s?[-–~·]?\s?\d[\d.,]*$/u

/** `Reference: <90 mg/dL` */
const STATES_RANGE = /^(?:ref(?:erence)?|normal|optimal|standard|target|expected|desirable)\b.*\d/iu

/** `Resulting Agency CORE LAB`, `Not established`. */
const NOTE_ON_ROWS =
  /^(?:resulting|performing) (?:agency|lab(?:oratory)?)\b|^(?:reference range:? )?not (?:established|defined)\.?$/iu

/** `Your value: 5.6 K/uL` */
const STATES_RESULT = /^(?:your )?(?:value|result)\s?[:.;]\s?[<>≤≥]?\s?\d/iu

/** `Normal - No Action`: what a practice does about the report whose title stands in front of it. */
const FILING_NOTE =
  /^(?:(?:normal|abnormal|satisfactory|unsatisfactory|borderline|stable|expected)\s?[-–:,]\s?)?(?:no (?:further )?action(?: \w+)?|contact patient|make appointment|tell patient|speak to \w+|see (?:doctor|gp|nurse)|repeat test)$/iu

type Names = Pick<ReadRowsOptions, 'isNamed'>

export interface UnreadText {
  rows: RowFinding[]
  report: ReportFinding[]
  /** For names alone in a line of a picture that has no unread ink: headings, unless the rows around them were put together wrongly. */
  headings: ReportFinding[]
}

export function unreadText(reading: Reading, names: Names): UnreadText {
  const found: UnreadText = { rows: [], report: [], headings: [] }
  for (const table of tablesOf(reading)) {
    found.rows.push(...wordsBesideRows(table, reading))
    for (const line of table.rows.length ? linesWithoutRow(table, reading, names) : linesOfResults(table, reading, names)) {
      const isOfCard =
        !table.columns &&
        (hasLostCard(line, table.lines, rowsOnPage(table, reading), names) || isBegunCard(line, table.lines, names))
      const isResult = isOfCard || isResultLine(line, table.columns, names) || isInList(line, table, reading)
      const isName = !isResult && hasLostValue(line, table.page, names)
      const isOfTest = hasRange(line) && namesTest(line, names)
      const isHeading = isName && !isOfTest && table.columns !== null && !hasUnreadInk(line, table.page)
      const beside = rowsBeside(line, table, reading).filter(
        (row) => !(isHeading || isOfTest) || isContinued(reading.rows[row]!, line, names),
      )
      for (const row of beside) found.rows.push({ row, finding: BESIDE_LINE })
      if (!isResult && !isName) continue
      const text = 'A line of a table that has a value is in no result.'
      found[isHeading ? 'headings' : 'report'].push({ kind: 'line_without_row', text, page: line.page, box: line.box })
    }
    for (const { page, box } of linesOfMoreResults(table, reading))
      found.report.push({ kind: 'line_without_row', text: 'A line has more results than were read of it.', page, box })
    const letters = lettersNotRead(table, reading)
    found.rows.push(...letters.rows)
    found.report.push(...letters.report)
  }
  return found
}

/** Whether the name of a row may go on in a line that is a name as well, or begin there: `Cholesterol` above `HDL`, but not `Urine Albumin` above `Glucose`. */
const isContinued = ({ name }: Row, { cells }: Line, { isNamed }: Names): boolean =>
  !isNamed(name) || cells.some(({ text }) => isNamed(`${cleanName(text)} ${name}`) || isNamed(`${name} ${cleanName(text)}`))

const rowsOnPage = ({ page }: TableOfRows, { rows }: Reading): Row[] => rows.filter((row) => row.page === page.number)

/**
 * Lines with more numbers under days than rows: `14 17` where the columns of two days were taken for one, and lines of a table without names of
 * columns below a line of days.
 */
function linesOfMoreResults({ page, columns, lines, rows: own }: TableOfRows, { rows, pages }: Reading): Line[] {
  const ofPage = pages.find((item) => item.page === page)?.lines ?? []
  const days = columns ? 0 : Math.max(0, ...ofPage.map(countDays))
  const isOfDay = ({ kind, title = '' }: Column) => kind === 'dated_value' || /^\d{1,2}:\d{2}/u.test(title)
  if (!days && !columns?.some(isOfDay)) return []
  const isResult = ({ value, box }: TypedCell) => value === 'number' && (!columns || isOfDay(nearestColumn(box, columns)!))
  return lines.filter((line) => {
    const rowCount = own.filter((index) => areInLine(rows[index]!.box, line.box)).length
    const results = line.cells.flatMap((cell) => splitCell(cell)).filter(isResult)
    return rowCount > 0 && results.length > rowCount && results.length >= days
  })
}

/** The days of a line that has nothing else behind its first cell: `Date  08 Mar 23  21 Sep 23`. */
function countDays({ cells: [, ...cells] }: Line): number {
  const isDay = ({ text }: Line['cells'][number]) => dateIn(text)?.text.length === text.length
  return cells.length > 1 && cells.every(isDay) ? cells.length : 0
}

export const tokensOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const joinedOf = (texts: readonly string[]): string => texts.flatMap(tokensOf).join('')

/** Everything that a row says. */
export const textsOf = (row: Row): string[] => [
  row.name,
  row.value,
  row.unit ?? '',
  ...row.range_lines,
  row.panel ?? '',
  row.section ?? '',
  row.specimen ?? '',
  row.method ?? '',
  row.date ?? '',
  ...row.comments,
]

function wordsBesideRows(table: TableOfRows, { rows, results }: Reading): RowFinding[] {
  const { columns, rows: own, lines } = table
  const unread = new Map<number, Word[]>()
  for (const index of own) {
    const row = rows[index]!
    const beside = own
      .filter((neighborIndex) => areInLine(rows[neighborIndex]!.box, row.box))
      .flatMap((neighborIndex) => textsOf(rows[neighborIndex]!))
    const [said, joined] = [new Set(beside.flatMap(tokensOf)), joinedOf(beside)]
    const signs = beside.join(' ').replaceAll(' ', '')
    const isSaid = ({ text }: Word) =>
      tokensOf(text).every(
        (token) =>
          said.has(token) ||
          joined.includes(token) ||
          isBoundWithUnit(token, said) ||
          // `Total01` with the number of a laboratory, which is no part of the name.
          said.has(token.replace(/(?<=\p{L}{2})[o0]?\d$/u, '')) ||
          // A zero that was read as a letter and put right.
          (token === 'o' && said.has('0')),
      ) &&
      // `1:20` does not say `<1:20`.
      (!COMPARED.test(text) || table.page.source === 'ocr' || signs.includes(text))
    const cells = lines
      .filter((line) => areInLine(line.box, row.box))
      .flatMap((line) => statementsIn(withoutPrintedCodes(line), isSpecimen).rest?.cells ?? [])
    const words = cells.flatMap((cell) => {
      const rest = cell.words.filter(
        (word, position) =>
          !isSaid(word) &&
          !(position === 0 && NUMBERING.test(word.text)) &&
          !NO_PART.test(word.text) &&
          flagOf(word.text) === undefined &&
          !isFlagNotRead(word, table, row, results[index]!) &&
          (!isOther(word, columns) || isPerhapsBound(word, row, columns)),
      )
      const text = rest.map((word) => word.text).join(' ')
      // A digit of the day may be said by the row as well.
      const isDay = [text, cell.text].some((item) => dateIn(item)?.text.length === item.length)
      const isNote = isEarlierResult(cell.text) || isDescription(cell, row)
      const isNoPart = columnKind(text) !== undefined || isDay || isNote || isMethod(text)
      return isNoPart ? [] : rest
    })
    if (words.length) unread.set(index, words)
  }
  // `(Calculated)` behind names.
  const methods = [...unread].filter(([, words]) => isInBrackets(words.map(({ text }) => text).join(' ')))
  if (methods.length >= USUAL_ROWS_MIN) for (const [index] of methods) unread.delete(index)
  const isUsual = usualIn([...unread.values()], own.length)
  return own.flatMap((row) => {
    const words = (unread.get(row) ?? []).filter((word) => !isUsual(word, rows[row]!))
    return words.length ? [{ row, finding: NOT_READ }] : []
  })
}

/** `98fl` of `82-98fL`, where a row says both. */
function isBoundWithUnit(token: string, tokens: ReadonlySet<string>): boolean {
  const [, bound = '', unit = ''] = /^(\d+)(\p{L}+)$/u.exec(token) ?? []
  return tokens.has(bound) && tokens.has(unit)
}

/** Multiple of the height of results: an arrow or a triangle is not wider. */
const SIGN_WIDTH_MAX = 1.5

/**
 * Whether a sign in a picture, which was not read or taken for a letter or digit, is the flag of a row: alone, under no name of a column,
 * and in the row of a result outside of its range that has no other flag.
 */
export const isFlagNotRead = (
  { text = '', box }: Partial<Word> & { box: Box },
  { page, columns }: TableOfRows,
  { flag, value_box }: Row,
  { interpretation }: ReportResult,
): boolean =>
  page.source === 'ocr' &&
  text.length < 2 &&
  widthOf(box) < heightOf(value_box) * SIGN_WIDTH_MAX &&
  columns !== null &&
  columns.every((column) => overlapX(column.box, box) <= 0) &&
  flag === null &&
  interpretation === 'abnormal'

const isOther = ({ box }: Word, columns: readonly Column[] | null): boolean =>
  columns !== null && OTHER_COLUMNS.has(nearestColumn(box, columns)?.kind ?? 'name')

/** Whether what is not read is no part of the result of its row: a drawing under `Graph`, a comment, a method. */
export const isBesideResult = (box: Box, columns: readonly Column[] | null): boolean => {
  const column = columns ? nearestColumn(box, columns) : undefined
  // Only a column whose name is not known has its name.
  const isKnown = column !== undefined && column.title === undefined
  return isKnown && OTHER_COLUMNS.has(column.kind) && column.kind !== 'flag' && column.kind !== 'dated_value'
}

const isInBrackets = (text: string): boolean => /^\(.*\)$/u.test(text)

/** Whether a number is in a column that is not understood, of a table in which no column of ranges is. */
const isPerhapsBound = ({ box, text }: Word, { range_lines, value }: Row, columns: readonly Column[] | null): boolean =>
  columns !== null &&
  !range_lines.length &&
  numberOf(value) !== undefined &&
  (numberOf(text) !== undefined || COMPARED.test(text)) &&
  nearestColumn(box, columns)?.kind === 'other' &&
  (nearestColumn(box, columns)!.title !== undefined || columns.filter(({ kind }) => kind === 'other').length > 1) &&
  columns.every(({ kind }) => kind !== 'range')

/** The number of a laboratory behind names: `01`, in pictures also `o1`. */
const SITE = /^[0oO]\d$/u
/** `n1`, `(01`, `0l` */
const MISREAD_SITE = /^[([]?[0oOnQD]?[\dlI|!?]$/u
/** So many of them in a table say that it prints them, and so many that others are misread ones. */
const [SITES_MIN, CLEAR_SITES_MIN] = [2, 4]

/**
 * Whether a word is one that many rows have besides: a label, the number of a laboratory, or a number next to rows that have their range,
 * as former results are.
 */
function usualIn(unread: readonly Word[][], rowCount: number): (word: Word, row: Row) => boolean {
  const isMost = (count: number) => count >= USUAL_ROWS_MIN && count >= rowCount * USUAL_SHARE
  const clearSites = unread.filter((words) => words.some(({ text }) => SITE.test(text))).length
  const isSite = (word: Word) =>
    (SITE.test(word.text) && counts.get(textOf(word))! >= SITES_MIN) ||
    (MISREAD_SITE.test(word.text) && clearSites >= CLEAR_SITES_MIN)
  const isNumber = ({ text }: Word) => numberOf(text) !== undefined
  const textOf = ({ text }: Word) => (SITE.test(text) ? `0${text[1]}` : text)
  const counts = new Map<string, number>()
  for (const words of unread) for (const text of new Set(words.map(textOf))) counts.set(text, (counts.get(text) ?? 0) + 1)
  const hasFormer = isMost(unread.filter((words) => words.some(isNumber)).length)
  return (word, { range_lines }) =>
    isSite(word) ||
    (isMost(counts.get(textOf(word))!) ? !/\d/u.test(word.text) : hasFormer && isNumber(word) && range_lines.length > 0)
}

/** Lines of a table of which nothing was read, with a value next to a name that laboratories measure, or in a picture a range below it. */
function linesOfResults({ page, lines }: TableOfRows, { rows }: Reading, { isNamed }: Names): Line[] {
  const onPage = rows.filter((row) => row.page === page.number)
  const isValue = ({ text }: { text: string }) =>
    numberOf(text) !== undefined ||
    valueKind(text) === 'comparator' ||
    // In a picture the columns of the page before may stand elsewhere on the next one, so that words are under none of them.
    (page.source === 'ocr' && valueKind(text) === 'word')
  const isAboveRange = (line: Line, next: Line | undefined) =>
    hasLostValue(line, page, { isNamed }) && next !== undefined && next.cells.some(({ text }) => rangeOf(text) !== undefined)
  return lines.filter(
    ({ box, cells }, index) =>
      ((isNamed(cleanName(cells[0]!.text)) && cells.slice(1).some(isValue)) ||
        namesResult({ cells }, { isNamed }) ||
        isAboveRange(lines[index]!, lines[index + 1])) &&
      !onPage.some((row) => boxesOverlap(row.box, box)),
  )
}

/** Lines of a table between its rows, or close above the first or below the last, of which something is in no row. */
function linesWithoutRow({ page, columns, rows: own, lines }: TableOfRows, { rows, pages }: Reading, { isNamed }: Names): Line[] {
  const ofTable = own.map((index) => rows[index]!)
  const onPage = rows.filter((row) => row.page === page.number)
  const said = new Set(onPage.flatMap(textsOf).flatMap(tokensOf))
  const top = Math.min(...ofTable.map(({ box }) => box.top - heightOf(box) * REACH))
  const rowsEnd = Math.max(...ofTable.map(({ box }) => box.bottom + heightOf(box) * REACH))
  // Lists without names of columns go on as long as lines name results.
  const bottom = columns
    ? rowsEnd
    : lines.reduce(
        (end, line) =>
          line.box.top - end < heightOf(line.box) && namesResult(line, { isNamed }) ? Math.max(end, line.box.bottom) : end,
        rowsEnd,
      )
  const without = lines.filter((line) => {
    if (!columns && hasLostCard(line, lines, onPage, { isNamed })) return true
    if (onPage.some((row) => areInLine(row.box, line.box))) return false
    if (!columns && isBegunCard(line, lines, { isNamed })) return true
    if ((line.box.bottom < top && !isRowOfUnknownColumn(line, columns)) || line.box.top > bottom) return false
    const words = withoutPrintedCodes(line).cells.flatMap((cell) => cell.words)
    const all = line.cells.map(({ text }) => text)
    // In front of names may stand the numbers of rows.
    const texts = all.length > 1 && /^\d{1,3}[.)]?$/u.test(all[0]!) ? all.slice(1) : all
    return (
      !columnsOf(line) &&
      !texts.every((text) => columnKind(text) !== undefined) &&
      !texts.slice(1).some((text) => FILING_NOTE.test(text)) &&
      !NOTE_ON_ROWS.test(texts.join(' ')) &&
      !isStated(line, lines, page) &&
      (texts.some((text) => STATES_RESULT.test(text)) || !looksLikeSentence(texts.join(' '))) &&
      // `Non-` is cut off wherever it stands.
      (texts.some((text) => /^[^-–—].*\p{L}-$/u.test(text)) ||
        namesResult(line, { isNamed }) ||
        !tokensOf(withoutDay(words.map(({ text }) => text).join(' '))).every((token) => said.has(token))) &&
      !words.every((word) => isOther(word, columns)) &&
      (isPossibleName(cleanName(texts[0]!), isNamed) ||
        texts[0]!.startsWith('(') ||
        hasValue(line, columns) ||
        namesResult(line, { isNamed }) ||
        STATES_RANGE.test(texts[0]!) ||
        (page.source === 'ocr' && BOUNDS.test(texts.join(' '))))
    )
  })
  // `(Calculated)`, `(Urease UV)`: methods in brackets below names.
  const isOneMethod = ({ cells: [cell, ...others] }: Line) =>
    others.length === 0 && isInBrackets(cell!.text) && !isNamed(cell!.text.slice(1, -1))
  // `Code 7738` in smaller letters below names.
  const heights = lines.flatMap(({ cells }) => (cells.length > 1 ? [heightOf(cells[0]!.words[0]!.box)] : []))
  const usualHeight = heights.toSorted((a, b) => a - b)[heights.length >> 1] ?? 0
  const isNote = ({ cells }: Line) =>
    page.source === 'text' &&
    cells.length === 1 &&
    heightOf(cells[0]!.words[0]!.box) < usualHeight * tolerances.NOTE_HEIGHT &&
    splitCell(cells[0]!).every(({ kind }) => kind === 'text')
  const [methods, notes] = [isOneMethod, isNote].map((isOne) => without.filter(isOne)) as [Line[], Line[]]
  // `Equivocal 0.91 - 1.09`: what values mean, below a row.
  const classes = lines.filter(isClassOfValues)
  const usualLines = [
    ...(classes.length < CLASSES_MIN ? [] : classes),
    ...(pages.flatMap((item) => item.lines.filter(isOneMethod)).length < USUAL_ROWS_MIN
      ? methods.filter(({ cells }) => isMethod(cells[0]!.text))
      : methods),
    ...(notes.length < Math.min(USUAL_ROWS_MIN, own.length) ? [] : notes),
  ]
  return without.filter((line) => !usualLines.includes(line))
}

/** `Sanpie: Fluoride Plasma`: a label with its text. */
const LABELED = /^\p{L}{4,8}:\s?\p{L}\D*$/u

/** Whether a line states specimens and methods; in a picture one of its labels may be misread where other rows have such lines. */
function isStated(line: Line, lines: readonly Line[], { source }: PageText): boolean {
  const { statements, rest } = statementsIn(line, isSpecimen)
  if (rest === null) return true
  if (source !== 'ocr' || !statements.length || !rest.cells.every(({ text }) => LABELED.test(text))) return false
  return lines.filter((item) => statementsIn(item, isSpecimen).rest === null).length >= USUAL_ROWS_MIN
}

/** Fewer are no list of classes: `Negative <0.91` may be a result with its index, whose name was not read. */
const CLASSES_MIN = 2
const CLASS_OF_VALUES =
  /^(?:negative|equivocal|borderline|indeterminate|positive|(?:non[- ]?)?reactive|immune|not immune)\s?:?\s(?:[<>≤≥]=?\s?\d[\d.]*|\d[\d.]*\s?[-–]\s?\d[\d.]*)$/iu
/** `5.7% - 6.4% : Prediabetic`, `121 - 150 mg/dl : Fair Control` */
const VALUES_OF_CLASS =
  /^(?:(?:below|above|over|under|[<>≤≥]=?)\s?)?\d[\d.,]*\s?(?:%|\p{L}\S*)?(?:\s?[-–]\s?<?\d[\d.,]*\s?(?:%|\p{L}\S*)?)?\s?:\s?\p{L}[\p{L} -]{2,30}$/iu
const isClassOfValues = ({ cells }: Line): boolean =>
  [CLASS_OF_VALUES, VALUES_OF_CLASS].some((pattern) => pattern.test(cells.map(({ text }) => text).join(' ')))

/** Whether a line has a number and a unit below a name that laboratories measure, in no row: the result of a block that was not read. */
function hasLostCard(line: Line, lines: readonly Line[], rows: readonly Row[], { isNamed }: Names): boolean {
  const lineAbove = lines[lines.indexOf(line) - 1]
  return line.cells.some((cell) => {
    const [value, unit] = splitCell(cell)
    const isResult = (value?.value === 'number' && unit?.kind === 'unit') || hasMisreadUnit(cell.text)
    return (
      isResult &&
      lineAbove?.cells.some(({ text, box }) => overlapX(box, cell.box) > 0 && isNamed(cleanName(text))) &&
      !rows.some(({ box }) => boxesOverlap(box, cell.box))
    )
  })
}

/** Whether a line at the end of a page names a test whose result is not there: `Ferritin`, with its range or how its result is. */
function isBegunCard(line: Line, lines: readonly Line[], { isNamed }: Names): boolean {
  const [name, ...statuses] = line.cells
  const text = cleanName(name!.text)
  const isName = isNamed(text) || (statuses.length > 0 && isPossibleName(text, isNamed))
  const below = lines.slice(lines.indexOf(line) + 1)
  return (
    isName &&
    statuses.every((status) => isStatus(status.text)) &&
    below.every(({ cells }) => rangeOf(cells[0]!.text) !== undefined)
  )
}

/**
 * Whether a line has a value or a time of day in the column of results, or is a row without one but for a number in a column of unknown name;
 * without columns, a number and a unit or range.
 */
function hasValue(line: Line, columns: readonly Column[] | null): boolean {
  const { cells } = line
  if (columns)
    return (
      isRowOfUnknownColumn(line, columns) ||
      cells.some(
        (cell, index) =>
          // Without a name it may be the result of the row above in another unit: `14.8 mg/L`.
          ((index > 0 && splitCell(cell)[0]!.kind === 'value') || valueKind(cell.text) !== undefined || TIME.test(cell.text)) &&
          RESULTS.has(nearestColumn(cell.box, columns)?.kind ?? 'name'),
      )
    )
  const parts = cells.flatMap(splitCell)
  return parts.some(({ value }) => value === 'number') && parts.some(({ kind }) => kind === 'unit' || kind === 'range')
}

/** Whether a line has a name, a number below a column whose name is not known, and a range or unit: if the column is one of results, it is a row. */
function isRowOfUnknownColumn({ cells: [name, ...cells] }: Line, columns: readonly Column[] | null): boolean {
  if (!columns || !/\p{L}{2}/u.test(name!.text)) return false
  const parts = cells.flatMap(splitCell).map((cell) => ({ cell, column: nearestColumn(cell.box, columns) }))
  return (
    parts.some(({ cell, column }) => cell.value === 'number' && column?.kind === 'other' && column.title !== undefined) &&
    parts.some(({ cell, column }) => [cell.kind, column?.kind].every((kind) => kind === 'range' || kind === 'unit')) &&
    !parts.some(({ column }) => RESULTS.has(column?.kind ?? 'name'))
  )
}

/** The rows that may go on in a line: those above and below, or the one that is clearly nearer. Bounds may be below a label that was not read. */
function rowsBeside(line: Line, { rows: own }: TableOfRows, { rows }: Reading): number[] {
  const goesOn = /^[(\p{Ll}]/u.test(line.cells[0]!.text)
  const isBounds = BOUNDS.test(line.cells.map(({ text }) => text).join(' '))
  const gapOf = (index: number) => {
    const { box } = rows[index]!
    return Math.max(box.top - line.box.bottom, line.box.top - box.bottom)
  }
  const heightAt = (index: number) => Math.max(heightOf(line.box), heightOf(rows[index]!.value_box))
  const near = own.filter(
    (index) =>
      gapOf(index) < heightAt(index) * (isBounds ? BOUNDS_NEIGHBOR : NEIGHBOR) &&
      !(goesOn && rows[index]!.box.top > line.box.top),
  )
  const nearest = Math.min(...near.map(gapOf))
  const isAbove = (index: number) => rows[index]!.box.top < line.box.top
  const isNearestOfSide = (index: number) => near.every((row) => isAbove(row) !== isAbove(index) || gapOf(row) >= gapOf(index))
  return near.filter(isBounds ? isNearestOfSide : (index) => gapOf(index) <= nearest + heightOf(line.box) * NEARER)
}

/** Whether names in a picture have no result next to them: a short one is what the detector of texts does not see. */
const hasLostValue = (line: Line, { source }: PageText, names: Names): boolean =>
  source === 'ocr' && namesTest(line, names) && !namesPanel(line.cells[0]!.text)

/** Whether a line has names of tests, and next to them at most a range and a unit. */
const namesTest = ({ cells }: Line, { isNamed }: Names): boolean =>
  cells.every((cell, index) => isNamed(cleanName(cell.text)) || (index > 0 && isRangeOrUnit(cell)))

const isRangeOrUnit = (cell: Cell): boolean => splitCell(cell).every(({ kind }) => kind === 'range' || kind === 'unit')
const hasRange = ({ cells }: Line): boolean => cells.some(isRangeOrUnit)

/** Whether a line of a picture has ink that is in no word, or nothing tells what ink it has. */
const hasUnreadInk = ({ box }: Line, { words, ink = [] }: PageText): boolean => {
  const isRead = readBy(words)
  return ink.length === 0 || ink.some((inkBox) => areInLine(inkBox, box) && !isRead(inkBox))
}

const LETTERS_NOT_READ: ReadingFinding = {
  kind: 'letters_not_read',
  text: 'The picture of the page has a text in the line of this row of which no letter was recognized.',
}

/** Texts on the picture of a page, inside of a table, of which no letter was recognized: next to a row, or of a row that was not read. */
function lettersNotRead(table: TableOfRows, { rows, results }: Reading): { rows: RowFinding[]; report: ReportFinding[] } {
  const { page, rows: own } = table
  if (!page.unread?.length || !own.length) return { rows: [], report: [] }
  const area = boxAround(own.map((index) => rows[index]!.box))
  const height = heightOf(rows[own[0]!]!.value_box)
  const isDrawn = drawnColumns(table, rows, readBy(page.words))
  const inside = page.unread.filter(
    (box) =>
      overlapX(box, area) > 0 &&
      overlapY(box, area) > 0 &&
      heightOf(box) > height * SIGN_HEIGHT_MIN &&
      !isBesideResult(box, table.columns) &&
      !isDrawn(box) &&
      (!page.ink?.length || isInked(box, page)),
  )
  const beside = (box: Box) => own.filter((index) => areInLine(rows[index]!.box, box))
  return {
    rows: inside.flatMap((box) =>
      beside(box)
        .filter((row) => !isFlagNotRead({ box }, table, rows[row]!, results[row]!))
        .map((row) => ({ row, finding: LETTERS_NOT_READ })),
    ),
    report: inside
      .filter((box) => beside(box).length === 0)
      .map((box) => ({ kind: 'letters_not_read', text: 'A text inside of a table was not recognized.', page: page.number, box })),
  }
}

/** Share of the width of a text: less ink is that of its neighbors. */
const INKED_MIN = 0.2

/** Whether a text that was not recognized has ink that belongs to no word: the detector of texts also sees some where none are. */
function isInked(text: Box, { words, ink = [] }: PageText): boolean {
  const isRead = readBy(words)
  return ink
    .filter((box) => overlapY(box, text) > 0 && overlapX(box, text) > widthOf(text) * INKED_MIN)
    .some((box) => !isRead({ ...box, left: Math.max(box.left, text.left), right: Math.min(box.right, text.right) }))
}

/** Whether a line begins with a name that laboratories measure and a number, whatever cells they are in, and continues after them. */
const namesResult = ({ cells }: Pick<Line, 'cells'>, { isNamed }: Names): boolean => {
  const texts = cells.flatMap(({ words }) => words.map(({ text }) => text))
  if (looksLikeSentence(texts.join(' ')) || /\p{L}\.$/u.test(texts.at(-1) ?? '')) return false
  const position = texts.findIndex(
    (text, index) => index > 0 && numberOf(text.replace(/%$/u, '')) !== undefined && isNamed(texts.slice(0, index).join(' ')),
  )
  // `FASTING GLUCOSE 6.1 - 6.9 mmol/L: impaired fasting glucose` explains results.
  const explains = /^-|^–$/u.test(texts[position + 1] ?? '') && texts.slice(position + 1).some((text) => text.endsWith(':'))
  // `Chloride 98 - 107` has no result.
  const isRange = rangeOf(texts.slice(position).join(' ')) !== undefined
  return position > 0 && position < texts.length - 1 && !explains && !isRange
}

/** Whether a line has a value where the table has its results, or next to a name that laboratories measure. */
const isResultLine = (line: Line, columns: readonly Column[] | null, { isNamed }: Names): boolean =>
  hasValue(line, columns) ||
  namesResult(line, { isNamed }) ||
  (line.cells.some(({ text }) => isNamed(cleanName(text))) &&
    line.cells.slice(1).some((cell) => valueKind(cell.text) !== undefined && !isRangeOrUnit(cell)))

/** So many results that stand at one place show where a list has its results. */
const ALIGNED_MIN = 2

/** Whether a line of a list has a word where rows of it have words as their results: `Vibrio  Not Detected`, whatever is measured. */
function isInList({ cells }: Line, { columns, rows: own }: TableOfRows, { rows }: Reading): boolean {
  const isAligned = (cell: Cell) => {
    const alike = own.filter((index) => {
      const { value, value_box: box } = rows[index]!
      return valueKind(value) === 'word' && Math.abs(box.left - cell.box.left) < tolerances.ALIGNED
    })
    return alike.length >= ALIGNED_MIN
  }
  return columns === null && cells.slice(1).some((cell) => valueKind(cell.text) === 'word' && isAligned(cell))
}

/** Share of the width of a text: a text of which recognized words cover less was not read. */
const COVERED = 0.4

/** Whether recognized words cover a text. */
export const readBy =
  (words: readonly Word[]) =>
  (ink: Box): boolean => {
    const covered = words
      .filter(({ box }) => overlapY(box, ink) > heightOf(ink) * 0.3)
      .reduce((sum, { box }) => sum + Math.max(0, overlapX(box, ink)), 0)
    return covered >= widthOf(ink) * COVERED
  }
