// What a process knows of the endpoints it serves: how many attempts are in the air, how fast it may go on, how they have answered.
// One endpoint never waits for another: each has its own few places, and one that fails has fewer.
import type { Room } from './deliveries.ts'
import { healthy, type Health } from './retries.ts'

const PLACES = 10
/** Of an endpoint whose last attempt failed: slow ones fail, and must not take the places of others. */
const PLACES_FAILING = 2
const PLACES_ALL = 200
const FORGOTTEN_AFTER_MS = 600_000

interface Lane {
  flying: number
  failing: boolean
  throttles: number
  /** Messages that may be sent now, of an endpoint with a rate limit. */
  tokens: number
  refilled_ms: number
  rate: number | null
  used_ms: number
  health: Health
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  #flying = 0

  /** How much may be claimed now. */
  room(now_ms: number): Room {
    const lanes = new Map<string, number>()
    for (const [id, lane] of this.#lanes) {
      if (lane.flying === 0 && now_ms - lane.used_ms > FORGOTTEN_AFTER_MS) this.#lanes.delete(id)
      else lanes.set(id, roomOf(lane, now_ms))
    }
    return { total: PLACES_ALL - this.#flying, others: PLACES, lanes }
  }

  /** Endpoints with attempts in the air. */
  get inUse(): string[] {
    return [...this.#lanes].filter(([, lane]) => lane.flying > 0).map(([id]) => id)
  }

  /** An attempt begins. */
  take(id: string, endpoint: { rate_limit: number | null; health: Health }, now_ms: number): void {
    const rate = endpoint.rate_limit
    const lane = this.#lanes.get(id) ?? {
      flying: 0,
      failing: false,
      throttles: 0,
      tokens: rate ?? 0,
      refilled_ms: now_ms,
      rate,
      used_ms: now_ms,
      health: healthy,
    }
    refill(lane, now_ms)
    if (lane.rate !== rate) Object.assign(lane, { rate, tokens: rate ?? 0 })
    if (lane.flying === 0) lane.health = endpoint.health
    lane.flying++
    lane.tokens--
    lane.used_ms = now_ms
    this.#lanes.set(id, lane)
    this.#flying++
  }

  /** An attempt is over. `throttled`: the endpoint asked to be left alone. */
  give(id: string, succeeded: boolean, throttled: boolean): void {
    const lane = this.#lanes.get(id)
    this.#flying--
    if (!lane) return
    lane.flying--
    lane.failing = !succeeded
    lane.throttles = throttled ? lane.throttles + 1 : succeeded ? 0 : lane.throttles
  }

  throttles(id: string): number {
    return this.#lanes.get(id)?.throttles ?? 0
  }

  health(id: string): Health {
    return this.#lanes.get(id)?.health ?? healthy
  }

  setHealth(id: string, health: Health): void {
    const lane = this.#lanes.get(id)
    if (lane) lane.health = health
  }
}

function refill(lane: Lane, now_ms: number): void {
  if (lane.rate === null) return
  lane.tokens = Math.min(lane.rate, lane.tokens + ((now_ms - lane.refilled_ms) / 1000) * lane.rate)
  lane.refilled_ms = now_ms
}

function roomOf(lane: Lane, now_ms: number): number {
  refill(lane, now_ms)
  const places = (lane.failing ? PLACES_FAILING : PLACES) - lane.flying
  return Math.max(0, lane.rate === null ? places : Math.min(places, Math.floor(lane.tokens)))
}
