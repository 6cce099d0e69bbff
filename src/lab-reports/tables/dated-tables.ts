// Tables whose lines are dates and whose columns are what was measured: `Date  Hemoglobin  WBC`, then a line for each day.
import { isUnit } from '../../lab-values/units.ts'
import { flagOf, numberOf, partFlag } from '../../lab-values/values.ts'
import { heightOf, overlapX, type PageText } from '../pages/page.ts'
import { dateIn } from '../texts/dates.ts'
import { cleanName, headingOf, isPossibleName, looksLikeSentence } from '../texts/names.ts'
import { readAntibiotics } from './antibiotic-tables.ts'
import { type Cell, cellOf, type Line, splitCell, type TypedCell } from './table-cells.ts'
import { type Column, columnKind } from './headers.ts'
import { nearestColumn } from './regions.ts'
import { joinedText, newRow, type ReadRowsOptions, type Row } from './row-parts.ts'

export interface DatedRows {
  rows: Row[]
  /** Without those of the tables. */
  lines: Line[]
}

/** What one column of such a table holds. */
interface AnalyteColumn {
  column: Column
  /** Null if it is nothing that laboratories measure: its cells are not results, and none of a column next to it. */
  name: string | null
  /** As it is printed. */
  title: string
  unit: string | null
  range: string | null
}

interface Table {
  columns: AnalyteColumn[]
  days: { line: Line; date: string }[]
  panel: string | null
  lines: Line[]
}

/** Lines between the names of the columns and the first day: units, ranges. */
const LINES_BETWEEN = 4
const RANGE_LABEL = /^(?:ref(?:erence)?|normal|range|expected|target|limits?)\b/iu
const UNIT_LABEL = /^units?\b/iu

/** Maximum columns in the line of their names, and letters of a name. */
const [COLUMNS_MAX, NAME_LETTERS_MAX] = [40, 90]

/** The results of the tables of a page that have an order of their own: antibiotics, and days as lines. */
export function readSpecialTables(page: PageText, lines: readonly Line[], options: ReadRowsOptions): DatedRows {
  const antibiotics = readAntibiotics(page, lines)
  const datedTables = readDatedTables(page, antibiotics.lines, options)
  return { rows: [...antibiotics.rows, ...datedTables.rows], lines: datedTables.lines }
}

/** The results of such tables on a page. */
function readDatedTables(page: PageText, lines: readonly Line[], options: ReadRowsOptions): DatedRows {
  const rows: Row[] = []
  const tableLines = new Set<Line>()
  for (let index = 0; index < lines.length; index++) {
    const table = tableAt(lines, index, options)
    if (!table) continue
    rows.push(...table.days.flatMap((day) => rowsOfDay(page, day, table)))
    for (const line of table.lines) tableLines.add(line)
    index = lines.indexOf(table.lines.at(-1)!, index)
  }
  return { rows, lines: lines.filter((line) => !tableLines.has(line)) }
}

const RESULT = /^[<>≤≥]?\s?\d|^(?:neg|pos|non|not|reactive|nil|trace|normal|absent|present)/iu

const isDay = (line: Line | undefined): boolean =>
  line !== undefined && dateIn(line.cells[0]!.text)?.index === 0 && line.cells.slice(1).some(({ text }) => RESULT.test(text))

function tableAt(lines: readonly Line[], index: number, options: ReadRowsOptions): Table | undefined {
  let first = index + 1
  while (first <= index + 1 + LINES_BETWEEN && !isDay(lines[first])) first++
  if (first > index + 1 + LINES_BETWEEN || isDay(lines[index])) return undefined
  const columns = analyteColumns(lines[index]!, lines[first]!, options)
  if (!columns) return undefined
  const table: Table = { columns, days: [], panel: panelAbove(lines, index, options), lines: [lines[index]!] }
  for (let position = index + 1; position < lines.length; position++) {
    const line = lines[position]!
    const isOfColumns = isDay(line) || isUnits(line, columns) || isRanges(line, columns)
    if (!isOfColumns && position >= first) break
    if (isDay(line)) table.days.push({ line, date: line.cells[0]!.text })
    if (isOfColumns) table.lines.push(line)
  }
  // What has a unit or a range is measured, though its name is not known or was misread.
  for (const column of columns) if (column.unit !== null || column.range !== null) column.name ??= column.title
  return table.days.some(({ line }) => line.cells.length > 1) ? table : undefined
}

