// Rate limits. They are in memory: each process counts for itself, and a restart resets them.
import { hashKey } from '../crypto/api-keys.ts'
import { FairQueue } from '../db/fair-queue.ts'
import { maskAddress } from '../net/network.ts'
import { systemNow } from '../runtime/clock.ts'
import { expiringCache } from '../runtime/expiring-cache.ts'
import { type Problem, unavailable } from '../runtime/problem.ts'
import { tooManyRequests } from './errors.ts'

const CALLERS_MAX = 50_000

/** What a caller has left of its rate. */
export interface Quota {
  /** The most requests at once. */
  limit: number
  tokens: number
  /** Seconds until the whole limit is there again, if no further request comes. */
  reset_s: number
}

/** The headers that show it to the caller. Source: docs/decisions/requests.md. */
export const quotaHeaders = ({ limit, tokens: remaining, reset_s }: Quota): Record<string, string> => ({
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
      tokens: Math.floor(bucket.left),
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

const WINDOW_S = 60
/** A credential that was valid this recently is looked up even if its address has used up its quota: others may share the address. */
const PROVEN_MS = 3_600_000
const PROVEN_MAX = 50_000
/** Maximum number of look-ups that wait for others of their address, in total and per address. */
const WAITING_MAX = 1000
const ADDRESS_WAITING_MAX = 100
/** Default time limit of that wait. */
const WAIT_MS = 10_000
const REFUSED = 'Too many invalid keys from this address (WRONG_KEYS_PER_MINUTE)'

/** The look-ups in progress for one client network. */
interface Checking {
  lookUps: number
  waiters: Set<() => void>
}

interface CredentialCheckOptions {
  wrong_max: number
  window_s?: number
  wait_ms?: number
  says?: string
}

/** Limits look-ups of credentials: one per process for all kinds but those with a limit of their own. */
export class CredentialChecks {
  readonly #wrong: FixedWindowLimiter
  readonly #proven = expiringCache<true>({ lifetime_ms: PROVEN_MS, size_max: PROVEN_MAX })
  readonly #checking = new Map<string, Checking>()
  readonly #waiting = new FairQueue({ slots: WAITING_MAX, team_slots: ADDRESS_WAITING_MAX, wait_ms: 0 })
  readonly #waitMs: number
  readonly #says: string

  /**
   * @param options.wrong_max invalid ones in a window, by default a minute; 0: no limit
   * @param options.says the text of the 429
   */
  constructor({ wrong_max, window_s = WINDOW_S, wait_ms = WAIT_MS, says = REFUSED }: CredentialCheckOptions) {
    this.#wrong = new FixedWindowLimiter({ max: wrong_max, window_s })
    this.#waitMs = wait_ms
    this.#says = says
  }

  /** Counts an invalid credential of an address. Returns `problem`, or 429 if there were too many. */
  refusal(address: string, problem: Problem): Problem {
    return this.#wrong.hit(maskAddress(address), this.#says) ?? problem
  }

  /**
   * Looks a credential up, unless its address has used up its quota. A credential that is not found counts as invalid. A look-up in
   * progress counts as invalid until its outcome is known; later look-ups wait for it. Never call it while holding a database connection:
   * the running look-ups need one, and would wait for callers that wait for them. 429: the quota is used up. 503: too many wait, in total
   * or for the address, or one waited for too long. Or `unknown`: there is no such credential.
   * @param credential undefined for a single-use credential
   */
  async find<V>(
    address: string,
    credential: string | undefined,
    lookUp: () => Promise<V | undefined>,
    unknown: () => Problem,
  ): Promise<V> {
    if (!this.#wrong.isLimited) return (await lookUp()) ?? raise(unknown())
    const proof = credential === undefined ? undefined : hashKey(credential).toString('base64')
    if (proof !== undefined && this.#proven.get(proof)) {
      const found = await lookUp()
      if (found === undefined) {
        this.#proven.delete(proof)
        throw this.refusal(address, unknown())
      }
      this.#proven.set(proof, true)
      return found
    }
    const network = maskAddress(address)
    const checking = await this.#turnOf(network)
    try {
      const found = await lookUp()
      if (found === undefined) throw this.refusal(address, unknown())
      if (proof !== undefined) this.#proven.set(proof, true)
      return found
    } finally {
      checking.lookUps -= 1
      if (checking.lookUps === 0) this.#checking.delete(network)
      // Each checks again: the look-up that it waited for may have used up the quota.
      for (const wake of checking.waiters) wake()
      checking.waiters.clear()
    }
  }

  async #turnOf(network: string): Promise<Checking> {
    let until_ms: number | undefined
    try {
      for (;;) {
        const refused = this.#wrong.refusal(network, this.#says)
        if (refused) throw refused
        const checking = this.#checking.get(network) ?? { lookUps: 0, waiters: new Set() }
        this.#checking.set(network, checking)
        if (checking.lookUps < this.#wrong.tokens(network)) {
          checking.lookUps += 1
          return checking
        }
        if (until_ms === undefined) void this.#waiting.enter(network)
        until_ms ??= performance.now() + this.#waitMs
        await nextEnd(checking, until_ms - performance.now())
      }
    } finally {
      if (until_ms !== undefined) this.#waiting.leave(network)
    }
  }
}

/** Resolves when a look-up of this network has ended. 503: none did within `wait_ms`. */
function nextEnd({ waiters }: Checking, wait_ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      waiters.delete(wake)
      reject(unavailable('Checking the credential took too long, try again'))
    }, wait_ms)
    waiters.add(wake)
  })
}

function raise(problem: Problem): never {
  throw problem
}
