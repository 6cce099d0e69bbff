// The first steps of manual fulfillment: accepting an order, assigning its kit, or reporting that it cannot be fulfilled. Source:
// lab-testing.md 6.2, 6.3, 6.6, 10, 21.
import { specimenNumber } from '../links/links.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { isFailing } from '../orders/order-problems.ts'
import { activationTime, scheduleDispatch } from '../orders/send-to-lab.ts'
import { utcDate, iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { isRegistered, kitOf, getShipment } from '../testkits/shipments.ts'
import type { AcceptOrder, WorkDone } from './schema.ts'
import { transitionError, transitionUnlessAt, runKitStep, runStep } from './work-step.ts'

/**
 * Accepts an order: assigns its sample id and records its requisition. Writes lab_order. Emits labtest.order.updated.
 * Accepting again, without a sample id or with the same one, changes only `has_abn`, without an event.
 * Errors: 400 not `ordered`, a kit without a patient, or scheduled for a later day; 404 unknown order; 422 the sample id belongs to another
 * order at the laboratory.
 */
export const acceptOrder = (tx: Tx, order_id: string, { sample_id, has_abn }: AcceptOrder): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    const { order } = lockedOrder
    const before = order.has_abn
    order.has_abn = has_abn ?? before
    if (lockedOrder.lowLevelStatus === 'requisition_created' && (sample_id ?? order.sample_id) === order.sample_id)
      return order.has_abn !== before
    // The requisition of a registered kit is created at registration; the lifecycle alone would allow this transition.
    if (lockedOrder.lowLevelStatus !== 'ordered') throw transitionError(lockedOrder, 'requisition_created')
    if (order.activate_by !== null && order.activate_by > utcDate(tx.now))
      throw badRequest(`The order is scheduled for ${order.activate_by}`)
    order.sample_id = sample_id ?? order.sample_id ?? specimenNumber('DBM', order.id)
    if (order.details.type === 'testkit') getShipment(tx, lockedOrder)
    return transitionUnlessAt(lockedOrder, 'requisition_created')
  })

/**
 * Assigns a kit to an order whose patient will register it; another kit can be assigned until the kit is shipped. Over a link whose kits
 * staff send, also to an order of a known patient, which then goes to the laboratory; another kit only after the laboratory refused it.
 * Writes lab_order. Queues orders.dispatch for the latter. Emits no event, because the status does not change.
 * Errors: 400 another kind of order, or already registered or shipped; 404 unknown order; 422 the barcode belongs to another order.
 */
export const assignKit = (tx: Tx, order_id: string, sample_id: string): Promise<WorkDone> =>
  runKitStep(tx, order_id, async (lockedOrder, link) => {
    const { order, lowLevelStatus } = lockedOrder
    if (order.sample_id === sample_id) return false
    const isUnsent = lowLevelStatus === 'ordered' && (order.sample_id === null || isFailing(lockedOrder))
    const isAssignable = isUnsent
      ? link?.sends_kits === true
      : lowLevelStatus === 'awaiting_registration' && !isRegistered(lockedOrder)
    if (!isAssignable) throw badRequest(`A kit cannot be assigned to an order in status ${lowLevelStatus}`)
    order.sample_id = sample_id
    kitOf(lockedOrder).updated_at = iso(tx.now)
    if (isUnsent) await scheduleDispatch(tx, order, activationTime(tx, order.activate_by))
    return true
  })

const REJECTED_STATUS = 'fulfillment_error'
const isAwaitingAcceptance = (lockedOrder: LockedOrder): boolean =>
  ['ordered', 'awaiting_registration'].includes(lockedOrder.lowLevelStatus)

/**
 * Reports that an order cannot be fulfilled: it keeps its status, with that detail. Emits labtest.order.updated.
 * Errors: 400 already accepted; 404 unknown order.
 */
export const rejectOrder = (tx: Tx, order_id: string): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    if (!isAwaitingAcceptance(lockedOrder)) throw transitionError(lockedOrder, REJECTED_STATUS)
    if (lockedOrder.order.last_event.status_detail === REJECTED_STATUS) return false
    lockedOrder.setStatusDetail(REJECTED_STATUS)
    return true
  })

/**
 * Resolves the problem of an order: a rejected order returns to the queue, and a sample whose processing was blocked is at the laboratory
 * again. Emits labtest.order.updated. An order without a problem is not changed.
 * Errors: 400 an order that is neither in the queue nor at the laboratory; 404 unknown order.
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

/** Replaces the notes of an order. Writes lab_order. Emits no event. Errors: 404 unknown order. */
export const writeNotes = (tx: Tx, order_id: string, notes: string | null): Promise<WorkDone> =>
  runStep(tx, order_id, ({ order }) => {
    const text = notes?.trim() || null
    if (order.notes === text) return false
    order.notes = text
    return true
  })
