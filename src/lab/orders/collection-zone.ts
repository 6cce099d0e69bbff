// The time zone in which an order's days and times are meant: documents, messages and ages use it. What is known of places belongs to
// modules above this one.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import type { Order } from './schema.ts'

/** An order, or one that is being made: without an id it has no appointment. A kit without a patient has only an address of shipping. */
export type ZonedOrder = Pick<Order, 'user_id' | 'patient_address'> & {
  id: string | null
  shipping_details?: Order['shipping_details']
}

/** Asks higher modules for the zone of an order; the first that knows it sets `zone`. */
export const collectionZoneAsked = hookPoint<[order: ZonedOrder, answer: { zone: string | null }]>('orders.collection_zone')

/** Where nothing is known of the place. */
export const UNKNOWN_ZONE = 'Etc/UTC'

/** The IANA zone of the place of collection, else of the patient, else UTC (src/visits/appointments/collection-zone.ts). Only reads. */
export async function collectionZone(tx: Tx, order: ZonedOrder): Promise<string> {
  const answer: { zone: string | null } = { zone: null }
  await tx.notify(collectionZoneAsked, order, answer)
  return answer.zone ?? UNKNOWN_ZONE
}

/** The day of the transaction at the place of an order, `YYYY-MM-DD`. */
export const todayAt = async (tx: Tx, order: ZonedOrder): Promise<string> => dayIn(tx.now, await collectionZone(tx, order))
