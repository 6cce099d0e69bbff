// Status transitions of appointments, and their effect on the orders. Owns table appointment. Does not know which modules offer times or
// call a provider.
//
// Invariant: an appointment and its order agree after every commit. Every change of an appointment locks its order and goes through this
// file. Transitions of the order are applied to the appointment in the same transaction (order-hook.ts). `docs/APPOINTMENTS.md` has the
// table of statuses that agree.
import { addSeconds } from '../../platform/runtime/clock.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { hasOption } from '../../platform/http/feature-flags.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { preRequisitionScheduling } from './features.ts'
import { isFinal } from './status-machine.ts'
import { findAppointment, newAppointment, type Booking, type LockedAppointment } from './locked-appointment.ts'
import type { Appointment, EventData } from './schema.ts'
import { enqueue, defineJob, defineHandler } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { findAndLockOrder, saveOrder } from '../../lab/orders/change-order.ts'

const REQUISITION = /\.requisition_(created|bypassed)$/

/** Whether the laboratory has accepted an order. Only then does the order show the status of its appointment. */
const hasRequisition = ({ order }: LockedOrder): boolean => order.events.some(({ status }) => REQUISITION.test(status))

/** Applies the transitions that the order's lifecycle allows from its current status. */
export function advanceOrder(lockedOrder: LockedOrder, ...lowLevelStatuses: string[]): void {
  for (const lowLevelStatus of lowLevelStatuses)
    if (lockedOrder.canTransitionTo(lowLevelStatus)) lockedOrder.transitionTo(lowLevelStatus)
}

/** Whether a new appointment can be made: the order can show the appointment's statuses, now or when its requisition arrives. */
const canBook = (lockedOrder: LockedOrder): boolean =>
  hasRequisition(lockedOrder) ? lockedOrder.canTransitionTo('appointment_pending') : lockedOrder.lowLevelStatus === 'ordered'

/**
 * Rejects a booking that the order does not allow.
 * Errors: 400 the order has an appointment, or its status is too late for one; 400 there is no requisition, and the team may not book
 * without one.
 */
export async function assertBookable(tx: Tx, lockedOrder: LockedOrder): Promise<void> {
  if (!canBook(lockedOrder) || (await findAppointment(tx, lockedOrder)))
    throw badRequest('Order is not in a state that allows booking an appointment.')
  if (!hasRequisition(lockedOrder) && !hasOption(tx.tenant, preRequisitionScheduling))
    throw badRequest('This order does not have a requisition yet.')
}

/**
 * A provider's reply to a booking. `confirmed`: the time is booked. `requested`: the provider sets the date later. `unanswered`: no reply
 * yet, so the order does not change. `unconfirmed`: the time is booked, but the laboratory has to confirm it; until then the order does not
 * change either.
 */
export type Reply = 'confirmed' | 'requested' | 'unanswered' | 'unconfirmed'

/**
 * Creates the appointment of an order that passed `assertBookable`. Writes appointment; the caller saves the order.
 * Emits labtest.appointment.created, labtest.appointment.updated for each status, and the events of the order's transitions.
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
    // An at-home appointment does not begin as pending; it is requested and reserved in one step.
    if (!lockedAppointment.canTransitionTo('reserved')) lockedAppointment.transitionTo('pending')
    lockedAppointment.transitionTo('reserved')
  }
  await lockedAppointment.save()
  if (!isReady) scheduleExpiry(tx, lockedOrder, lockedAppointment.appointment)
  else if (reply === 'requested') advanceOrder(lockedOrder, 'appointment_pending')
  else if (reply === 'confirmed') advanceOrder(lockedOrder, 'appointment_pending', 'appointment_scheduled')
  return lockedAppointment
}

/** Fields that change with the time; an absent field keeps its value. */
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

/**
 * Rejects rescheduling an appointment. Errors: 400 it is over, cannot be rescheduled here, or the status of its order does not allow it.
 */
export function assertReschedulable(lockedOrder: LockedOrder, { appointment }: LockedAppointment): void {
  if (isFinal(appointment.event_status)) throw badRequest('This appointment has been cancelled or completed.')
  if (!appointment.can_reschedule) throw badRequest('This appointment cannot be rescheduled.')
  const isTentative = appointment.event_status === 'reserved'
  if (isTentative ? lockedOrder.lowLevelStatus !== 'ordered' : lockedOrder.lowLevelStatus !== 'appointment_scheduled')
    throw badRequest('Order is not in a state that allows rescheduling an appointment.')
}

