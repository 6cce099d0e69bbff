// Imports an operator's file of schedules into a cell.
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { csvSizeMax, isUtf8Row, NOT_UTF8, parseCsv } from '../../platform/files/csv.ts'
import { readUtf8File } from '../../platform/files/text-file.ts'
import { decodeUtf8 } from '../../platform/runtime/utf8.ts'
import type { Db } from '../../platform/db/database.ts'
import { RejectedRows, InvalidFileError } from '../../platform/files/rejected-rows.ts'
import { BOOKABLE_VIA_API } from '../psc/schema.ts'
import { findSite } from '../psc/sites.ts'
import { isBookableSite } from './psc-availability.ts'
import { scheduleColumns, readSchedule, type RawSchedule } from './schedule-row.ts'
import { upsertSchedules, type SiteSchedule } from './schedules.ts'

export interface ImportedSchedules {
  schedules: number
  rejections: RejectedRows
}

const knownColumns = new Set<string>(scheduleColumns)

/** Returns the rows of a file with their positions. @throws InvalidFileError if the format is unknown or the file has unknown columns */
async function rowsOf(path: string): Promise<[where: string, raw: RawSchedule][]> {
  if ((await stat(path)).size > csvSizeMax)
    throw new InvalidFileError(`A schedule file must be at most ${csvSizeMax / 1_048_576} MB.`)
  const isJson = extname(path).toLowerCase() === '.json'
  const rows = isJson ? fromJson(await readUtf8File(path)) : fromCsv(decodeUtf8(await readFile(path)))
  if (rows.some((row) => Object.keys(row).some((name) => !knownColumns.has(name))))
    throw new InvalidFileError(`Unrecognized column; the columns are ${scheduleColumns.join(', ')}.`)
  return rows.map((row, i) => [isJson ? `schedule ${i + 1}` : `row ${i + 1}`, row])
}

const texts = (raw: RawSchedule): string[] => Object.values(raw).filter((value) => typeof value === 'string')

function fromJson(text: string): RawSchedule[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new InvalidFileError('The file is not JSON.')
  }
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item)))
    throw new InvalidFileError('The file must be a JSON list of schedules.')
  return value as RawSchedule[]
}

function fromCsv(text: string): RawSchedule[] {
  try {
    return parseCsv(text)
  } catch (error) {
    throw new InvalidFileError(`The file is malformed: ${(error as Error).message}.`)
  }
}

/**
 * Imports the schedules of a file, each as a whole; sites that are not in the file keep theirs, and booked appointments stay. One
 * transaction. Valid rows are imported even if others are invalid, unless `strict`. Writes psc_schedule.
 * @throws InvalidFileError if nothing in the file can be imported
 */
export async function importSchedules(db: Db, lab_id: number, path: string, strict: boolean): Promise<ImportedSchedules> {
  const rows = await rowsOf(path)
  return db.plainTx(async (tx) => {
    const rejections = new RejectedRows()
    const taken = new Map<string, SiteSchedule>()
    for (const [where, raw] of rows) {
      const row = isUtf8Row(texts(raw)) ? readSchedule(raw) : [NOT_UTF8]
      if (Array.isArray(row)) rejections.add(where, row)
      else if (taken.has(row.site_code)) rejections.add(where, ['duplicate site_code'])
      else {
        const site = await findSite(tx, lab_id, row.site_code)
        if (!site) rejections.add(where, ['site not found'])
        else if (!isBookableSite(site)) rejections.add(where, [`the site has not the capability ${BOOKABLE_VIA_API}`])
        else taken.set(row.site_code, row)
      }
    }
    if (strict && rejections.count) throw new InvalidFileError(`Nothing was imported. ${rejections.text().trimEnd()}`)
    if (taken.size) await upsertSchedules(tx, lab_id, [...taken.values()])
    return { schedules: taken.size, rejections }
  })
}
