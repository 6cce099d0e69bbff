// Lines that name the columns of a table; the names may have several lines each.
import { isUnit } from '../../lab-values/units.ts'
import { valueKind } from '../../lab-values/values.ts'
import { type Box, centerX, heightOf, overlapX, overlapY } from '../pages/page.ts'
import { dateIn, isDay } from '../texts/dates.ts'
import { labelAt } from '../texts/names.ts'
import { type Band, type Cell, cellOf, type Line } from './table-cells.ts'
import { type Run, runsOfLine, type Spaces, textOf } from './runs.ts'
import * as tolerances from './tolerances.ts'

export type ColumnKind =
  | 'name'
  | 'value'
  | 'normal_value'
  | 'abnormal_value'
  | 'unit'
  | 'range'
  | 'flag'
  | 'comment'
  | 'previous'
  | 'dated_value'
  | 'specimen'
  | 'method'
  | 'date'
  /** Who measured: `Site`, `Lab`. */
  | 'laboratory'
  | 'other'

export interface Column {
  kind: ColumnKind
  box: Box
  /** How far it reaches, where the table shows it. */
  band?: Band
  /** The unit that its name says: `Result (mmol/L)`. */
  unit?: string
  /** Date, as printed, of results of one day. */
  date?: string
  /** Name, as printed, of a column whose content is unknown, or that is about a group of patients: `Women`, `Reference (F)`. */
  title?: string
}

/** Words of which the names of columns consist. A line with others is not a header. */
const VOCABULARY = new Set(
  `test tests name names of the result results value values observed observation observations current your patient patient's patients and flag flags
  previous prior last past historical history earlier date dates time unit units uom measure measurement measurements reference ref refer range ranges interval
  intervals int normal expected standard std target optimal desired healthy biological bio limits limit high low hi lo h l h/l abnormal abn out in
  within outside method methodology specimen sample type lab laboratory status investigation investigations examination examinations analyte analytes
  analysis component components parameter parameters assay assays description procedure procedures marker markers biomarker biomarkers profile
  particulars determination determinations element item study substance panel service constituent final latest new numeric finding findings reading
  level outcome obtained found measured today si conventional alert remark remarks indicator interp interpretation notes note comment comments code
  loinc sr s no number # performing site graph chart scale trend change delta first collected resulted performed requested done ordered conducted
  this zone norm norms class allergen allergens compound compounds drug drugs outcome cutoff loq lod window consistency agency resulting resulted exam exams risk moderate
  optimal increased borderline average times time's conclusion judgment judgement percent absolute organism exam assay's prescribed expected detected
  at by on for or per recent most newest result(s) test(s) value(s) unit(s) name(s) bri r/r nabl cutoff cut-off adult desirable laboratory's population patient(s) se
  min max minimum maximum from to lower upper group section department category rng rngs s.no sr.no sl.no sl technology ref.range ranges/units reported as report obs val res rslt meas conc concentration mean source material technique collection drawn sampled what was it means we tested typical usual
  goal goals virus viruses viral bacteria bacterial parasite parasites parasitic fungi fungal pathogen pathogens`
    .split(/\s+/u)
    .filter(Boolean),
)

/** `Parasites and viruses`: what the tests of a table are for. */
const ORGANISMS =
  /^(?:(?:vir(?:us|uses|al)|bacteria|bacterial|parasites?|parasitic|fung(?:i|al)|pathogens?|organisms|and|tested)(?: |$))+$/u

