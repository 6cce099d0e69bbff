// How often somebody may do something. Kept in memory: each process counts for itself, and a restart forgets.
import { machineNow } from '../runtime/clock.ts'
import { tooMany, type Problem } from './errors.ts'

const CALLERS_MAX = 50_000

/** A bucket of requests per caller, refilled evenly. */
export class Buckets {
  readonly #perS: number
  readonly #burst: number
  readonly #callers = new Map<string, { left: number; at_ms: number }>()

  /** @param per_s 0: no limit */
  constructor({ per_s, burst }: { per_s: number; burst: number }) {
    this.#perS = per_s
    this.#burst = Math.max(1, burst)
  }

  /** Take one. 429 with the seconds until there is one again. */
  take(caller: string): void {
    if (!this.#perS) return
    const now_ms = machineNow().getTime()
    const bucket = this.#callers.get(caller) ?? { left: this.#burst, at_ms: now_ms }
    bucket.left = Math.min(this.#burst, bucket.left + ((now_ms - bucket.at_ms) / 1000) * this.#perS)
    bucket.at_ms = now_ms
    if (this.#callers.size >= CALLERS_MAX && !this.#callers.has(caller)) this.#callers.delete(this.#callers.keys().next().value!)
    this.#callers.set(caller, bucket)
    if (bucket.left < 1) throw tooMany('Too many requests (REQUESTS_PER_SECOND, REQUESTS_BURST)', (1 - bucket.left) / this.#perS)
    bucket.left -= 1
  }
}

interface Window {
  count: number
  until_ms: number
}

/** So many times within a window of time that starts with the first. */
export class Quota {
  readonly #max: number
  readonly #windowS: number
  readonly #callers = new Map<string, Window>()

  /** @param max 0: no limit */
  constructor({ max, window_s }: { max: number; window_s: number }) {
    this.#max = max
    this.#windowS = window_s
  }

  /** Whether there is a limit at all. */
  get isLimited(): boolean {
    return this.#max > 0
  }

  /** How many are left in the present window. */
  left(caller: string): number {
    if (!this.#max) return Number.POSITIVE_INFINITY
    return Math.max(0, this.#max - (this.#window(caller)?.count ?? 0))
  }

  /** The refusal, 429, when none is left. Counts nothing. */
  refusal(caller: string, detail: string): Problem | undefined {
    const window = this.#max ? this.#window(caller) : undefined
    return window && window.count >= this.#max ? this.#tooMany(window, detail) : undefined
  }

  /** Count one. @returns the refusal, 429, when it is one too many */
  count(caller: string, detail: string): Problem | undefined {
    if (!this.#max) return undefined
    let window = this.#window(caller)
    if (!window) {
      this.#callers.delete(caller)
      if (this.#callers.size >= CALLERS_MAX) this.#callers.delete(this.#callers.keys().next().value!)
      window = { count: 0, until_ms: machineNow().getTime() + this.#windowS * 1000 }
      this.#callers.set(caller, window)
    }
    window.count += 1
    return window.count > this.#max ? this.#tooMany(window, detail) : undefined
  }

  /** Undefined when there is none, or it is over. */
  #window(caller: string): Window | undefined {
    const window = this.#callers.get(caller)
    return window && window.until_ms > machineNow().getTime() ? window : undefined
  }

  #tooMany({ until_ms }: Window, detail: string): Problem {
    return tooMany(detail, (until_ms - machineNow().getTime()) / 1000)
  }
}
