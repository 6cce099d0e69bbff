// The lines of pages, with the cells of tables: cells are formed first, from what is drawn and from the whitespace over a whole table, and
// the lines within each cell are put together.
import { boxAround, centerX, centerY, heightOf, overlapX, overlapY, type PageText, type Word } from '../pages/page.ts'
import { baselinesOf, type Cell, cellOf, type Line, splitCell, type TypedCell, withResultsParted } from './table-cells.ts'
import { withDetails } from './cell-details.ts'
import {
  columnKind,
  type ColumnKind,
  columnsOf,
  findHeaders,
  type HeaderLines,
  isLowerBound,
  isUpperBound,
  namesOrganisms,
} from './headers.ts'
import { areLabels, withParticulars } from './particulars.ts'
import { columnSeparators, rowSeparators, runsOfLine, separatorsAt, type Spaces, spacesOf, textOf } from './runs.ts'
import { isMethod, namesSpecimen } from './statements.ts'
import { type SideColumn, splitSideColumn } from './side-column.ts'
import { NAMES_OF_KINDS, readTable, type TableColumn, type TableOfRuns } from './table-columns.ts'
import { inOrder, lettersOnly, type Part, segmentsOf } from './cell-runs.ts'
import { continuedNames, headerLine, linesOfRow, nameOfColumn, type Writer } from './table-lines.ts'
import { rowsOfTable } from './table-rows.ts'
import { cleanName } from '../texts/names.ts'
import { isPanelName, panelHeadings } from './panel-headings.ts'
import * as tolerances from './tolerances.ts'

/** Lines of a page with which a table may go on: those above are its head. */
const STARTS_MAX = 40

/** Fewer results in a row may be one and a former one. */
const DAYS_MIN = 3

type IsNamed = (name: string) => boolean

/** The lines of each page of a report: a table goes on in the next page if lines of that keep to its columns before it names others. */
export function readLines(pages: readonly PageText[], isNamed: IsNamed = () => false): Line[][] {
  let columnsBefore: readonly TableColumn[] = []
  return pages.map((page) => {
    const { lines, columns } = tablesIn(page, isNamed, columnsBefore)
    columnsBefore = columns
    return page.source === 'text' ? withResultsParted(lines, isNamed) : lines
  })
}

/** The lines of a page from top to bottom, their cells from left to right; a row of a table is one line. */
export const readLinesOfPage = (page: PageText, isNamed: IsNamed = () => false): Line[] => tablesIn(page, isNamed, []).lines

interface Tables {
  lines: Line[]
  columns: readonly TableColumn[]
}

/** The lines of a page and the columns of its last table. @param columnsBefore those of the last table of the page before */
function tablesIn(page: PageText, isNamed: IsNamed, columnsBefore: readonly TableColumn[]): Tables {
  const baselines = baselinesOf(page)
  const beside = splitSideColumn(page, baselines)
  return beside
    ? tablesBesideParticulars(beside, isNamed, columnsBefore)
    : tablesBesideEachOther(page, baselines, isNamed, columnsBefore)
}

/** The tables of a page, also three or more of them side by side. */
function tablesBesideEachOther(
  page: PageText,
  baselines: readonly Line[],
  isNamed: IsNamed,
  columnsBefore: readonly TableColumn[],
): Tables {
  const sides = splitSides(page, baselines)
  if (!sides) return tablesBelowEachOther(page, baselines, isNamed, columnsBefore)
  const parts = sides.map((side, index) =>
    tablesBesideEachOther(side, baselinesOf(side), isNamed, index === 0 ? columnsBefore : []),
  )
  return { lines: parts.flatMap(({ lines }) => lines), columns: parts.at(-1)!.columns }
}

function tablesBesideParticulars(
  { head, side, tables, foot }: SideColumn,
  isNamed: IsNamed,
  columnsBefore: readonly TableColumn[],
): Tables {
  const [ofHead, body, ofFoot] = [head, tables, foot].map((part, index) =>
    tablesBelowEachOther(part, baselinesOf(part), isNamed, index === 0 ? columnsBefore : []),
  ) as [Tables, Tables, Tables]
  const particulars = baselinesOf(side).map((line) => ({ ...line, isParticulars: true }))
  return {
    lines: [...ofHead.lines, ...particulars, ...body.lines, ...ofFoot.lines],
    columns: ofFoot.columns.length ? ofFoot.columns : body.columns,
  }
}

