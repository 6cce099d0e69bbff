// What happens to appointments, and what it means to their orders. Owns table appointment; never knows who offers times or asks a
// provider.
//
// Invariant: an appointment and its order never disagree after a commit. Whoever changes an appointment holds its order open and comes
// through here, and what happens to the order itself is followed in its own transaction (order-hook.ts). `docs/APPOINTMENTS.md` has the
// table of what agrees.
import { addSeconds } from '../../platform/runtime/clock.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { hasOption } from '../../platform/http/feature-flags.ts'
import type { LockedOrder } from '../../lab/orders/open-order.ts'
import { options } from '../../tenancy/teams/features.ts'
import { scheduleExpiry } from './expiry.ts'
import { isFinal } from './status-machine.ts'
import { findAppointment, newAppointment, type Booking, type LockedAppointment } from './open-appointment.ts'
import type { Appointment, EventData } from './schema.ts'

const REQUISITION = /\.requisition_(created|bypassed)$/

/** Whether the laboratory has taken an order: only then does an order show what becomes of its appointment. */
export const hasRequisition = ({ order }: LockedOrder): boolean => order.events.some(({ status }) => REQUISITION.test(status))

/** Take the steps that the order's lifecycle has from where it is. */
export function advanceOrder(lockedOrder: LockedOrder, ...lowLevelStatuses: string[]): void {
  for (const lowLevelStatus of lowLevelStatuses)
    if (lockedOrder.canTransitionTo(lowLevelStatus)) lockedOrder.transitionTo(lowLevelStatus)
}

/** Whether a new appointment may be made: then its steps are ones that the order can show, now or when its requisition comes. */
const canBook = (lockedOrder: LockedOrder): boolean =>
  hasRequisition(lockedOrder) ? lockedOrder.canTransitionTo('appointment_pending') : lockedOrder.lowLevelStatus === 'ordered'

/**
 * Refuse a booking that the order does not allow. 400: it has an appointment, or has gone too far; there is no requisition, and the team
 * may not book without.
 */
export async function assertBookable(tx: Tx, lockedOrder: LockedOrder): Promise<void> {
  if (!canBook(lockedOrder) || (await findAppointment(tx, lockedOrder)))
    throw badRequest('Order is not in a state that allows booking an appointment.')
  if (!hasRequisition(lockedOrder) && !hasOption(tx.tenant, options.pre_requisition_scheduling))
    throw badRequest('This order does not have a requisition yet.')
}

/**
 * What a provider says to a booking: the time is ours; a request that gets its date later; nothing yet, so that the order is told
 * nothing; ours, but the laboratory has to confirm it, and until then the order is told nothing either.
 */
export type Reply = 'confirmed' | 'requested' | 'unanswered' | 'unconfirmed'

/**
 * Make the appointment of an order that `assertBookable` lets have one. Writes appointment; the order is the caller's to finish.
 * Emits labtest.appointment.created, labtest.appointment.updated for each status, and what the order's steps emit.
 * Source: lab-testing.md 17.3, 17.4.
 */
export async function bookAppointment(
  tx: Tx,
  lockedOrder: LockedOrder,
  booking: Booking,
  reply: Reply,
): Promise<LockedAppointment> {
  const lockedAppointment = newAppointment(tx, lockedOrder, booking)
  const isReady = hasRequisition(lockedOrder)
  lockedAppointment.internalData.awaits_provider = reply === 'unanswered' || reply === 'unconfirmed'
  if (reply === 'requested' || reply === 'unanswered') lockedAppointment.transitionTo('pending')
  else if (reply === 'confirmed' && isReady) lockedAppointment.transitionTo('scheduled')
  else {
    // A visit has no such beginning; it is requested and pencilled in at once.
    if (!lockedAppointment.canTransitionTo('reserved')) lockedAppointment.transitionTo('pending')
    lockedAppointment.transitionTo('reserved')
  }
  await lockedAppointment.save()
  if (!isReady) scheduleExpiry(tx, lockedOrder, lockedAppointment.appointment)
  else if (reply === 'requested') advanceOrder(lockedOrder, 'appointment_pending')
  else if (reply === 'confirmed') advanceOrder(lockedOrder, 'appointment_pending', 'appointment_scheduled')
  return lockedAppointment
}

/** What a change of time brings along; what is left out stays. */
export interface Reschedule {
  start_at?: string | null | undefined
  end_at?: string | null | undefined
  site_code?: string | null | undefined
  address?: Appointment['address'] | undefined
  location?: Appointment['location'] | undefined
  iana_timezone?: string | null | undefined
  appointment_notes?: string | null | undefined
  provider_id?: string | undefined
  external_id?: string | null | undefined
}

function apply(lockedAppointment: LockedAppointment, { site_code = lockedAppointment.site_code, ...changes }: Reschedule): void {
  for (const [name, value] of Object.entries(changes))
    if (value !== undefined) Object.assign(lockedAppointment.appointment, { [name]: value })
  lockedAppointment.site_code = site_code
}

