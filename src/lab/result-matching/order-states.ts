// Where an order stands as seen by a result that has come in: what may be done with it. Pure.
import { lifecycleOf, type LifecycleName } from '../orders/lifecycle.ts'
import { nextStatuses, isFinal, shortestPath } from '../orders/status-machine.ts'

/**
 * `awaiting`: its sample is with the laboratory, or on its way there. `early`: nobody has told us that it was taken. `completed`: it has its
 * final result. `cancelled`. `over`: it has failed.
 */
export type OrderState = 'awaiting' | 'early' | 'completed' | 'cancelled' | 'over'

const COMPLETED = new Set(['completed', 'corrected', 'redraw_available'])
const CANCELLED = new Set(['cancelled', 'do_not_process'])
/** The sample has left its patient; that it has arrived was not noticed. */
const IN_TRANSIT = new Set(['transit_lab', 'problem_in_transit_lab'])

export function stateOf(lifecycle: string, low_status: string): OrderState {
  if (COMPLETED.has(low_status)) return 'completed'
  if (CANCELLED.has(low_status)) return 'cancelled'
  const cycle = lifecycleOf(lifecycle)
  if (isFinal(cycle, low_status)) return 'over'
  return IN_TRANSIT.has(low_status) || nextStatuses(cycle, low_status).includes('completed') ? 'awaiting' : 'early'
}

/** The steps that nobody told us of, up to where a result can be entered; undefined when there is no way to it. */
export function stepsToResult(lifecycle: LifecycleName, low_status: string): string[] | undefined {
  const cycle = lifecycleOf(lifecycle)
  if (COMPLETED.has(low_status) || nextStatuses(cycle, low_status).includes('completed')) return []
  return shortestPath(cycle, low_status, 'completed')?.slice(0, -1)
}
