// The parcel of a kit: out to the patient, back to the lab. Lives in the details of its order, and beside them the day on which the
// patient can expect it, which the details have no field for. Source: lab-testing.md 8, 21.
import type { LockedOrder } from '../orders/open-order.ts'
import type { Shipment, TestkitDetails } from '../orders/schema.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'

export interface Tracking {
  number: string
  url: string | null
  courier: string
  /** `YYYY-MM-DD`, of a parcel to the patient. Without it none is known any more. */
  arrives_on?: string | undefined
}

/** The kit of an order. An order of another kind has none, and who asks is wrong. */
export function kitOf({ order: { id, details } }: LockedOrder): TestkitDetails['data'] {
  if (details.type !== 'testkit') throw new Error(`order ${id} is not a test kit order`)
  return details.data
}

/** The shipment of an order's kit; made, still without tracking, when there is none. */
export function shipmentOf(tx: Tx, open: LockedOrder): Shipment {
  const data = kitOf(open)
  const now = iso(tx.now)
  data.shipment ??= {
    id: tx.uuid(),
    outbound_tracking_number: null,
    outbound_tracking_url: null,
    outbound_courier: null,
    inbound_tracking_number: null,
    inbound_tracking_url: null,
    inbound_courier: null,
    notes: null,
    created_at: now,
    updated_at: now,
  }
  return data.shipment
}

/** Record under which number a parcel travels. */
export function updateTracking(tx: Tx, open: LockedOrder, direction: 'outbound' | 'inbound', tracking: Tracking): void {
  const shipment = shipmentOf(tx, open)
  const now = iso(tx.now)
  shipment[`${direction}_tracking_number`] = tracking.number
  shipment[`${direction}_tracking_url`] = tracking.url
  shipment[`${direction}_courier`] = tracking.courier
  if (direction === 'outbound') {
    if (tracking.arrives_on === undefined) delete open.internalData.arrives_on
    else open.internalData.arrives_on = tracking.arrives_on
  }
  shipment.updated_at = now
  kitOf(open).updated_at = now
}

/** Whether the patient of the kit is known. */
export const isRegistered = (open: LockedOrder): boolean => open.order.patient_details !== null

const STATUSES_REQUIRING_PATIENT = new Set(['transit_lab', 'delivered_to_lab'])

/**
 * Take a kit one step along its way. When its parcel is in trouble nobody knows any more when it arrives. Emits labtest.order.updated.
 * 400: the lifecycle has no such step, or the kit would go to the lab before its patient is registered.
 */
export function moveKit(open: LockedOrder, to: string, status_detail: string | null = null): void {
  if (STATUSES_REQUIRING_PATIENT.has(to) && !isRegistered(open))
    throw badRequest(`Transition from ${open.lowLevelStatus} to ${to} is not allowed before registration`)
  if (to === 'problem_in_transit_customer') delete open.internalData.arrives_on
  open.transitionTo(to, status_detail)
}
