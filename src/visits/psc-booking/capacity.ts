// Which places at sites are taken. Places are counted, under a lock for each site: of two who want the last one, the second counts after
// the first has committed. What takes a place is the appointment itself, until it is cancelled; there is nothing beside it to be given
// back.
import type { Tx } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Slot } from './schedule.ts'
import { selectScheduler } from './schedulers/choose-scheduler.ts'

const Taken = T.Object({ site_code: T.String(), start_at: T.String(), end_at: T.String(), count: T.Integer() })
export type BookedSlots = Static<typeof Taken>

/** The appointments at sites of a lab that overlap a span of time; those that count for the team. */
export function loadBookedSlots(tx: Tx, lab: string, site_codes: string[], span: Slot, but?: string): Promise<BookedSlots[]> {
  const { hasSharedCapacity } = selectScheduler(tx.tenant)
  return tx.many(
    Taken,
    hasSharedCapacity
      ? sql`
        select site_code, start_at, end_at, count
        from taken_of_sites(${lab}, ${site_codes}::text[], ${span.start}, ${span.end}, ${but ?? null}::uuid)`
      : sql`
        select site_code, start_at, end_at, count(*) as count from appointment
        where provider = ${lab} and site_code = any (${site_codes}::text[]) and event_status <> 'cancelled'
          and start_at < ${span.end} and end_at > ${span.start} and team_id = ${tx.team} and id is distinct from ${but ?? null}::uuid
        group by site_code, start_at, end_at`,
  )
}

/** How many appointments there are at a time. */
export const countOverlapping = (taken: BookedSlots[], { start, end }: Slot): number =>
  taken.reduce((sum, one) => (new Date(one.start_at) < end && new Date(one.end_at) > start ? sum + one.count : sum), 0)

/**
 * How many places of a site are taken at a time, but for an appointment that is to be moved. Nobody else counts there until this
 * transaction ends.
 */
export async function countBookingsLocked(tx: Tx, lab: string, site_code: string, slot: Slot, but?: string): Promise<number> {
  await tx.locking.run(
    sql`select pg_advisory_xact_lock(hashtextextended('site ' || current_schema() || ' ' || ${lab}::text || ' ' || ${site_code}::text, 0))`,
  )
  return countOverlapping(await loadBookedSlots(tx, lab, [site_code], slot, but), slot)
}
