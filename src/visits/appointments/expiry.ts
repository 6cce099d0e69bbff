// Appointments whose requisition does not come are cancelled: eight hours after the order, unless that was scheduled for a date, and two
// hours before their start. A job is due at each of the two instants, in the team's time; what has changed until then it finds out itself.
// Source: lab-testing.md 17.5.
import type { LockedOrder } from '../../lab/orders/open-order.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import type { Appointment } from './schema.ts'

const EXPIRE_AFTER_ORDER_S = 8 * 3600
const EXPIRE_BEFORE_START_S = 2 * 3600

export const expireAppointment = defineJob('appointments.expire', T.Object({ order_id: T.String(), appointment_id: T.String() }))

/** The first seconds in which it is too late, as the appointment stands. */
export function expiryTimes(open: LockedOrder, { start_at }: Appointment): Date[] {
  const limits = open.internalData.scheduled ? [] : [addSeconds(new Date(open.order.created_at), EXPIRE_AFTER_ORDER_S + 1)]
  if (start_at !== null) limits.push(addSeconds(new Date(start_at), 1 - EXPIRE_BEFORE_START_S))
  return limits
}

/** See to it that an appointment without a requisition ends in time. Queues appointments.expire. */
export function scheduleExpiry(tx: Tx, open: LockedOrder, appointment: Appointment): void {
  for (const at of expiryTimes(open, appointment))
    enqueue(tx, expireAppointment, { order_id: open.order.id, appointment_id: appointment.id }, at > tx.now ? at : tx.now)
}
