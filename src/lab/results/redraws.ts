// Redraws: if a laboratory fails to measure ordered markers, the patient is drawn again for these markers alone. Decides when, and places
// the new order, which has a normal lifecycle. Source: lab-testing.md 12.
import { testOfMarkers } from '../catalog/order-sets.ts'
import type { LockedOrder } from '../orders/locked-order.ts'
import { placeFollowUpOrder } from '../orders/place-order.ts'
import type { Order } from '../orders/schema.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { hasOption } from '../../platform/http/feature-flags.ts'
import { cachedUser } from '../../people/users/users.ts'
import { redraws } from './features.ts'
import type { ExpectedResult } from './expected-results.ts'
import type { ResultDocument } from './schema.ts'

/** Laboratories that offer redraws. */
const REDRAW_LABS = new Set(['labcorp', 'quest', 'bioreference'])

/** Whether an incomplete final result of this order leads to a redraw: once in a transaction, after the first order. */
export const isRedrawable = (tenant: Tenant, order: Order): boolean =>
  order.details.type === 'walk_in_test' &&
  order.origin === 'initial' &&
  REDRAW_LABS.has(order.lab_test.lab?.slug ?? '') &&
  hasOption(tenant, redraws) &&
  order.order_transaction.orders.every(({ origin }) => origin !== 'redraw')

/**
 * The markers to redraw after this final result: those with missing results, unless a redraw could harm the patient. Empty if the order is
 * not redrawable or its user is deleted.
 */
export async function markersToRedraw(
  tx: Tx,
  { order }: LockedOrder,
  document: ResultDocument,
  expected: ExpectedResult[],
): Promise<number[]> {
  if (!isRedrawable(tx.tenant, order)) return []
  const ordered = new Set(expected.flatMap(({ source_markers }) => source_markers.map(({ marker_id }) => marker_id)))
  const failed = document.missing_results.filter((item) => item.inferred_failure_type !== 'non_failure')
  const markers = failed.flatMap(({ source_markers }) => (source_markers ?? []).map(({ marker_id }) => marker_id))
  const orderedMarkers = [...new Set(markers)].filter((id) => ordered.has(id))
  return orderedMarkers.length && (await cachedUser(tx, order.user_id)) ? orderedMarkers : []
}

/**
 * Places the redraw order for these markers. The caller has changed the first order to `redraw_available`, and writes it afterwards.
 * Writes lab_order, and lab_test if no lab test has these markers yet. Queues orders.dispatch. Emits labtest.order.created.
 */
export async function placeRedraw(tx: Tx, lockedOrder: LockedOrder, marker_ids: number[]): Promise<void> {
  const { lab, sample_type, fasting, method } = lockedOrder.order.lab_test
  const lab_test = await testOfMarkers(tx, { lab_id: lab!.id, marker_ids, method, fasting, sample_type })
  await placeFollowUpOrder(tx, lockedOrder, { origin: 'redraw', lab_test })
}
