// Parcels of kits: tracking numbers and carrier scans. Source: lab-testing.md 9.2, 9.3, 21.
//
// Invariant: a repeated or late scan never moves an order back; only a parcel with a delivery problem starts its transit again.
import { addSeconds } from '../../platform/runtime/clock.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import { collectionZone } from '../orders/collection-zone.ts'
import { lifecycleOf } from '../orders/lifecycle.ts'
import { shortestPath } from '../orders/status-machine.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { moveKit, getShipment, updateTracking } from '../testkits/shipments.ts'
import type { RecordScan, RecordTracking, WorkDone } from './schema.ts'
import { transitionError, runKitStep } from './work-step.ts'

type Direction = RecordScan['direction']

/** The status that each carrier scan leads to. */
const statusByEvent: Record<Direction, Record<RecordScan['event'], string>> = {
  outbound: {
    picked_up: 'transit_customer',
    in_transit: 'transit_customer',
    out_for_delivery: 'out_for_delivery',
    delivered: 'with_customer',
    exception: 'problem_in_transit_customer',
    returned: 'failure_to_deliver_to_customer',
    lost: 'lost',
  },
  inbound: {
    picked_up: 'transit_lab',
    in_transit: 'transit_lab',
    out_for_delivery: 'transit_lab',
    delivered: 'delivered_to_lab',
    exception: 'problem_in_transit_lab',
    returned: 'failure_to_deliver_to_lab',
    lost: 'lost',
  },
}

/** The stages of a kit's transit, in order. Statuses that are not listed are before the first stage or after the last. */
const shippingStages = ['transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab', 'delivered_to_lab']
const STAGE_WITH_CUSTOMER = shippingStages.indexOf('with_customer')
const STAGE_AT_LAB = shippingStages.indexOf('delivered_to_lab')
const BEFORE_SHIPPING = -1
/** A parcel with a delivery problem counts as being at the first stage. */
const exceptionStages: Record<string, number> = {
  problem_in_transit_customer: BEFORE_SHIPPING,
  problem_in_transit_lab: STAGE_WITH_CUSTOMER,
}
const before = new Set([
  'ordered',
  'awaiting_registration',
  'requisition_created',
  'requisition_bypassed',
  'registered',
  'testkit_registered',
])

/** The farthest stage of an order since the last delivery problem. A registration during transit does not move it back. */
function furthestStage({ order }: LockedOrder): number {
  let far = BEFORE_SHIPPING
  for (const { status } of order.events) {
    const lowLevelStatus = status.split('.').at(-1)!
    if (lowLevelStatus in exceptionStages) far = exceptionStages[lowLevelStatus]!
    else if (!before.has(lowLevelStatus))
      far = Math.max(far, shippingStages.includes(lowLevelStatus) ? shippingStages.indexOf(lowLevelStatus) : STAGE_AT_LAB)
  }
  return far
}

/** Whether a scan is repeated or late: the kit has reached or passed that stage. */
function isStale(lockedOrder: LockedOrder, way: Direction, targetStatus: string): boolean {
  if (lockedOrder.lowLevelStatus === targetStatus) return true
  const far = furthestStage(lockedOrder)
  if (shippingStages.includes(targetStatus)) return shippingStages.indexOf(targetStatus) <= far
  return far >= (way === 'outbound' ? STAGE_WITH_CUSTOMER : STAGE_AT_LAB)
}

/** The transitions up to the scanned stage, including missed scans; undefined if one of them is not a carrier status. */
function stepsTo(lockedOrder: LockedOrder, targetStatus: string): string[] | undefined {
  const cycle = lifecycleOf(lockedOrder.lifecycle)
  const shippedStages = Object.entries(cycle.steps).filter(
    ([lowLevelStatus]) =>
      lowLevelStatus === lockedOrder.lowLevelStatus ||
      shippingStages.includes(lowLevelStatus) ||
      lowLevelStatus in exceptionStages,
  )
  return shortestPath({ ...cycle, steps: Object.fromEntries(shippedStages) }, lockedOrder.lowLevelStatus, targetStatus)
}

