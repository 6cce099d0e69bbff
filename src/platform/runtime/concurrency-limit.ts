// Limits concurrency: a few tasks run at a time, and a bounded number of tasks waits, first come, first served. Several owners, such as
// teams, may share a limit: an owner with much work waits behind its own work, not before that of others.
import { Problem, unavailable } from './problem.ts'

export interface ConcurrencyLimits {
  /** Maximum number of running tasks. */
  running_max: number
  /** Maximum number of waiting tasks. */
  waiting_max: number
  /** Default time limit of the wait; 0: tasks do not wait. */
  wait_ms: number
  /** Maximum number of running and of waiting tasks of one owner; unlimited by default. */
  running_max_each?: number | ((owner: string) => number)
  waiting_max_each?: number
}

/** The reason why a task does not start: too many tasks wait, too many tasks of its owner wait, it waited too long, or the limit is closed. */
export type RejectionReason = 'full' | 'full_for_owner' | 'late' | 'closed'

function problemFor(reason: RejectionReason, { wait_ms, waiting_max_each }: ConcurrencyLimits): Error {
  const retry_s = Math.max(1, Math.ceil(wait_ms / 1000))
  if (reason === 'full') return unavailable('Too many calls of this kind are waiting, try again', retry_s)
  if (reason !== 'full_for_owner') return unavailable('The turn of this call did not come in time, try again')
  const detail = `This team already has ${waiting_max_each} calls of this kind waiting, try again`
  return new Problem(429, { detail }, { 'retry-after': String(retry_s) })
}

interface Waiter {
  start: () => void
  reject: (reason: RejectionReason) => void
}

interface Owner {
  running_count: number
  waiters: Set<Waiter>
}

export class ConcurrencyLimit {
  readonly #limits: ConcurrencyLimits
  readonly #errorFor: (reason: RejectionReason, limits: ConcurrencyLimits) => Error
  readonly #owners = new Map<string, Owner>()
  /** Owners that wait; the next one is first. */
  readonly #turns = new Set<string>()
  #running = 0
  #waiting = 0
  #closed: PromiseWithResolvers<void> | undefined

  /** @param errorFor the error of a task that does not start; default: a Problem, 429 for `full_for_owner`, else 503 */
  constructor(limits: ConcurrencyLimits, errorFor: (reason: RejectionReason, limits: ConcurrencyLimits) => Error = problemFor) {
    this.#limits = limits
    this.#errorFor = errorFor
  }

  /** How many tasks wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many owners have a task that runs or waits. */
  get owners(): number {
    return this.#owners.size
  }

  /** Runs a task once there is a place for it; owners take turns. Rejects with the error for a `RejectionReason` if the task does not start. */
  async run<R>(task: () => Promise<R>, { owner = '', wait_ms = this.#limits.wait_ms } = {}): Promise<R> {
    const turn = this.enter(owner, wait_ms)
    if (turn) await turn
    try {
      return await task()
    } finally {
      this.leave(owner)
    }
  }

  /**
   * Takes a place, which the caller returns with `leave`. Throws or rejects with the error for a `RejectionReason`.
   * @returns undefined if there was a free place
   */
  enter(name: string, wait_ms = this.#limits.wait_ms): Promise<void> | undefined {
    if (this.#closed) throw this.#error('closed', wait_ms)
    const owner = this.#owners.get(name) ?? { running_count: 0, waiters: new Set() }
    if (owner.waiters.size > 0 || !this.#hasPlace(name, owner)) return this.#wait(name, owner, wait_ms)
    this.#owners.set(name, owner)
    this.#start(owner)
    return undefined
  }

  /** Returns a place; the next waiting task gets it. */
  leave(name: string): void {
    const owner = this.#owners.get(name)!
    owner.running_count--
    this.#running--
    this.#removeIfUnused(name, owner)
    this.#startNext()
    if (this.#running === 0) this.#closed?.resolve()
  }

  /** Rejects waiting and new tasks, and waits for running ones. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>()
    for (const { waiters } of this.#owners.values()) for (const waiter of waiters) waiter.reject('closed')
    if (this.#running > 0) await this.#closed.promise
  }

  #hasPlace(name: string, { running_count }: Owner): boolean {
    const { running_max, running_max_each = Infinity } = this.#limits
    const share = typeof running_max_each === 'number' ? running_max_each : running_max_each(name)
    return this.#running < running_max && running_count < share
  }

  #start(owner: Owner): void {
    owner.running_count++
    this.#running++
  }

  #startNext(): void {
    for (const name of this.#turns) {
      const owner = this.#owners.get(name)!
      if (!this.#hasPlace(name, owner)) continue
      const [waiter] = owner.waiters as Iterable<Waiter> as [Waiter]
      waiter.start()
      // The next task of this owner waits until the other owners had their turn.
      if (this.#turns.delete(name)) this.#turns.add(name)
      return
    }
  }

  #wait(name: string, owner: Owner, wait_ms: number): Promise<void> {
    const { waiting_max, waiting_max_each = Infinity } = this.#limits
    if (owner.waiters.size >= waiting_max_each) throw this.#error('full_for_owner', wait_ms)
    if (wait_ms === 0 || this.#waiting >= waiting_max) throw this.#error('full', wait_ms)
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(timer)
        owner.waiters.delete(waiter)
        this.#waiting--
        if (owner.waiters.size === 0) this.#turns.delete(name)
      }
      const waiter: Waiter = {
        // The place is taken at once, so that no other task can take it in between.
        start: () => {
          stopWaiting()
          this.#start(owner)
          resolve()
        },
        reject: (reason) => {
          stopWaiting()
          this.#removeIfUnused(name, owner)
          reject(this.#error(reason, wait_ms))
        },
      }
      const timer = setTimeout(() => waiter.reject('late'), wait_ms)
      this.#owners.set(name, owner)
      owner.waiters.add(waiter)
      this.#waiting++
      this.#turns.add(name)
    })
  }

  #removeIfUnused(name: string, { running_count, waiters }: Owner): void {
    if (running_count === 0 && waiters.size === 0) this.#owners.delete(name)
  }

  #error(reason: RejectionReason, wait_ms: number): Error {
    return this.#errorFor(reason, { ...this.#limits, wait_ms })
  }
}