const PATTERNS: [ColumnKind, RegExp][] = [
  ['name', ORGANISMS],
  ['specimen', /^(?:specimen|sample|material)(?: (?:type|source))?s?$|^type of (?:specimen|sample)$/u],
  ['method', /^(?:test )?(?:methods?|methodology|technique|technology)(?: name)?$/u],
  [
    'date',
    /^(?:date(?: ?\/ ?| and | )?time|dates?|(?:date |time )?(?:of )?(?:collected|collection|drawn|sampled)(?: (?:on|at|date|time))*|(?:test|sample|specimen) date)$/u,
  ],
  ['flag', /^what (?:it|this) means$/u],
  ['name', /^what (?:was|we) (?:tested|measured)$/u],
  ['previous', /\b(?:prev(?:ious)?|prior|last|past|historical|history|earlier|trend|change|delta)\b/u],
  // `In Range / Out of Range`: one column has all results.
  ['value', /^(?:with)?in (?:\w+ )?(?:range|limits) (?:or )?out(?:side)? (?:of )?(?:\w+ )?(?:range|limits)$/u],
  [
    'abnormal_value',
    /\bout(?:side)?(?: of| -of)?[ -](?:the )?(?:normal |ref(?:erence)? )?(?:range|limits)\b|^abnormal(?: results?)?$/u,
  ],
  ['normal_value', /\b(?:in|within)[ -](?:the )?(?:normal |ref(?:erence)? )?(?:range|limits)\b|^normal results?$/u],
  ['other', /^(?:(?:very )?high|moderate|intermediate|borderline|increased|average)(?: risk)?$|^cut-?off\b|^detection\b/u],
  ['other', /^(?:result|report|test) status$/u],
  ['laboratory', /^(?:(?:performing|resulting) )?(?:lab(?:oratory)?|site|agency)(?: code)?$/u],
  ['value', /^(?:this time|percent|outcome|current|latest|newest|most recent)$/u],
  ['comment', /^(?:(?:test|result) )?(?:notes?|comments?|remarks?)$/u],
  [
    'range',
    /^(?:low risk|optimal risk)(?: optimal)?$|\b(?:ref|refer|reference|ranges?|intervals?|limits?|expected|desirable|biological|bri|r\/r|cut-?off|target|goals?|zone|norms?)\b|^normals?(?: values?| levels?)?$|^optimal$|^low ?[-–] ?high$|^standard$/u,
  ],
  ['unit', /^(?:si |conventional |measurement )?(?:units?|uom|unit\(s\)|measure|units? of measure(?:ment)?)$/u],
  [
    'value',
    /\b(?:results?|values?|observed|findings?|reading|outcome|obtained|found|measured|today|level|conc(?:entration)?|rslt)\b|(?:result|value)\(s\)/u,
  ],
  ['flag', /^(?:flags?|status|h\/l|hi\/lo|abn(?:ormal)?(?: flag)?|alert|indicator|interp(?:retation)?|abnormal flag)$/u],
  [
    'name',
    /\b(?:tests?|names?|investigations?|examinations?|analytes?|analysis|components?|parameters?|assays?|allergens?|compounds?|drugs?(?: class)?|exams?|description|procedures?|(?:bio)?markers?|profile|particulars|determinations?|element|item|study|substance|panel|service|constituent|measurements?|observations?)\b|test\(s\)/u,
  ],
  ['other', /./u],
]

/** `Result / Range`, `Measured value Ref. Range`: each cell has both, the result first. */
const RESULT_AND_RANGE =
  /\b(?:results?|values?)(?:\s*[/&]\s*|\s+and\s+)(?:\w+\.?\s+)?(?:ranges?|intervals?|limits?)\b|\b(?:results?|values?)\b.*\b(?:ref(?:erence)?|normal|expected|standard|biological)\b/iu

/** Longer texts name no column. */
const LETTERS_MAX = 120

/** Whether a column of names says which organisms its tests are for. */
export const namesOrganisms = (text: string): boolean => ORGANISMS.test(text.trim().toLowerCase())

