// The rows that one line holds: which of its cells is the name, which the result, its unit, range and flag.
import { unitBehind } from '../../lab-values/units.ts'
import { flagOf, intervalOf, partFlag, valueKind, type ValueWithFlag } from '../../lab-values/values.ts'
import { heightOf, type PageText } from '../pages/page.ts'
import { dayInFront, isDay } from '../texts/dates.ts'
import { cleanName, isLabel, isPossibleName, labelAt, looksLikeSentence } from '../texts/names.ts'
import { isValueInColumn, type Line, type TypedCell } from './table-cells.ts'
import { type Column, type ColumnKind, namesGroup } from './headers.ts'
import { commentsIn } from './notes.ts'
import { assign, isInColumnOfOtherDay, isUnderResults, nearestColumn } from './regions.ts'
import {
  beginsName,
  hasEvidence,
  isAppointment,
  isFreeResult,
  isGrade,
  isNoMeasurement,
  isShortAnswer,
  isWordBehindColon,
  joinedText,
  listsRanges,
  nameUnder,
  newRow,
  type ReadRowsOptions,
  type Row,
  secondResult,
  unitOfColumns,
  withNamedUnit,
  withoutUnit,
} from './row-parts.ts'
import { factsInColumns } from './statements.ts'
import * as tolerances from './tolerances.ts'

/** The headings above a line. */
export interface Headings {
  /** That of the rows above, and of those below if no other heading follows. */
  panel: string | null
  /** Below all rows. */
  heading: string | null
  /** The last that tells more than a part of an examination. */
  section: string | null
}

/** A text alone in the line above. */
export interface LineAbove {
  text: string
  line: Line
}

/** Where lines stand. Without columns what the cells are decides. */
export interface LinePlace {
  page: PageText
  columns: readonly Column[] | null
  options: ReadRowsOptions
}

interface LineContext extends LinePlace, Headings {
  lineAbove: LineAbove | null
  rowAbove: Row | undefined
}

/** The rows of a line, none if it holds no result. */
export function rowsOfLine(line: Line, typedCells: readonly TypedCell[], context: LineContext): Row[] {
  const { columns, options } = context
  const cells = withAnswerBelow(typedCells, context.rowAbove)
  const rowsByKinds = (part: readonly TypedCell[]) => rowsOfDrafts(line, draftByKinds(part, options), context)
  const results = columns && line.cells.length > 1 ? [] : resultsInLine(cells, options.isNamed)
  if (results.length > 1) return results.flatMap(rowsByKinds)
  const second = secondResult(cells)
  if (second !== undefined && !isInColumnOfOtherDay(cells[second]!.box, columns)) {
    const rowsOfBoth = [cells.slice(0, second), [cells[0]!, ...cells.slice(second)]].flatMap(rowsByKinds)
    if (rowsOfBoth.length === 2) return rowsOfBoth
  }
  if (!columns) return rowsByKinds(cells)
  const [details, cellsOfColumns] = [true, false].map((isDetail) => cells.filter((cell) => Boolean(cell.isDetail) === isDetail))
  const drafts = withCounts(columns)
    .flatMap((columnsOfRow) => draftsByColumns(ofColumns(assign(cellsOfColumns!, columns), columnsOfRow), columnsOfRow))
    .map((draft) => withDetailCells(draft, details!))
  const rows = rowsOfDrafts(line, drafts, context)
  // Below a table may stand lines with a colon that keep to no column.
  return rows.length || !cells.some((cell) => cell.isAnswer) ? rows : rowsByKinds(cells)
}

/** What a laboratory prints of an earlier result. */
const FORMER = /^(?:prev(?:ious)?|prior|last|old|former|earlier|baseline)\b/iu

/**
 * The cells of a line without names of columns, by result: a name behind a result, with a number behind it, begins another one, and so does
 * one with an answer behind another answer: `Colour : Straw  Sediment : Nil`.
 */
function resultsInLine(cells: readonly TypedCell[], isNamed: ReadRowsOptions['isNamed']): TypedCell[][] {
  const results: TypedCell[][] = [[]]
  for (const [index, cell] of cells.entries()) {
    const own = results.at(-1)!
    const begins = own.some(isMeasured) ? beginsResult(cells.slice(index), isNamed) : false
    if (begins || (own.some(isAnswered) && beginsAnswer(cells.slice(index), isNamed))) results.push([])
    results.at(-1)!.push(cell)
  }
  return results
}

