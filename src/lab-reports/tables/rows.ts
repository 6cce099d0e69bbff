// The rows of results of a report, region by region: what each line of a region is, and what it adds to the lines above it.
import { isBloodGroup } from '../../lab-values/values.ts'
import { heightOf, type PageText } from '../pages/page.ts'
import { withoutDay } from '../texts/dates.ts'
import { cleanName, headingOf, isPossibleName, looksLikeSentence } from '../texts/names.ts'
import { mergeRows } from './antibiotic-tables.ts'
import { type Card, findCards, rowOfCard } from './cards.ts'
import {
  type Cell,
  cellOf,
  isTimeUnit,
  type Line,
  partsAtSlash,
  resultsInCell,
  splitCell,
  toLine,
  type TypedCell,
  withEndsOfNames,
  withKind,
  withLettersOfNames,
} from './table-cells.ts'
import { readSpecialTables } from './dated-tables.ts'
import { isTitleOfResults } from './headers.ts'
import { type Headings, type LineAbove, type LinePlace, rowsOfLine } from './line-rows.ts'
import { continuesRow, NotesBelowRows } from './notes.ts'
import { isUnderResults, nearestColumn, type Region, regionsOfPages, splitAtColumns } from './regions.ts'
import {
  isHeading,
  isPartOfExamination,
  joinedText,
  partsAtColon,
  type ReadRowsOptions,
  reclassify,
  type Row,
  usualHeight,
  withNamedRange,
  withNamedUnit,
  withoutSiteMarks,
  withRestOfArea,
} from './row-parts.ts'
import {
  isAboutPerson,
  linesOfResults,
  type Reading,
  type Statement,
  statementsIn,
  stateSpecimensAndMethods,
} from './statements.ts'

const NO_HEADINGS: Headings = { panel: null, heading: null, section: null }

/** The rows of all pages, in reading order. */
export function readRows(pages: readonly { page: PageText; lines: readonly Line[] }[], options: ReadRowsOptions): Row[] {
  const tablesOfPages = pages.map(({ page, lines }) => ({
    page,
    ...readSpecialTables(page, linesOfResults(lines, options.isSpecimen), options),
  }))
  let headings = NO_HEADINGS
  let last: Line | undefined
  const regions = [...regionsOfPages(tablesOfPages)].map(({ page, region }) => {
    // A table next to the one before is not under its headings.
    const isBeside = last?.page === page.number && region.lines[0]!.box.bottom < last.box.top
    const regionRead = readRegion(region, { page, columns: region.columns, options }, isBeside ? NO_HEADINGS : headings)
    last = region.lines.at(-1)
    headings = regionRead.headings
    return { region, ...regionRead }
  })
  stateSpecimensAndMethods(regions)
  const rows = regions.flatMap((region) => region.rows)
  const tables = tablesOfPages.flatMap((item) => item.rows)
  return mergeRows(
    withoutSiteMarks(
      rows.map((row) => withRestOfArea(withNamedRange(withNamedUnit(row)), pages)),
      options.isNamed,
    ),
    tables,
  )
}

interface RegionRead {
  rows: Row[]
  /** What was read, line by line. */
  readings: Reading[]
  /** Those that the next region has above it. */
  headings: Headings
}

/** A region in stages: its blocks, their statements, the cells of their lines, and what each of them is under the blocks above it. */
function readRegion({ lines }: Region, place: LinePlace, headings: Headings): RegionRead {
  const blocks = findBlocks(lines, place)
  const statedBlocks = blocks.map((block) => ('card' in block ? block : takeStatements(block.line, place)))
  const typedBlocks = statedBlocks.map((block) => ('card' in block ? block : typeCells(block, place)))
  return readBlocks(typedBlocks, place, headings)
}

/** The cards and the other lines of a region, from top to bottom. */
function findBlocks(lines: readonly Line[], { columns, options }: LinePlace): ({ card: Card } | { line: Line })[] {
  const cards = columns ? [] : findCards(lines, options)
  const linesOfCards = new Set(cards.flatMap((card) => card.lines))
  const cardsByLine = Map.groupBy(cards, (card) => card.lines[0]!)
  return lines.flatMap((line) => [
    ...(cardsByLine.get(line) ?? []).map((card) => ({ card })),
    ...(linesOfCards.has(line) ? [] : [{ line }]),
  ])
}

