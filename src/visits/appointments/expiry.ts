// Appointments whose requisition does not come are cancelled: eight hours after the order, unless that was scheduled for a date, and two
// hours before their start. A job is due at each of the two instants, in the team's time; what has changed until then it finds out itself.
// Source: lab-testing.md 17.5.
import type { OpenOrder } from '../../lab/orders/open-order.ts'
import { plusSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, job } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import type { Appointment } from './schema.ts'

const AFTER_ORDER_S = 8 * 3600
const BEFORE_START_S = 2 * 3600

export const expireAppointment = job('appointments.expire', T.Object({ order_id: T.String(), appointment_id: T.String() }))

/** The first seconds in which it is too late, as the appointment stands. */
export function instants(open: OpenOrder, { start_at }: Appointment): Date[] {
  const limits = open.intake.scheduled ? [] : [plusSeconds(new Date(open.order.created_at), AFTER_ORDER_S + 1)]
  if (start_at !== null) limits.push(plusSeconds(new Date(start_at), 1 - BEFORE_START_S))
  return limits
}

/** See to it that an appointment without a requisition ends in time. Queues appointments.expire. */
export function expireInTime(tx: Tx, open: OpenOrder, appointment: Appointment): void {
  for (const at of instants(open, appointment))
    enqueue(tx, expireAppointment, { order_id: open.order.id, appointment_id: appointment.id }, at > tx.now ? at : tx.now)
}
