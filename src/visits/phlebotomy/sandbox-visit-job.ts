// A sandbox team's visits take place automatically at their scheduled time. The job checks whether the visit was rescheduled, cancelled or
// started in the meantime. Source: lab-testing.md 17.3; the automatic visit is a choice of this project.
import { startAppointment, completeAppointment } from '../appointments/appointments.ts'
import { isFinal } from '../appointments/status-machine.ts'
import { findAppointment } from '../appointments/locked-appointment.ts'
import { findAndLockOrder, saveOrder } from '../../lab/orders/change-order.ts'
import { enqueue, defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'

const simulateVisit = defineJob('phlebotomy.simulate_visit', T.Object({ order_id: T.String(), appointment_id: T.String() }))

/** Schedules the start of a visit; a job whose time no longer matches does nothing. Queues phlebotomy.simulate_visit. */
export const playAt = (
  tx: Tx,
  { order_id, appointment_id }: { order_id: string; appointment_id: string },
  start_ms: number,
): void => enqueue(tx, simulateVisit, { order_id, appointment_id }, new Date(start_ms))

const PLAYED = { origin: 'provider' }

/**
 * Starts a visit when its time begins, and records the draw when its time ends, unless that happened before. Writes appointment, lab_order.
 * Emits labtest.appointment.updated, labtest.order.updated. Queues phlebotomy.simulate_visit for the end.
 */
export const simulateVisitHandler = defineHandler(simulateVisit, (context, { order_id, appointment_id }) =>
  context.tx(async (tx) => {
    const lockedOrder = await findAndLockOrder(tx, order_id)
    const lockedAppointment = lockedOrder && (await findAppointment(tx, lockedOrder))
    if (lockedAppointment?.appointment.id !== appointment_id) return
    const { event_status, start_at, end_at } = lockedAppointment.appointment
    if (isFinal(event_status) || start_at === null || new Date(start_at) > tx.now) return
    if (event_status === 'scheduled') await startAppointment(lockedAppointment, PLAYED)
    const end = new Date(end_at ?? start_at)
    if (end > tx.now) enqueue(tx, simulateVisit, { order_id, appointment_id }, end)
    else if (lockedAppointment.canTransitionTo('completed')) await completeAppointment(lockedOrder!, lockedAppointment, PLAYED)
    await saveOrder(tx, lockedOrder!)
  }),
)