/** A line without what it states about specimens and methods. */
interface StatedLine {
  /** A line of nothing but statements is read whole, as any line: notes may follow it. */
  line: Line
  statements: readonly Statement[]
  isStatement: boolean
}

function takeStatements(line: Line, { options }: LinePlace): StatedLine {
  const { statements, rest } = statementsIn(line, options.isSpecimen)
  return { line: rest ? withoutFilingNote(rest) : line, statements, isStatement: !rest }
}

/** What practices print behind the title of a report: the laboratory in brackets, and what they do about it. */
const FILING_NOTE = /^(\p{L}[^:()]{2,60}) - \([^()]{3,60}\) - \p{Lu}/u

/** `Renal profile - (Westmarsh Pathology) - Normal, No Action` as its title. */
function withoutFilingNote(line: Line): Line {
  const [, title] = FILING_NOTE.exec(line.cells[0]!.text) ?? []
  return title ? toLine(line.page, [cellOf(line.cells[0]!.words.slice(0, title.split(' ').length))]) : line
}

interface TypedLine extends StatedLine {
  /** As the cells of a row, in which a name and what stands behind a colon are two. */
  cells: TypedCell[]
  /** As texts: `Bio. Ref. Interval : 60 - 200`. */
  wholeCells: TypedCell[]
}

function typeCells(statedLine: StatedLine, { columns, options }: LinePlace): TypedLine {
  const { isNamed } = options
  const cells = splitAtColumns(statedLine.line.cells, columns, isNamed)
    .flatMap((cell, index, lineCells) => {
      // `Male : 30 - 400 Female : 15 - 150` below a name is its range, and so is `Normal : < 150` where ranges are.
      if (cell.isDetail || isLabeledRange(cell, columns)) return [{ cell, isAnswer: false }]
      const [first, ...others] = resultsInCell(cell, isNamed).flatMap((item) => partsAtColon(item, isNamed))
      // The colon may stand in a column of its own.
      return first ? [{ ...first, isAnswer: first.isAnswer || lineCells[index - 1]?.text === ':' }, ...others] : others
    })
    .flatMap(({ cell, isAnswer }) =>
      splitNamed(cell, statedLine.line, columns).map((part): TypedCell => ({
        ...part,
        ...(isAnswer && { isAnswer }),
        ...(cell.isDetail && { isDetail: true }),
      })),
    )
    .flatMap((cell, index) => (index === 0 ? withMarkParted(cell) : [cell]))
    .map((cell, index, lineCells) => reclassify(cell, index, lineCells, isNamed))
  const parted = columns
    ? withResultBehindName(cells, isNamed)
    : withPairOfResults(withResultAlone(withResultBehindName(cells, isNamed), options), isNamed)
  return {
    ...statedLine,
    cells: cultureIn(statedLine.line) ?? withEndsOfNames(withLettersOfNames(parted, isNamed), isNamed),
    wholeCells: statedLine.line.cells.flatMap((cell) => splitCell(cell)),
  }
}

/** `Normal : < 150`, `Borderline High : 200 - 239` in the column of ranges. */
const isLabeledRange = ({ text, box }: Cell, columns: LinePlace['columns']): boolean =>
  columns !== null && /^\p{L}[\p{L} ]*:\s?[<>≤≥]?=?\s?\d/u.test(text) && nearestColumn(box, columns)?.kind === 'range'

/** `! Haemoglobin`, `▲ WBC` at the begin of a line as a name and the flag of its result, which is printed in front of both. */
function withMarkParted(cell: TypedCell): TypedCell[] {
  const [mark, ...words] = cell.words
  if (cell.kind !== 'text' || !words.length || !/^(?:!{1,3}|[▲▼↑↓])$/u.test(mark!.text)) return [cell]
  return [
    { ...cell, ...cellOf(words) },
    { ...cell, ...withKind(cellOf([mark!]), 'flag') },
  ]
}

