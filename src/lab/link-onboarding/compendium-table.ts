// Rows of a laboratory's list of tests: CSV whose columns have the laboratory's names. Does not use a database.
import { readFile, stat } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { csvErrorPlace } from '../../platform/files/csv.ts'
import { InvalidFileError, toInvalidFileError } from '../../platform/files/rejected-rows.ts'
import { readUtf8File } from '../../platform/files/text-file.ts'

/** Maximum size of a file, in bytes. */
const COMPENDIUM_BYTES_MAX = 32 * 1024 * 1024
/** Maximum number of rows of a file. */
const COMPENDIUM_ROWS_MAX = 10_000

/** The columns, and the maximum length of their values, in UTF-16 units. */
const lengths = {
  test: 100,
  test_name: 200,
  specimen: 50,
  result: 200,
  result_name: 200,
  loinc: 20,
  unit: 50,
  required: 10,
  question: 50,
  question_text: 500,
  question_type: 20,
  question_required: 10,
  answers: 5000,
}
export type Column = keyof typeof lengths
const columnNames = Object.keys(lengths) as Column[]
/** The laboratory's names of columns; of several names a file must have exactly one. A column without an entry has our name. */
export type ColumnMap = Partial<Record<Column, string[]>>

export interface TableRow {
  line: number
  /** Trimmed; empty if the file does not have the column. */
  cells: Record<Column, string>
  /** Why the row cannot be used. */
  faults: string[]
}

export interface Table {
  rows: TableRow[]
  has: (column: Column) => boolean
}

const MAP_BYTES_MAX = 100_000

/** Reads a map of columns: JSON such as `{ "test": "ORDER CODE", "loinc": ["LOINC", "LOINC_NUM"] }`. @throws InvalidFileError */
export async function readColumnMap(path: string): Promise<ColumnMap> {
  await requireSize(path, MAP_BYTES_MAX)
  let json: unknown
  try {
    json = JSON.parse(await readFile(path, 'utf8'))
  } catch {
    throw new InvalidFileError('The map of columns is not JSON.')
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new InvalidFileError('The map of columns is not an object.')
  return Object.fromEntries(
    Object.entries(json).map(([key, value]: [string, unknown]) => [requireColumn(key), readNames(key, value)]),
  )
}

function requireColumn(key: string): Column {
  const column = columnNames.find((name) => name === key)
  if (!column) throw new InvalidFileError(`The map of columns has an unknown key. Keys are ${columnNames.join(', ')}.`)
  return column
}

function readNames(key: string, value: unknown): string[] {
  const names: unknown[] = Array.isArray(value) ? value : [value]
  if (!names.length || !names.every((name) => typeof name === 'string' && name.trim() !== ''))
    throw new InvalidFileError(`The map of columns: ${key} must be the name of a column, or a list of names.`)
  return (names as string[]).map((name) => name.trim())
}

async function requireSize(path: string, bytes_max: number): Promise<void> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw toInvalidFileError(error) ?? error
  })
  if (size > bytes_max) throw new InvalidFileError(`The file has more than ${bytes_max} bytes.`)
}

/**
 * Reads the rows of a file. Rows with faults are included. Columns that nobody asks for are ignored.
 * @param kind of the file, for errors
 * @throws InvalidFileError if the file is not CSV in UTF-8, lacks a required column, or exceeds a limit
 */
export async function readTable(
  kind: string,
  path: string,
  map: ColumnMap,
  { requiredColumns, optionalColumns = [] }: { requiredColumns: Column[]; optionalColumns?: Column[] },
): Promise<Table> {
  await requireSize(path, COMPENDIUM_BYTES_MAX)
  const [header, ...records] = parseRecords(kind, await readUtf8File(path))
  if (!header) throw new InvalidFileError(`The file of ${kind} is empty.`)
  if (records.length > COMPENDIUM_ROWS_MAX)
    throw new InvalidFileError(`The file of ${kind} has more than ${COMPENDIUM_ROWS_MAX} rows.`)
  const positions = findColumns(kind, header.record, map, requiredColumns, optionalColumns)
  return { rows: records.map((entry) => toRow(entry, header.record.length, positions)), has: (column) => positions.has(column) }
}

interface CsvRecord {
  record: string[]
  info: { lines: number }
}

function parseRecords(kind: string, text: string): CsvRecord[] {
  try {
    return parse(text, {
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n'],
      to: COMPENDIUM_ROWS_MAX + 2,
    }) as unknown as CsvRecord[]
  } catch (error) {
    const place = csvErrorPlace(error)
    throw place ? new InvalidFileError(`The file of ${kind} is malformed at line ${place.line}: ${place.kind}.`) : error
  }
}

function findColumns(
  kind: string,
  header: string[],
  map: ColumnMap,
  requiredColumns: Column[],
  optionalColumns: Column[],
): Map<Column, number> {
  const names = header.map((name) => name.trim())
  const positions = new Map<Column, number>()
  for (const column of [...requiredColumns, ...optionalColumns]) {
    const wanted = map[column] ?? [column]
    const found = names.flatMap((name, i) => (wanted.includes(name) ? [i] : []))
    if (found.length > 1) throw new InvalidFileError(`The file of ${kind} has several columns for "${column}".`)
    // A column that the map names is never ignored silently, except that of another file.
    if (found.length === 0 && (requiredColumns.includes(column) || map[column]))
      throw new InvalidFileError(`The file of ${kind} has no column "${wanted.join('" or "')}" for "${column}".`)
    if (found.length) positions.set(column, found[0]!)
  }
  return positions
}

function toRow({ record, info }: CsvRecord, width: number, positions: Map<Column, number>): TableRow {
  const cells = Object.fromEntries(columnNames.map((name) => [name, ''])) as Record<Column, string>
  if (record.length !== width) return { line: info.lines, cells, faults: [`${record.length} fields; the header has ${width}`] }
  const faults: string[] = []
  for (const [column, position] of positions) {
    const cell = record[position]!.trim()
    cells[column] = cell
    if (cell.length > lengths[column]) faults.push(`${column} has more than ${lengths[column]} characters`)
    // Control, format and private characters: what a terminal obeys or does not show.
    else if (/\p{C}/u.test(cell)) faults.push(`${column} has a character that cannot be shown`)
  }
  return { line: info.lines, cells, faults }
}
