// Visits that are to come or go on: who comes, how long that keeps them, and what they were told. Owns phlebotomy_visit; a visit that is
// over is not kept here, its appointment is.
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { PendingVisit } from './links/visit-link.ts'
import type { ProviderName } from './service-types.ts'
import type { BookedVisit, Span } from './time-windows.ts'

/** Whose time a visit takes. */
export interface BookedTime extends Span {
  staff_id: string
  busy_min: number
}

const date = (at_ms: number | undefined): Date | null => (at_ms === undefined ? null : new Date(at_ms))

/**
 * Keep a visit. Writes phlebotomy_visit. 400: the patient has one to come with this provider, of this order or of another.
 * @param taken absent while nobody's time is
 */
export async function insertVisit(tx: Tx, provider: ProviderName, visit: PendingVisit, taken?: BookedTime): Promise<void> {
  const made = await tx.run(sql`
    insert into phlebotomy_visit (appointment_id, team_id, user_id, provider, staff_id, start_at, end_at, busy_min, told)
    values (${visit.appointment_id}, ${tx.team}, ${visit.user_id}, ${provider}, ${taken?.staff_id ?? null}, ${date(taken?.start_ms)},
            ${date(taken?.end_ms)}, ${taken?.busy_min ?? null}, ${JSON.stringify(visit.told)})
    on conflict (team_id, user_id, provider) do nothing`)
  if (!made) throw badRequest('The patient already has an active appointment with this provider.')
}

/** Somebody else, or at another time, and told anew. Writes phlebotomy_visit. */
export const updateVisit = (tx: Tx, visit: Pick<PendingVisit, 'appointment_id' | 'told'>, taken?: BookedTime): Promise<number> =>
  tx.run(sql`
    update phlebotomy_visit
    set staff_id = ${taken?.staff_id ?? null}, start_at = ${date(taken?.start_ms)}, end_at = ${date(taken?.end_ms)},
        busy_min = ${taken?.busy_min ?? null}, told = ${JSON.stringify(visit.told)}
    where appointment_id = ${visit.appointment_id} and team_id = ${tx.team}`)

/** It is over, or nobody has to come. Writes phlebotomy_visit. */
export const deleteVisit = (tx: Tx, appointment_id: string): Promise<number> =>
  tx.run(sql`delete from phlebotomy_visit where appointment_id = ${appointment_id} and team_id = ${tx.team}`)

const Row = T.Object({ staff_id: T.String(), start_ms: T.Number(), end_ms: T.Number(), busy_min: T.Integer() })

/** Whose time is taken within a range, by whichever team; but not for one appointment. */
export async function bookedTimes(
  queries: Pick<Queries, 'many'>,
  staff_ids: string[],
  { start_ms, end_ms }: Span,
  except: string | null = null,
): Promise<Map<string, BookedVisit[]>> {
  const rows = await queries.many(
    Row,
    sql`
    select staff_id, extract(epoch from start_at)::float8 * 1000 as start_ms, extract(epoch from end_at)::float8 * 1000 as end_ms, busy_min
    from taken_of_staff(${staff_ids}::uuid[], ${new Date(start_ms)}, ${new Date(end_ms)}, ${except}::uuid)`,
  )
  return Map.groupBy(rows, ({ staff_id }) => staff_id)
}

/** Constraints of this module's tables and what violating them answers. */
export const constraints = {
  phlebotomy_visit__staff: () => badRequest('This phlebotomist has upcoming visits; deactivate it instead'),
}
