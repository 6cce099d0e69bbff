// How an order shows that its laboratory has not taken it, or what the laboratory says of it.
import { closedStatuses } from '../orders/lifecycle.ts'
import type { LockedOrder } from '../orders/locked-order.ts'

const FAILURE = 'fulfillment_error'

/** Shows that the order cannot be fulfilled: it keeps its status, with that detail. Not after results, or once that is shown. */
export function showFailure(lockedOrder: LockedOrder): void {
  const { lowLevelStatus, order } = lockedOrder
  if (closedStatuses.has(lowLevelStatus) || lowLevelStatus === 'partial_results') return
  if (order.last_event.status_detail !== FAILURE) lockedOrder.setStatusDetail(FAILURE)
}

/** Ends the failure that an order shows. */
export function endFailure(lockedOrder: LockedOrder): void {
  if (lockedOrder.order.last_event.status_detail === FAILURE) lockedOrder.setStatusDetail(null)
}

const NOTES_LENGTH_MAX = 5000

/** Adds lines to the notes of an order, unless these have them. */
export function addNotes(lockedOrder: LockedOrder, text: string): void {
  const { order } = lockedOrder
  const present = order.notes?.split('\n') ?? []
  const lines = text.split('\n').filter((line) => line !== '' && !present.includes(line))
  if (lines.length === 0) return
  order.notes = [...present, ...lines].join('\n').slice(-NOTES_LENGTH_MAX)
  lockedOrder.markChanged()
}