const isMeasured = ({ kind, value }: TypedCell): boolean => kind === 'value' && value !== 'word'
const isAnswered = ({ kind, isAnswer }: TypedCell): boolean => isAnswer === true && (kind === 'value' || kind === 'range')

function beginsResult([cell, next, afterNext]: readonly TypedCell[], isNamed: ReadRowsOptions['isNamed']): boolean {
  if (!next || !isMeasured(next)) return false
  const name = cleanName(cell!.text)
  if (isNamed(name)) return cell!.kind === 'text' || cell!.kind === 'flag' || cell!.kind === 'unit'
  const isMeasurement = afterNext?.kind === 'unit' || afterNext?.kind === 'range'
  return cell!.kind === 'text' && isMeasurement && !FORMER.test(name) && isPossibleName(name, isNamed)
}

const beginsAnswer = ([cell, next]: readonly TypedCell[], isNamed: ReadRowsOptions['isNamed']): boolean =>
  cell!.kind === 'text' &&
  cell!.isAnswer !== true &&
  next !== undefined &&
  isAnswered(next) &&
  isPossibleName(cleanName(cell!.text), isNamed)

/**
 * The second of two texts as an answer if it stands exactly where the row above has a word or an interval as its result:
 * `Cysts  E. coli cysts seen`, `Aspect  Clear`.
 */
function withAnswerBelow(cells: readonly TypedCell[], rowAbove: Row | undefined): readonly TypedCell[] {
  const [name, answer, ...others] = cells
  if (name?.kind !== 'text' || !answer || !rowAbove || !isWordOrInterval(rowAbove.value)) return cells
  const isAlone = others.length === 0 || areOneResult([answer, ...others])
  const isAligned = Math.abs(rowAbove.value_box.left - answer.box.left) < tolerances.NAME_ALIGNED
  return isAlone && isAligned ? [name, { ...answer, isAnswer: true }, ...others] : cells
}

const isWordOrInterval = (value: string): boolean =>
  valueKind(value) === 'interval' || value.split(' ').every((word) => valueKind(word) === 'word') || valueKind(value) === 'word'

/** Results behind which the next word is what is expected: `Positive  Negative`. */
const EXCLUDING =
  /^(?:positive|negative|(?:non-?\s?)?reactive|(?:not )?(?:detected|present|seen)|absent|nil|none|(?:ab)?normal|trace|high|low)\b/iu

/** Whether words stand close to each other and are one result: `Amber` `Yellow`. */
const areOneResult = (cells: readonly TypedCell[]): boolean =>
  cells.length > 1 &&
  cells.every(
    (cell, index) => cell.value === 'word' && !EXCLUDING.test(cell.text) && (index === 0 || areNext(cells[index - 1]!, cell)),
  )

/** What may be a row: its cells by what they are. */
interface Draft {
  name: string
  results: readonly TypedCell[]
  unit: readonly TypedCell[]
  range: readonly TypedCell[]
  flag: readonly TypedCell[]
  isInColumn: boolean
  isAbnormal: boolean
  /** What columns of their own and the names of columns tell. */
  facts?: Partial<Pick<Row, 'specimen' | 'method' | 'date' | 'comments'>>
  unitOfColumn?: string | undefined
}

/** The name of a column of counts next to percentages. */
const COUNTS = /^abs(?:olute)?\b/iu

/**
 * The columns of a table, or those of percentages and those of counts with the names, if both have ranges:
 * `Test  Result  Units  Range  Absolute  Range`.
 */
function withCounts(columns: readonly Column[]): (readonly Column[])[] {
  const index = columns.findIndex(({ title }) => title !== undefined && COUNTS.test(title))
  const parts = [columns.slice(0, index), columns.slice(index)]
  if (index < 1 || !parts.every((part) => part.some(({ kind }) => kind === 'range'))) return [columns]
  const [counts, ...others] = parts[1]!
  const names = columns.filter(({ kind }) => kind === 'name')
  return [parts[0]!, [...names, { ...counts!, kind: 'value' }, ...others]]
}

