// Booked slots at sites. Bookings are counted under a lock for each site: of two bookings of the last capacity, the second counts after the
// first has committed. The appointment itself uses the capacity until it is cancelled; no other row has to be released.
import type { Tx } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Slot } from './schedule.ts'
import { selectScheduler } from './schedulers/choose-scheduler.ts'

const Taken = T.Object({ site_code: T.String(), start_at: T.String(), end_at: T.String(), count: T.Integer() })
export type BookedSlots = Static<typeof Taken>

/** Returns the appointments at sites of a lab that overlap a span of time and count for the team. */
export function loadBookedSlots(
  tx: Tx,
  lab: string,
  site_codes: string[],
  span: Slot,
  exceptAppointmentId?: string,
): Promise<BookedSlots[]> {
  const { hasSharedCapacity } = selectScheduler(tx.tenant)
  return tx.many(
    Taken,
    hasSharedCapacity
      ? sql`
        select site_code, start_at, end_at, count
        from booked_times_of_sites(${lab}, ${site_codes}::text[], ${span.start}, ${span.end}, ${exceptAppointmentId ?? null}::uuid)`
      : sql`
        select site_code, start_at, end_at, count(*) as count from appointment
        where provider = ${lab} and site_code = any (${site_codes}::text[]) and event_status <> 'cancelled'
          and start_at < ${span.end} and end_at > ${span.start} and team_id = ${tx.team} and id is distinct from ${exceptAppointmentId ?? null}::uuid
        group by site_code, start_at, end_at`,
  )
}

/** Returns the number of appointments that overlap a span. */
export const countOverlapping = (bookedSlots: BookedSlots[], { start, end }: Slot): number =>
  bookedSlots.reduce((sum, slot) => (new Date(slot.start_at) < end && new Date(slot.end_at) > start ? sum + slot.count : sum), 0)

/**
 * Returns the number of appointments at a site that overlap a slot, except the one that is rescheduled. Other bookings at the site wait
 * until this transaction ends.
 */
export async function countBookingsLocked(
  tx: Tx,
  lab: string,
  site_code: string,
  slot: Slot,
  exceptAppointmentId?: string,
): Promise<number> {
  await tx.locking.run(
    sql`select pg_advisory_xact_lock(hashtextextended('site ' || current_schema() || ' ' || ${lab}::text || ' ' || ${site_code}::text, 0))`,
  )
  return countOverlapping(await loadBookedSlots(tx, lab, [site_code], slot, exceptAppointmentId), slot)
}