function tablesBelowEachOther(
  page: PageText,
  baselines: readonly Line[],
  isNamed: IsNamed,
  columnsBefore: readonly TableColumn[],
): Tables {
  const spaces = spacesOf(baselines)
  const drawnEdges = rowSeparators(page.drawings, { left: 0, right: page.width, top: 0, bottom: page.height })
  const isParted = (upper: Line, lower: Line) => drawnEdges.some((y) => y > centerY(upper.box) && y < centerY(lower.box))
  const namesBefore = columnsBefore.map((column) => ({
    kind: columnKind(nameOfColumn(column)),
    box: { ...column, top: 0, bottom: 0 },
  }))
  const headersIn = (linesToSearch: readonly Line[]) =>
    findHeaders(linesToSearch, spaces, isParted, namesBefore).filter(({ runs }) => !areLabels(runs))
  const lines = withParticulars(baselines, spaces, headersIn(baselines)[0]?.start ?? baselines.length)
  const headers = headersIn(lines)
  const result: Line[] = []
  let position = 0
  let columns: readonly TableColumn[] = []
  const add = (table: TableLines | undefined) => {
    if (!table) return
    result.push(...lines.slice(position, table.start), ...table.lines)
    position = table.end
    columns = table.columns
  }
  if (columnsBefore.length)
    add(continuedTable(page, lines, columnsBefore, { end: headers[0]?.start ?? lines.length, spaces, isNamed }))
  else if (!headers.length) add(bareTable(page, lines, { begin: 0, end: lines.length, spaces, isNamed }))
  for (const [index, header] of headers.entries()) {
    if (header.start < position) continue
    const options = { end: headers[index + 1]?.start ?? lines.length, spaces, isNamed }
    const whole = bestTable(page, lines, header, options)
    const next = whole && nextTable(lines, header.bodyStart, whole.columns, options)
    const table = next === undefined ? whole : bestTable(page, lines, header, { ...options, end: next })
    add(table)
    if (table) add(tableWithoutNames(page, lines, { begin: position, ...options }))
  }
  // Scanned pages lie in different places: columns of one are not those of the next.
  return { lines: [...result, ...lines.slice(position)], columns: page.source === 'text' ? columns : [] }
}

/** Some lines of a page as those of a table. */
interface TableLines {
  columns: readonly TableColumn[]
  lines: Line[]
  /** The first and the first behind them. */
  start: number
  end: number
  hasNames: boolean
}

/** The table under a header: lines above it that may belong to it, as a title, are left out if no table has them as the names of its columns. */
function bestTable(page: PageText, lines: readonly Line[], header: HeaderLines, options: TableOptions): TableLines | undefined {
  let best: TableLines | undefined
  for (let start = header.start; start < header.bodyStart && !best?.hasNames; start++) {
    const table = tableLines(page, lines, { ...header, start, runs: header.runs.slice(start - header.start) }, options)
    if (table && (!best || table.hasNames)) best = table
  }
  return best
}

/** The rows at the begin of a page that belong to the table with which the page before ends: the first of them has a name and a result. */
function continuedTable(
  page: PageText,
  lines: readonly Line[],
  columns: readonly TableColumn[],
  options: TableOptions,
): TableLines | undefined {
  const { kindOf } = rolesOf(columns)
  const names = [continuedNames(columns)]
  const columnsIn = (line: Line) =>
    runsOfLine(line, options.spaces).map(({ box }) => columns.find((column) => overlapX(box, { ...box, ...column }) > 0))
  const isRow = (line: Line) => {
    const own = columnsIn(line).map((column) => column && kindOf(column))
    return own.includes('name') && own.some((kind) => kind && RESULT_KINDS.has(kind))
  }
  const begin = lines.findLastIndex(({ isParticulars }, index) => isParticulars && index < options.end) + 1
  for (let first = begin; first < Math.min(options.end, begin + STARTS_MAX); first++) {
    if (!isRow(lines[first]!)) continue
    let start = first
    // The first of cells on several lines may be above the others.
    while (start > begin && overlapY(lines[start - 1]!.box, lines[start]!.box) > 0) start--
    const table = tableLines(page, lines, { start, bodyStart: start, runs: names }, options)
    if (table) return table
  }
  return undefined
}