/** The cells of some columns of a table. */
const ofColumns = (cellsByColumn: ReadonlyMap<Column, TypedCell[]>, columns: readonly Column[]): Map<Column, TypedCell[]> =>
  new Map(
    columns.flatMap((column): [Column, TypedCell[]][] => {
      const cells = [...cellsByColumn].find(([{ box }]) => box === column.box)?.[1]
      return cells ? [[column, cells]] : []
    }),
  )

/** With columns: a draft for each column of results, or one for several columns that are of one result. */
function draftsByColumns(cellsByColumn: ReadonlyMap<Column, TypedCell[]>, columns: readonly Column[]): Draft[] {
  const cellsIn = (kind: ColumnKind) =>
    [...cellsByColumn].filter(([column]) => column.kind === kind).flatMap(([, cells]) => cells)
  const [abnormal, normal] = [cellsIn('abnormal_value'), cellsIn('normal_value')]
  const { nameCells, valueCells } = nameAndValue(cellsByColumn, columns, cellsIn)
  const ownValues = valueCells.filter((cell) => !nameCells.includes(cell))
  const columnFacts = factsInColumns(cellsIn)
  const columnsOfResults = cellsIn('dated_value').length
    ? withoutDashes(
        [...cellsByColumn].flatMap(([{ kind, date = null }, results]) => (kind === 'dated_value' ? [{ results, date }] : [])),
      )
    : [{ results: [...ownValues, ...normal, ...abnormal], date: columnFacts.date }]
  const inComments = cellsIn('comment')
  // Columns whose name is not known show what they are by what stands in them.
  const units = columns.some(({ kind }) => kind === 'unit')
    ? cellsIn('unit')
    : cellsIn('other')
        .filter((cell, index, cells) => cell.kind === 'unit' && !isBehindNumber(cell, cells[index - 1]))
        .slice(0, 1)
  const flagsInName = nameCells.filter((cell) => cell.kind === 'flag')
  return columnsOfResults.map(({ results, date }) => ({
    name: joinedText(nameCells.filter((cell) => cell.kind !== 'flag')),
    results,
    unit: units,
    range: rangeCellsIn(cellsByColumn, columns),
    flag: [...cellsIn('flag'), ...inComments.filter((cell) => flagOf(cell.text)), ...flagsInName],
    isInColumn: true,
    isAbnormal: abnormal.length > 0 && normal.length === 0,
    // Of several dates none is certain.
    facts: { ...columnFacts, date, comments: columnsOfResults.length === 1 ? commentsIn(inComments) : [] },
    unitOfColumn: unitOfColumns(columns),
  }))
}

/** `500 ng/mL` below `Cutoff` */
const isBehindNumber = ({ box }: TypedCell, last: TypedCell | undefined): boolean =>
  last?.value === 'number' && box.left - last.box.right < heightOf(box)

/** The results of days, without a dash next to numbers: nothing was measured that day. Grades of test strips are no numbers. */
function withoutDashes<Day extends { results: readonly TypedCell[] }>(days: readonly Day[]): readonly Day[] {
  const hasNumber = days.some(({ results }) => results.some(({ value }) => value === 'number'))
  return hasNumber ? days.filter(({ results }) => !results.every(({ text }) => text === '-')) : days
}

/** The ranges of a row, behind the names of the groups of patients whose columns they are in. Those of several unknown columns contradict each other. */
function rangeCellsIn(cellsByColumn: ReadonlyMap<Column, TypedCell[]>, columns: readonly Column[]): TypedCell[] {
  const isNamed = columns.some(({ kind }) => kind === 'range')
  const ranges = [...cellsByColumn].flatMap(([{ kind, title = '' }, cells]) => {
    if (isNamed) return kind === 'range' ? [{ title, cells }] : []
    const own = kind === 'other' ? cells.filter((cell) => cell.kind === 'range').slice(0, 1) : []
    return own.length ? [{ title, cells: own }] : []
  })
  return ranges.flatMap(({ title, cells }) =>
    namesGroup(title) ? cells.map((cell, index) => (index === 0 ? { ...cell, text: `${title}: ${cell.text}` } : cell)) : cells,
  )
}

