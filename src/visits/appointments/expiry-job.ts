// Cancelling appointments whose requisition has not come in time. Source: lab-testing.md 17.5.
import { findOpenOrder, finish } from '../../lab/orders/change-order.ts'
import { handle } from '../../platform/queue/outbox.ts'
import { cancelAppointment, hasRequisition } from './appointments.ts'
import { expireAppointment, instants } from './expiry.ts'
import { isOver } from './status-machine.ts'
import { findAppointment } from './open-appointment.ts'

export const expireHandler = handle(expireAppointment, (context, { order_id, appointment_id }) =>
  context.tx(async (tx) => {
    const open = await findOpenOrder(tx, order_id)
    if (!open || hasRequisition(open)) return
    const held = await findAppointment(tx, open)
    if (held?.appointment.id !== appointment_id || isOver(held.appointment.event_status)) return
    if (instants(open, held.appointment).every((at) => at > tx.now)) return
    await cancelAppointment(tx, open, held, { data: { origin: 'system', reason: 'no_requisition' } })
    await finish(tx, open)
  }),
)
