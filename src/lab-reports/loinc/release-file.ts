// Reads the table of a LOINC release, LoincTable/Loinc.csv, row by row. Writes nothing.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { parse } from 'csv-parse'
import { byteFields, csvErrorPlace, isUtf8Row, NOT_UTF8 } from '../../platform/files/csv.ts'
import { InvalidFileError, toInvalidFileError } from '../../platform/files/rejected-rows.ts'
import { contentStart } from '../../platform/files/text-file.ts'
import { tokensOf } from './name-words.ts'
import { hasCheckDigit } from '../../lab-values/loinc-codes.ts'

export interface ReleaseRow {
  code: string
  long_name: string
  component: string
  property: string
  timing: string
  system: string
  scale: string
  method: string
  class: string
  short_name: string
  units: string
  rank: number
  /** The words of all names, as names of reports are read. */
  words: string
}

export const releaseColumns = [
  'LOINC_NUM',
  'COMPONENT',
  'PROPERTY',
  'TIME_ASPCT',
  'SYSTEM',
  'SCALE_TYP',
  'METHOD_TYP',
  'CLASS',
  'LONG_COMMON_NAME',
  'SHORTNAME',
  'RELATEDNAMES2',
  'EXAMPLE_UCUM_UNITS',
  'COMMON_TEST_RANK',
  'STATUS',
] as const
type Line = Record<(typeof releaseColumns)[number], string> & { CLASSTYPE?: string }

const SIZE_MAX = 512 * 1024 * 1024
const RECORD_MAX = 1024 * 1024
const ROWS_MAX = 500_000
const TEXT_MAX = 1_000
const WORDS_MAX = 4_000
const FAULTS_SHOWN = 20
/** Codes that may still be reported. Source: LOINC Users' Guide, STATUS. */
const USABLE = new Set(['ACTIVE', 'TRIAL', 'DISCOURAGED'])
const STATUSES = new Set([...USABLE, 'DEPRECATED'])
/** Without a rank, after all that have one. */
const RANK_NONE = 50_000

/**
 * Yields the laboratory terms of the file, 500 at a time: without deprecated codes, and, if the file has the column CLASSTYPE, without those
 * of other classes than the laboratory's. Throws InvalidFileError, with the first faults and their lines but nothing of the content, for a
 * file that is not this table. Limits: 512 MB, 500,000 rows, 1 MB of a row.
 */
export async function* releaseBatches(path: string): AsyncGenerator<ReleaseRow[]> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw toInvalidFileError(error) ?? error
  })
  if (size > SIZE_MAX) throw new InvalidFileError(`The file is larger than ${SIZE_MAX / 1024 / 1024} MB.`)
  const faults: string[] = []
  const seen = new Set<string>()
  let [line, batch] = [1, [] as ReleaseRow[]]
  for await (const record of recordsOf(path)) {
    line += 1
    if (seen.size >= ROWS_MAX) throw new InvalidFileError(`The file has more than ${ROWS_MAX} rows.`)
    const fault = findFault(record, seen)
    if (fault !== undefined) faults.push(`  row ${line}: ${fault}\n`)
    if (faults.length >= FAULTS_SHOWN) break
    seen.add(record.LOINC_NUM)
    if (fault !== undefined || !isOfLaboratory(record)) continue
    batch.push(toRow(record))
    if (batch.length < 500) continue
    yield batch
    batch = []
  }
  if (faults.length > 0) throw new InvalidFileError(`Nothing was imported. The file is not a LOINC table:\n${faults.join('')}`)
  if (seen.size === 0) throw new InvalidFileError('The file has no rows.')
  if (batch.length > 0) yield batch
}

async function* recordsOf(path: string): AsyncGenerator<Line> {
  const parser = createReadStream(path, { start: await contentStart(path) }).pipe(
    parse({
      ...byteFields,
      record_delimiter: ['\r\n', '\n'],
      max_record_size: RECORD_MAX,
      columns: (names: string[]) => {
        const missing = releaseColumns.filter((name) => !names.includes(name))
        if (missing.length > 0)
          throw new InvalidFileError(`This is not LoincTable/Loinc.csv: it has no column ${missing.join(', ')}.`)
        return names
      },
    }),
  )
  try {
    for await (const record of parser) yield record as Line
  } catch (error) {
    const place = csvErrorPlace(error)
    if (place) throw new InvalidFileError(`Line ${place.line} is not CSV: ${place.kind}.`)
    throw toInvalidFileError(error) ?? error
  } finally {
    parser.destroy()
  }
}

function findFault(record: Line, codesBefore: ReadonlySet<string>): string | undefined {
  if (!isUtf8Row(record as Record<string, string>)) return NOT_UTF8
  if (!hasCheckDigit(record.LOINC_NUM)) return 'LOINC_NUM is not a LOINC code'
  if (codesBefore.has(record.LOINC_NUM)) return 'LOINC_NUM occurs twice'
  if (!STATUSES.has(record.STATUS)) return 'STATUS is unknown'
  if (record.STATUS !== 'DEPRECATED' && (record.LONG_COMMON_NAME === '' || record.COMPONENT === '')) return 'a name is empty'
  return /^\d*$/.test(record.COMMON_TEST_RANK) ? undefined : 'COMMON_TEST_RANK is not a number'
}

const isOfLaboratory = ({ STATUS, CLASSTYPE, SCALE_TYP }: Line): boolean =>
  USABLE.has(STATUS) && (CLASSTYPE === undefined || CLASSTYPE === '1') && ['Qn', 'Ord', 'OrdQn', 'Nom', 'Nar'].includes(SCALE_TYP)

const storableText = (value: string): string => value.replaceAll('\0', '').slice(0, TEXT_MAX).toWellFormed()

function toRow(record: Line): ReleaseRow {
  const names = [record.LONG_COMMON_NAME, record.COMPONENT, record.SHORTNAME, record.RELATEDNAMES2.slice(0, WORDS_MAX)]
  const words = [...new Set(names.flatMap((name) => tokensOf(storableText(name).replace(/[;^.]/g, ' '))))].join(' ')
  const rank = Number(record.COMMON_TEST_RANK)
  return {
    code: record.LOINC_NUM,
    long_name: storableText(record.LONG_COMMON_NAME),
    component: storableText(record.COMPONENT),
    property: storableText(record.PROPERTY),
    timing: storableText(record.TIME_ASPCT),
    system: storableText(record.SYSTEM),
    scale: storableText(record.SCALE_TYP),
    method: storableText(record.METHOD_TYP),
    class: storableText(record.CLASS),
    short_name: storableText(record.SHORTNAME),
    units: storableText(record.EXAMPLE_UCUM_UNITS),
    rank: rank > 0 && rank < RANK_NONE ? rank : RANK_NONE,
    words: words.slice(0, WORDS_MAX),
  }
}