/** Fewer rows do not show where columns are. */
const BARE_ROWS_MIN = 4
/** Fewer rows below a table, and a smaller share of the lines there, are not another table. */
const [NEXT_ROWS_MIN, NEXT_ROWS_SHARE] = [2, 0.6]

interface BareOptions extends TableOptions {
  /** The first line that may belong to the table. */
  begin: number
}

/** The heading of the first rows below a table that have no result where the table has them: they are those of another table. */
function nextTable(
  lines: readonly Line[],
  bodyStart: number,
  columns: readonly TableColumn[],
  { end, spaces, isNamed }: TableOptions,
): number | undefined {
  const results = columns.filter((column) => RESULT_KINDS.has(columnKind(nameOfColumn(column))!))
  const isInResults = ({ kind, box }: TypedCell) =>
    kind === 'value' && results.some(({ left, right }) => box.left < right && box.right > left)
  const rows = lines.map((line, index) => index >= bodyStart && index < end && isNamedRow(line, spaces, isNamed))
  const isOther = lines.map((line, index) => rows[index]! && !bareCells(line, spaces).some(isInResults))
  const from = lines.findIndex((line, index) => {
    if (index <= bodyStart || index >= end || runsOfLine(line, spaces).length > 1) return false
    const below = rows.flatMap((isRow, rowIndex) => (isRow && rowIndex > index ? [isOther[rowIndex]!] : []))
    const count = below.filter(Boolean).length
    return below[0] === true && count >= NEXT_ROWS_MIN && count >= below.length * NEXT_ROWS_SHARE
  })
  return results.length && from > 0 ? from : undefined
}

/** Whether a line begins with a name that laboratories use, its result and something more: explanations below a table may seem to be rows. */
function isNamedRow(line: Line, spaces: Spaces, isNamed: IsNamed): boolean {
  const [name, value, ...others] = line.isParticulars ? [] : bareCells(line, spaces)
  return name !== undefined && isNamed(cleanName(name.text)) && value?.kind === 'value' && others.length > 0
}

/** The table below another one, from its heading on, that keeps to other columns and does not name them. */
function tableWithoutNames(page: PageText, lines: readonly Line[], options: BareOptions): TableLines | undefined {
  const { begin, end, spaces, isNamed } = options
  const indexes = lines.slice(begin, end).map((_, index) => begin + index)
  const rows = indexes.filter((index) => isNamedRow(lines[index]!, spaces, isNamed))
  const [first, last] = [rows[0], rows.at(-1)]
  if (page.source !== 'text' || first === undefined || last === undefined || rows.length < NEXT_ROWS_MIN) return undefined
  const among = indexes.filter((index) => index >= first && index <= last && runsOfLine(lines[index]!, spaces).length > 1)
  if (rows.length < among.length * NEXT_ROWS_SHARE) return undefined
  const isHeading = first > begin && runsOfLine(lines[first - 1]!, spaces).length === 1
  const [start, tableEnd] = [isHeading ? first - 1 : first, last + 1]
  const table = bareTable(page, lines, options) ?? { start, end: tableEnd, lines: lines.slice(start, tableEnd) }
  return { ...table, columns: [], hasNames: false, lines: table.lines.map((line) => ({ ...line, isBare: true })) }
}

const bareCells = (line: Line, spaces: Spaces): TypedCell[] =>
  runsOfLine(line, spaces).flatMap((run) => splitCell(cellOf(run.words)))

/**
 * The table of a page that names no columns: its columns are where most cells of one kind are, if no two kinds overlap. Its cells are formed
 * like those of other tables; its rows are read by the kinds of their cells, because the names are not those of the page.
 */