/** Refuse to move an appointment. 400: it is over, or can not be moved here, or its order is not where one can be. */
export function assertReschedulable(lockedOrder: LockedOrder, { appointment }: LockedAppointment): void {
  if (isFinal(appointment.event_status)) throw badRequest('This appointment has been cancelled or completed.')
  if (!appointment.can_reschedule) throw badRequest('This appointment cannot be rescheduled.')
  const isTentative = appointment.event_status === 'reserved'
  if (isTentative ? lockedOrder.lowLevelStatus !== 'ordered' : lockedOrder.lowLevelStatus !== 'appointment_scheduled')
    throw badRequest('Order is not in a state that allows rescheduling an appointment.')
}

/**
 * Give an appointment another time; `assertMovable` first. Writes appointment. Emits labtest.appointment.updated, and what the order's
 * steps emit: one for a visit, two at a service center.
 */
export async function rescheduleAppointment(
  tx: Tx,
  lockedOrder: LockedOrder,
  lockedAppointment: LockedAppointment,
  move: Reschedule,
  data: EventData,
): Promise<void> {
  const { appointment } = lockedAppointment
  apply(lockedAppointment, move)
  lockedAppointment.transitionTo(appointment.event_status, data)
  await lockedAppointment.save()
  if (appointment.event_status === 'reserved') scheduleExpiry(tx, lockedOrder, appointment)
  else if (appointment.type === 'phlebotomy') advanceOrder(lockedOrder, 'appointment_scheduled')
  else advanceOrder(lockedOrder, 'appointment_pending', 'appointment_scheduled')
}

/** The provider says yes, perhaps with the time. Writes appointment. Emits labtest.appointment.updated, and what the order's steps emit. */
export async function confirmAppointment(
  _tx: Tx,
  lockedOrder: LockedOrder,
  lockedAppointment: LockedAppointment,
  change: Reschedule = {},
  data: EventData = null,
): Promise<void> {
  apply(lockedAppointment, change)
  lockedAppointment.internalData.awaits_provider = false
  const isReady = hasRequisition(lockedOrder)
  lockedAppointment.transitionTo(isReady ? 'scheduled' : 'reserved', data)
  await lockedAppointment.save()
  if (isReady) advanceOrder(lockedOrder, 'appointment_pending', 'appointment_scheduled')
}

const REFUNDABLE_S = 86_400

/** Source: lab-testing.md 19.5. */
const isRefundable = (tx: Tx, { start_at }: Appointment): boolean =>
  start_at === null || new Date(start_at) > addSeconds(tx.now, REFUNDABLE_S)

export interface Cancellation {
  reason_id?: string | undefined
  notes?: string | undefined
  /** Of the event; a visit's says beside whether it is refunded. */
  data: Record<string, unknown>
}

/**
 * Cancel an appointment. Writes appointment. Emits labtest.appointment.updated; and labtest.order.updated where the order has been told
 * of the appointment and is still there.
 * 400: it is over.
 */
export async function cancelAppointment(
  tx: Tx,
  lockedOrder: LockedOrder,
  lockedAppointment: LockedAppointment,
  cancellation: Cancellation,
): Promise<void> {
  const { appointment, internalData } = lockedAppointment
  if (isFinal(appointment.event_status)) throw badRequest('This appointment has been cancelled or completed.')
  if (appointment.type === 'phlebotomy') internalData.refundable = isRefundable(tx, appointment)
  internalData.cancellation_reason_id = cancellation.reason_id ?? null
  internalData.cancellation_notes = cancellation.notes ?? null
  const wasNotified = hasRequisition(lockedOrder) && !internalData.awaits_provider
  lockedAppointment.transitionTo('cancelled', {
    ...cancellation.data,
    ...(internalData.refundable !== null && { refundable: internalData.refundable }),
  })
  await lockedAppointment.save()
  if (wasNotified) advanceOrder(lockedOrder, 'appointment_cancelled')
}

/** It has begun. Writes appointment. Emits labtest.appointment.updated. */
export async function startAppointment(lockedAppointment: LockedAppointment, data: EventData = null): Promise<void> {
  lockedAppointment.transitionTo('in_progress', data)
  await lockedAppointment.save()
}

/** It has taken place. Writes appointment. Emits labtest.appointment.updated; for a visit the order's draw too. */
export async function completeAppointment(
  lockedOrder: LockedOrder,
  lockedAppointment: LockedAppointment,
  data: EventData = null,
): Promise<void> {
  lockedAppointment.transitionTo('completed', data)
  await lockedAppointment.save()
  if (lockedAppointment.appointment.type === 'phlebotomy') advanceOrder(lockedOrder, 'draw_completed')
}

/** Constraints of this module's tables and what violating them answers. */
export const constraints = {
  appointment__one_active: () => badRequest('Order is not in a state that allows booking an appointment.'),
}

/** Erase the appointments of a deleted user, when the grace is over; before the orders go. Writes appointment. */
export async function eraseAppointments(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
      delete from appointment
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
}
