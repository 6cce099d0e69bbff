// How an order shows that its laboratory has not taken it, or what the laboratory says of it.
import { closedStatuses } from './lifecycle.ts'
import type { LockedOrder } from './locked-order.ts'

const FAILURE = 'fulfillment_error'

/** Shows that the order cannot be fulfilled: it keeps its status, with that detail. Not after results, or once that is shown. */
export function showFailure(lockedOrder: LockedOrder): void {
  const { lowLevelStatus } = lockedOrder
  if (closedStatuses.has(lowLevelStatus) || lowLevelStatus === 'partial_results') return
  if (!isFailing(lockedOrder)) lockedOrder.setStatusDetail(FAILURE)
}

/** Whether the order shows that it cannot be fulfilled. */
export const isFailing = ({ order }: LockedOrder): boolean => order.last_event.status_detail === FAILURE

/** Ends the failure that an order shows. */
export function endFailure(lockedOrder: LockedOrder): void {
  if (isFailing(lockedOrder)) lockedOrder.setStatusDetail(null)
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