function bareTable(page: PageText, lines: readonly Line[], options: BareOptions): TableLines | undefined {
  if (page.source !== 'text') return undefined
  const rows = lines.flatMap((line, index) => {
    const isOutside = line.isParticulars || index < options.begin || index >= options.end
    const cells = isOutside ? [] : bareCells(line, options.spaces)
    const isRow = cells.length > 2 && cells[1]!.kind === 'value' && (cells[0]!.kind === 'text' || options.isNamed(cells[0]!.text))
    return isRow ? [{ index, cells: [{ ...cells[0]!, kind: 'text' as const }, ...cells.slice(1)] }] : []
  })
  if (rows.length < BARE_ROWS_MIN) return undefined
  // Results of several days, as a cumulative report has them, are not in one column.
  const hasDays = (row: (typeof rows)[number]) => row.cells.filter(({ kind }) => kind === 'value').length >= DAYS_MIN
  if (rows.filter(hasDays).length * 2 > rows.length) return undefined
  let start = rows[0]!.index
  const names = Object.entries(NAMES_OF_KINDS).flatMap(([kind, text]) => {
    const cells = rows.flatMap((row) => row.cells.filter((cell) => cell.kind === kind).slice(0, 1))
    if (cells.length < BARE_ROWS_MIN && cells.length < rows.length / 2) return []
    const box = { ...boxAround(cells.map((cell) => cell.box)), top: lines[start]!.box.top - 1, bottom: lines[start]!.box.top - 1 }
    return [{ box, words: [{ text, box, confidence: 1 }] }]
  })
  const isOverlapping = names.some((a) => names.some((b) => a !== b && a.box.left < b.box.right && b.box.left < a.box.right))
  if (names.length < 3 || isOverlapping) return undefined
  // Lines of a name may be above the others of the first row.
  const isInColumn = ({ box }: Cell) => names.some((name) => overlapX(name.box, box) > 0)
  const isAbove = ({ box, cells, isParticulars }: Line, lineBelow: Line) =>
    !isParticulars && cells.every(isInColumn) && lineBelow.box.top - box.bottom < heightOf(box) * tolerances.CELL_LINE_GAP
  while (start > options.begin && isAbove(lines[start - 1]!, lines[start]!)) start--
  const table = tableLines(page, lines, { start, bodyStart: start, runs: [names] }, options)
  const ranges = names.find(({ words: [word] }) => word!.text === NAMES_OF_KINDS.range)
  const isRange = ({ box }: Cell) => ranges !== undefined && overlapX(box, ranges.box) > 0
  return (
    table && {
      ...table,
      lines: table.lines.map((line) => ({
        ...line,
        cells: line.cells.map((cell) => (isRange(cell) ? { ...cell, isRange: true } : cell)),
      })),
    }
  )
}

function tableLines(
  page: PageText,
  lines: readonly Line[],
  { start, bodyStart, runs }: HeaderLines,
  { end, spaces, isNamed }: TableOptions,
): TableLines | undefined {
  const linesBelow = lines.slice(bodyStart, end)
  if (!linesBelow.length) return undefined
  const box = boxAround(lines.slice(start, end).map((line) => line.box))
  const drawnEdges = columnSeparators(page.drawings, box)
  const runsIn = (line: Line) => runsOfLine(line, spaces, separatorsAt(drawnEdges, centerY(line.box)))
  const table = readTable(
    drawnEdges.length && bodyStart > start ? lines.slice(start, bodyStart).map(runsIn) : runs,
    linesBelow.map((line) => ({ line, runs: runsIn(line) })),
    drawnEdges.map(({ position }) => position),
    spaces,
  )
  if (!table) return undefined
  const columns = rolesOf(table.columns)
  const names = headerLine(page.number, columns.ownColumns, columns.upperOf)
  const kinds = columnsOf(names)
  if (!kinds || kinds.filter(({ kind }) => kind === 'name').length > 1) return undefined
  const separators = rowSeparators(page.drawings, {
    left: Math.min(...table.columns.map(({ left }) => left)),
    right: Math.max(...table.columns.map(({ right }) => right)),
    top: box.top - tolerances.DRAWN_AROUND,
    bottom: box.bottom + tolerances.DRAWN_AROUND,
  })
  return {
    columns: table.columns,
    // Columns that go on are known.
    lines: [...(bodyStart > start ? [names] : []), ...rowLines(page, table, columns, { separators, isNamed })],
    start,
    end: bodyStart + table.lines.length,
    hasNames: kinds.some(({ kind }) => kind === 'name'),
  }
}