/** What is printed below a name or a result, by what it is; the words of a range are neither a unit nor a flag: `Negative`. */
const withDetailCells = (draft: Draft, details: readonly TypedCell[]): Draft => ({
  ...draft,
  unit: [...draft.unit, ...details.filter(({ kind }) => kind === 'unit')],
  range: [...draft.range, ...details.filter(({ kind }) => kind !== 'unit' && kind !== 'flag')],
  flag: [...draft.flag, ...details.filter(({ kind }) => kind === 'flag')],
})

function nameAndValue(
  cellsByColumn: ReadonlyMap<Column, TypedCell[]>,
  columns: readonly Column[],
  cellsIn: (kind: ColumnKind) => TypedCell[],
): { nameCells: TypedCell[]; valueCells: TypedCell[] } {
  let nameCells = cellsIn('name')
  if (!columns.some((column) => column.kind === 'name')) {
    const first = [...cellsByColumn.values()].flat().toSorted((a, b) => a.box.left - b.box.left)[0]
    if (first && first.kind === 'text' && /\p{L}/u.test(first.text)) nameCells = [first]
  }
  const valueCells = cellsIn('value')
  const hasResult = [valueCells, ...OTHER_RESULTS.map(cellsIn)].some((cells) => cells.length > 0)
  // The name may reach below the column of results where that is empty.
  const last = nameCells.at(-1)
  return !hasResult && nameCells.length > 1 && last?.kind === 'value'
    ? { nameCells: nameCells.slice(0, -1), valueCells: [last] }
    : { nameCells, valueCells }
}

const OTHER_RESULTS: readonly ColumnKind[] = ['abnormal_value', 'normal_value', 'dated_value']

/**
 * Where the result of a line is. A bound with its unit is one where a range follows it: `TSH  L  < 0.005 mIU/L  (0.45 - 4.50)`,
 * `hs-CRP  <0.2 mg/L  <3.0`.
 */
function positionOfResult(cells: readonly TypedCell[], isKnown: boolean, isAnalyte: ReadRowsOptions['isAnalyte']): number {
  const behindFlags = cells.findIndex((cell, index) => index > 0 && cell.kind !== 'flag')
  const [cell, ...others] = cells.slice(behindFlags)
  // `18-20 /hpf  0-5`
  const next = others.find(({ kind }) => kind !== 'unit')
  const isBeforeRange = next?.kind === 'range' || next?.value === 'comparator'
  const isMeasured = () => isKnown || (withoutUnit(cell!).length > 1 && isAnalyte(cleanName(cells[0]!.text)))
  const isBound = isKnown && cell?.isAnswer === true
  // `>90 mL/min/1.73m²` is how a normal filtration rate is reported.
  const isOfRate = () => FILTRATION_RATE.test(cells[0]!.text) && withoutUnit(cell!).length > 1
  if (behindFlags > 0 && cell!.kind === 'range' && (isBound || (isBeforeRange ? isMeasured() : isOfRate()))) return behindFlags
  return cells.findIndex((item, index) => index > 0 && (item.kind === 'value' || (index === 1 && isShortAnswer(item, isKnown))))
}

const FILTRATION_RATE = /\be?GFR\b|\bglomerular filtration\b/iu