/** `>100,000 CFU/mL Escherichia coli`, `10^5 cfu/ml` */
export const COUNT_OF_COLONIES = /^[<>≤≥]?\s?\d[\d,.^*x -]{0,20}\s?CFU\b/iu
/** What else is said of a culture: `No growth`, `Heavy growth of Candida albicans`. */
const GROWTH = /^(?:(?:\p{L}+ ){0,3}growth|mixed (?:\p{L}+ )?flora)\b/iu

/** `Urine Culture  >100,000 CFU/mL Escherichia coli`: a culture and, as one result, what grew in it. */
function cultureIn({ cells: [name, growth, ...others] }: Line): TypedCell[] | undefined {
  if (!growth || others.length || !/\bculture\b/iu.test(name!.text)) return undefined
  if (!COUNT_OF_COLONIES.test(growth.text) && !GROWTH.test(growth.text)) return undefined
  return [withKind(name!, 'text'), { ...withKind(growth, 'text'), isAnswer: true }]
}

/** `White cell count 8.2` in one cell in front of a range or unit as a name and its result; `Vitamin B 12` is a name. */
function withResultBehindName(cells: TypedCell[], isNamed: ReadRowsOptions['isNamed']): TypedCell[] {
  const [first, next] = cells
  if (first?.kind !== 'text' || (next?.kind !== 'range' && next?.kind !== 'unit') || cells.some(({ kind }) => kind === 'value'))
    return cells
  const [name, result] = [cellOf(first.words.slice(0, -1)), cellOf(first.words.slice(-1))]
  if (!/^[<>≤≥]?\d[\d.,]*$/u.test(result.text) || !isNamed(name.text)) return cells
  // A number may belong to a name, but not behind a bracket.
  if (isNamed(first.text) && !name.text.endsWith(')')) return cells
  return [{ ...first, ...name }, withKind({ ...first, ...result }, 'value'), ...cells.slice(1)]
}

/** Words that say whether something is there. In small letters they may be the end of an explanation. */
const SEEN =
  /^(?:(?:Not?|None|Nil|NOT?|NONE|NIL)[- ](?:[Dd]etected|[Rr]eactive|[Ss]een|[Ii]solated|[Pp]resent|DETECTED|REACTIVE|SEEN|ISOLATED|PRESENT)|Non[- ]?[Rr]eactive|NON[- ]?REACTIVE|Detected|DETECTED|Reactive|REACTIVE|Negative|NEGATIVE|Positive|POSITIVE|Absent|ABSENT|Present|PRESENT|Trace|TRACE)(?: \([<>]?[\d.]+\))?$/u
const SEEN_WORDS_MAX = 3
const NUMBER_ALONE = /^[<>≤≥]?\d[\d.,]*$/u
const OF_BLOOD_GROUP = /^(?:blood (?:group(?:ing)?|type)|abo(?:\/rh)?(?: group(?:ing)?| type)?|rh(?:esus)?(?: factor| type)?)$/iu
const isGroupOfBlood = (result: Cell): boolean => isBloodGroup(result.text) || splitCell(result)[0]!.value === 'word'

/** `HPV 16 Not detected`, `Blood type O positive`, `TSH 1.2` alone in a line as a name and its result; `Vitamin B 12` is a name. */
function withResultAlone(cells: TypedCell[], { isNamed, isAnalyte }: ReadRowsOptions): TypedCell[] {
  const [cell, ...others] = cells
  if (others.length || cell?.kind !== 'text' || isNamed(cell.text)) return cells
  const partsAt = (count: number): TypedCell[] => {
    const name = cell.words.slice(0, -count)
    const withoutSign = /^[=:]$/u.test(name.at(-1)!.text) ? name.slice(0, -1) : name
    return withoutSign.length
      ? [{ ...cell, ...cellOf(withoutSign) }, withKind({ ...cell, ...cellOf(cell.words.slice(-count)) }, 'value')]
      : []
  }
  for (let count = Math.min(SEEN_WORDS_MAX, cell.words.length - 1); count > 0; count--) {
    const [name, result] = partsAt(count)
    if (!name || !result) continue
    const isNumber = count === 1 && NUMBER_ALONE.test(result.text) && isNamed(cleanName(name.text))
    const isGroup = OF_BLOOD_GROUP.test(cleanName(name.text)) && isGroupOfBlood(result)
    if (isNumber || isGroup || (SEEN.test(result.text) && isAnalyte(cleanName(name.text)))) return [name, result]
  }
  return cells
}

