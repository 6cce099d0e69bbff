// Text inside of tables that is in no result: words in the line of a row, and lines between rows. Pure.
import { nearestColumn } from '../layout/columns.ts'
import { dateIn } from '../layout/dates.ts'
import { columnKind, columnsOf, type Column, type ColumnKind } from '../layout/headers.ts'
import type { Line } from '../layout/lines.ts'
import { cleanName, isPossibleName, looksLikeSentence } from '../layout/names.ts'
import { withoutPrintedCodes } from '../layout/printed-codes.ts'
import type { ReadRowsOptions, Row } from '../layout/row.ts'
import { statementsIn } from '../layout/statements.ts'
import { flagOf, numberOf, valueKind } from '../../lab-values/values.ts'
import { boxAround, heightOf, overlapX, overlapY, type Box, type PageText, type Word } from '../pages/page.ts'
import { areInLine } from './boxes.ts'
import type { ReadingFinding, ReportFinding, RowFinding } from './finding.ts'
import { isSpecimen } from './specimens.ts'
import { tablesOf, type Reading, type TableOfRows } from './table-doubts.ts'

const NOT_READ: ReadingFinding = { kind: 'text_not_read', text: 'Text in the line of this row is in none of its fields.' }
const BESIDE_LINE: ReadingFinding = {
  kind: 'line_without_row',
  text: 'A line above or below this row belongs to no row: a name, a value or a range may go on there.',
}

/** What stands in them is no part of a result. */
const OTHER_COLUMNS = new Set<ColumnKind>(['previous', 'comment', 'other', 'date', 'dated_value', 'flag', 'method', 'specimen'])
const RESULTS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value'])
/** Of the height of a line: a line that is further above the first row or below the last one belongs to no table. */
const REACH = 0.5
/** Of the height of a line: rows further away are not meant by a line between them. */
const NEIGHBOR = 1.5
/** Of the height of a line: a row that is nearer by more is the one that is meant. */
const NEARER = 0.4
/** Of the height of results: what is lower is a speck or a rule. */
const SIGN_HEIGHT_MIN = 0.5
/** What so many rows of a table have is how it is printed: a label, a former result. */
const [USUAL_ROWS_MIN, USUAL_SHARE] = [3, 0.3]

type Names = Pick<ReadRowsOptions, 'isNamed'>

export function unreadText(reading: Reading, names: Names): { rows: RowFinding[]; report: ReportFinding[] } {
  const found: { rows: RowFinding[]; report: ReportFinding[] } = { rows: [], report: [] }
  for (const table of tablesOf(reading)) {
    found.rows.push(...wordsBesideRows(table, reading))
    for (const line of table.rows.length ? linesWithoutRow(table, reading, names) : linesOfResults(table, reading, names)) {
      for (const row of rowsBeside(line, table, reading)) found.rows.push({ row, finding: BESIDE_LINE })
      if (!isResultLine(line, table.columns, names) && !hasLostValue(line, table.page, names)) continue
      const text = 'A line of a table that has a value is in no result.'
      found.report.push({ kind: 'line_without_row', text, page: line.page, box: line.box })
    }
    const letters = lettersNotRead(table, reading)
    found.rows.push(...letters.rows)
    found.report.push(...letters.report)
  }
  return found
}

const tokensOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const joinedOf = (texts: readonly string[]): string => texts.flatMap(tokensOf).join('')

