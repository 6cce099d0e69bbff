// Progress of visits, reported by providers: the date of a requested visit, its start, and the draw.
import { startAppointment, completeAppointment, confirmAppointment, rescheduleAppointment } from '../appointments/appointments.ts'
import { findAppointment, requireAppointment, type LockedAppointment } from '../appointments/locked-appointment.ts'
import type { Appointment as Shown } from '../appointments/schema.ts'
import { findAndLockOrder, saveOrder } from '../../lab/orders/change-order.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField } from '../../platform/http/errors.ts'
import { defineHandler } from '../../platform/queue/outbox.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { lockAtHomeOrder, toVisitDetails } from './booking.ts'
import { scheduleVisitJob } from './links/sandbox-request.ts'
import { visitLinkFor } from './links/links.ts'
import { plusDays, wallClocks } from './local-time.ts'
import type { SetVisitDate, SetVisitProgress, Visit } from './schema.ts'
import { findStaff } from './staff.ts'
import { updateVisit, type BookedTime } from './visits.ts'
import { blockedMinutes } from './time-windows.ts'
import { notDeleted } from '../../people/users/users.ts'

const VISIT_DURATION_S_MAX = 86_400
const SCHEDULABLE_STATUSES = new Set(['pending', 'reserved', 'scheduled'])

/**
 * Sets or changes the date of a requested visit. If a phlebotomist is named, the time is subtracted from that phlebotomist's windows, even
 * if there is no remaining capacity. Writes appointment, lab_order, phlebotomy_visit. Emits labtest.appointment.updated,
 * labtest.order.updated.
 * Errors: 400 the date of this appointment cannot be set here, or not any more; 400 it is past; 400 unknown phlebotomist; 404 unknown
 * order; 422 it ends before it begins, or lasts more than a day.
 */
export async function setVisitDate(tx: Tx, order_id: string, body: SetVisitDate): Promise<PreserializedJson<Shown>> {
  const [start, end] = [new Date(body.start_at), new Date(body.end_at)]
  if (end <= start || end > addSeconds(start, VISIT_DURATION_S_MAX))
    throw invalidField(['body', 'end_at'], 'must be after start_at, and within a day of it')
  if (start <= tx.now) throw badRequest('start_at must be in the future')
  const lockedOrder = await lockAtHomeOrder(tx, order_id)
  const lockedAppointment = await requireAppointment(tx, lockedOrder)
  if (lockedAppointment.internalData.tier !== 'appointment-request')
    throw badRequest('The time of this appointment was set when it was booked.')
  if (!SCHEDULABLE_STATUSES.has(lockedAppointment.appointment.event_status))
    throw badRequest('This appointment cannot be rescheduled.')
  const taken = await findTaken(tx, body.phlebotomist, { start_ms: start.getTime(), end_ms: end.getTime() })
  await scheduleVisit(tx, lockedOrder, lockedAppointment, { start_at: iso(start), end_at: iso(end) }, taken)
  await saveOrder(tx, lockedOrder)
  return new PreserializedJson(JSON.stringify(lockedAppointment.appointment))
}

async function findTaken(
  tx: Tx,
  reference: string | undefined,
  span: { start_ms: number; end_ms: number },
): Promise<BookedTime | undefined> {
  if (reference === undefined) return undefined
  const staff = await findStaff(tx, tx.tenant.org, reference)
  if (!staff) throw badRequest('Phlebotomist not found.')
  return { staff_id: staff.id, ...span, blocked_minutes: blockedMinutes(staff) }
}

async function scheduleVisit(
  tx: Tx,
  lockedOrder: LockedOrder,
  lockedAppointment: LockedAppointment,
  span: { start_at: string; end_at: string },
  bookedTime?: BookedTime,
): Promise<void> {
  const { appointment } = lockedAppointment
  const { id: appointment_id, order_id, provider, address, appointment_notes } = appointment
  const again = appointment.event_status !== 'pending'
  const data = { origin: 'provider', is_reschedule: again }
  if (again) await rescheduleAppointment(tx, lockedOrder, lockedAppointment, span, data)
  else await confirmAppointment(tx, lockedOrder, lockedAppointment, span, data)
  await updateVisit(tx, { appointment_id, details: toVisitDetails(lockedOrder, address, appointment_notes) }, bookedTime)
  const [start_ms, end_ms] = [Date.parse(span.start_at), Date.parse(span.end_at)]
  visitLinkFor(tx.tenant, provider)?.onDateChanged?.(tx, { appointment_id, order_id }, { start_ms, end_ms })
}

