// Cancels appointments whose requisition did not arrive in time. Source: lab-testing.md 17.5.
import { findAndLockOrder, saveOrder } from '../../lab/orders/change-order.ts'
import { defineHandler } from '../../platform/queue/outbox.ts'
import { cancelAppointment, hasRequisition } from './appointments.ts'
import { expireAppointment, expiryTimes } from './expiry.ts'
import { isFinal } from './status-machine.ts'
import { findAppointment } from './locked-appointment.ts'

export const expireHandler = defineHandler(expireAppointment, (context, { order_id, appointment_id }) =>
  context.tx(async (tx) => {
    const open = await findAndLockOrder(tx, order_id)
    if (!open || hasRequisition(open)) return
    const lockedAppointment = await findAppointment(tx, open)
    if (lockedAppointment?.appointment.id !== appointment_id || isFinal(lockedAppointment.appointment.event_status)) return
    if (expiryTimes(open, lockedAppointment.appointment).every((at) => at > tx.now)) return
    await cancelAppointment(tx, open, lockedAppointment, { data: { origin: 'system', reason: 'no_requisition' } })
    await saveOrder(tx, open)
  }),
)
