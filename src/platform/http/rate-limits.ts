// Rate limits. They are in memory: each process counts for itself, and a restart resets them.
import { systemNow } from '../runtime/clock.ts'
import { tooManyRequests } from './errors.ts'
import type { Problem } from '../runtime/problem.ts'

const CALLERS_MAX = 50_000

/** What a caller has left of its rate. */
export interface Quota {
  /** The most requests at once. */
  limit: number
  remaining: number
  /** Seconds until the whole limit is there again, if no further request comes. */
  reset_s: number
}

/** The headers that show it to the caller. Source: docs/decisions/requests.md. */
export const quotaHeaders = ({ limit, remaining, reset_s }: Quota): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset_s),
})

/** A token bucket per caller, refilled at a constant rate. */
export class TokenBuckets {
  readonly #perS: number
  readonly #burst: number
  readonly #buckets = new Map<string, { left: number; at_ms: number }>()

  /** @param per_s 0: no limit */
  constructor({ per_s, burst }: { per_s: number; burst: number }) {
    this.#perS = per_s
    this.#burst = Math.max(1, burst)
  }

  /**
   * Takes one token. 429 with the seconds until the next one.
   * @returns what is left; undefined if there is no limit
   */
  consume(caller: string): Quota | undefined {
    if (!this.#perS) return undefined
    const now_ms = systemNow().getTime()
    const bucket = this.#buckets.get(caller) ?? { left: this.#burst, at_ms: now_ms }
    bucket.left = Math.min(this.#burst, bucket.left + ((now_ms - bucket.at_ms) / 1000) * this.#perS)
    bucket.at_ms = now_ms
    if (this.#buckets.size >= CALLERS_MAX && !this.#buckets.has(caller)) this.#buckets.delete(this.#buckets.keys().next().value!)
    this.#buckets.set(caller, bucket)
    const isRefused = bucket.left < 1
    if (!isRefused) bucket.left -= 1
    const quota = {
      limit: this.#burst,
      remaining: Math.floor(bucket.left),
      reset_s: Math.ceil((this.#burst - bucket.left) / this.#perS),
    }
    if (!isRefused) return quota
    const wait_s = (1 - bucket.left) / this.#perS
    throw tooManyRequests('Too many requests (REQUESTS_PER_SECOND, REQUESTS_BURST)', wait_s, quotaHeaders(quota))
  }
}

interface Window {
  count: number
  until_ms: number
}

/** A maximum number per window of time; a window starts with its first event. */
export class FixedWindowLimiter {
  readonly #max: number
  readonly #windowS: number
  readonly #buckets = new Map<string, Window>()

  /** @param max 0: no limit */
  constructor({ max, window_s }: { max: number; window_s: number }) {
    this.#max = max
    this.#windowS = window_s
  }

  /** Whether there is a limit at all. */
  get isLimited(): boolean {
    return this.#max > 0
  }

  /** How many are left in the current window. */
  tokens(caller: string): number {
    if (!this.#max) return Number.POSITIVE_INFINITY
    return Math.max(0, this.#max - (this.#window(caller)?.count ?? 0))
  }

  /** Returns the error, 429, if none is left. Counts nothing. */
  refusal(caller: string, detail: string): Problem | undefined {
    const window = this.#max ? this.#window(caller) : undefined
    return window && window.count >= this.#max ? this.#tooMany(window, detail) : undefined
  }

  /** Counts one. @returns the error, 429, if it exceeds the limit */
  hit(caller: string, detail: string): Problem | undefined {
    if (!this.#max) return undefined
    let window = this.#window(caller)
    if (!window) {
      this.#buckets.delete(caller)
      if (this.#buckets.size >= CALLERS_MAX) this.#buckets.delete(this.#buckets.keys().next().value!)
      window = { count: 0, until_ms: systemNow().getTime() + this.#windowS * 1000 }
      this.#buckets.set(caller, window)
    }
    window.count += 1
    return window.count > this.#max ? this.#tooMany(window, detail) : undefined
  }

  /** Undefined if there is none, or it has ended. */
  #window(caller: string): Window | undefined {
    const window = this.#buckets.get(caller)
    return window && window.until_ms > systemNow().getTime() ? window : undefined
  }

  #tooMany({ until_ms }: Window, detail: string): Problem {
    return tooManyRequests(detail, (until_ms - systemNow().getTime()) / 1000)
  }
}
