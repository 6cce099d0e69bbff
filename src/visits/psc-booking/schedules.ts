// The operator's schedules of sites. Owns psc_schedule; does not know bookings.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
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

/** A site's code and its schedule. */
export interface SiteSchedule {
  site_code: string
  schedule: Schedule
}

/** Writes schedules, each as a whole. Booked appointments stay. Writes psc_schedule. */
export async function upsertSchedules(tx: PlainTx, lab_id: number, schedules: SiteSchedule[]): Promise<void> {
  await tx.run(sql`
    insert into psc_schedule (lab_id, site_code, schedule, updated_at)
    select ${lab_id}::integer, site_code, schedule, ${tx.now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(schedules)}::jsonb) as r (site_code text, schedule jsonb)
    on conflict (lab_id, site_code) do update set schedule = excluded.schedule, updated_at = excluded.updated_at`)
}

/** Stops new appointments at a site; booked appointments stay. Writes psc_schedule. Returns false if the site has no schedule. */
export const removeSchedule = async (tx: PlainTx, lab_id: number, site_code: string): Promise<boolean> =>
  (await tx.run(sql`delete from psc_schedule where lab_id = ${lab_id} and site_code = ${site_code}`)) > 0

/** Lists sites of a lab that have a schedule, in the order of their codes, starting after `after`. */
export const listSchedules = (
  tx: Pick<Queries, 'many'>,
  lab_id: number,
  page: { after: string; limit: number },
): Promise<SiteSchedule[]> =>
  tx.many(
    Row,
    sql`
    select site_code, schedule from psc_schedule
    where lab_id = ${lab_id} and site_code collate "C" > ${page.after} order by site_code collate "C" limit ${page.limit}`,
  )
