// A queue for slots, such as the connections of a pool. An owner (a team, or work of the program) holds no more slots than its share, and
// waiting owners take turns, so that one team with many slow requests leaves room for the others.
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

interface Waiter {
  resolve: () => void
  timer: NodeJS.Timeout
}

interface Share {
  held_slots: number
  waiters: Set<Waiter>
}

const full = () => unavailable('Temporarily overloaded; try again')

export class FairQueue {
  readonly #limits: QueueLimits
  readonly #shares = new Map<string, Share>()
  /** Owners that wait; the next one is first. */
  readonly #turns = new Set<string>()
  #held = 0
  #waiting = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /** How many requests wait for a slot. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many owners have a slot or wait for one. */
  get owners(): number {
    return this.#shares.size
  }

  /**
   * Takes a slot, which the caller returns with `leave`. 503: too many wait, in total or for this owner, or the request has waited for too
   * long.
   * @returns undefined if there was a free slot
   */
  enter(owner: string): Promise<void> | undefined {
    const share = this.#shares.get(owner) ?? { held_slots: 0, waiters: new Set() }
    if (share.waiters.size === 0 && this.#hasSlot(owner, share)) {
      this.#shares.set(owner, share)
      this.#take(share)
      return undefined
    }
    const { wait_ms } = this.#limits
    if (wait_ms === 0 || this.#waiting >= WAITING_MAX || share.waiters.size >= OWNER_WAITING_MAX) throw full()
    this.#shares.set(owner, share)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#endWait(owner, share, waiter)
        this.#removeIfUnused(owner, share)
        reject(full())
      }, wait_ms)
      const waiter: Waiter = { resolve, timer }
      share.waiters.add(waiter)
      this.#waiting++
      this.#turns.add(owner)
    })
  }

  /** Returns a slot; the next waiting request gets it. */
  leave(owner: string): void {
    const share = this.#shares.get(owner)!
    this.#held--
    share.held_slots--
    this.#removeIfUnused(owner, share)
    for (const next of this.#turns) {
      const nextShare = this.#shares.get(next)!
      if (!this.#hasSlot(next, nextShare)) continue
      const [waiter] = nextShare.waiters as Iterable<Waiter> as [Waiter]
      this.#endWait(next, nextShare, waiter)
      // The next request of this owner waits until the other owners had their turn.
      if (this.#turns.delete(next)) this.#turns.add(next)
      this.#take(nextShare)
      return waiter.resolve()
    }
  }

  #hasSlot(owner: string, { held_slots }: Share): boolean {
    const { slots, team_slots } = this.#limits
    const share = owner === PROGRAM || slots <= 2 ? slots : owner === NO_TEAM ? slots - 2 : Math.min(team_slots, slots)
    return this.#held < slots && held_slots < share
  }

  #take(share: Share): void {
    this.#held++
    share.held_slots++
  }

  #endWait(owner: string, share: Share, waiter: Waiter): void {
    clearTimeout(waiter.timer)
    share.waiters.delete(waiter)
    this.#waiting--
    if (share.waiters.size === 0) this.#turns.delete(owner)
  }

  #removeIfUnused(owner: string, share: Share): void {
    if (share.held_slots === 0 && share.waiters.size === 0) this.#shares.delete(owner)
  }
}
