// The operator's schedules of sites. Owns psc_schedule; does not know bookings.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { DirectoryQuery } from '../psc/directory.ts'
import { BOOKABLE_VIA_API } from '../psc/schema.ts'
import { bumpDirectoryVersion } from '../psc/sites.ts'
import { Schedule } from './schedule.ts'

const Row = T.Object({ site_code: T.String(), schedule: Schedule })

/** Returns schedules by site code; a site without a schedule is absent. */
export async function loadSchedules(
  tx: Pick<Queries, 'many'>,
  lab_id: number,
  site_codes: string[],
): Promise<Map<string, Schedule>> {
  const rows = await tx.many(
    Row,
    sql`select site_code, schedule from psc_schedule where lab_id = ${lab_id} and site_code = any (${site_codes}::text[])`,
  )
  return new Map(rows.map(({ site_code, schedule }) => [site_code, schedule]))
}

const Code = T.Object({ site_code: T.String() })

/** In a sandbox every site has the same schedule. */
const isSandbox = ({ tenant }: DirectoryQuery): boolean => tenant.cell.startsWith('sandbox')

/** The codes of a lab's sites with a schedule; undefined: every site has one. */
export async function scheduledSites(tx: DirectoryQuery, lab_id: number): Promise<Set<string> | undefined> {
  if (isSandbox(tx)) return undefined
  const rows = await tx.many(Code, sql`select site_code from psc_schedule where lab_id = ${lab_id}`)
  return new Set(rows.map(({ site_code }) => site_code))
}

/** Whether appointments can be booked here at one of the lab's sites. */
export async function hasBookableSite(tx: DirectoryQuery, lab_id: number): Promise<boolean> {
  const rows = await tx.many(
    Code,
    sql`
    select s.site_code from psc_site s
    where s.lab_id = ${lab_id} and s.active and ${BOOKABLE_VIA_API} = any (s.capabilities)
      and (${isSandbox(tx)} or exists (select from psc_schedule c where c.lab_id = s.lab_id and c.site_code = s.site_code)) limit 1`,
  )
  return rows.length > 0
}

/** A site's code and its schedule. */
export interface SiteSchedule {
  site_code: string
  schedule: Schedule
}

/** Writes schedules, each as a whole. Booked appointments stay. Writes psc_schedule, psc_directory_version. */
export async function upsertSchedules(tx: PlainTx, lab_id: number, schedules: SiteSchedule[]): Promise<void> {
  await tx.run(sql`
    insert into psc_schedule (lab_id, site_code, schedule, updated_at)
    select ${lab_id}::integer, site_code, schedule, ${tx.now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(schedules)}::jsonb) as r (site_code text, schedule jsonb)
    on conflict (lab_id, site_code) do update set schedule = excluded.schedule, updated_at = excluded.updated_at`)
  await bumpDirectoryVersion(tx, lab_id)
}

/**
 * Stops new appointments at a site; booked appointments stay. Writes psc_schedule, psc_directory_version. Returns false if the site has no
 * schedule.
 */
export async function removeSchedule(tx: PlainTx, lab_id: number, site_code: string): Promise<boolean> {
  const removed = await tx.run(sql`delete from psc_schedule where lab_id = ${lab_id} and site_code = ${site_code}`)
  if (removed) await bumpDirectoryVersion(tx, lab_id)
  return removed > 0
}

/** Lists sites of a lab that have a schedule, in the order of their codes, starting after `after`. */
export const listSchedules = (
  tx: Pick<Queries, 'many'>,
  lab_id: number,
  page: { afterKey: string; limit: number },
): Promise<SiteSchedule[]> =>
  tx.many(
    Row,
    sql`
    select site_code, schedule from psc_schedule
    where lab_id = ${lab_id} and site_code collate "C" > ${page.afterKey} order by site_code collate "C" limit ${page.limit}`,
  )
