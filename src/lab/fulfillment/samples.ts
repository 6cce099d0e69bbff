// Samples: drawn, rejected, blocked, not processed, or lost. Source: lab-testing.md 9.4 to 9.6, 10.
import type { LockedOrder } from '../orders/locked-order.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField } from '../../platform/http/errors.ts'
import type { WorkDone } from './schema.ts'
import { transitionError, transitionUnlessAt, runKitStep, runStep } from './work-step.ts'

/** Statuses in which a patient can walk in. */
const WALK_IN_STATUSES = new Set([
  'requisition_created',
  'requisition_bypassed',
  'appointment_pending',
  'appointment_scheduled',
  'appointment_cancelled',
])

/** When the sample of an order was taken, if it was recorded. */
export const collectedAt = (lockedOrder: LockedOrder): string | null =>
  (lockedOrder.internalData.collected_at as string | undefined) ?? null

/**
 * Records a blood draw: at home, on site, or walk-in. A walk-in order has no status for it: it keeps its status and awaits the report from
 * then on. Writes lab_order. Emits labtest.order.updated, except for walk-in orders. Recording it again changes nothing.
 * Errors: 400 a kit, or the status does not allow a draw; 404 unknown order; 422 a time in the future or before the order.
 */
export const recordDraw = (tx: Tx, order_id: string, collected_at: string | undefined): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    const { order } = lockedOrder
    if (order.details.type === 'testkit') throw transitionError(lockedOrder, 'draw_completed')
    const isWalkIn = order.details.type === 'walk_in_test'
    if (lockedOrder.lowLevelStatus === 'draw_completed' || (isWalkIn && collectedAt(lockedOrder) !== null)) return false
    if (isWalkIn ? !WALK_IN_STATUSES.has(lockedOrder.lowLevelStatus) : !lockedOrder.canTransitionTo('draw_completed'))
      throw transitionError(lockedOrder, 'draw_completed')
    const at = collected_at ? new Date(collected_at) : tx.now
    if (at > tx.now) throw invalidField(['body', 'collected_at'], 'must not be in the future')
    if (iso(at) < order.created_at) throw invalidField(['body', 'collected_at'], 'must not be before the order was placed')
    lockedOrder.internalData.collected_at = iso(at)
    lockedOrder.setCollectedAt(at)
    if (!isWalkIn) lockedOrder.transitionTo('draw_completed')
    return true
  })

/**
 * Records the status of an appointment that was arranged outside the API. Emits labtest.order.updated.
 * Errors: 400 the order has no appointments, the appointment was booked through the API, or the lifecycle has no such transition; 404
 * unknown order.
 */
export const recordVisit = (tx: Tx, order_id: string, status: string): Promise<WorkDone> =>
  runStep(tx, order_id, (lockedOrder) => {
    const { details } = lockedOrder.order
    if (details.type !== 'walk_in_test' && details.type !== 'at_home_phlebotomy') throw transitionError(lockedOrder, status)
    if (details.data.appointment_id !== null) throw badRequest('The visit of this order is managed by its appointment')
    return transitionUnlessAt(lockedOrder, status)
  })

/**
 * Changes an order to a status in which its sample is unusable or blocked, for a reason of section 10. Emits labtest.order.updated.
 * Repeating the same status changes nothing. Errors: 400 the lifecycle has no such transition; 404 unknown order.
 */
export const setSampleStatus = (
  tx: Tx,
  order_id: string,
  status: 'sample_error' | 'lab_processing_blocked' | 'do_not_process',
  status_detail: string | null = null,
): Promise<WorkDone> => runStep(tx, order_id, (lockedOrder) => transitionUnlessAt(lockedOrder, status, status_detail))

/** Reports that a kit is lost. Emits labtest.order.updated. Repeating it changes nothing. Errors: as `setSampleStatus`. */
export const reportLostKit = (tx: Tx, order_id: string): Promise<WorkDone> =>
  runKitStep(tx, order_id, (lockedOrder) => transitionUnlessAt(lockedOrder, 'lost'))