/** The kind of the column that a text names; undefined if it names none. */
export function columnKind(text: string): ColumnKind | undefined {
  if (text.length > LETTERS_MAX) return undefined
  const plain = text
    .trim()
    .replace(/[:*]+$/u, '')
    .trim()
  if (dateIn(plain)?.text.length === plain.length) return 'dated_value'
  if (/^(?:abnormal|out of range)\s?\?$/iu.test(plain)) return 'flag'
  const ofDay = kindWithDay(plain)
  if (ofDay) return ofDay
  // Units are named with the column: `Results (mg/dL)`, `Result in %`.
  const words = (unitIn(plain)?.name ?? plain)
    // `Reference RangeStatus`: names of columns without a space. `RaNGE` is misread.
    .replaceAll(/\p{L}+/gu, (word) =>
      VOCABULARY.has(word.toLowerCase()) ? word : word.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' '),
    )
    .toLowerCase()
    .replaceAll(/[([][^)\]]*[)\]]/gu, (bracket) => (/^\((?:s)\)$/u.test(bracket) ? bracket : ' '))
    .replaceAll(/[./&,+|–-]+(?=\s|$)|(?<=\s|^)[./&,+|–-]+/gu, ' ')
    .trim()
    .split(/\s+/u)
    .map((word) => word.replace(/\(s\)$/u, 's'))
  if (
    words.length > 7 ||
    !words.every(
      (word) => VOCABULARY.has(word.replace(/[.:]+$/u, '')) || word.split(/[/-]/u).every((part) => VOCABULARY.has(part)),
    )
  )
    return undefined
  const phrase = words.map((word) => word.replace(/[.:]+$/u, '')).join(' ')
  if (RESULT_AND_RANGE.test(plain)) return 'value'
  return PATTERNS.find(([, pattern]) => pattern.test(phrase))?.[0]
}

/** `Previous 07/18/2023`, `Current 07/14/2024`: the results of a day. `Collected 07/14/2024` names none. */
function kindWithDay(text: string): ColumnKind | undefined {
  const date = dateIn(text)
  const name = date && text.endsWith(date.text) ? text.slice(0, -date.text.length).trim() : ''
  const kind = name && !/\b(?:date|time)\b|[:,]$/iu.test(name) ? columnKind(name) : undefined
  return kind === 'previous' || kind === 'value' ? kind : undefined
}

/**
 * Whether a line that may name columns is a row of the table above it: `Urobilinogen  04/15/2025  Normal  Normal` under
 * `Test  Collected  Result  Range`, with a day below the name of days, or a word of results where results, ranges or flags are, and no other
 * name of a column.
 * @param columns those of the table above
 */
export function isRowBelow(
  cells: readonly Pick<Cell, 'text' | 'box'>[],
  columns: readonly { kind: ColumnKind | undefined; box: Box }[],
): boolean {
  if (!columns.some(({ kind }) => kind === 'name')) return false
  const namedCells = cells.filter(({ text }) => columnKind(text) !== undefined && !isDay(text))
  if (namedCells.some(({ text }) => valueKind(text) === undefined)) return false
  const isBelow = ({ box }: { box: Box }, kinds: ReadonlySet<ColumnKind | undefined>) =>
    columns.some((column) => kinds.has(column.kind) && overlapX(column.box, box) > 0)
  return namedCells.some((cell) => isBelow(cell, WORDS)) || cells.some((cell) => isDay(cell.text) && isBelow(cell, DAYS))
}

/** Where words stand that may name columns as well: `Normal`, `Abnormal`. */
const WORDS = new Set<ColumnKind | undefined>(['value', 'range', 'flag', 'comment'])
/** What names of days may seem. */
const DAYS = new Set<ColumnKind | undefined>(['date', 'other'])

/** `LABORATORY RESULTS`, `Investigation Results`: names neither columns nor a panel. */
export const isTitleOfResults = (text: string): boolean =>
  /^(?:(?:lab(?:oratory)?|tests?|blood|pathology|your|all|patient|investigations?|examinations?|analysis)\s){0,3}results?:?$/iu.test(
    text,
  )