/** The columns that a line names; undefined if they are not what laboratories measure. */
function analyteColumns(line: Line, day: Line, { isAnalyte, isNamed }: ReadRowsOptions): AnalyteColumn[] | undefined {
  if (line.cells.length > COLUMNS_MAX || line.cells.some(({ text }) => text.length > NAME_LETTERS_MAX)) return undefined
  // A line of results of a table whose next lines begin with days.
  if (line.cells.some(({ text }) => numberOf(text) !== undefined)) return undefined
  const [label, ...others] = line.cells
  const isLabelled = columnKind(label!.text.replace(/:$/u, '')) === 'date'
  // Without a name the column of dates is left of the others.
  if (!isLabelled && label!.box.left <= day.cells[0]!.box.right) return undefined
  const cells = (isLabelled ? others : line.cells).flatMap((cell) => splitNames(cell, day, isNamed))
  const columns = cells.map((cell): AnalyteColumn => {
    const [, name = cell.text, unit = ''] = /^(.+?)\s*[([](.+)[)\]]$/u.exec(cell.text) ?? []
    const isOfUnit = isUnit(unit)
    const text = cleanName(isOfUnit ? name : cell.text)
    const isMeasured = isAnalyte(text) && (columnKind(text) === undefined || isNamed(text))
    return {
      column: { kind: 'value', box: cell.box },
      name: isMeasured ? text : null,
      title: text,
      unit: isOfUnit ? unit : null,
      range: null,
    }
  })
  const measured = columns.filter(({ name }) => name !== null).length
  return measured > (isLabelled ? 0 : 1) && measured * 2 > cells.length ? columns : undefined
}

/** Names that stand close, also if they name one thing together (`BUN Creatinine`), each above a result of its own: `Na K Cl`. */
const splitNames = (cell: Cell, day: Line, isNamed: (name: string) => boolean): Cell[] =>
  cell.words.length > 1 &&
  cell.words.every(({ text }) => isNamed(text)) &&
  (!isNamed(cell.text) ||
    cell.words.every(({ box }) => day.cells.filter((cellBelow) => overlapX(cellBelow.box, box) > 0).length === 1))
    ? cell.words.map((word) => cellOf([word]))
    : [cell]

/** The column that a cell is in. */
function findColumn(cell: Cell, columns: readonly AnalyteColumn[]): AnalyteColumn | undefined {
  const nearest = nearestColumn(
    cell.box,
    columns.map(({ column }) => column),
  )
  const analyte = columns.find(({ column }) => column === nearest)
  const reach = heightOf(cell.box) * 3
  return analyte && overlapX(analyte.column.box, cell.box) > -reach ? analyte : undefined
}

function isUnits(line: Line, columns: readonly AnalyteColumn[]): boolean {
  const cells = UNIT_LABEL.test(line.cells[0]!.text) ? line.cells.slice(1) : line.cells
  const units = cells.map((cell) => ({ cell, text: cell.text.replace(/^[([](.+)[)\]]$/u, '$1') }))
  if (!units.length || !units.every(({ text }) => isUnit(text))) return false
  for (const { cell, text } of units) {
    const column = findColumn(cell, columns)
    if (column) column.unit ??= text
  }
  return true
}

function isRanges(line: Line, columns: readonly AnalyteColumn[]): boolean {
  if (!RANGE_LABEL.test(line.cells[0]!.text)) return false
  for (const cell of line.cells.slice(1)) {
    const column = findColumn(cell, columns)
    if (column) column.range ??= cell.text
  }
  return true
}

function panelAbove(lines: readonly Line[], index: number, { isNamed, isLetterhead }: ReadRowsOptions): string | null {
  const [line, header] = [lines[index - 1], lines[index]!]
  if (!line || line.cells.length > 1 || header.box.top - line.box.bottom > heightOf(line.box) * 2) return null
  const text = line.cells[0]!.text
  const isHeading =
    isPossibleName(cleanName(text), isNamed) && !looksLikeSentence(text) && !/:\s*\S|\d{3}/u.test(text) && !isLetterhead?.(text)
  return isHeading ? headingOf(text) : null
}

function rowsOfDay(page: PageText, { line, date }: Table['days'][number], { columns, panel }: Table): Row[] {
  const parts = new Map<AnalyteColumn, TypedCell[]>()
  for (const cell of line.cells.slice(1, 1 + COLUMNS_MAX * 2).flatMap((item) => splitCell(item))) {
    const column = findColumn(cell, columns)
    if (column) parts.set(column, [...(parts.get(column) ?? []), cell])
  }
  return columns.flatMap((column): Row[] => {
    const { name } = column
    if (name === null) return []
    const cells = parts.get(column) ?? []
    const result = cells.find(({ kind }) => kind === 'value') ?? cells.find(({ kind }) => kind === 'text' || kind === 'range')
    if (!result || !/[\p{L}\d]/u.test(result.text)) return []
    const { value, flag } = partFlag(result.text)
    const ofFlag = cells.find((cell) => cell !== result && cell.kind === 'flag')
    const unit = joinedText(cells.filter(({ kind }) => kind === 'unit'))
    return [
      {
        ...newRow(page.number, [line.cells[0]!, ...cells]),
        box: line.box,
        value_box: result.box,
        name,
        value,
        unit: unit || column.unit,
        range_lines: column.range ? [column.range] : [],
        flag: flag ?? (ofFlag && flagOf(ofFlag.text)) ?? null,
        panel,
        section: panel,
        date,
      },
    ]
  })
}
