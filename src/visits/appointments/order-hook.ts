// Applies status transitions of an order to its appointment, in the same transaction. Source: lab-testing.md 11, 17.4.
import { orderStepped } from '../../lab/orders/order-hooks.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { cancelAppointment, completeAppointment, advanceOrder } from './appointments.ts'
import { isFinal } from './status-machine.ts'
import { findAppointment, type LockedAppointment } from './locked-appointment.ts'

/** In these statuses the sample exists, so no appointment is needed any more. */
const collectedStatuses = ['draw_completed', 'partial_results', 'completed', 'redraw_available', 'sample_error']
const requisition = ['requisition_created', 'requisition_bypassed']

const hasAppointment = ({ order: { details } }: LockedOrder): boolean =>
  details.data !== null && 'appointment_id' in details.data && details.data.appointment_id !== null

const heard = new Set([...requisition, ...collectedStatuses, 'cancelled'])

// Most orders have no appointment; this check costs them no query.
export const orderHook = defineHook(orderStepped, (tx, lockedOrder, low) => {
  if (heard.has(low) && hasAppointment(lockedOrder)) return onStatus(tx, lockedOrder, low)
})

async function onStatus(tx: Tx, lockedOrder: LockedOrder, low: string): Promise<void> {
  const lockedAppointment = await findAppointment(tx, lockedOrder)
  if (!lockedAppointment || isFinal(lockedAppointment.appointment.event_status)) return
  if (requisition.includes(low)) return onRequisitionReady(lockedOrder, lockedAppointment)
  if (low === 'cancelled') return onOrderCancelled(tx, lockedOrder, lockedAppointment)
  return onSampleCollected(tx, lockedOrder, lockedAppointment)
}

async function onRequisitionReady(lockedOrder: LockedOrder, lockedAppointment: LockedAppointment): Promise<void> {
  if (lockedAppointment.internalData.awaits_provider) return
  if (lockedAppointment.appointment.event_status === 'pending') return advanceOrder(lockedOrder, 'appointment_pending')
  lockedAppointment.transitionTo('scheduled')
  await lockedAppointment.save()
  advanceOrder(lockedOrder, 'appointment_pending', 'appointment_scheduled')
}

/** A PSC appointment stays: the patient may go there for something else. */
async function onOrderCancelled(tx: Tx, lockedOrder: LockedOrder, lockedAppointment: LockedAppointment): Promise<void> {
  if (lockedAppointment.appointment.type === 'phlebotomy')
    await cancelAppointment(tx, lockedOrder, lockedAppointment, { data: { origin: 'system', reason: 'order_cancelled' } })
}

async function onSampleCollected(tx: Tx, lockedOrder: LockedOrder, lockedAppointment: LockedAppointment): Promise<void> {
  if (lockedAppointment.canTransitionTo('completed')) return completeAppointment(lockedOrder, lockedAppointment)
  return cancelAppointment(tx, lockedOrder, lockedAppointment, { data: { origin: 'system', reason: 'sample_taken' } })
}