interface TableOptions {
  /** The line behind the last one that may belong to the table. */
  end: number
  spaces: Spaces
  isNamed: IsNamed
}

interface Roles {
  /** Without that of panels. */
  ownColumns: TableColumn[]
  panels: TableColumn | undefined
  kindOf: (column: TableColumn) => ColumnKind | undefined
  upperOf: Writer['upperOf']
}

/** What the columns of a table hold, beyond what their names say each for itself. */
function rolesOf(columns: readonly TableColumn[]): Roles {
  const kindOf = (column: TableColumn) => columnKind(nameOfColumn(column))
  const names = columns.filter((column) => kindOf(column) === 'name')
  const panels = columns.find((column) => isPanelName(nameOfColumn(column)) && names.some((name) => name !== column))
  return {
    ownColumns: columns.filter((column) => column !== panels),
    panels,
    kindOf,
    upperOf: (column) => {
      const next = columns[columns.indexOf(column) + 1]
      return next && isLowerBound(nameOfColumn(column)) && isUpperBound(nameOfColumn(next)) ? next : undefined
    },
  }
}

const RESULT_KINDS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value', 'dated_value'])

/** The lines of the rows of a table, with the headings of their panels. */
function rowLines(
  page: PageText,
  table: TableOfRuns,
  { ownColumns, panels, kindOf, upperOf }: Roles,
  { separators, isNamed }: { separators: readonly number[]; isNamed: (name: string) => boolean },
): Line[] {
  const isName = ownColumns.some((column) => kindOf(column) === 'name')
    ? (column: TableColumn) => kindOf(column) === 'name'
    : (column: TableColumn) => column === ownColumns[0]
  const ofPanels: Part[] = []
  const lines = table.lines.flatMap((item): TableOfRuns['lines'] => {
    if (!panels || !item.parts) return [item]
    ofPanels.push(...item.parts.filter(({ column }) => column === panels))
    const parts = item.parts.filter(({ column }) => column !== panels)
    return parts.length ? [{ ...item, parts }] : []
  })
  const isResult = (column: TableColumn) => RESULT_KINDS.has(kindOf(column)!)
  const isRange = (column: TableColumn) => kindOf(column) === 'range'
  const detailedLines = withDetails(lines, { isName, isResult, isRange, isNamed })
  const items = rowsOfTable(
    { ...table, lines: detailedLines },
    { separators, isName, isResult, isNamed, isPicture: page.source === 'ocr' },
  )
  const rows = items.flatMap((item) => ('row' in item ? [item.row] : []))
  const headings = panels ? panelHeadings(page.number, ofPanels, panels, rows) : undefined
  const specimens = rows.filter(({ parts }) =>
    parts.some(({ run, column }) => isName(column) && (namesSpecimen(textOf(run)) || isMethod(textOf(run)))),
  ).length
  const namesOnTwoLines = rows.filter(({ parts }) => segmentsOf(parts.filter(({ column }) => isName(column))).length > 1).length
  const writer: Writer = {
    page: page.number,
    columns: ownColumns,
    isName,
    isRange,
    upperOf,
    isNamed,
    hasSpecimens: specimens >= tolerances.DETAILS_MIN && specimens >= rows.length * tolerances.DETAILS_SHARE,
    categories: categoriesIn(
      rows.map(({ parts }) => parts.filter(({ column }) => isName(column))),
      isNamed,
    ),
    isSystematic: namesOnTwoLines > 2 && namesOnTwoLines >= rows.length * tolerances.TWO_LINES_SHARE,
  }
  return items.flatMap((item) => {
    if (!('row' in item)) return [item.line]
    const heading = headings?.get(item.row)
    return [...(heading ? [heading] : []), ...linesOfRow(item.row, writer)]
  })
}

