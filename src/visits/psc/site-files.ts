// Reads files of sites, row by row: CSV as a stream, or a GeoJSON collection of points. Does not use a database.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { byteFields, csvErrorPlace, isUtf8Row, NOT_UTF8 } from '../../platform/files/csv.ts'
import { contentStart, readUtf8File } from '../../platform/files/text-file.ts'
import { InvalidFileError } from '../../platform/files/rejected-rows.ts'
import { optional, requiredColumns, type SiteRow } from './site-row.ts'

export interface FileRow {
  /** A position such as `line 7`. */
  where: string
  raw?: SiteRow
  /** Why the row cannot be parsed. */
  fault?: string
}

const RECORD_BYTES_MAX = 100_000
const GEOJSON_BYTES_MAX = 64 * 1024 * 1024
const knownColumns = new Set<string>([...requiredColumns, ...optional])

/** Yields the rows of a file. @throws InvalidFileError if the format is unknown, columns are missing or the file is truncated */
export const readRows = (path: string): AsyncGenerator<FileRow, void> =>
  /^\.(geo)?json$/i.test(extname(path)) ? geoJsonRows(path) : csvRows(path)

async function* csvRows(path: string): AsyncGenerator<FileRow, void> {
  const { parse } = await import('csv-parse')
  const parser = parse({
    ...byteFields,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: RECORD_BYTES_MAX,
  })
  const file = createReadStream(path, { start: await contentStart(path) })
  file.on('error', (error) => parser.destroy(error))
  let names: string[] | undefined
  try {
    for await (const { record, info } of file.pipe(parser) as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const where = `line ${info.lines}`
      if (!names) names = columnsOf(record)
      else if (!isUtf8Row(record)) yield { where, fault: NOT_UTF8 }
      else if (record.length !== names.length) yield { where, fault: `${record.length} fields; the header has ${names.length}` }
      else yield { where, raw: Object.fromEntries(names.map((name, i) => [name, record[i]])) }
    }
  } catch (error) {
    throw toCsvError(error)
  } finally {
    file.destroy()
  }
  if (!names) throw new InvalidFileError('The file is empty.')
}

function columnsOf(record: string[]): string[] {
  const names = record.map((name) => name.trim().toLowerCase())
  const missing = requiredColumns.filter((name) => !names.includes(name))
  if (missing.length) throw new InvalidFileError(`The header is missing columns: ${missing.join(', ')}.`)
  if (new Set(names).size < names.length) throw new InvalidFileError('The header contains a duplicate column.')
  const unknownColumns = names.filter((name) => !knownColumns.has(name))
  // Without this check the values of a misspelled column would be ignored silently.
  if (unknownColumns.length)
    throw new InvalidFileError(`Unrecognized column ${unknownColumns.map((name) => `"${name.slice(0, 50)}"`).join(', ')}.`)
  return names
}

function toCsvError(error: unknown): unknown {
  const place = csvErrorPlace(error)
  return place ? new InvalidFileError(`The file is malformed at line ${place.line}: ${place.kind}. Nothing was imported.`) : error
}

interface Feature {
  geometry?: { type?: unknown; coordinates?: unknown }
  properties?: Record<string, unknown> | null
}

async function* geoJsonRows(path: string): AsyncGenerator<FileRow, void> {
  if ((await stat(path)).size > GEOJSON_BYTES_MAX)
    throw new InvalidFileError('A GeoJSON file must be at most 64 MB; use CSV for larger files.')
  const features = featuresOf(await readUtf8File(path))
  for (const [i, feature] of features.entries()) {
    const where = `feature ${i + 1}`
    const { geometry, properties } = (feature ?? {}) as Feature
    const hasUnknown = Object.keys(properties ?? {}).some((name) => !knownColumns.has(name))
    if (!properties || typeof properties !== 'object') yield { where, fault: 'it has no properties' }
    else if (hasUnknown) yield { where, fault: 'unrecognized properties' }
    else if (geometry?.type !== 'Point' || !Array.isArray(geometry.coordinates))
      yield { where, fault: 'its geometry is not a point' }
    else yield { where, raw: { ...properties, lng: geometry.coordinates[0], lat: geometry.coordinates[1] } }
  }
}

function featuresOf(text: string): unknown[] {
  try {
    const file = JSON.parse(text) as { type?: unknown; features?: unknown } | null
    if (file?.type === 'FeatureCollection' && Array.isArray(file.features)) return file.features
  } catch {
    // The error below reports this case.
  }
  throw new InvalidFileError('The file is not a GeoJSON FeatureCollection.')
}
