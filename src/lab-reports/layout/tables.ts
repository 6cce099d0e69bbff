// The lines of pages, with the cells of tables: cells are formed first, from what is drawn and from the whitespace over a whole table, and
// the lines within each cell are put together.
import { boxAround, centerY, heightOf, type PageText, type Word } from '../pages/page.ts'
import { columnKind, columnsOf, type ColumnKind } from './headers.ts'
import { baselinesOf, cellOf, lineOf, type Cell, type Line } from './lines.ts'
import { tableOf, type TableColumn } from './table-columns.ts'
import { columnSeparators, rowSeparators, separatorsAt } from './table-grid.ts'
import { headersOf, type HeaderLines } from './table-header.ts'
import { joinsName } from './row-parts.ts'
import { isBroken, isNote, rowsOfTable, type Part, type TableRow } from './table-rows.ts'
import { runsOf, spaceOf, textOf, type Run } from './table-runs.ts'

/** Of the rows of a table: names with a second line of their own, as methods, are no names on two lines. */
const SYSTEMATIC = 0.6
/** Smaller letters are those of notes. */
const SMALLER = 0.9

/** The lines of a page from top to bottom, their cells from left to right; a row of a table is one line. */
export function linesOf(page: PageText): Line[] {
  const lines = baselinesOf(page)
  if (page.source !== 'text') return lines
  const space = spaceOf({ page, lines })
  const whole = { left: 0, right: page.width, top: 0, bottom: page.height }
  const drawn = rowSeparators(page.drawings, whole)
  const headers = headersOf(
    lines,
    space,
    (upper, lower) => drawn.some((at) => at > centerY(upper.box) && at < centerY(lower.box)),
    () => [],
  )
  const read: Line[] = []
  let at = 0
  for (const [index, header] of headers.entries()) {
    if (header.from < at) continue
    const end = headers[index + 1]?.from ?? lines.length
    const table = tableLines(page, lines, header, end, space)
    if (!table) continue
    read.push(...lines.slice(at, header.from), ...table.lines)
    at = table.to
  }
  return [...read, ...lines.slice(at)]
}

function tableLines(
  page: PageText,
  lines: readonly Line[],
  { from, to, runs }: HeaderLines,
  end: number,
  space: number,
): { lines: Line[]; to: number } | undefined {
  const below = lines.slice(to, end)
  if (!below.length) return undefined
  const box = boxAround(lines.slice(from, end).map((line) => line.box))
  const drawn = columnSeparators(page.drawings, box)
  const runsIn = (line: Line) => runsOf(line, space, separatorsAt(drawn, centerY(line.box)))
  const header = drawn.length ? lines.slice(from, to).map(runsIn) : runs
  const table = tableOf(
    header,
    below.map((line) => ({ line, runs: runsIn(line) })),
    drawn.map(({ at }) => at),
  )
  if (!table) return undefined
  const names = headerLine(page.number, table.columns)
  const kinds = columnsOf(names)
  if (!kinds || kinds.filter(({ kind }) => kind === 'name').length > 1) return undefined
  const kindOf = (column: TableColumn): ColumnKind | undefined => columnKind(headerText(column))
  const isResult = (column: TableColumn) => RESULTS.has(kindOf(column)!)
  const isName = (column: TableColumn) => kindOf(column) === 'name'
  const rest = table.columns.filter(isName).length ? isName : (column: TableColumn) => column === table.columns[0]
  const width = {
    left: Math.min(...table.columns.map(({ left }) => left)),
    right: Math.max(...table.columns.map(({ right }) => right)),
  }
  const separators = rowSeparators(page.drawings, { ...width, top: box.top - 30, bottom: box.bottom + 30 })
  const items = rowsOfTable(table, { separators, isResult, isName: rest })
  const rows = items.flatMap((item) => ('row' in item ? [item.row] : []))
  const twice = rows.filter(({ parts: own }) => segmentsOf(own.filter(({ column }) => rest(column))).length > 1).length
  const writer = {
    page: page.number,
    isName: rest,
    isRange: (column: TableColumn) => kindOf(column) === 'range',
    isSystematic: twice > 2 && twice >= rows.length * SYSTEMATIC,
  }
  return {
    lines: [names, ...items.flatMap((item) => ('row' in item ? linesOfRow(item.row, table.columns, writer) : [item.line]))],
    to: to + table.lines.length,
  }
}

