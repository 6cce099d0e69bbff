// Loads the fictional sites into a cell with sandbox labs. Sites that an operator has imported stay.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseCsv } from '../../platform/files/csv.ts'
import type { Db } from '../../platform/db/database.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { sandboxPscLabs } from './schema.ts'
import { updateSandboxRevision, upsertSites, type SiteRecord } from './sites.ts'

/** Increase it when the same file is mapped to different rows. */
const DATA_REVISION = '1'

const textOfSites = (): string => readFileSync(new URL('data/sandbox-sites.csv', import.meta.url), 'utf8')

/** Changes whenever a load would change something. */
export const sitesChecksum = (text = textOfSites()): string =>
  createHash('sha256').update(DATA_REVISION).update(text).digest('hex').slice(0, 32)

const Lab = T.Object({ id: T.Integer(), slug: T.String() })

/** Loads the fictional sites of each lab with an outdated revision. One transaction; two processes may run it concurrently. */
export async function loadSandboxSites(db: Db): Promise<void> {
  const text = textOfSites()
  const form = sitesChecksum(text)
  await db.plainTx(async (tx) => {
    const labs = await tx.many(
      Lab,
      sql`
      select l.id, l.slug from lab l
      where l.slug = any (${[...sandboxPscLabs]}::text[]) and not exists (select from psc_directory_version d where d.lab_id = l.id and d.sandbox_data_revision = ${form}) order by l.id`,
    )
    if (labs.length === 0) return
    const byLab = Map.groupBy(parseCsv(text), ({ lab }) => lab)
    for (const { id, slug } of labs)
      if (await updateSandboxRevision(tx, id, form)) await upsertSites(tx, id, (byLab.get(slug) ?? []).map(siteOf))
  })
}

function siteOf(row: Record<string, string>): SiteRecord {
  const [site_code, name] = [row.site_code!, row.name!]
  return {
    site_code,
    name,
    first_line: row.first_line!,
    second_line: row.second_line || null,
    city: row.city!,
    state: row.state!,
    zip_code: row.zip_code!,
    phone_number: row.phone_number || null,
    fax_number: null,
    hours: hoursOf(row.hours!),
    website: `https://sites.example.com/${site_code.toLowerCase()}`,
    lat: Number(row.lat),
    lng: Number(row.lng),
    capabilities: row.capabilities!.split(' ').filter(Boolean),
    supported_bill_types: row.supported_bill_types!.split(' '),
    active: true,
  }
}

const weekdays = (time: string) =>
  Object.fromEntries(['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((name) => [name, time]))

/** Returns when a site is open: on weekdays, also on Saturdays, or always. */
function hoursOf(letter: string): Record<string, unknown> | null {
  if (letter === 'a') return { ...weekdays('07:00-15:30'), saturday: null, sunday: null }
  if (letter === 'b') return { ...weekdays('06:30-17:00'), saturday: '07:00-12:00', sunday: null }
  return letter === 'c' ? { ...weekdays('00:00-24:00'), saturday: '00:00-24:00', sunday: '00:00-24:00' } : null
}
