// Work that takes turns: a few at a time, and a bounded queue of those that wait, first come, first served.
import { busy } from './errors.ts'

export interface TurnLimits {
  /** How many run side by side. */
  at_once: number
  /** How many wait at most. */
  waiting_max: number
  /** How long one waits at most. */
  wait_ms: number
}

export class Turns {
  readonly #limits: TurnLimits
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Run `work` when it is its turn. 503: too many wait already, or its turn did not come in time; `work` was not begun then. */
  async take<R>(work: () => Promise<R>): Promise<R> {
    if (this.#running < this.#limits.at_once) this.#running++
    else await this.#wait()
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      // Whoever is next has the turn without a moment in which another one could take it.
      if (next) next()
      else this.#running--
    }
  }

  #wait(): Promise<void> {
    const { waiting_max, wait_ms } = this.#limits
    const retry_after_s = Math.max(1, Math.ceil(wait_ms / 1000))
    if (this.#waiting.size >= waiting_max) throw busy('Too many calls of this kind are waiting, try again', retry_after_s)
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        this.#waiting.delete(begin)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(begin)
        reject(busy('The turn of this call did not come in time, try again', 1))
      }, wait_ms)
      this.#waiting.add(begin)
    })
  }
}
