// Upcoming and current visits: the staff, the time they are blocked, and the details they received. Owns phlebotomy_visit. A finished visit
// is deleted here; its appointment stays.
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { PendingVisit } from './links/visit-link.ts'
import type { ProviderName } from './staff-schema.ts'
import type { BookedVisit, Span } from './time-windows.ts'

/** The staff and the time that a visit blocks. */
export interface BookedTime extends Span {
  staff_id: string
  blocked_minutes: number
}

const date = (at_ms: number | undefined): Date | null => (at_ms === undefined ? null : new Date(at_ms))

/**
 * Inserts a visit. Writes phlebotomy_visit. Errors: 400 the patient already has an upcoming visit with this provider, for this order or
 * another.
 * @param bookedTime absent while no staff is assigned
 */
export async function insertVisit(tx: Tx, provider: ProviderName, visit: PendingVisit, bookedTime?: BookedTime): Promise<void> {
  const insertedCount = await tx.run(sql`
    insert into phlebotomy_visit (appointment_id, team_id, user_id, provider, staff_id, start_at, end_at, blocked_minutes, visit_details)
    values (${visit.appointment_id}, ${tx.team}, ${visit.user_id}, ${provider}, ${bookedTime?.staff_id ?? null}, ${date(bookedTime?.start_ms)},
            ${date(bookedTime?.end_ms)}, ${bookedTime?.blocked_minutes ?? null}, ${JSON.stringify(visit.details)})
    on conflict (team_id, user_id, provider) do nothing`)
  if (!insertedCount) throw badRequest('The patient already has an active appointment with this provider.')
}

/** Updates staff, time and details of a visit. Writes phlebotomy_visit. */
export const updateVisit = (
  tx: Tx,
  visit: Pick<PendingVisit, 'appointment_id' | 'details'>,
  bookedTime?: BookedTime,
): Promise<number> =>
  tx.run(sql`
    update phlebotomy_visit
    set staff_id = ${bookedTime?.staff_id ?? null}, start_at = ${date(bookedTime?.start_ms)}, end_at = ${date(bookedTime?.end_ms)},
        blocked_minutes = ${bookedTime?.blocked_minutes ?? null}, visit_details = ${JSON.stringify(visit.details)}
    where appointment_id = ${visit.appointment_id} and team_id = ${tx.team}`)

/** Deletes a visit that is finished or cancelled. Writes phlebotomy_visit. */
export const deleteVisit = (tx: Tx, appointment_id: string): Promise<number> =>
  tx.run(sql`delete from phlebotomy_visit where appointment_id = ${appointment_id} and team_id = ${tx.team}`)

const Row = T.Object({ staff_id: T.String(), start_ms: T.Number(), end_ms: T.Number(), blocked_minutes: T.Integer() })

/** Returns the booked times of staff within a range, of all teams, except those of one appointment. */
export async function bookedTimes(
  queries: Pick<Queries, 'many'>,
  staff_ids: string[],
  { start_ms, end_ms }: Span,
  exceptAppointmentId: string | null = null,
): Promise<Map<string, BookedVisit[]>> {
  const rows = await queries.many(
    Row,
    sql`
    select staff_id, extract(epoch from start_at)::float8 * 1000 as start_ms, extract(epoch from end_at)::float8 * 1000 as end_ms, blocked_minutes
    from booked_times_of_staff(${staff_ids}::uuid[], ${new Date(start_ms)}, ${new Date(end_ms)}, ${exceptAppointmentId}::uuid)`,
  )
  return Map.groupBy(rows, ({ staff_id }) => staff_id)
}

/** Constraints of this module's tables and the errors for their violations. */
export const visitConstraints = {
  phlebotomy_visit__staff: () => badRequest('This phlebotomist has upcoming visits; deactivate it instead'),
}