/** Everything that a row says. */
const textsOf = (row: Row): string[] => [
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

function wordsBesideRows({ columns, rows: own, lines }: TableOfRows, { rows }: Reading): RowFinding[] {
  const unread = new Map<number, Word[]>()
  for (const index of own) {
    const row = rows[index]!
    const beside = own.filter((other) => areInLine(rows[other]!.box, row.box)).flatMap((other) => textsOf(rows[other]!))
    const [said, joined] = [new Set(beside.flatMap(tokensOf)), joinedOf(beside)]
    const isSaid = ({ text }: Word) => tokensOf(text).every((token) => said.has(token) || joined.includes(token))
    const cells = lines.filter((line) => areInLine(line.box, row.box)).flatMap((line) => withoutPrintedCodes(line).cells)
    const words = cells.flatMap((cell) => {
      const rest = cell.words.filter(
        (word) =>
          !isSaid(word) && flagOf(word.text) === undefined && (!isOther(word, columns) || isPerhapsBound(word, row, columns)),
      )
      const text = rest.map((word) => word.text).join(' ')
      return columnKind(text) !== undefined || dateIn(text)?.text.length === text.length ? [] : rest
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

const isOther = ({ box }: Word, columns: readonly Column[] | null): boolean =>
  columns !== null && OTHER_COLUMNS.has(nearestColumn(box, columns)?.kind ?? 'name')

const isInBrackets = (text: string): boolean => /^\(.*\)$/u.test(text)

/** Whether a number stands in a column that is not understood, of a table in which no column of ranges is. */
const isPerhapsBound = ({ box, text }: Word, { range_lines }: Row, columns: readonly Column[] | null): boolean =>
  columns !== null &&
  !range_lines.length &&
  numberOf(text) !== undefined &&
  nearestColumn(box, columns)?.kind === 'other' &&
  (nearestColumn(box, columns)!.title !== undefined || columns.filter(({ kind }) => kind === 'other').length > 1) &&
  columns.every(({ kind }) => kind !== 'range')

/** Whether a word is one that many rows have besides: a label, or a number beside rows that have their range, as former results are. */
function usualIn(unread: readonly Word[][], rowCount: number): (word: Word, row: Row) => boolean {
  const isMost = (count: number) => count >= USUAL_ROWS_MIN && count >= rowCount * USUAL_SHARE
  const isNumber = ({ text }: Word) => numberOf(text) !== undefined
  const counts = new Map<string, number>()
  for (const words of unread)
    for (const text of new Set(words.map((word) => word.text))) counts.set(text, (counts.get(text) ?? 0) + 1)
  const hasFormer = isMost(unread.filter((words) => words.some(isNumber)).length)
  return (word, { range_lines }) =>
    isMost(counts.get(word.text)!) ? !/\d/u.test(word.text) : hasFormer && isNumber(word) && range_lines.length > 0
}

/** Lines of a table of which nothing was read, with a value beside a name that laboratories measure. */
function linesOfResults({ page, lines }: TableOfRows, { rows }: Reading, { isNamed }: Names): Line[] {
  const onPage = rows.filter((row) => row.page === page.number)
  const isValue = ({ text }: { text: string }) => numberOf(text) !== undefined || valueKind(text) === 'comparator'
  return lines.filter(
    ({ box, cells }) =>
      ((isNamed(cleanName(cells[0]!.text)) && cells.slice(1).some(isValue)) || namesResult({ cells }, { isNamed })) &&
      !onPage.some((row) => areInLine(row.box, box)),
  )
}

/** Lines of a table between its rows, or close above the first or below the last, of which something is in no row. */
function linesWithoutRow({ page, columns, rows: own, lines }: TableOfRows, { rows }: Reading, { isNamed }: Names): Line[] {
  const ofTable = own.map((index) => rows[index]!)
  const onPage = rows.filter((row) => row.page === page.number)
  const said = new Set(onPage.flatMap(textsOf).flatMap(tokensOf))
  const top = Math.min(...ofTable.map(({ box }) => box.top - heightOf(box) * REACH))
  const bottom = Math.max(...ofTable.map(({ box }) => box.bottom + heightOf(box) * REACH))
  const without = lines.filter((line) => {
    if (line.box.bottom < top || line.box.top > bottom || onPage.some((row) => areInLine(row.box, line.box))) return false
    const words = withoutPrintedCodes(line).cells.flatMap((cell) => cell.words)
    const texts = line.cells.map(({ text }) => text)
    return (
      !columnsOf(line) &&
      !texts.every((text) => columnKind(text) !== undefined) &&
      statementsIn(line, isSpecimen).rest !== null &&
      !looksLikeSentence(texts.join(' ')) &&
      // `Non-` is cut off wherever it stands.
      (texts.some((text) => /\p{L}-$/u.test(text)) ||
        namesResult(line, { isNamed }) ||
        !words.every(({ text }) => tokensOf(text).every((token) => said.has(token)))) &&
      !words.every((word) => isOther(word, columns)) &&
      (isPossibleName(cleanName(texts[0]!), isNamed) || texts[0]!.startsWith('(') || hasValue(line, columns))
    )
  })
  // `(Calculated)`, `(Urease UV)`: methods in brackets below names.
  const isMethod = ({ cells }: Line) =>
    cells.length === 1 && isInBrackets(cells[0]!.text) && !isNamed(cells[0]!.text.slice(1, -1))
  return without.filter((line) => !isMethod(line) || without.filter(isMethod).length < USUAL_ROWS_MIN)
}

const hasValue = ({ cells }: Line, columns: readonly Column[] | null): boolean =>
  columns !== null &&
  cells.some(({ text, box }) => valueKind(text) !== undefined && RESULTS.has(nearestColumn(box, columns)?.kind ?? 'name'))

/** The rows that may go on in a line: those above and below, or the one that is clearly nearer. */
function rowsBeside(line: Line, { rows: own }: TableOfRows, { rows }: Reading): number[] {
  const goesOn = /^[(\p{Ll}]/u.test(line.cells[0]!.text)
  const gapOf = (index: number) => {
    const { box } = rows[index]!
    return Math.max(box.top - line.box.bottom, line.box.top - box.bottom)
  }
  const near = own.filter((index) => gapOf(index) < heightOf(line.box) * NEIGHBOR && !(goesOn && rows[index]!.box.top > line.box.top))
  const nearest = Math.min(...near.map(gapOf))
  return near.filter((index) => gapOf(index) <= nearest + heightOf(line.box) * NEARER)
}

/** Whether a name in a picture stands alone: a short result is what the detector of texts does not see. */
const hasLostValue = ({ cells }: Line, { source }: PageText, { isNamed }: Names): boolean =>
  source === 'ocr' && cells.length === 1 && isNamed(cleanName(cells[0]!.text))

const LETTERS_NOT_READ: ReadingFinding = {
  kind: 'letters_not_read',
  text: 'The picture of the page has a text in the line of this row of which no letter was recognized.',
}

/** Texts on the picture of a page, inside of a table, of which no letter was recognized: beside a row, or of a row that was not read. */
function lettersNotRead({ page, rows: own }: TableOfRows, { rows }: Reading): { rows: RowFinding[]; report: ReportFinding[] } {
  if (!page.unread?.length || !own.length) return { rows: [], report: [] }
  const table = boxAround(own.map((index) => rows[index]!.box))
  const height = heightOf(rows[own[0]!]!.value_box)
  const inside = page.unread.filter(
    (box) => overlapX(box, table) > 0 && overlapY(box, table) > 0 && heightOf(box) > height * SIGN_HEIGHT_MIN,
  )
  const beside = (box: Box) => own.filter((index) => areInLine(rows[index]!.box, box))
  return {
    rows: inside.flatMap((box) => beside(box).map((row) => ({ row, finding: LETTERS_NOT_READ }))),
    report: inside
      .filter((box) => beside(box).length === 0)
      .map((box) => ({ kind: 'letters_not_read', text: 'A text inside of a table was not recognized.', page: page.number, box })),
  }
}

/** Whether a line begins with a name that laboratories measure and a number, whatever cells both stand in, and goes on behind them. */
const namesResult = ({ cells }: Pick<Line, 'cells'>, { isNamed }: Names): boolean => {
  const texts = cells.flatMap(({ words }) => words.map(({ text }) => text))
  if (looksLikeSentence(texts.join(' ')) || /\p{L}\.$/u.test(texts.at(-1) ?? '')) return false
  const position = texts.findIndex(
    (text, index) => index > 0 && numberOf(text) !== undefined && isNamed(texts.slice(0, index).join(' ')),
  )
  return position > 0 && position < texts.length - 1
}

/** Whether a line has a value where the table has its results, or beside a name that laboratories measure. */
const isResultLine = (line: Line, columns: readonly Column[] | null, { isNamed }: Names): boolean =>
  hasValue(line, columns) ||
  namesResult(line, { isNamed }) ||
  (line.cells.some(({ text }) => isNamed(cleanName(text))) &&
    line.cells.slice(1).some(({ text }) => valueKind(text) !== undefined))
