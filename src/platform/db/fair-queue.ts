// A queue for slots, such as the connections of a pool. An owner (a team, or work of the program) holds no more slots than its share, and
// waiting owners take turns, so that one team with many slow requests leaves room for the others.
import { ConcurrencyLimit } from '../runtime/concurrency-limit.ts'
import { unavailable } from '../runtime/problem.ts'

/** Maximum number of requests that wait in one queue of this process, and the maximum for one owner. */
export const WAITING_MAX = 1000
export const OWNER_WAITING_MAX = 500

/** Work of no team: periodic tasks, transactions of the control plane. It leaves two slots to others. */
export const NO_TEAM = ''
/** Single statements of the program itself, such as look-ups of keys and teams. They may use every slot. */
export const PROGRAM = ' program'

export interface QueueLimits {
  slots: number
  /** Maximum for one team. */
  team_slots: number
  /** Time limit of the wait for a slot; 0: requests do not wait. */
  wait_ms: number
}

/** For statements on pipelined connections, and for other work that has its own order: no request waits here. */
export const IN_FLIGHT: QueueLimits = { slots: WAITING_MAX, team_slots: OWNER_WAITING_MAX, wait_ms: 0 }

const full = () => unavailable('Temporarily overloaded; try again')

/** 503: too many requests wait, in total or for their owner, or a request has waited for too long. */
export class FairQueue extends ConcurrencyLimit {
  constructor({ slots, team_slots, wait_ms }: QueueLimits) {
    super(
      {
        running_max: slots,
        running_max_each: (owner) => {
          if (owner === PROGRAM || slots <= 2) return slots
          return owner === NO_TEAM ? slots - 2 : team_slots
        },
        waiting_max: WAITING_MAX,
        waiting_max_each: OWNER_WAITING_MAX,
        wait_ms,
      },
      full,
    )
  }
}
