// Expiry of appointments without a requisition: eight hours after the order, unless the order was scheduled for a date, and two hours
// before the start. A job runs at each of the two instants, in the team's time, and checks the current state.
// Source: lab-testing.md 17.5.
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import type { Appointment } from './schema.ts'

const EXPIRE_AFTER_ORDER_S = 8 * 3600
const EXPIRE_BEFORE_START_S = 2 * 3600

export const expireAppointment = defineJob('appointments.expire', T.Object({ order_id: T.String(), appointment_id: T.String() }))

/** The instants at which the appointment expires, as it is now. */
export function expiryTimes(open: LockedOrder, { start_at }: Appointment): Date[] {
  const limits = open.internalData.scheduled ? [] : [addSeconds(new Date(open.order.created_at), EXPIRE_AFTER_ORDER_S + 1)]
  if (start_at !== null) limits.push(addSeconds(new Date(start_at), 1 - EXPIRE_BEFORE_START_S))
  return limits
}

/** Schedules the expiry of an appointment without a requisition. Queues appointments.expire. */
export function scheduleExpiry(tx: Tx, open: LockedOrder, appointment: Appointment): void {
  for (const at of expiryTimes(open, appointment))
    enqueue(tx, expireAppointment, { order_id: open.order.id, appointment_id: appointment.id }, at > tx.now ? at : tx.now)
}
