// Limits concurrency: a few tasks at a time, and a bounded first-come, first-served queue.
import { unavailable } from './problem.ts'

export interface TurnLimits {
  /** Maximum number of running tasks. */
  at_once: number
  /** Maximum number of waiting tasks. */
  waiting_max: number
  /** Default time limit of the wait. */
  wait_ms: number
}

/** The reason why work does not begin: too many wait already, its turn did not come in time, or the queue is closed. */
export type NoTurn = 'full' | 'late' | 'closed'

const refusalOf = (why: NoTurn, { wait_ms }: TurnLimits): Error =>
  why === 'full'
    ? unavailable('Too many calls of this kind are waiting, try again', Math.max(1, Math.ceil(wait_ms / 1000)))
    : unavailable('The turn of this call did not come in time, try again', 1)

interface Waiter {
  begin: () => void
  refuse: (why: NoTurn) => void
}

export class Turns {
  readonly #limits: TurnLimits
  readonly #refusal: (why: NoTurn, limits: TurnLimits) => Error
  readonly #waiting = new Set<Waiter>()
  #running = 0
  #closed: PromiseWithResolvers<void> | undefined

  /** @param refusal the error for work that does not begin; default: a Problem, 503 */
  constructor(limits: TurnLimits, refusal: (why: NoTurn, limits: TurnLimits) => Error = refusalOf) {
    this.#limits = limits
    this.#refusal = refusal
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs `work` when it is its turn. Rejects if too many wait already, if its turn did not come in time, or after `close`; then `work` was
   * not started.
   */
  async take<R>(work: () => Promise<R>, wait_ms = this.#limits.wait_ms): Promise<R> {
    if (this.#closed) throw this.#refusal('closed', this.#limits)
    if (this.#running < this.#limits.at_once) this.#running++
    else await this.#wait(wait_ms)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #leave(): void {
    const [next] = this.#waiting
    // The next task takes the slot at once, so that no other task can take it in between.
    if (next) next.begin()
    else if (--this.#running === 0) this.#closed?.resolve()
  }

  /** Rejects waiting and new tasks, and waits for running ones. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>()
    for (const waiter of this.#waiting) waiter.refuse('closed')
    if (this.#running > 0) await this.#closed.promise
  }

  #wait(wait_ms: number): Promise<void> {
    const limits = { ...this.#limits, wait_ms }
    if (this.#waiting.size >= limits.waiting_max) throw this.#refusal('full', limits)
    return new Promise((resolve, reject) => {
      const rejectTask = (why: NoTurn) => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        reject(this.#refusal(why, limits))
      }
      const begin = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        resolve()
      }
      const waiter = { begin, refuse: rejectTask }
      const timer = setTimeout(() => rejectTask('late'), wait_ms)
      this.#waiting.add(waiter)
    })
  }
}
