// What an order's steps mean to its appointment, in the transaction that takes them. Source: lab-testing.md 11, 17.4.
import { orderStepped } from '../../lab/orders/order-hooks.ts'
import { on } from '../../platform/db/hooks.ts'
import type { OpenOrder } from '../../lab/orders/open-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { cancelAppointment, completeAppointment, tellOrder } from './appointments.ts'
import { isOver } from './status-machine.ts'
import { findAppointment, type OpenAppointment } from './open-appointment.ts'

/** The sample is there: however that came about, nobody has to come any more. */
const taken = ['draw_completed', 'partial_results', 'completed', 'redraw_available', 'sample_error']
const requisition = ['requisition_created', 'requisition_bypassed']

const isNamed = ({ order: { details } }: OpenOrder): boolean =>
  details.data !== null && 'appointment_id' in details.data && details.data.appointment_id !== null

const heard = new Set([...requisition, ...taken, 'cancelled'])

// Most orders have no appointment, and are not to pay for that.
export const orderHook = on(orderStepped, (tx, open, low) => {
  if (heard.has(low) && isNamed(open)) return stepped(tx, open, low)
})

async function stepped(tx: Tx, open: OpenOrder, low: string): Promise<void> {
  const held = await findAppointment(tx, open)
  if (!held || isOver(held.appointment.event_status)) return
  if (requisition.includes(low)) return requisitionCame(open, held)
  if (low === 'cancelled') return orderCancelled(tx, open, held)
  return sampleTaken(tx, open, held)
}

async function requisitionCame(open: OpenOrder, held: OpenAppointment): Promise<void> {
  if (held.facts.awaits_provider) return
  if (held.appointment.event_status === 'pending') return tellOrder(open, 'appointment_pending')
  held.step('scheduled')
  await held.write()
  tellOrder(open, 'appointment_pending', 'appointment_scheduled')
}

/** A place at a service center stays the patient's, who may go there for something else. */
async function orderCancelled(tx: Tx, open: OpenOrder, held: OpenAppointment): Promise<void> {
  if (held.appointment.type === 'phlebotomy')
    await cancelAppointment(tx, open, held, { data: { origin: 'system', reason: 'order_cancelled' } })
}

async function sampleTaken(tx: Tx, open: OpenOrder, held: OpenAppointment): Promise<void> {
  if (held.may('completed')) return completeAppointment(open, held)
  return cancelAppointment(tx, open, held, { data: { origin: 'system', reason: 'sample_taken' } })
}