/**
 * Records a carrier scan of a kit. Adds the transitions of missed scans; repeated and late scans change nothing.
 * Writes lab_order. Emits labtest.order.updated for each transition.
 * Errors: 400 no kit, order not accepted or kit not assigned, no tracking number, or a kit in transit to the laboratory without a patient;
 * 404 unknown order.
 */
export const recordScan = (tx: Tx, order_id: string, { direction, event }: RecordScan): Promise<WorkDone> =>
  runKitStep(tx, order_id, (lockedOrder) => {
    assertShippedKit(lockedOrder)
    const to = statusByEvent[direction][event]
    if (isStale(lockedOrder, direction, to)) return false
    const steps = stepsTo(lockedOrder, to)
    if (!steps) throw transitionError(lockedOrder, to)
    if (!lockedOrder.order.sample_id) throw badRequest('No kit is assigned to this order')
    const shipment = getShipment(tx, lockedOrder)
    for (const step of steps) {
      if (step === 'transit_customer' && !shipment.outbound_tracking_number)
        throw badRequest('The outbound parcel has no tracking number')
      if (step === 'transit_lab' && !shipment.inbound_tracking_number)
        throw badRequest('The inbound parcel has no tracking number')
      moveKit(lockedOrder, step)
    }
    return true
  })

/** Maximum time until the expected delivery of a parcel. */
const EXPECTED_ON_MAX_S = 60 * 86_400

/**
 * Records the tracking number of a parcel and its expected delivery date. The inbound number may be known before the kit is sent, because
 * labels are often in the box. Writes lab_order. Emits no event, because the status does not change.
 * Errors: 400 no kit, order not accepted, the parcel has arrived, or a delivery date that is past, more than 60 days ahead, or for an
 * inbound parcel; 404 unknown order.
 */
export const recordTracking = (tx: Tx, order_id: string, tracking: RecordTracking): Promise<WorkDone> =>
  runKitStep(tx, order_id, async (lockedOrder) => {
    assertShippedKit(lockedOrder)
    const { direction, tracking_number: number, courier, tracking_url: url = null, expected_on: arrives_on } = tracking
    if (direction === 'inbound' && arrives_on !== undefined)
      throw badRequest('expected_on is only allowed for an outbound parcel')
    const currentShipment = lockedOrder.order.details.type === 'testkit' ? lockedOrder.order.details.data.shipment : null
    const isSame =
      currentShipment?.[`${direction}_tracking_number`] === number &&
      currentShipment[`${direction}_courier`] === courier &&
      currentShipment[`${direction}_tracking_url`] === url &&
      (direction === 'inbound' || lockedOrder.internalData.arrives_on === arrives_on)
    if (isSame) return false
    const far = furthestStage(lockedOrder)
    if (lockedOrder.lowLevelStatus === 'ordered' || far >= (direction === 'outbound' ? STAGE_WITH_CUSTOMER : STAGE_AT_LAB))
      throw badRequest(`The ${direction} parcel of an order in status ${lockedOrder.lowLevelStatus} cannot be tracked`)
    if (!lockedOrder.order.sample_id) throw badRequest('No kit is assigned to this order')
    if (arrives_on !== undefined && !(await isSoon(tx, lockedOrder, arrives_on)))
      throw badRequest('expected_on must be between today and 60 days from now')
    updateTracking(tx, lockedOrder, direction, { number, courier, url, arrives_on })
    return true
  })

/** Whether a day is from today on and within the limit, by the calendar of the patient. */
async function isSoon(tx: Tx, { order }: LockedOrder, day: string): Promise<boolean> {
  const zone = await collectionZone(tx, order)
  return day >= dayIn(tx.now, zone) && day <= dayIn(addSeconds(tx.now, EXPECTED_ON_MAX_S), zone)
}

function assertShippedKit(lockedOrder: LockedOrder): void {
  if (lockedOrder.order.details.type !== 'testkit') throw badRequest('The order does not include a shipped kit')
}