/**
 * Changes the time of an appointment; call `assertReschedulable` first. Writes appointment. Emits labtest.appointment.updated and the
 * events of the order's transitions: one transition for an at-home appointment, two for a PSC appointment.
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

/**
 * Records the provider's confirmation, with the time if the provider sets it. Writes appointment. Emits labtest.appointment.updated and the
 * events of the order's transitions.
 */
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
  /** Event data; for an at-home appointment the event also has `refundable`. */
  data: Record<string, unknown>
}

/**
 * Cancels an appointment. Writes appointment. Emits labtest.appointment.updated, and labtest.order.updated if the order shows the
 * appointment and still exists.
 * Errors: 400 the appointment is over.
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

/** Records that the appointment has begun. Writes appointment. Emits labtest.appointment.updated. */
export async function startAppointment(lockedAppointment: LockedAppointment, data: EventData = null): Promise<void> {
  lockedAppointment.transitionTo('in_progress', data)
  await lockedAppointment.save()
}

/**
 * Records that the appointment took place. Writes appointment. Emits labtest.appointment.updated; for an at-home appointment also the
 * events of the order's draw.
 */
export async function completeAppointment(
  lockedOrder: LockedOrder,
  lockedAppointment: LockedAppointment,
  data: EventData = null,
): Promise<void> {
  lockedAppointment.transitionTo('completed', data)
  await lockedAppointment.save()
  if (lockedAppointment.appointment.type === 'phlebotomy') advanceOrder(lockedOrder, 'draw_completed')
}

/** Constraints of this module's tables and the errors for their violations. */
export const appointmentConstraints = {
  appointment__one_active: () => badRequest('Order is not in a state that allows booking an appointment.'),
}

/** Erases the appointments of a deleted user after the grace period, before the orders are erased. Writes appointment. */
export async function eraseAppointments(tx: Tx, user_id: string): Promise<void> {
  await tx.run(sql`
      delete from appointment
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
}

// Expiry of appointments without a requisition: eight hours after the order, unless the order was scheduled for a date, and two hours
// before the start. A job runs at each of the two instants, in the team's time, and checks the current state.
// Source: lab-testing.md 17.5.

const EXPIRE_AFTER_ORDER_S = 8 * 3600
const EXPIRE_BEFORE_START_S = 2 * 3600

const expireAppointment = defineJob('appointments.expire', T.Object({ order_id: T.String(), appointment_id: T.String() }))

/** The instants at which the appointment expires, as it is now. */
function expiryTimes(lockedOrder: LockedOrder, { start_at }: Appointment): Date[] {
  const limits = lockedOrder.internalData.scheduled
    ? []
    : [addSeconds(new Date(lockedOrder.order.created_at), EXPIRE_AFTER_ORDER_S + 1)]
  if (start_at !== null) limits.push(addSeconds(new Date(start_at), 1 - EXPIRE_BEFORE_START_S))
  return limits
}

/** Schedules the expiry of an appointment without a requisition. Queues appointments.expire. */
function scheduleExpiry(tx: Tx, lockedOrder: LockedOrder, appointment: Appointment): void {
  for (const at of expiryTimes(lockedOrder, appointment))
    enqueue(tx, expireAppointment, { order_id: lockedOrder.order.id, appointment_id: appointment.id }, at > tx.now ? at : tx.now)
}

/** Cancels an appointment whose requisition did not arrive in time. */
export const expireHandler = defineHandler(expireAppointment, (context, { order_id, appointment_id }) =>
  context.tx(async (tx) => {
    const lockedOrder = await findAndLockOrder(tx, order_id)
    if (!lockedOrder || hasRequisition(lockedOrder)) return
    const lockedAppointment = await findAppointment(tx, lockedOrder)
    if (lockedAppointment?.appointment.id !== appointment_id || isFinal(lockedAppointment.appointment.event_status)) return
    if (expiryTimes(lockedOrder, lockedAppointment.appointment).every((time) => time > tx.now)) return
    await cancelAppointment(tx, lockedOrder, lockedAppointment, { data: { origin: 'system', reason: 'no_requisition' } })
    await saveOrder(tx, lockedOrder)
  }),
)