/** Without columns: a name, then a result, then what belongs to it. */
function draftByKinds(cells: readonly TypedCell[], { isNamed, isAnalyte }: ReadRowsOptions): Draft[] {
  const first = cells[0]
  const isKnown = first !== undefined && isNamed(cleanName(first.text))
  const value = positionOfResult(cells, isKnown, isAnalyte)
  if (value < 1) return []
  const cellsBefore = cells.slice(0, value)
  if (isLabelOfNumber(cellsBefore.slice(1).at(-1), cells[value]!)) return []
  // `pH` is a unit as well.
  const names = cellsBefore.filter((cell) => cell.kind === 'text' || (cell === first && isKnown))
  const isClose = cells[value]!.box.left - (names.at(-1)?.box.right ?? 0) < heightOf(cells[value]!.box) * tolerances.CELL_GAP
  // What stands in a column at the side of a page is no part of a name that is known without it.
  const isBeside = names.length > 1 && !isNamed(cleanName(joinedText(names))) && isNamed(cleanName(names.at(-1)!.text))
  const { day, rest: name } = dayInFront(withoutDash(joinedText(isBeside ? names.slice(-1) : names), isClose))
  const cellsAfter = cells.slice(value + 1)
  const flagWord = cells[value]!.value === 'word' ? undefined : flagWordIn(cellsAfter)
  const nextValue = cellsAfter.findIndex((cell) => cell.kind === 'value' && cell.value !== 'comparator' && cell !== flagWord)
  const own =
    nextValue < 0
      ? cellsAfter
      : cellsAfter.slice(0, nextValue).concat(cellsAfter.slice(nextValue).filter((cell) => cell.kind !== 'value'))
  // The first comparator behind the result is its range: `95 <100`.
  const bound = cellsAfter.find((cell) => cell.kind === 'value' && cell.value === 'comparator')
  const ranges = [...own.filter((cell) => cell.kind === 'range'), ...(bound ? [bound] : [])]
  const isEvident =
    [...own, ...cellsBefore].some((cell) => cell.kind === 'unit' || cell.kind === 'range') ||
    bound !== undefined ||
    isWordBehindColon(cells[value]!) ||
    isAnalyte(name)
  if (!isEvident) return []
  return [
    {
      name,
      results: areOneResult(cells.slice(value)) ? cells.slice(value) : [cells[value]!],
      unit: [...own, ...cellsBefore].filter((cell) => cell.kind === 'unit' && !names.includes(cell)),
      range: ranges.length ? ranges : cellsBefore.filter((cell) => cell.kind === 'range'),
      flag: [...cellsBefore, ...own].filter((cell) => cell.kind === 'flag' || cell === flagWord),
      isInColumn: false,
      isAbnormal: false,
      ...(day !== null && { facts: { date: day } }),
    },
  ]
}

/** `12 Sample St  Ph 07 5550 0199`, `Doctor : Dr. Sample  Bill No : 662190`: behind other texts a label with its number. */
const isLabelOfNumber = (label: TypedCell | undefined, { text }: TypedCell): boolean =>
  label !== undefined &&
  (/^(?:ph|tel|fax|mob)\.?$/iu.test(label.text) ? /^0\d/u.test(text) : label.kind === 'text' && isLabelOfParticulars(label.text))

/** `Fasting` and `Type` may be parts of names. */
const isLabelOfParticulars = (text: string): boolean =>
  isLabel(text) && (labelAt(text)!.field !== 'other' || /\b(?:no|id|number)\.?$/iu.test(text))

/** What may be negative, so that a dash in front of its result may be a sign. */
const SIGNED = /\b(?:base (?:excess|deficit)|be|[tz][- ]?score|anion gap|delta)\b/iu

/** `Glucose - 105 mg/dL`, `Glucose -> 105`, `Glucose, 105`: the name without the dash, arrow or comma that leads to its result. */
const withoutDash = (name: string, isClose: boolean): string =>
  SIGNED.test(name) ? name : name.replace(/\s(?:[-–—]{1,2}>?|[→»])$/u, '').replace(isClose ? /,$/u : /$/u, '')

/** `130 mg/dL HIGH`: the word of a flag behind a number and what belongs to it. Behind a word, `Normal` is what is expected. */
function flagWordIn(cellsBehind: readonly TypedCell[]): TypedCell | undefined {
  const first = cellsBehind.find(({ kind, value }) => kind === 'text' || (kind === 'value' && value !== 'comparator'))
  return first?.value === 'word' && flagOf(first.text) !== undefined ? first : undefined
}

/** Drafts in stages: the parts of the result, the name, what shows that it is a result, and the row. */
const rowsOfDrafts = (line: Line, drafts: readonly Draft[], context: LineContext): Row[] =>
  drafts.flatMap((draft) => {
    const parts = partsOfResult(draft, context)
    const named = parts && nameOfRow(draft, parts, line, context)
    return named && isResult(draft, parts, named.name, { ...context, isNumbered: isNumberedLine(line, context.columns) })
      ? [toRow(draft, parts, named, line, context)]
      : []
  })

interface ResultParts {
  value: TypedCell
  /** Cells that may be the result, or stand with it. */
  candidates: TypedCell[]
  /** The whole result as a text. */
  text: string
  units: TypedCell[]
  flags: TypedCell[]
}