/** So many names have a category below them where a table has categories, and so many the same one. */
const [NAMES_MIN, NAMES_OF_CATEGORY_MIN] = [3, 2]

/** What tells tests of one name apart is no category: `IgG Ab` below `Rubella`. */
const TELLS_APART =
  /\b(?:ig[adegm]|[dr]na|anti\w*|ab|ag|free|total|direct|indirect|ratio|abs\w*|percent|count|level|serum|plasma|urine|blood)\b|[%\d]/iu

/** Texts without spaces that stand below several known names and are no part of any: `Cardiovascular`. @param names the texts of names by rows */
function categoriesIn(names: readonly (readonly Part[])[], isNamed: IsNamed): ReadonlySet<string> {
  const below = names.flatMap((parts) => {
    const texts = inOrder(parts.map(({ run }) => run)).map(textOf)
    return texts.slice(1).map((text, index) => ({ text, name: texts.slice(0, index + 1).join(' ') }))
  })
  const categories = [...Map.groupBy(below, ({ text }) => lettersOnly(text))].flatMap(([category, items]) => {
    const count = items.filter(({ name }) => isNamed(name)).length
    const isPart = items.some(({ name, text }) => isNamed(`${name} ${text}`))
    const isCategory = count >= NAMES_OF_CATEGORY_MIN && count * 2 > items.length && !isPart && !TELLS_APART.test(items[0]!.text)
    return isCategory ? [{ category, count }] : []
  })
  const total = categories.reduce((sum, { count }) => sum + count, 0)
  return new Set(total < NAMES_MIN ? [] : categories.map(({ category }) => category))
}

const RESULTS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value'])

/**
 * The page in parts that are read one after the other: what is above the tables, their sides from left to right, and what is below.
 * Undefined if no tables stand side by side, or if a text crosses from one into the other.
 */
function splitSides(page: PageText, lines: readonly Line[]): PageText[] | undefined {
  const cells = lines.flatMap((line) => line.cells)
  const names = cells.filter(({ text }) => columnKind(text) === 'name')
  const pairs = names.flatMap((left) =>
    names.filter((right) => areTwoTables(left, right, cells)).map((right) => ({ left, right })),
  )
  const [first] = pairs.toSorted((a, b) => a.left.box.top - b.left.box.top)
  if (!first) return undefined
  const height = heightOf(first.left.box)
  const from = Math.min(first.left.box.top, first.right.box.top) - height * 0.2
  const edge = findEdge(page.words, lines, first.right, from)
  if (edge === undefined) return undefined
  const crosses = ({ box }: Word) => box.left < edge && box.right > edge
  const across = headingsAcross(lines, from, edge)
  const wordsAcross = new Set(wordsIn(across))
  const headings = lines.filter(
    ({ box, cells: own }) =>
      box.bottom <= from + height * 0.5 &&
      box.bottom > from - height * tolerances.SIDES_HEADING_GAP &&
      own.length <= 2 &&
      own.every(({ box: one }) => one.right <= edge || one.left >= edge) &&
      own.every(({ text }) => /^\p{L}/u.test(text) && !/:|\d{3}/u.test(text)),
  )
  const top = Math.min(from, ...headings.map(({ box }) => box.top - 1))
  const bottom = Math.min(
    Infinity,
    ...page.words
      .filter((word) => centerY(word.box) > from && crosses(word) && !wordsAcross.has(word))
      .map(({ box }) => box.top - 1),
  )
  const part = (words: readonly Word[]): PageText => ({ ...page, words: [...words] })
  const wordsWhere = (isIn: (word: Word) => boolean) => page.words.filter(isIn)
  const isWithin = (word: Word) => centerY(word.box) >= top && centerY(word.box) < bottom && !wordsAcross.has(word)
  const headingsAt = ({ box: { left } }: Cell) =>
    across.filter(({ box }) => centerY(box) < bottom).flatMap((line) => wordsMovedTo(left, line))
  return [
    part(wordsWhere(({ box }) => centerY(box) < top)),
    part([...wordsWhere((word) => isWithin(word) && centerX(word.box) < edge), ...headingsAt(first.left)]),
    part([...wordsWhere((word) => isWithin(word) && centerX(word.box) >= edge), ...headingsAt(first.right)]),
    part(wordsWhere(({ box }) => centerY(box) >= bottom)),
  ].filter(({ words }) => words.length > 0)
}

