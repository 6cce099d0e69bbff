// The beginning: taking an order on, finding its kit, or saying that it cannot be done. Source: lab-testing.md 6.2, 6.3, 6.6, 10, 21.
import { specimenNumber } from '../links/specimen-numbers.ts'
import type { LockedOrder } from '../orders/open-order.ts'
import { utcDate, iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { isRegistered, kitOf, shipmentOf } from '../testkits/shipments.ts'
import type { AcceptOrder, WorkDone } from './schema.ts'
import { transitionError, transitionUnlessAt, runStep } from './work-step.ts'

/**
 * Take an order on: it gets its number at the laboratory and its requisition is out. Writes lab_order. Emits labtest.order.updated.
 * Accepting again, without a number or with the same one, changes nothing, but whether there is a notice: that without an event.
 * 400: not `ordered`; a kit whose patient is not known; scheduled for a later day. 404: no such order.
 * 422: the number is that of another order at the laboratory.
 */
export const acceptOrder = (tx: Tx, order_id: string, { sample_id, has_abn }: AcceptOrder): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    const { order } = lockedOrder
    const before = order.has_abn
    order.has_abn = has_abn ?? before
    if (lockedOrder.lowLevelStatus === 'requisition_created' && (sample_id ?? order.sample_id) === order.sample_id)
      return order.has_abn !== before
    // Its requisition comes with the registration; the lifecycle alone would let it pass.
    if (lockedOrder.lowLevelStatus !== 'ordered') throw transitionError(lockedOrder, 'requisition_created')
    if (order.activate_by !== null && order.activate_by > utcDate(tx.now))
      throw badRequest(`The order is scheduled for ${order.activate_by}`)
    order.sample_id = sample_id ?? order.sample_id ?? specimenNumber('DBM', order.id)
    if (order.details.type === 'testkit') shipmentOf(tx, lockedOrder)
    return transitionUnlessAt(lockedOrder, 'requisition_created')
  })

/**
 * Say which kit is sent for an order whose patient will register it. Until it is shipped another one can be picked instead.
 * Writes lab_order. No event: to its patient nothing happened yet.
 * 400: another kind of order, or one that has been registered or sent. 404: no such order. 422: the barcode is that of another order.
 */
export const assignKit = (tx: Tx, order_id: string, sample_id: string): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    if (lockedOrder.order.sample_id === sample_id) return false
    if (lockedOrder.lowLevelStatus !== 'awaiting_registration' || isRegistered(lockedOrder))
      throw badRequest(`A kit cannot be assigned to an order in status ${lockedOrder.lowLevelStatus}`)
    lockedOrder.order.sample_id = sample_id
    kitOf(lockedOrder).updated_at = iso(tx.now)
    return true
  })

const REJECTED_STATUS = 'fulfillment_error'
const isAwaitingAcceptance = (lockedOrder: LockedOrder): boolean =>
  ['ordered', 'awaiting_registration'].includes(lockedOrder.lowLevelStatus)

/**
 * Report that an order cannot be fulfilled: it stays where it is, with that detail. Emits labtest.order.updated.
 * 400: it was taken on already. 404: no such order.
 */
export const rejectOrder = (tx: Tx, order_id: string): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    if (!isAwaitingAcceptance(lockedOrder)) throw transitionError(lockedOrder, REJECTED_STATUS)
    if (lockedOrder.order.last_event.status_detail === REJECTED_STATUS) return false
    lockedOrder.setStatusDetail(REJECTED_STATUS)
    return true
  })

/**
 * What stood in the way is out of it: a refused order waits as before, a sample whose processing was blocked is with the laboratory
 * again. Emits labtest.order.updated. An order that nothing stands in the way of stays as it is.
 * 400: an order that is neither waiting nor with the laboratory. 404: no such order.
 */
export const resolveProblem = (tx: Tx, order_id: string): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    if (lockedOrder.lowLevelStatus === 'lab_processing_blocked') return transitionUnlessAt(lockedOrder, 'delivered_to_lab')
    if (lockedOrder.lowLevelStatus === 'delivered_to_lab') return false
    if (!isAwaitingAcceptance(lockedOrder))
      throw badRequest(`An order in status ${lockedOrder.lowLevelStatus} has no problem to resolve`)
    if (lockedOrder.order.last_event.status_detail === null) return false
    lockedOrder.setStatusDetail(null)
    return true
  })

/** Replace the notes of an order. Writes lab_order. No event. 404: no such order. */
export const writeNotes = (tx: Tx, order_id: string, notes: string | null): Promise<WorkDone> =>
  runStep(tx, order_id, ({ order }) => {
    const text = notes?.trim() || null
    if (order.notes === text) return false
    order.notes = text
    return true
  })
