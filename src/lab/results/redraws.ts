// Redraws: when a laboratory has failed to measure what was ordered, the patient is drawn once more for that alone. Decides when, and has
// the new order placed; its cancelling and its life are those of any order. Source: lab-testing.md 12.
import { testOfMarkers } from '../catalog/order-sets.ts'
import type { LockedOrder } from '../orders/open-order.ts'
import { placeFollowUpOrder } from '../orders/place-order.ts'
import type { Order } from '../orders/schema.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { hasOption } from '../../platform/http/feature-flags.ts'
import { cachedUser } from '../../people/users/users.ts'
import { options } from '../../tenancy/teams/features.ts'
import type { ExpectedResult } from './expected-results.ts'
import type { ResultDocument } from './schema.ts'

/** Laboratories that draw again. */
const REDRAW_LABS = new Set(['labcorp', 'quest', 'bioreference'])

/** Whether an order of the team is drawn again, should its final result be incomplete: once in a transaction, after the first order. */
export const isRedrawable = (tenant: Tenant, order: Order): boolean =>
  order.details.type === 'walk_in_test' &&
  order.origin === 'initial' &&
  REDRAW_LABS.has(order.lab_test.lab?.slug ?? '') &&
  hasOption(tenant, options.redraws) &&
  order.order_transaction.orders.every(({ origin }) => origin !== 'redraw')

/**
 * The markers of an order to be drawn again after this final result: those of what is missing, but where that harms no patient. None when
 * the order is not one that is drawn again, or its user has been deleted.
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
  const wanted = [...new Set(markers)].filter((id) => ordered.has(id))
  return wanted.length && (await cachedUser(tx, order.user_id)) ? wanted : []
}

/**
 * Place the order that draws these markers again. The caller has taken the first order to `redraw_available`, and writes it afterwards.
 * Writes lab_order, lab_test where there is none of these markers yet. Queues orders.dispatch. Emits labtest.order.created.
 */
export async function placeRedraw(tx: Tx, open: LockedOrder, marker_ids: number[]): Promise<void> {
  const { lab, sample_type, fasting, method } = open.order.lab_test
  const lab_test = await testOfMarkers(tx, { lab_id: lab!.id, marker_ids, method, fasting, sample_type })
  await placeFollowUpOrder(tx, open, { origin: 'redraw', lab_test })
}