/** The columns that a line names; undefined if it is not a header: it names a result and a further column, or dates. */
export function columnsOf(line: Line): Column[] | undefined {
  // `Examination date: 2024/04/22` names nothing but itself.
  if (line.cells.some(({ text }) => text.length > 60 || /\p{L}:\s+\S/u.test(text) || statesResult(text))) return undefined
  if (line.cells.length === 1 && isTitleOfResults(line.cells[0]!.text)) return undefined
  const daysWithTimes = line.cells.filter(({ text }) => columnKind(text) === undefined && isDay(text))
  const columns = line.cells.flatMap((cell) =>
    (daysWithTimes.length > 1 && daysWithTimes.includes(cell)
      ? [{ kind: 'dated_value' as const, box: cell.box, date: cell.text.trim() }]
      : columnsIn(cell)
    ).map((column) => ({ ...column, ...(cell.band && { band: cell.band }), ...unitOf(cell.text) })),
  )
  if (!columns) return undefined
  const knownColumns = columns.filter((column) => column.kind !== undefined) as Column[]
  if (line.cells.every(({ text }) => columnKind(text) === undefined || isStatus(text))) return undefined
  const kinds = new Set(knownColumns.map((column) => column.kind))
  const values = ['value', 'normal_value', 'abnormal_value'].some((kind) => kinds.has(kind as ColumnKind))
  const dates = knownColumns.filter((column) => column.kind === 'dated_value').length
  const others = ['name', 'unit', 'range', 'flag', 'comment'].filter((kind) => kinds.has(kind as ColumnKind)).length
  if (knownColumns.length * 2 < columns.length) return undefined
  // `Date of birth 1980-01-22` is what a report says of a person.
  if (dates && line.cells.some(({ text }) => OF_PERSONS.has(labelAt(text)?.field))) return undefined
  // `Patient Name  Jane Doe  Lab Ref  26Z018843`
  if (!values && line.cells.some(({ text }) => LABEL_OF_PATIENT.test(text))) return undefined
  // `Patient Name: Jane Doe  Report Date: 15-Dec-2025` are labels.
  if (dates && line.cells.filter(({ text }) => text.endsWith(':')).length > Number(columns.length > 2)) return undefined
  if (values ? others < 1 : !(dates >= 1 && others >= 1) && !(kinds.has('name') && kinds.has('range'))) return undefined
  // `Result: 5` names no columns, and `Value Normal Value Normal` are results.
  if (knownColumns.filter((column) => column.kind === 'value').length > 1 && !kinds.has('name')) return undefined
  if (knownColumns.length < 2) return undefined
  // Dates next to a column of results are older results; alone they are the results.
  const columnsWithKind = columns.map((column): Column => ({ ...column, kind: column.kind ?? 'other' }))
  // A table of names and ranges has results, whatever their column is called.
  if (!values && !dates) {
    const result = columnsWithKind.find(
      (column, index) => column.kind === 'other' && columnsWithKind.slice(0, index).some(({ kind }) => kind === 'name'),
    )
    if (result) result.kind = 'value'
  }
  // `Target  Result  Reference`: what a panel looks for. A table has one column of ranges.
  const [first, ...further] = columnsWithKind
  const isLookedFor = line.cells[0]!.text.trim().toLowerCase().startsWith('target')
  if (isLookedFor && !kinds.has('name') && further.some(({ kind }) => kind === 'range')) first!.kind = 'name'
  return columnsWithKind.map((column) => (column.kind === 'dated_value' && values ? { ...column, kind: 'previous' } : column))
}

/** `In range`, `Optimal`: next to names of tests, or alone, they say how results are. A sign behind them is dirt. */
export const isStatus = (text: string): boolean =>
  /^(?:(?:in|within|out(?:side)? of|above|below|outside) (?:the )?(?:normal )?range|optimal|normal|abnormal|borderline|high|low)[^\p{L}\p{N}]*$/iu.test(
    text,
  )

