// Comma-separated text as rows by column name (RFC 4180). Anything else is rejected: no delimiter is guessed, no field is trimmed, no value
// gets a type.
import { parse } from 'csv-parse/sync'
import { encodeUtf8, textOfLatin1 } from '../runtime/utf8.ts'

/** Maximum length of a text, in UTF-16 units. */
export const csvSizeMax = 8 * 1024 * 1024

/** Options of csv-parse: fields as bytes, which become text by `textOfLatin1`. It would replace what is not UTF-8. */
export const byteFields = { encoding: 'latin1', cast: textOfLatin1 } as const

/** Why a row is refused whose bytes were not UTF-8. */
export const NOT_UTF8 = 'not UTF-8'
export const isUtf8Row = (row: Record<string, string> | readonly string[]): boolean =>
  Object.values(row).every((field) => field.isWellFormed())

const faultAt = (line: number | string, text: string): Error => new Error(`csv line ${line}: ${text}`)

/**
 * Kind and line of an error of csv-parse; undefined for any other error. Its messages quote the file, which may hold patient data, so they
 * are not repeated.
 */
export function csvErrorPlace(error: unknown): { kind: string; line: number | string } | undefined {
  const { code, lines } = error as { code?: string; lines?: number }
  if (!code?.startsWith('CSV_') && !code?.startsWith('INVALID_')) return undefined
  return { kind: code.replace(/^CSV_/, '').toLowerCase().replaceAll('_', ' '), line: lines ?? '?' }
}

/**
 * Parses a text whose first record names the columns. Records end with LF or CRLF; the end of the last one is optional; a leading byte
 * order mark is skipped. A field is quoted if it holds a comma, a quote (written twice) or a line break. Errors name the line: column
 * missing or too many, name empty or repeated, misplaced or unterminated quote, lone carriage return. Limit: `csvSizeMax`. What was no
 * UTF-8 in the text of `decodeUtf8` stays so in its field; the caller refuses that row by `isUtf8Row`.
 */
export function parseCsv(text: string): Record<string, string>[] {
  if (text.length > csvSizeMax) throw new Error(`csv longer than ${csvSizeMax} characters`)
  const lone = text.search(/\r(?!\n)/)
  if (lone >= 0) throw faultAt(text.slice(0, lone).split('\n').length, 'a lone carriage return')
  let columns: string[] | undefined
  try {
    const rows = parse(encodeUtf8(text.replace(/^\uFEFF/, '')), {
      ...byteFields,
      record_delimiter: ['\r\n', '\n'],
      columns: (names: string[]) => (columns = checkedColumns(names)),
    }) as Record<string, string>[]
    if (!columns) throw faultAt(1, 'no header')
    return rows
  } catch (error) {
    const place = csvErrorPlace(error)
    throw place ? faultAt(place.line, place.kind) : error
  }
}

function checkedColumns(names: string[]): string[] {
  if (names.includes('')) throw faultAt(1, 'column without a name')
  if (new Set(names).size < names.length) throw faultAt(1, 'column name repeated')
  return names
}
