// The parcels of a kit: to the patient and back to the lab. Stored in the details of its order; the expected delivery date, for which the
// details have no field, is stored in the internal data. Source: lab-testing.md 8, 21.
import type { LockedOrder } from '../orders/locked-order.ts'
import { Shipment, type TestkitDetails } from '../orders/schema.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { withNulls } from '../../platform/schema/schema.ts'

export interface Tracking {
  number: string
  url: string | null
  courier: string
  /** `YYYY-MM-DD`, for a parcel to the patient. If omitted, the expected delivery date is unknown from then on. */
  arrives_on?: string | undefined
}

/** The kit of an order. Throws for another kind of order, which is an error of the caller. */
export function kitOf({ order: { id, details } }: LockedOrder): TestkitDetails['data'] {
  if (details.type !== 'testkit') throw new Error(`order ${id} is not a test kit order`)
  return details.data
}

/** The shipment of an order's kit; creates one without tracking if there is none. */
export function getShipment(tx: Tx, lockedOrder: LockedOrder): Shipment {
  const data = kitOf(lockedOrder)
  const now = iso(tx.now)
  data.shipment ??= withNulls(Shipment, { id: tx.uuid(), created_at: now, updated_at: now })
  return data.shipment
}

/** Records the tracking number of a parcel. */
export function updateTracking(tx: Tx, lockedOrder: LockedOrder, direction: 'outbound' | 'inbound', tracking: Tracking): void {
  const shipment = getShipment(tx, lockedOrder)
  const now = iso(tx.now)
  shipment[`${direction}_tracking_number`] = tracking.number
  shipment[`${direction}_tracking_url`] = tracking.url
  shipment[`${direction}_courier`] = tracking.courier
  if (direction === 'outbound') {
    if (tracking.arrives_on === undefined) delete lockedOrder.internalData.arrives_on
    else lockedOrder.internalData.arrives_on = tracking.arrives_on
  }
  shipment.updated_at = now
  kitOf(lockedOrder).updated_at = now
}

/** Whether the kit has a patient. */
export const isRegistered = (lockedOrder: LockedOrder): boolean => lockedOrder.order.patient_details !== null

const STATUSES_REQUIRING_PATIENT = new Set(['transit_lab', 'delivered_to_lab'])

/**
 * Changes a kit's status. A delivery problem clears the expected delivery date. Emits labtest.order.updated.
 * Errors: 400 the lifecycle has no such transition, or the kit would go to the lab before its patient is registered.
 */
export function moveKit(lockedOrder: LockedOrder, targetStatus: string): void {
  if (STATUSES_REQUIRING_PATIENT.has(targetStatus) && !isRegistered(lockedOrder))
    throw badRequest(`Transition from ${lockedOrder.lowLevelStatus} to ${targetStatus} is not allowed before registration`)
  if (targetStatus === 'problem_in_transit_customer') delete lockedOrder.internalData.arrives_on
  lockedOrder.transitionTo(targetStatus)
}
