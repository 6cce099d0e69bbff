// Parcels of kits: under which numbers they travel, and what the carrier says of them. Source: lab-testing.md 9.2, 9.3, 21.
//
// Invariant: what a carrier says twice, or too late, never takes an order back; only a parcel that was in trouble starts its way anew.
import { utcDate, addSeconds } from '../../platform/runtime/clock.ts'
import { lifecycleOf } from '../orders/lifecycle.ts'
import { shortestPath } from '../orders/status-machine.ts'
import type { LockedOrder } from '../orders/open-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { moveKit, shipmentOf, updateTracking } from '../testkits/shipments.ts'
import type { RecordScan, RecordTracking, WorkDone } from './schema.ts'
import { transitionError, runStep } from './work-step.ts'

type Direction = RecordScan['direction']

/** What a scan makes of an order. */
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

/** How far along its way a kit is. Statuses that are not here are before it or behind it. */
const shippingStages = ['transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab', 'delivered_to_lab']
const STAGE_WITH_CUSTOMER = shippingStages.indexOf('with_customer')
const STAGE_AT_LAB = shippingStages.indexOf('delivered_to_lab')
const BEFORE_SHIPPING = -1
/** A parcel in trouble is as far as the beginning of its way. */
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

/** The farthest place of an order since its parcel was last in trouble. A registration on the way does not put it back. */
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

/** Whether a scan tells nothing new: the kit is there already or past it. */
function isStale(open: LockedOrder, way: Direction, to: string): boolean {
  if (open.lowLevelStatus === to) return true
  const far = furthestStage(open)
  if (shippingStages.includes(to)) return shippingStages.indexOf(to) <= far
  return far >= (way === 'outbound' ? STAGE_WITH_CUSTOMER : STAGE_AT_LAB)
}

/** The steps to where a scan says the kit is, those whose scans were missed included; undefined when they are not the carrier's alone. */
function stepsTo(open: LockedOrder, to: string): string[] | undefined {
  const cycle = lifecycleOf(open.lifecycle)
  const shippedStages = Object.entries(cycle.steps).filter(
    ([lowLevelStatus]) =>
      lowLevelStatus === open.lowLevelStatus || shippingStages.includes(lowLevelStatus) || lowLevelStatus in exceptionStages,
  )
  return shortestPath({ ...cycle, steps: Object.fromEntries(shippedStages) }, open.lowLevelStatus, to)
}

/**
 * Take in what a carrier says of a kit. Scans that were missed are made up for; what is repeated or comes too late changes nothing.
 * Writes lab_order. Emits labtest.order.updated for each step.
 * 400: no kit; nobody took the order on or picked its kit; the parcel has no number; a kit on its way to the laboratory without a patient.
 * 404: no such order.
 */
export const recordScan = (tx: Tx, order_id: string, { direction, event }: RecordScan): Promise<WorkDone> =>
  runStep(tx, order_id, (open) => {
    assertShippedKit(open)
    const to = statusByEvent[direction][event]
    if (isStale(open, direction, to)) return false
    const steps = stepsTo(open, to)
    if (!steps) throw transitionError(open, to)
    if (!open.order.sample_id) throw badRequest('No kit is assigned to this order')
    const shipment = shipmentOf(tx, open)
    for (const step of steps) {
      if (step === 'transit_customer' && !shipment.outbound_tracking_number)
        throw badRequest('The outbound parcel has no tracking number')
      if (step === 'transit_lab' && !shipment.inbound_tracking_number)
        throw badRequest('The inbound parcel has no tracking number')
      moveKit(open, step)
    }
    return true
  })

/** How far ahead the arrival of a parcel may be. */
const EXPECTED_ON_MAX_S = 60 * 86_400

/**
 * Record under which number a parcel travels, and when the patient can expect it. The inbound number may be known before the kit is sent:
 * labels are often in the box. Writes lab_order. No event: nothing happened to the order.
 * 400: no kit; nobody took the order on; the parcel has arrived; a day of arrival that is past, more than 60 days ahead, or of a parcel to
 * the laboratory. 404: no such order.
 */
export const recordTracking = (tx: Tx, order_id: string, tracking: RecordTracking): Promise<WorkDone> =>
  runStep(tx, order_id, (open) => {
    assertShippedKit(open)
    const { direction, tracking_number: number, courier, tracking_url: url = null, expected_on: arrives_on } = tracking
    if (direction === 'inbound' && arrives_on !== undefined)
      throw badRequest('expected_on is only allowed for an outbound parcel')
    const shown = open.order.details.type === 'testkit' ? open.order.details.data.shipment : null
    const isSame =
      shown?.[`${direction}_tracking_number`] === number &&
      shown[`${direction}_courier`] === courier &&
      shown[`${direction}_tracking_url`] === url &&
      (direction === 'inbound' || open.internalData.arrives_on === arrives_on)
    if (isSame) return false
    const far = furthestStage(open)
    if (open.lowLevelStatus === 'ordered' || far >= (direction === 'outbound' ? STAGE_WITH_CUSTOMER : STAGE_AT_LAB))
      throw badRequest(`The ${direction} parcel of an order in status ${open.lowLevelStatus} cannot be tracked`)
    if (!open.order.sample_id) throw badRequest('No kit is assigned to this order')
    if (arrives_on !== undefined && (arrives_on < utcDate(tx.now) || arrives_on > utcDate(addSeconds(tx.now, EXPECTED_ON_MAX_S))))
      throw badRequest('expected_on must be between today and 60 days from now')
    updateTracking(tx, open, direction, { number, courier, url, arrives_on })
    return true
  })

function assertShippedKit(open: LockedOrder): void {
  if (open.order.details.type !== 'testkit') throw badRequest('The order does not include a shipped kit')
}