const PAIR_OF_NUMBERS = /^\d+(?:[.,]\d+)?\/\d+(?:[.,]\d+)?$/u

/** `Hgb/Hct 13.1/39.5`, `AST/ALT: 22/18 U/L` as two names with the result and the unit of each. A range or a flag may be of either. */
function withPairOfResults(cells: TypedCell[], isNamed: ReadRowsOptions['isNamed']): TypedCell[] {
  const words = cells.flatMap((cell) => cell.words)
  const index = words.findIndex(({ text }) => PAIR_OF_NUMBERS.test(text))
  if (index < 1) return cells
  const names = partsAtSlash(words.slice(0, index))
  const units = index < words.length - 1 ? splitCell(cellOf(words.slice(index + 1))) : []
  if (names.length !== 2 || !names.every(({ text }) => isNamed(cleanName(text)))) return cells
  if (units.some(({ kind }) => kind !== 'unit')) return cells
  const results = partsAtSlash([words[index]!])
  return names.flatMap((name, position) => [withKind(name, 'text'), withKind(results[position]!, 'value'), ...units])
}

/** What a cell holds; the time in a name that has its result in another column is part of the name: `Cortisol, 30 min`. */
function splitNamed(cell: Cell, { cells }: Line, columns: LinePlace['columns']): readonly TypedCell[] {
  const parts = splitCell(cell)
  const hasTime = columns && parts.length > 1 && isTimeUnit(parts.at(-1)!.text) && parts[0]!.kind === 'text'
  if (!hasTime || nearestColumn(cell.box, columns)?.kind !== 'name') return parts
  return cells.some(({ box }) => box !== cell.box && isUnderResults(box, columns)) ? [withKind(cell, 'text')] : parts
}

/** What the blocks of a region leave for those below them. */
interface RegionState extends RegionRead, LinePlace {
  notes: NotesBelowRows
  /** A text alone in a line: the result may be below it. */
  lineAbove: LineAbove | null
  usualHeight: number
  /** Those of lines with several. */
  rowCells: readonly Cell[]
}

function readBlocks(blocks: readonly ({ card: Card } | TypedLine)[], place: LinePlace, headings: Headings): RegionRead {
  const { page, columns, options } = place
  const notes = new NotesBelowRows({ page, columns, isNamed: options.isNamed })
  const state: RegionState = {
    ...place,
    rows: [],
    readings: [],
    headings,
    notes,
    lineAbove: null,
    usualHeight: usualHeight(page),
    rowCells: blocks.flatMap((block) => ('card' in block || block.line.cells.length < 2 ? [] : block.line.cells)),
  }
  for (const block of blocks)
    if ('card' in block) addRows([rowOfCard(block.card, page.number, panelBelow(state.headings))], [], state)
    else readLine(block, state)
  notes.panelEnds(state.rows)
  return state
}

const panelBelow = ({ panel, heading, section }: Headings) => ({ panel: heading ?? panel, section })

function addRows(rows: readonly Row[], statements: readonly Statement[], state: RegionState): void {
  const last = rows.at(-1)!
  state.notes.rowFollows()
  state.rows.push(...rows)
  state.readings.push({ kind: 'rows', rows, statements, box: last.box })
  state.headings = { panel: last.panel, heading: null, section: state.headings.section }
  state.lineAbove = null
}

/** What a line may be, in this order: the first that takes it is what it is. A line that none takes says nothing about results. */
const LINE_STAGES: readonly ((line: TypedLine, state: RegionState) => boolean)[] = [
  beginNote,
  readResults,
  continueComments,
  continueRow,
  continueNote,
  readPatient,
  readHeading,
]

function readLine(line: TypedLine, state: RegionState): void {
  if (line.isStatement) addStatements(line, state)
  LINE_STAGES.some((stage) => stage(line, state))
}

function addStatements({ line, statements }: TypedLine, { readings, headings }: RegionState): void {
  readings.push({ kind: 'statements', line, statements, isUnderHeading: headings.heading !== null })
}

