// Limits concurrency: a few tasks run at a time, and a bounded number of tasks waits, first come, first served. Several owners, such as
// teams, may share a limit: an owner with much work waits behind its own work, not before that of others.
import { Problem, unavailable } from './problem.ts'

export interface ConcurrencyLimits {
  /** Maximum number of running tasks. */
  running_max: number
  /** Maximum number of waiting tasks. */
  waiting_max: number
  /** Default time limit of the wait. */
  wait_ms: number
  /** Maximum number of running and of waiting tasks of one owner; unlimited by default. */
  running_max_each?: number
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
  /** The owners that have tasks, in the order in which they get the next free place. */
  readonly #owners = new Map<string, Owner>()
  #running = 0
  #waiting = 0
  #closed: PromiseWithResolvers<void> | undefined

  /** @param errorFor the error of a task that does not start; default: a Problem, 429 for `full_for_owner`, else 503 */
  constructor(limits: ConcurrencyLimits, errorFor: (reason: RejectionReason, limits: ConcurrencyLimits) => Error = problemFor) {
    this.#limits = limits
    this.#errorFor = errorFor
  }

  /** Runs a task once there is a place for it; owners take turns. Rejects with the error for a `RejectionReason` if the task does not start. */
  async run<R>(task: () => Promise<R>, { owner: name = '', wait_ms = this.#limits.wait_ms } = {}): Promise<R> {
    const limits = { ...this.#limits, wait_ms }
    if (this.#closed) throw this.#errorFor('closed', limits)
    const owner = this.#owners.get(name) ?? { running_count: 0, waiters: new Set() }
    if (this.#hasPlace(owner)) this.#start(owner)
    else await this.#wait(name, owner, limits)
    this.#owners.set(name, owner)
    try {
      return await task()
    } finally {
      this.#end(name, owner)
    }
  }

  /** Rejects waiting and new tasks, and waits for running ones. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>()
    for (const { waiters: waiting } of this.#owners.values()) for (const waiter of waiting) waiter.reject('closed')
    if (this.#running > 0) await this.#closed.promise
  }

  #hasPlace(owner: Owner): boolean {
    const { running_max, running_max_each = Infinity } = this.#limits
    return this.#running < running_max && owner.running_count < running_max_each
  }

  #start(owner: Owner): void {
    owner.running_count++
    this.#running++
  }

  #end(name: string, owner: Owner): void {
    owner.running_count--
    this.#running--
    if (owner.running_count === 0 && owner.waiters.size === 0) this.#owners.delete(name)
    this.#startNext()
    if (this.#running === 0) this.#closed?.resolve()
  }

  #startNext(): void {
    for (const [name, owner] of this.#owners) {
      const [waiter] = owner.waiters
      if (!waiter || !this.#hasPlace(owner)) continue
      // The owner moves to the end.
      this.#owners.delete(name)
      this.#owners.set(name, owner)
      waiter.start()
      return
    }
  }

  #wait(name: string, owner: Owner, limits: ConcurrencyLimits): Promise<void> {
    if (owner.waiters.size >= (limits.waiting_max_each ?? Infinity)) throw this.#errorFor('full_for_owner', limits)
    if (this.#waiting >= limits.waiting_max) throw this.#errorFor('full', limits)
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        owner.waiters.delete(waiter)
        this.#waiting--
      }
      const waiter: Waiter = {
        // The place is taken at once, so that no other task can take it in between.
        start: () => {
          leave()
          this.#start(owner)
          resolve()
        },
        reject: (reason) => {
          leave()
          if (owner.running_count === 0 && owner.waiters.size === 0) this.#owners.delete(name)
          reject(this.#errorFor(reason, limits))
        },
      }
      const timer = setTimeout(() => waiter.reject('late'), limits.wait_ms)
      this.#owners.set(name, owner)
      owner.waiters.add(waiter)
      this.#waiting++
    })
  }
}