const LABEL_OF_PATIENT = /^(?:patient|client|donor)(?:'s)?\s(?:name|ref(?:erence)?|id|no|number)\b/iu
const OF_PERSONS = new Set<string | undefined>(['dob', 'sex', 'sex_age', 'age'])

/** `Value 4.870`, `Result Negative`: a result behind its label, and no names of columns. */
const statesResult = (text: string): boolean => {
  const [, result] = /^(?:values?|results?)\s(.+)$/iu.exec(text) ?? []
  return (
    result !== undefined && columnKind(text) === undefined && columnKind(result) === undefined && valueKind(result) !== undefined
  )
}

/** The unit that the name of a column ends with: `Result (mmol/L)`, `Value [%]`, `Result, mg/dL`, `Result in %`; `Range (units)` has none. */
function unitIn(text: string): { name: string; unit: string } | undefined {
  const [, name, inBrackets, behindWord] =
    /^(\p{L}.*?)(?:\s?[([]\s*([^()[\]]+?)\s*[)\]]|(?:,|\sin)\s(\S+))$/iu.exec(text.trim()) ?? []
  const unit = (inBrackets ?? behindWord)?.replace(/^in\s/iu, '')
  return name && unit && isUnit(unit) && !/^(?:[hlmsd]|units?)$/iu.test(unit) ? { name, unit } : undefined
}

const unitOf = (text: string): { unit?: string } => {
  const unit = unitIn(text)?.unit
  return unit === undefined ? {} : { unit }
}

/** Whether the name of a column is that of a group of patients. */
export const namesGroup = (title: string): boolean =>
  /\b(?:(?:fe)?males?|(?:wo)?m[ae]n|boys?|girls?|adults?|child(?:ren)?|newborns?|infants?|pregnan\w*)\b|^[MF]$|\([MF]\)/iu.test(
    title,
  )

/** What the first of some columns is called if that says nothing of what it holds: `URINALYSIS  Result  Units` names a panel. */
export const panelIn = (columns: readonly Column[]): string | undefined =>
  columns.reduce((first, column) => (column.box.left < first.box.left ? column : first)).title

/** A cell may hold the names of several columns that stand close: `Result Reference range`, `Test Result Unit`. */
function columnsIn(cell: Cell): (Omit<Column, 'kind'> & { kind: ColumnKind | undefined })[] {
  const kind = columnKind(cell.text)
  if (kind === 'dated_value') return [{ kind, box: cell.box, date: cell.text.trim() }]
  if (kind === 'specimen' || kind === 'method' || kind === 'date' || kind === 'laboratory') return [{ kind, box: cell.box }]
  const single = [
    {
      kind,
      box: cell.box,
      ...(kind && !namesGroup(cell.text) && !/^abs(?:olute)?$/iu.test(cell.text) ? {} : { title: cell.text }),
    },
  ]
  if (kindWithDay(cell.text)) return single
  // A cell of a table names one column.
  if (cell.words.length < 2 || cell.words.length > 9 || (cell.band && kind)) return single
  for (let index = 1; index < cell.words.length; index++) {
    const [first, second] = [cell.words.slice(0, index), cell.words.slice(index)].map((words) => cellOf(words)) as [Cell, Cell]
    const isOwn = /^(?:this time|results?|current|today)$/iu.test(second.text)
    if (
      (JOINS_BEFORE.test(first.text) && !isOwn) ||
      JOINS_AFTER.test(second.text) ||
      /^(?:test results?|(?:result|report|test) status)$/iu.test(cell.text)
    )
      continue
    const [left, right] = [columnKind(first.text), columnKind(second.text)]
    if (!left || !right || left === right || !SPLIT_OFF.has(right) || left === 'previous' || left === 'other') continue
    return [{ kind: left, box: first.box }, ...columnsIn(second)]
  }
  return single
}

/** Columns that stand close behind another. */
const SPLIT_OFF = new Set<ColumnKind>([
  'value',
  'unit',
  'range',
  'flag',
  'comment',
  'previous',
  'dated_value',
  'specimen',
  'method',
])
const JOINS_BEFORE =
  /(?:\band|&|\/|\bof|\bref\.?|\breference|\bnormal|\bout|\bin|\babnormal|\bbio\.?|\bbiological|\bobserved|\bexpected|\bor|\byour|\bcurrent|[([][^)\]]*)$/iu
const JOINS_AFTER = /^(?:range|ranges|interval|intervals|values?|name|flag\b.*date|and|&|\/|of|limits?|level|date|[)\]([])/iu

/** Consecutive lines of a page that name columns. */
export interface HeaderLines {
  /** Index of the first of them among the lines of the page, and of the first line below them. */
  start: number
  bodyStart: number
  /** The runs of each. */
  runs: Run[][]
}

const LINES_MAX = 8

const isNamed = (text: string): boolean => columnKind(text) !== undefined
/** A unit, a date or a time under the name of a column, or the rest of one. */
const isBelowName = (text: string): boolean =>
  /^[([]|^[^([]*[)\]]$|^\d{1,2}:\d{2}$/u.test(text) || isUnit(text) || dateIn(text)?.index === 0

/**
 * The lines that may name columns, from top to bottom.
 * @param isParted whether something is drawn between two lines
 * @param columnsAbove the columns of a table that may go on in the first lines
 */
export function findHeaders(
  lines: readonly Line[],
  spaces: Spaces,
  isParted: (upper: Line, lower: Line) => boolean,
  columnsAbove: Parameters<typeof isRowBelow>[1] = [],
): HeaderLines[] {
  const headers: HeaderLines[] = []
  const runs = lines.map((line) => runsOfLine(line, spaces))
  const isHeader = lines.map(({ isParticulars }, index) => !isParticulars && isHeaderLine(runs[index]!))
  for (let start = 0; start < lines.length; start++) {
    if (!isHeader[start] || !runs[start]!.some((run) => isNamed(textOf(run)))) continue
    let bodyStart = start + 1
    while (
      bodyStart < lines.length &&
      bodyStart - start < LINES_MAX &&
      isHeader[bodyStart] &&
      !isFirstRow(runs[bodyStart]!, runs.slice(start, bodyStart)) &&
      isNext(lines, start, bodyStart, isParted)
    )
      bodyStart++
    const header = { start, bodyStart, runs: runs.slice(start, bodyStart) }
    if (!namesColumns(header) || isRowBelow(cellsOf(header.runs), headers.length ? columnsOfRuns(headers.at(-1)!) : columnsAbove))
      continue
    headers.push(header)
    start = bodyStart - 1
  }
  return headers
}

/** Whether a line below names of columns is a row: `Urobilinogen  Normal  Normal`, of which the first cell is no further name of a column. */
function isFirstRow(runs: readonly Run[], runsAbove: Run[][]): boolean {
  const columns = columnsOfRuns({ runs: runsAbove })
  const names = columns.filter(({ kind }) => kind === 'name')
  const isNameCell = (run: Run) => !isNamed(textOf(run)) && names.some(({ box }) => overlapX(box, run.box) > 0)
  return runs.some(isNameCell) && isRowBelow(cellsOf([runs]), columns)
}

const cellsOf = (runs: readonly (readonly Run[])[]) => runs.flat().map((run) => ({ text: textOf(run), box: run.box }))

const columnsOfRuns = ({ runs }: Pick<HeaderLines, 'runs'>) =>
  cellsOf(runs).map(({ text, box }) => ({ kind: columnKind(text), box }))

function isHeaderLine(runs: readonly Run[]): boolean {
  const texts = runs.map(textOf)
  const namedCount = texts.filter((text) => isNamed(text) || isBelowName(text)).length
  return namedCount * 2 > texts.length && texts.every((text) => text.length <= 60 && !/^[<>≤≥]?\s?\d+(?:[.,]\d+)?$/u.test(text))
}

function isNext(lines: readonly Line[], start: number, index: number, isParted: (upper: Line, lower: Line) => boolean): boolean {
  const line = lines[index]!
  const linesAbove = lines.slice(start, index)
  if (linesAbove.some((item) => overlapY(item.box, line.box) > heightOf(line.box) * tolerances.ROW_OVERLAP)) return true
  const last = linesAbove.at(-1)!
  const [upper, lower] = [last.cells[0]!.words[0]!, line.cells[0]!.words[0]!]
  const height = Math.min(heightOf(upper.box), heightOf(lower.box))
  const tolerance = lower.font === undefined ? tolerances.HEADER_HEIGHT_IN_PICTURE : tolerances.HEADER_HEIGHT_IN_TEXT
  return (
    Math.abs(heightOf(upper.box) - heightOf(lower.box)) < height * tolerance &&
    line.box.top - Math.max(...linesAbove.map(({ box }) => box.bottom)) < height * tolerances.HEADER_LINE_GAP &&
    !isParted(last, line) &&
    // If two lines each name all columns of a table, the second is the next header; second lines of some names are shorter.
    !(
      line.box.top - last.box.bottom > height * tolerances.HEADER_STACK_GAP &&
      line.cells.length >= last.cells.length &&
      namesTable(line) &&
      namesTable(last)
    )
  )
}

/** Whether a line names both the tests and their results. */
function namesTable(line: Line): boolean {
  const kinds = columnsOf(line)?.map(({ kind }) => kind) ?? []
  return kinds.includes('name') && kinds.some((kind) => kind === 'value' || kind === 'normal_value' || kind === 'dated_value')
}

/** Whether some runs together name a result and what belongs to it. */
function namesColumns({ runs }: HeaderLines): boolean {
  const all = runs.flat()
  if (all.length < 2) return false
  const kinds = new Set(
    all.flatMap((run) => run.words.map(({ text }) => columnKind(text))).filter((kind) => kind && kind !== 'other'),
  )
  for (const run of all) {
    const kind = columnKind(textOf(run))
    if (kind && kind !== 'other') kinds.add(kind)
  }
  return kinds.size > 1 && ['name', 'value', 'dated_value', 'range', 'unit'].filter((kind) => kinds.has(kind as never)).length > 1
}

/** The name of a column of lower bounds, or of upper ones, whatever stands above both. */
export const isLowerBound = (text: string): boolean =>
  /(?:^|\s)(?:min(?:imum)?|low(?:er)?(?: limit| bound)?|from)\.?$/iu.test(text)
export const isUpperBound = (text: string): boolean => /(?:^|\s)(?:max(?:imum)?|high|upper(?: limit| bound)?|to)\.?$/iu.test(text)

export interface SpanningRun {
  run: Run
  /** Whether lower and upper bounds stand below it. */
  isOfBounds: boolean
}

/** The runs of a header that stand above several others: the name of columns that have names of their own below it. */
export function spanningRuns(runs: readonly (readonly Run[])[]): SpanningRun[] {
  return runs.flatMap((line, position) =>
    line.flatMap((run): SpanningRun[] => {
      const linesBelow = runs.slice(position + 1)
      if (linesBelow.some((lineBelow) => lineBelow.some((_, index) => isAboveBounds(run, lineBelow.slice(index, index + 2)))))
        return [{ run, isOfBounds: true }]
      const isAbove = linesBelow.some((lineBelow) => lineBelow.filter(({ box }) => overlapX(box, run.box) > 0.5).length > 1)
      return isAbove ? [{ run, isOfBounds: false }] : []
    }),
  )
}

const isAboveBounds = ({ box }: Run, [low, high]: readonly Run[]): boolean =>
  low !== undefined &&
  high !== undefined &&
  isLowerBound(textOf(low)) &&
  isUpperBound(textOf(high)) &&
  centerX(box) > low.box.left &&
  centerX(box) < high.box.right
