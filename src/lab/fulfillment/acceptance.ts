// The beginning: taking an order on, finding its kit, or saying that it cannot be done. Source: lab-testing.md 6.2, 6.3, 6.6, 10, 21.
import { numberOf } from '../links/specimen-numbers.ts'
import type { OpenOrder } from '../orders/open-order.ts'
import { day, iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { isRegistered, kitOf, shipmentOf } from '../testkits/shipments.ts'
import type { AcceptOrder, WorkDone } from './schema.ts'
import { cannot, goTo, work } from './work-step.ts'

/**
 * Take an order on: it gets its number at the laboratory and its requisition is out. Writes lab_order. Emits labtest.order.updated.
 * Accepting again, without a number or with the same one, changes nothing, but whether there is a notice: that without an event.
 * 400: not `ordered`; a kit whose patient is not known; scheduled for a later day. 404: no such order.
 * 422: the number is that of another order at the laboratory.
 */
export const acceptOrder = (tx: Tx, order_id: string, { sample_id, has_abn }: AcceptOrder): Promise<WorkDone> =>
  work(tx, order_id, (open) => {
    const { order } = open
    const before = order.has_abn
    order.has_abn = has_abn ?? before
    if (open.lowStatus === 'requisition_created' && (sample_id ?? order.sample_id) === order.sample_id)
      return order.has_abn !== before
    // Its requisition comes with the registration; the lifecycle alone would let it pass.
    if (open.lowStatus !== 'ordered') throw cannot(open, 'requisition_created')
    if (order.activate_by !== null && order.activate_by > day(tx.now))
      throw badRequest(`The order is scheduled for ${order.activate_by}`)
    order.sample_id = sample_id ?? order.sample_id ?? numberOf('DBM', order.id)
    if (order.details.type === 'testkit') shipmentOf(tx, open)
    return goTo(open, 'requisition_created')
  })

/**
 * Say which kit is sent for an order whose patient will register it. Until it is shipped another one can be picked instead.
 * Writes lab_order. No event: to its patient nothing happened yet.
 * 400: another kind of order, or one that has been registered or sent. 404: no such order. 422: the barcode is that of another order.
 */
export const pickKit = (tx: Tx, order_id: string, sample_id: string): Promise<WorkDone> =>
  work(tx, order_id, (open) => {
    if (open.order.sample_id === sample_id) return false
    if (open.lowStatus !== 'awaiting_registration' || isRegistered(open))
      throw badRequest(`No kit can be picked for an order that is ${open.lowStatus}`)
    open.order.sample_id = sample_id
    kitOf(open).updated_at = iso(tx.now)
    return true
  })

const REFUSED = 'fulfillment_error'
const isWaiting = (open: OpenOrder): boolean => ['ordered', 'awaiting_registration'].includes(open.lowStatus)

/**
 * Say that an order cannot be fulfilled as it is: it stays where it is, with that detail. Emits labtest.order.updated.
 * 400: it was taken on already. 404: no such order.
 */
export const refuseOrder = (tx: Tx, order_id: string): Promise<WorkDone> =>
  work(tx, order_id, (open) => {
    if (!isWaiting(open)) throw cannot(open, REFUSED)
    if (open.order.last_event.status_detail === REFUSED) return false
    open.remark(REFUSED)
    return true
  })

/**
 * What stood in the way is out of it: a refused order waits as before, a sample whose processing was blocked is with the laboratory
 * again. Emits labtest.order.updated. An order that nothing stands in the way of stays as it is.
 * 400: an order that is neither waiting nor with the laboratory. 404: no such order.
 */
export const resolveProblem = (tx: Tx, order_id: string): Promise<WorkDone> =>
  work(tx, order_id, (open) => {
    if (open.lowStatus === 'lab_processing_blocked') return goTo(open, 'delivered_to_lab')
    if (open.lowStatus === 'delivered_to_lab') return false
    if (!isWaiting(open)) throw badRequest(`Nothing is to be resolved for an order that is ${open.lowStatus}`)
    if (open.order.last_event.status_detail === null) return false
    open.remark(null)
    return true
  })

/** Replace the notes that an order shows. Writes lab_order. No event. 404: no such order. */
export const writeNotes = (tx: Tx, order_id: string, notes: string | null): Promise<WorkDone> =>
  work(tx, order_id, ({ order }) => {
    const text = notes?.trim() || null
    if (order.notes === text) return false
    order.notes = text
    return true
  })