/** Letters of a heading above both tables. */
const ACROSS_LETTERS_MAX = 60

const wordsIn = (lines: readonly Line[]): Word[] => lines.flatMap((line) => line.cells.flatMap(({ words }) => words))

const headingsAcross = (lines: readonly Line[], top: number, edge: number): Line[] =>
  lines.filter((line, index) => line.box.top > top && isHeadingAcross(line, lines[index + 1], edge))

/** Whether a line is nothing but a heading that reaches from one table into the other, and the next line has texts in both. */
function isHeadingAcross({ cells: [cell, ...others], box }: Line, next: Line | undefined, edge: number): boolean {
  const isText = /^\p{Lu}[^:]*$/u.test(cell!.text) && !/\d{3}/u.test(cell!.text) && cell!.text.length < ACROSS_LETTERS_MAX
  const sides = next?.cells.map((item) => (item.box.right <= edge ? 'left' : item.box.left >= edge ? 'right' : 'both')) ?? []
  const areApart = !sides.includes('both') && ['left', 'right'].every((side) => sides.filter((item) => item === side).length > 1)
  return others.length === 0 && isText && box.left < edge && box.right > edge && areApart
}

const wordsMovedTo = (left: number, { cells, box }: Line): Word[] =>
  cells
    .flatMap(({ words }) => words)
    .map((word) => ({
      ...word,
      box: { ...word.box, left: word.box.left - box.left + left, right: word.box.right - box.left + left },
    }))

/**
 * Whether the names of columns begin two tables: the results of the first stand between them, and those of the second behind. They are the
 * same, or say each for which organisms the tests are: `Virus  Result  Bacteria  Result`.
 */
function areTwoTables(left: Cell, right: Cell, cells: readonly Cell[]): boolean {
  const isLevel = (cell: Cell) => Math.abs(cell.box.top - left.box.top) < heightOf(left.box) * tolerances.SIDES_LEVEL
  const areAlike =
    right.text.toLowerCase() === left.text.toLowerCase() || (namesOrganisms(left.text) && namesOrganisms(right.text))
  if (right.box.left <= left.box.right || !areAlike || !isLevel(right)) return false
  const results = cells.filter(
    (cell) => isLevel(cell) && cell.text.split(' ').some((_, start, words) => isResult(words.slice(start))),
  )
  return (
    results.some(({ box }) => box.left > left.box.right && box.left < right.box.left) &&
    results.some(({ box }) => box.left > right.box.right)
  )
}

/** Whether words begin with the name of a column of results: names close to each other are one cell. */
const isResult = (words: readonly string[]): boolean =>
  words.some((_, count) => RESULTS.has(columnKind(words.slice(0, count + 1).join(' '))!))

/** Where the second table begins: left of its names, where the first lines below have no text. */
function findEdge(words: readonly Word[], lines: readonly Line[], { box, words: own }: Cell, top: number): number | undefined {
  const wordsBelow = words.filter((word) => centerY(word.box) > top && !own.includes(word))
  const nearWords = wordsBelow.filter((word) => centerY(word.box) < box.bottom + heightOf(box) * 6)
  const isFree = (x: number) => {
    const ofHeadings = new Set(wordsIn(headingsAcross(lines, top, x)))
    return nearWords.every((word) => word.box.left >= x || word.box.right <= x || ofHeadings.has(word))
  }
  return [box.left - tolerances.SIDES_EDGE, box.left - tolerances.SIDES_EDGE / 2, box.left - 2].find(isFree)
}