/** Undefined if nothing was measured. */
function partsOfResult({ name, results, unit, range, flag, isInColumn }: Draft, { columns }: LinePlace): ResultParts | undefined {
  const cells = results.flatMap((cell) => withoutUnit(cell))
  const isFlagWord = (cell: TypedCell) => cell.value === 'word' && flagOf(cell.text) !== undefined
  // A flag without a column of its own is in that of the units or ranges.
  const isFlag = (cell: TypedCell) => cell.kind === 'flag' || (isFlagWord(cell) && unit.includes(cell))
  // A dash says that there is none.
  const isNone = ({ text }: TypedCell) => /^[-–—]+$/u.test(text)
  const units = [
    ...unit.filter((cell) => !isFlag(cell) && !isNone(cell) && cell.kind !== 'date'),
    ...cells.filter((cell) => cell.kind === 'unit'),
  ]
  const flags = [...flag, ...[...cells, ...unit, ...range].filter(isFlag)]
  const candidates = cells.filter(({ kind, text }) => kind !== 'unit' && kind !== 'flag' && kind !== 'date' && !isDay(text))
  const values = candidates.filter(isValueInColumn)
  // `High 15.5`, `ABNORMAL Trace`: a word that is a flag as well, in front of the result; and `5.5 (3.1 to 6.8)`.
  const own = values.filter((cell) => cell.kind === 'value' && !isFlagWord(cell))
  const certain = own.length ? own : values
  const inResults = isInColumn && certain.length > 1 ? certain.filter(({ box }) => isUnderResults(box, columns!)) : []
  if (own.length) flags.push(...values.filter(isFlagWord))
  const value =
    inResults[0] ??
    certain[0] ??
    candidates[0] ??
    (flags.length && isInColumn ? results.find((cell) => cell.kind === 'flag') : undefined)
  if (!value || isNoMeasurement(value.text, { name, hasUnitOrRange: units.length + range.length > 0 })) return undefined
  const text = areOneResult(own)
    ? joinedText(own)
    : isValueInColumn(value) || isGrade(value)
      ? value.text
      : joinedText(candidates)
  return { value, candidates, text, units, flags }
}

/** Whether two parts are of one cell. */
const areNext = (first: TypedCell, last: TypedCell): boolean =>
  last.box.left - first.box.right < heightOf(first.box) * tolerances.CELL_GAP

/** The name with what the line and the heading above add to it, and the panel. Undefined for texts that are no names. */
function nameOfRow(
  { name: text }: Draft,
  { units }: ResultParts,
  line: Line,
  { panel, heading, lineAbove, rowAbove, options }: LineContext,
): { name: string; panel: string | null } | undefined {
  const isNear = lineAbove && line.box.top - lineAbove.line.box.bottom < heightOf(line.box) * tolerances.NAME_ABOVE_RESULT
  const isAlone = !text && isNear
  const isBegun = !isAlone && lineAbove && beginsName(lineAbove, line, text, { ...options, last: rowAbove })
  // The first part of a name is no heading.
  const panelOfRow = isBegun ? panel : (heading ?? panel)
  const wholeName = isAlone ? lineAbove.text : isBegun ? `${lineAbove.text} ${text}` : text
  const name = nameUnder(panelOfRow ?? '', cleanName(wholeName))
  if (!isPossibleName(name, options.isNamed) || isAppointment(name, units[0]?.text)) return undefined
  return { name, panel: panelOfRow }
}

/** The name of a column of the numbers of rows. */
const NUMBERS = /^(?:s(?:r|l)?\.?\s?\/?\s?n(?:o|r)?\.?|s(?:r|l)\.?|no\.?|#)$/iu

/** Whether a line has the number of a row of a table. */
const isNumberedLine = ({ cells: [first] }: Line, columns: readonly Column[] | null): boolean =>
  columns !== null && /^\d{1,3}[.)]?$/u.test(first!.text) && NUMBERS.test(nearestColumn(first!.box, columns)?.title ?? '')

