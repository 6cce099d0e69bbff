// What happens to appointments, and what it means to their orders. Owns table appointment; never knows who offers times or asks a
// provider.
//
// Invariant: an appointment and its order never disagree after a commit. Whoever changes an appointment holds its order open and comes
// through here, and what happens to the order itself is followed in its own transaction (order-hook.ts). `docs/APPOINTMENTS.md` has the
// table of what agrees.
import { plusSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { hasOption } from '../../platform/http/feature-flags.ts'
import type { OpenOrder } from '../../lab/orders/open-order.ts'
import { options } from '../../tenancy/teams/features.ts'
import { expireInTime } from './expiry.ts'
import { isOver } from './status-machine.ts'
import { findAppointment, newAppointment, type Booking, type OpenAppointment } from './open-appointment.ts'
import type { Appointment, EventData } from './schema.ts'

const REQUISITION = /\.requisition_(created|bypassed)$/

/** Whether the laboratory has taken an order: only then does an order show what becomes of its appointment. */
export const hasRequisition = ({ order }: OpenOrder): boolean => order.events.some(({ status }) => REQUISITION.test(status))

/** Take the steps that the order's lifecycle has from where it is. */
export function tellOrder(open: OpenOrder, ...lows: string[]): void {
  for (const low of lows) if (open.may(low)) open.advance(low)
}

/** Whether a new appointment may be made: then its steps are ones that the order can show, now or when its requisition comes. */
const mayBook = (open: OpenOrder): boolean =>
  hasRequisition(open) ? open.may('appointment_pending') : open.lowStatus === 'ordered'

/**
 * Refuse a booking that the order does not allow. 400: it has an appointment, or has gone too far; there is no requisition, and the team
 * may not book without.
 */
export async function assertBookable(tx: Tx, open: OpenOrder): Promise<void> {
  if (!mayBook(open) || (await findAppointment(tx, open)))
    throw badRequest('Order is not in a state that allows booking an appointment.')
  if (!hasRequisition(open) && !hasOption(tx.tenant, options.pre_requisition_scheduling))
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
export async function bookAppointment(tx: Tx, open: OpenOrder, booking: Booking, reply: Reply): Promise<OpenAppointment> {
  const held = newAppointment(tx, open, booking)
  const isReady = hasRequisition(open)
  held.facts.awaits_provider = reply === 'unanswered' || reply === 'unconfirmed'
  if (reply === 'requested' || reply === 'unanswered') held.step('pending')
  else if (reply === 'confirmed' && isReady) held.step('scheduled')
  else {
    // A visit has no such beginning; it is requested and pencilled in at once.
    if (!held.may('reserved')) held.step('pending')
    held.step('reserved')
  }
  await held.write()
  if (!isReady) expireInTime(tx, open, held.appointment)
  else if (reply === 'requested') tellOrder(open, 'appointment_pending')
  else if (reply === 'confirmed') tellOrder(open, 'appointment_pending', 'appointment_scheduled')
  return held
}

/** What a change of time brings along; what is left out stays. */
export interface Move {
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

function apply(held: OpenAppointment, { site_code = held.site_code, ...changes }: Move): void {
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) Object.assign(held.appointment, { [name]: value })
  held.site_code = site_code
}

/** Refuse to move an appointment. 400: it is over, or can not be moved here, or its order is not where one can be. */
export function assertMovable(open: OpenOrder, { appointment }: OpenAppointment): void {
  if (isOver(appointment.event_status)) throw badRequest('This appointment has been cancelled or completed.')
  if (!appointment.can_reschedule) throw badRequest('This appointment cannot be rescheduled.')
  const isPencilled = appointment.event_status === 'reserved'
  if (isPencilled ? open.lowStatus !== 'ordered' : open.lowStatus !== 'appointment_scheduled')
    throw badRequest('Order is not in a state that allows rescheduling an appointment.')
}

/**
 * Give an appointment another time; `assertMovable` first. Writes appointment. Emits labtest.appointment.updated, and what the order's
 * steps emit: one for a visit, two at a service center.
 */
export async function moveAppointment(
  tx: Tx,
  open: OpenOrder,
  held: OpenAppointment,
  move: Move,
  data: EventData,
): Promise<void> {
  const { appointment } = held
  apply(held, move)
  held.step(appointment.event_status, data)
  await held.write()
  if (appointment.event_status === 'reserved') expireInTime(tx, open, appointment)
  else if (appointment.type === 'phlebotomy') tellOrder(open, 'appointment_scheduled')
  else tellOrder(open, 'appointment_pending', 'appointment_scheduled')
}

/** The provider says yes, perhaps with the time. Writes appointment. Emits labtest.appointment.updated, and what the order's steps emit. */
export async function confirmAppointment(
  _tx: Tx,
  open: OpenOrder,
  held: OpenAppointment,
  change: Move = {},
  data: EventData = null,
): Promise<void> {
  apply(held, change)
  held.facts.awaits_provider = false
  const isReady = hasRequisition(open)
  held.step(isReady ? 'scheduled' : 'reserved', data)
  await held.write()
  if (isReady) tellOrder(open, 'appointment_pending', 'appointment_scheduled')
}

const REFUNDABLE_S = 86_400

/** Source: lab-testing.md 19.5. */
const isRefundable = (tx: Tx, { start_at }: Appointment): boolean =>
  start_at === null || new Date(start_at) > plusSeconds(tx.now, REFUNDABLE_S)

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
  open: OpenOrder,
  held: OpenAppointment,
  cancellation: Cancellation,
): Promise<void> {
  const { appointment, facts } = held
  if (isOver(appointment.event_status)) throw badRequest('This appointment has been cancelled or completed.')
  if (appointment.type === 'phlebotomy') facts.refundable = isRefundable(tx, appointment)
  facts.cancellation_reason_id = cancellation.reason_id ?? null
  facts.cancellation_notes = cancellation.notes ?? null
  const wasTold = hasRequisition(open) && !facts.awaits_provider
  held.step('cancelled', { ...cancellation.data, ...(facts.refundable !== null && { refundable: facts.refundable }) })
  await held.write()
  if (wasTold) tellOrder(open, 'appointment_cancelled')
}

/** It has begun. Writes appointment. Emits labtest.appointment.updated. */
export async function beginAppointment(held: OpenAppointment, data: EventData = null): Promise<void> {
  held.step('in_progress', data)
  await held.write()
}

/** It has taken place. Writes appointment. Emits labtest.appointment.updated; for a visit the order's draw too. */
export async function completeAppointment(open: OpenOrder, held: OpenAppointment, data: EventData = null): Promise<void> {
  held.step('completed', data)
  await held.write()
  if (held.appointment.type === 'phlebotomy') tellOrder(open, 'draw_completed')
}

/** Constraints of this module's tables and what violating them answers. */
export const constraints = {
  appointment__one_active: () => badRequest('Order is not in a state that allows booking an appointment.'),
}