/** `Comment: hemolyzed` */
function beginNote({ line }: TypedLine, { notes, rows }: RegionState): boolean {
  return notes.begins(line, rows)
}

/** `Glucose 92 mg/dL 70 - 99` */
function readResults(typedLine: TypedLine, state: RegionState): boolean {
  const { line, cells, statements, isStatement } = typedLine
  const rows = rowsOfLine(line, cells, { ...state, ...state.headings, rowAbove: state.rows.at(-1) })
  if (rows.length) addRows(rows, statements, state)
  else if (statements.length && !isStatement && state.headings.heading !== null) addStatements(typedLine, state)
  return rows.length > 0
}

/** Further lines in the column of comments. */
function continueComments({ line }: TypedLine, { notes, rows, readings }: RegionState): boolean {
  const last = rows.at(-1)
  const isContinued = notes.continuesColumn(line, last)
  if (isContinued) readings.push({ kind: 'continued', box: last!.box })
  return isContinued
}

/** The rest of a name, and further lines of a range. */
function continueRow({ line, wholeCells }: TypedLine, { rows, columns, options, readings }: RegionState): boolean {
  const last = rows.at(-1)
  if (!last || !continuesRow(last, line, wholeCells, columns, options.isNamed)) return false
  readings.push({ kind: 'continued', box: last.box })
  return true
}

function continueNote({ line }: TypedLine, { notes, rows }: RegionState): boolean {
  return notes.continues(line, rows)
}

/** What is said of the patient: texts above it are the letterhead, and no headings of the results below it. */
function readPatient({ line }: TypedLine, state: RegionState): boolean {
  if (!isAboutPerson(line)) return false
  const { panel } = state.headings
  state.headings = { panel, heading: null, section: panel }
  state.lineAbove = null
  return true
}

/** A heading of a panel, or a name whose result is below. */
function readHeading({ line, wholeCells, isStatement }: TypedLine, state: RegionState): boolean {
  if (isStatement || line.isLetterhead) return false
  const { page, columns, options, headings } = state
  state.lineAbove = null
  if (!isOneText(wholeCells, page)) return false
  const text = withoutDay(joinedText(wholeCells)).replace(page.source === 'ocr' ? /(?<=\p{Lu}{2}\)?)\.$/u : /$/u, '')
  if (!isPossibleHeading(text, options)) return false
  const isBelow = state.rows.length > 0 || headings.heading !== null
  const isTitle = isHeading(line, text, {
    page,
    columns,
    usualHeight: state.usualHeight,
    rowCells: state.rowCells,
    isBelow,
    last: state.rows.at(-1),
  })
  if (isTitle || !columns) state.lineAbove = { text: cleanName(text), line }
  if (!isTitle) return false
  state.notes.panelEnds(state.rows)
  // A title of all results ends the panel above, and leaves the heading of the next one.
  if (isTitleOfResults(text)) {
    if (headings.heading === null) state.headings = { ...headings, panel: null }
    return true
  }
  const heading = headingOf(text)
  const isPart = isPartOfExamination(text)
  state.headings = { ...headings, heading, section: isPart ? headings.section : heading }
  if (!isPart) state.readings.push({ kind: 'panel' })
  return true
}

/** Whether a line is one text; in a picture words that stand as close as its letters are high are one: `BIOCHEMISTRY  PROFILE`. */
function isOneText(cells: readonly TypedCell[], { source }: PageText): boolean {
  const isClose = ({ box }: TypedCell, index: number) =>
    index === 0 || (source === 'ocr' && box.left - cells[index - 1]!.box.right < heightOf(box))
  return cells.length > 0 && cells.every(({ kind }) => kind === 'text') && cells.every(isClose)
}

/** Letters of a heading. */
const HEADING_LETTERS_MAX = 70

function isPossibleHeading(text: string, { isNamed, isLetterhead }: ReadRowsOptions): boolean {
  if (looksLikeSentence(text) || text.length > HEADING_LETTERS_MAX) return false
  // A label with its value, a text behind a period, and a text in brackets.
  if (/:\s*\S|(?<!\b\p{L}{1,5})\.\s*\S|^[([]/u.test(text)) return false
  return isPossibleName(cleanName(text), isNamed) && !isLetterhead?.(text)
}