/** Whether enough shows that a text is a result: free texts are results in the column of results only. */
function isResult(
  { range, isInColumn }: Draft,
  { value, candidates, text, units, flags }: ResultParts,
  name: string,
  { columns, options, isNumbered }: LineContext & { isNumbered: boolean },
): boolean {
  // `Valid  Valid`: the result is what is expected.
  const isSaid = (cell: TypedCell) => cell.kind !== 'text' || cell.text.toLowerCase() === value.text.toLowerCase()
  const inRow = [...units, ...flags, ...range.filter(isSaid)]
  if (!isNumbered && !hasEvidence(name, value, inRow, options)) return false
  // A sentence that begins right behind a name explains its results.
  const { left } = value.box
  const isExplanation = isInColumn && looksLikeSentence(text) && !isUnderResults({ ...value.box, right: left }, columns!)
  if (isValueInColumn(value) || (value.isAnswer && !listsRanges(text) && !isExplanation)) return true
  return (
    isInColumn &&
    (isUnderResults(value.box, columns!) || (options.isNamed(name) && nearestColumn(value.box, columns!)?.kind === 'value')) &&
    isFreeResult(text, isNumbered ? () => false : options.isNamed) &&
    candidates.length <= 1
  )
}

const ENDS_IN_DASH = /\d\s-$/u

/** `70 - 99 H`, `* 70 - 99`: a range without the flag of the result, which stands in its column. `20 - 29 Low` may be a class. */
function withoutFlag(range: string): ValueWithFlag {
  const parts = partFlag(range)
  const isFlag = /^[HL*!↑↓▲▼]{1,2}\s|\s[HL*!↑↓▲▼]{1,2}$/u.test(range)
  return isFlag && intervalOf(parts.value) ? parts : { value: range }
}

/** The cells of a range, and those far behind it: `< 4.00      Review` in a column without a name. */
function partRemarks(cells: readonly TypedCell[]): [range: TypedCell[], remarks: TypedCell[]] {
  const isFar = ({ kind, box }: TypedCell, index: number) =>
    index > 0 && kind === 'text' && box.left - cells[index - 1]!.box.right > heightOf(box) * tolerances.REMARK_GAP
  const first = cells.findIndex(isFar)
  return first < 0 ? [[...cells], []] : [cells.slice(0, first), cells.slice(first)]
}

function toRow(
  draft: Draft,
  { value: valueCell, candidates, text, units, flags }: ResultParts,
  { name, panel }: { name: string; panel: string | null },
  line: Line,
  { page, section }: LineContext,
): Row {
  const ofRange = draft.range.filter((cell) => cell.kind !== 'flag' && cell.kind !== 'unit')
  // `High` beside a range is the flag of the result.
  const words = ofRange.length > 1 ? ofRange.filter((cell) => cell.value === 'word' && flagOf(cell.text)) : []
  const [inRange, remarks] = partRemarks(ofRange.filter((cell) => !words.includes(cell)))
  // Where both columns stand close the range is under that of the results.
  const rangeCells = inRange.length
    ? inRange
    : candidates.filter((cell) => cell !== valueCell && (cell.kind === 'range' || cell.value === 'comparator'))
  // Without a range `7 -` may be the first half of one, and no result with a flag.
  const { value, flag }: ValueWithFlag = rangeCells.length || !ENDS_IN_DASH.test(text) ? partFlag(text) : { value: text }
  const range = withoutFlag(joinedText(rangeCells))
  // `!` stands beside a column that says how far a result is: `Final`.
  const flagOfCells = [...flags, ...words].filter((cell) => cell !== valueCell).map(({ text: flagText }) => flagOf(flagText))
  const ofWord = valueCell.value === 'word'
  const unitCell = units[0] ?? (ofWord ? undefined : draft.range.find((cell) => cell.kind === 'unit'))
  const row: Row = {
    ...newRow(page.number, [...draft.results, ...draft.unit, ...draft.range, ...draft.flag]),
    box: line.box,
    value_box: valueCell.box,
    name,
    value,
    unit: unitCell ? unitCell.text.replace(/^[([](.+)[)\]]$/u, '$1') : unitBehind(range.value),
    range_lines: rangeCells.length ? [range.value] : [],
    flag: flag ?? flagOfCells.find((item) => item !== undefined) ?? range.flag ?? (draft.isAbnormal ? 'abnormal' : null),
    panel,
    section,
    ...draft.facts,
    comments: [...(draft.facts?.comments ?? []), ...commentsIn(remarks)],
  }
  return draft.isInColumn ? withNamedUnit(row, draft.unitOfColumn) : row
}