const RESULTS = new Set<ColumnKind>(['value', 'normal_value', 'abnormal_value', 'dated_value'])

const headerText = ({ names }: TableColumn): string => (names.length ? cellOfRuns(inOrder(names)).text : '')

const headerLine = (page: number, columns: readonly TableColumn[]): Line =>
  lineOf(
    page,
    columns.flatMap((column) => (column.names.length ? [{ ...cellOfRuns(inOrder(column.names)), band: column.band }] : [])),
  )

const inOrder = (runs: readonly Run[]): Run[] =>
  runs.toSorted((one, other) => one.box.top - other.box.top || one.box.left - other.box.left)

/** The lines of a cell as one text; a word that was parted at a hyphen or slash is one again. */
function cellOfRuns(runs: readonly Run[]): Cell {
  const words: Word[] = []
  for (const run of runs)
    for (const [index, word] of run.words.entries()) {
      const last = words.at(-1)
      if (last && index === 0 && /[\p{L}\d)][-–/]$/u.test(last.text))
        words[words.length - 1] = {
          text: last.text + word.text,
          box: boxAround([last.box, word.box]),
          confidence: Math.min(last.confidence, word.confidence),
        }
      else words.push(word)
    }
  return cellOf(words)
}

interface Writer {
  page: number
  isName: (column: TableColumn) => boolean
  isRange: (column: TableColumn) => boolean
  /** Whether the second line of a name is one of its own in most rows. */
  isSystematic: boolean
}

/** A row as a line, and below it the lines of names and ranges that stand for themselves. */
function linesOfRow({ parts }: TableRow, columns: readonly TableColumn[], writer: Writer): Line[] {
  const lines: Cell[][] = []
  for (const column of columns) {
    const own = parts.filter((part) => part.column === column)
    if (!own.length) continue
    for (const [at, segment] of cellsOf(own, column, writer).entries()) (lines[at] ??= []).push({ ...segment, band: column.band })
  }
  return lines.map((cells) => lineOf(writer.page, cells))
}

function cellsOf(parts: readonly Part[], column: TableColumn, { isName, isRange, isSystematic }: Writer): Cell[] {
  const all = inOrder(parts.map(({ run }) => run))
  if (!isName(column) && !isRange(column)) return [cellOfRuns(all)]
  const segments = segmentsOf(parts)
  if (isRange(column)) return segments.map(cellOfRuns)
  const cells: Run[][] = []
  for (const segment of segments) {
    const first = cells[0]?.[0]
    const isOwn =
      first &&
      (isSystematic ||
        heightOf(segment[0]!.box) < heightOf(first.box) * SMALLER ||
        isNote(textOf(segment[0]!)) ||
        !joinsName(textOf(cells[0]!.at(-1)!), textOf(segment[0]!), () => false))
    if (!first || isOwn) cells.push([...segment])
    else cells.at(-1)!.push(...segment)
  }
  return cells.map(cellOfRuns)
}

/** The lines of a cell, those that had no room together. */
function segmentsOf(parts: readonly Part[]): Run[][] {
  const segments: Run[][] = []
  for (const { run, column } of parts.toSorted((one, other) => one.run.box.top - other.run.box.top)) {
    const last = segments.at(-1)?.at(-1)
    if (last && isBroken(last, run, column)) segments.at(-1)!.push(run)
    else segments.push([run])
  }
  return segments
}
