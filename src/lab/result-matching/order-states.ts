// The state of an order for matching: what an incoming result may do with it. Pure.
import { lifecycleOf, type LifecycleName } from '../orders/lifecycle.ts'
import { nextStatuses, isFinal, shortestPath } from '../orders/status-machine.ts'

/**
 * `awaiting`: the sample is at the laboratory or in transit to it. `early`: no draw has been reported. `completed`: the order has its final
 * result. `cancelled`. `over`: the order failed.
 */
export type OrderState = 'awaiting' | 'early' | 'completed' | 'cancelled' | 'over'

const COMPLETED = new Set(['completed', 'corrected', 'redraw_available'])
const CANCELLED = new Set(['cancelled', 'do_not_process'])
/** The sample has left the patient; its arrival may not have been reported. */
const IN_TRANSIT = new Set(['transit_lab', 'problem_in_transit_lab'])

export function stateOf(lifecycle: string, lowLevelStatus: string): OrderState {
  if (COMPLETED.has(lowLevelStatus)) return 'completed'
  if (CANCELLED.has(lowLevelStatus)) return 'cancelled'
  const cycle = lifecycleOf(lifecycle)
  if (isFinal(cycle, lowLevelStatus)) return 'over'
  return IN_TRANSIT.has(lowLevelStatus) || nextStatuses(cycle, lowLevelStatus).includes('completed') ? 'awaiting' : 'early'
}

/** The unreported steps up to the status in which a result can be applied; undefined if there is no path. */
export function stepsToResult(lifecycle: LifecycleName, lowLevelStatus: string): string[] | undefined {
  const cycle = lifecycleOf(lifecycle)
  if (COMPLETED.has(lowLevelStatus) || nextStatuses(cycle, lowLevelStatus).includes('completed')) return []
  return shortestPath(cycle, lowLevelStatus, 'completed')?.slice(0, -1)
}
