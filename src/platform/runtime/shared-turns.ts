// Limits concurrency of work that several owners share, such as teams: who asks for much waits behind its own work, not before that of others.
import { Problem, unavailable } from './problem.ts'

export interface SharedLimits {
  /** Maximum number of running tasks, and of those of one owner. */
  at_once: number
  at_once_each: number
  /** Maximum number of waiting tasks, and of those of one owner. */
  waiting_max: number
  waiting_max_each: number
  /** Time limit of the wait. */
  wait_ms: number
}

interface Owner {
  running: number
  waiting: Set<() => void>
}

export class SharedTurns {
  readonly #limits: SharedLimits
  /** Those with work, in the order of their turns. */
  readonly #owners = new Map<string, Owner>()
  #running = 0
  #waiting = 0

  constructor(limits: SharedLimits) {
    this.#limits = limits
  }

  /**
   * Runs `work` when it is the owner's turn; owners take turns.
   * Errors: 429 the owner has too many tasks waiting; 503 all together have, or the turn did not come in time. Then `work` was not started.
   */
  async take<R>(name: string, work: () => Promise<R>): Promise<R> {
    const owner = this.#owners.get(name) ?? { running: 0, waiting: new Set() }
    this.#owners.set(name, owner)
    if (this.#isFree(owner)) this.#begin(owner)
    else await this.#wait(owner)
    try {
      return await work()
    } finally {
      owner.running--
      this.#running--
      if (owner.running === 0 && owner.waiting.size === 0) this.#owners.delete(name)
      this.#next()
    }
  }

  #isFree(owner: Owner): boolean {
    return this.#running < this.#limits.at_once && owner.running < this.#limits.at_once_each
  }

  #begin(owner: Owner): void {
    owner.running++
    this.#running++
  }

  #next(): void {
    for (const [name, owner] of this.#owners) {
      const [begin] = owner.waiting
      if (!begin || !this.#isFree(owner)) continue
      // To the end of the line of owners.
      this.#owners.delete(name)
      this.#owners.set(name, owner)
      begin()
      return
    }
  }

  #wait(owner: Owner): Promise<void> {
    const { waiting_max, waiting_max_each, wait_ms } = this.#limits
    const retry_s = Math.max(1, Math.ceil(wait_ms / 1000))
    if (owner.waiting.size >= waiting_max_each)
      throw new Problem(
        429,
        { detail: `This team already has ${waiting_max_each} calls of this kind waiting, try again` },
        { 'retry-after': String(retry_s) },
      )
    if (this.#waiting >= waiting_max) throw unavailable('Too many calls of this kind are waiting, try again', retry_s)
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        owner.waiting.delete(begin)
        this.#waiting--
      }
      const begin = () => {
        end()
        this.#begin(owner)
        resolve()
      }
      const timer = setTimeout(() => {
        end()
        reject(unavailable('The turn of this call did not come in time, try again'))
      }, wait_ms)
      owner.waiting.add(begin)
      this.#waiting++
    })
  }
}