/** In the sandbox the visit is on the day after, from 10:00 to 12:00. */
const SANDBOX_VISIT_HOURS = { from_min: 600, to_min: 720 }

export const scheduleVisitHandler = defineHandler(scheduleVisitJob, (context, { order_id, appointment_id }) =>
  context.tx(async (tx) => {
    const lockedOrder = await findAndLockOrder(tx, order_id)
    const lockedAppointment = lockedOrder && (await findAppointment(tx, lockedOrder))
    if (lockedAppointment?.appointment.id !== appointment_id || lockedAppointment.appointment.event_status !== 'pending') return
    const clocks = await wallClocks()
    const zone = lockedAppointment.appointment.iana_timezone!
    const tomorrow = plusDays(clocks.localDate(tx.now.getTime(), zone), 1)
    const at = (minute: number) => iso(new Date(clocks.day(tomorrow, zone).toInstant(minute, 'start')))
    await scheduleVisit(tx, lockedOrder!, lockedAppointment, {
      start_at: at(SANDBOX_VISIT_HOURS.from_min),
      end_at: at(SANDBOX_VISIT_HOURS.to_min),
    })
    await saveOrder(tx, lockedOrder!)
  }),
)

/**
 * Records that a visit has started or was completed. Writes appointment, lab_order, phlebotomy_visit. Emits labtest.appointment.updated,
 * and labtest.order.updated for a completed visit.
 * Errors: 400 the appointment cannot change to this status; 404 unknown order.
 */
export async function setVisitProgress(
  tx: Tx,
  order_id: string,
  { status }: SetVisitProgress,
): Promise<PreserializedJson<Shown>> {
  const lockedOrder = await lockAtHomeOrder(tx, order_id)
  const lockedAppointment = await requireAppointment(tx, lockedOrder)
  const data = { origin: 'provider' }
  await (status === 'completed'
    ? completeAppointment(lockedOrder, lockedAppointment, data)
    : startAppointment(lockedAppointment, data))
  await saveOrder(tx, lockedOrder)
  return new PreserializedJson(JSON.stringify(lockedAppointment.appointment))
}

const Row = T.Object({
  user_id: T.String(),
  document: T.String(),
  visit_details: T.String(),
  reference: T.Union([T.String(), T.Null()]),
})
const LISTED_MAX = 1000

/** Returns the team's upcoming and current visits: visits without a date first, then by start. At most 1,000. */
export async function listVisits(tx: Tx): Promise<{ data: Visit[] }> {
  const rows = await tx.many(
    Row,
    sql`
    select o.user_id, a.document, v.visit_details, p.reference
    from phlebotomy_visit v
    join appointment a on a.id = v.appointment_id and a.team_id = ${tx.team}
    join lab_order o on o.id = a.order_id and o.team_id = ${tx.team}
    left join phlebotomist p on p.id = v.staff_id
    where v.team_id = ${tx.team} and ${notDeleted(tx, sql`v.user_id`)} order by a.start_at nulls first, a.id limit ${LISTED_MAX}`,
  )
  return {
    data: rows.map(({ user_id, document, visit_details, reference }) => {
      tx.concerns(user_id)
      const { id, order_id, provider, event_status, start_at, end_at, iana_timezone, location } = JSON.parse(document) as Shown
      const details = JSON.parse(visit_details) as Pick<Visit, 'patient' | 'address' | 'appointment_notes'>
      const span = { event_status, start_at, end_at, iana_timezone: iana_timezone! }
      return { appointment_id: id, order_id, provider, ...span, phlebotomist: reference, location, ...details }
    }),
  }
}
