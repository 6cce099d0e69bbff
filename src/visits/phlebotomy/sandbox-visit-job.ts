// Plays the visits of a sandbox. The job checks whether the visit was rescheduled, cancelled or started in the meantime.
import { startAppointment, completeAppointment } from '../appointments/appointments.ts'
import { isFinal } from '../appointments/status-machine.ts'
import { findAppointment } from '../appointments/locked-appointment.ts'
import { findAndLockOrder, saveOrder } from '../../lab/orders/change-order.ts'
import { enqueue, defineHandler } from '../../platform/queue/outbox.ts'
import { simulateVisit } from './links/sandbox-visit.ts'

const PLAYED = { origin: 'provider' }

/**
 * Starts a visit when its time begins, and records the draw when its time ends, unless that happened before. Writes appointment, lab_order.
 * Emits labtest.appointment.updated, labtest.order.updated. Queues phlebotomy.simulate_visit for the end.
 */
export const simulateVisitHandler = defineHandler(simulateVisit, (context, { order_id, appointment_id }) =>
  context.tx(async (tx) => {
    const open = await findAndLockOrder(tx, order_id)
    const held = open && (await findAppointment(tx, open))
    if (held?.appointment.id !== appointment_id) return
    const { event_status, start_at, end_at } = held.appointment
    if (isFinal(event_status) || start_at === null || new Date(start_at) > tx.now) return
    if (event_status === 'scheduled') await startAppointment(held, PLAYED)
    const end = new Date(end_at ?? start_at)
    if (end > tx.now) enqueue(tx, simulateVisit, { order_id, appointment_id }, end)
    else if (held.canTransitionTo('completed')) await completeAppointment(open!, held, PLAYED)
    await saveOrder(tx, open!)
  }),
)
