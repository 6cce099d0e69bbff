// Imports an operator's file of sites into a cell.
import { zipTable } from '../geocoding/zip-codes.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { RejectedRows, InvalidFileError } from '../../platform/files/rejected-rows.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { readRows } from './site-files.ts'
import { readSite } from './site-row.ts'
import { bumpDirectoryVersion, upsertSites, type SiteRecord } from './sites.ts'

export interface ImportedSites {
  sites: number
  rejections: RejectedRows
}

const BATCH = 500
const SITES_PER_FILE_MAX = 200_000

const Id = T.Object({ id: T.Integer() })

/** Returns the id of a lab in the cell. */
export const findLabId = async (tx: Pick<PlainTx, 'maybe'>, slug: string): Promise<number | undefined> =>
  (await tx.maybe(Id, sql`select id from lab where slug = ${slug}`))?.id

/**
 * Imports the sites of a file, by code; sites that are not in the file stay. One transaction. Valid rows are imported even if others are
 * invalid, unless `strict`. Writes psc_site, psc_directory_version.
 * @throws InvalidFileError if nothing in the file can be imported
 */
export const importSites = (db: Db, lab_id: number, path: string, strict: boolean): Promise<ImportedSites> =>
  db.plainTx(async (tx) => {
    const zips = await zipTable()
    const rejections = new RejectedRows()
    const seen = new Set<string>()
    let batch: SiteRecord[] = []
    for await (const { where, raw, fault } of readRows(path)) {
      const site = raw ? readSite(raw, zips) : [fault!]
      if (Array.isArray(site)) rejections.add(where, site)
      else if (seen.has(site.site_code)) rejections.add(where, ['duplicate site_code'])
      else batch.push(site)
      if (!Array.isArray(site)) seen.add(site.site_code)
      if (seen.size > SITES_PER_FILE_MAX)
        throw new InvalidFileError(`The file must contain at most ${SITES_PER_FILE_MAX} sites. Nothing was imported.`)
      if (batch.length < BATCH) continue
      await upsertSites(tx, lab_id, batch)
      batch = []
    }
    if (strict && rejections.count) throw new InvalidFileError(`Nothing was imported. ${rejections.text().trimEnd()}`)
    if (batch.length) await upsertSites(tx, lab_id, batch)
    if (seen.size) await bumpDirectoryVersion(tx, lab_id)
    return { sites: seen.size, rejections }
  })
