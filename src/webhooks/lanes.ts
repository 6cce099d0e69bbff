// What a process knows of the endpoints it serves: what waits for them, how many attempts are in the air, how fast it may go on, how
// they have answered. One endpoint never waits for another: each has its own few places, and one that fails has fewer.
import type { Room } from './deliveries.ts'
import { healthy, type Health } from './retries.ts'

const PLACES = 10
/** Of an endpoint whose last attempt failed: slow ones fail, and must not take the places of others. */
const PLACES_FAILING = 2
/** What a process has in hand at most: waiting, in the air, answered and not yet written down. */
const HELD_MAX = 2000
const FLYING_MAX = 500
/** More wait for an endpoint the faster it answers, as much as it took within this time: what waits is soon gone. */
const WINDOW_MS = 500
const WAITING_MAX = 400
const FORGOTTEN_AFTER_MS = 600_000

interface Lane<I> {
  waiting: I[]
  flying: number
  failing: boolean
  throttles: number
  paused_until_ms: number
  /** Messages that may be sent now, of an endpoint with a rate limit. */
  tokens: number
  refilled_ms: number
  rate: number | null
  used_ms: number
  health: Health
  /** Taken by the endpoint since the window began, and in the window before. */
  window_ms: number
  taken: number
  taken_before: number
}

export class Lanes<I> {
  readonly #lanes = new Map<string, Lane<I>>()
  #held = 0
  #flying = 0

  /** How much may be claimed now. */
  room(now_ms: number): Room {
    const lanes = new Map<string, number>()
    for (const [id, lane] of this.#lanes) {
      const idle = lane.flying === 0 && lane.waiting.length === 0
      if (idle && now_ms - lane.used_ms > FORGOTTEN_AFTER_MS) this.#lanes.delete(id)
      else lanes.set(id, roomOf(lane, now_ms))
    }
    return { total: HELD_MAX - this.#held, others: PLACES, lanes }
  }

  /** Endpoints with something in hand. */
  get inUse(): string[] {
    return [...this.#lanes].filter(([, lane]) => lane.flying > 0 || lane.waiting.length > 0).map(([id]) => id)
  }

  /** Something waits for an endpoint. It is in hand until `release`. */
  add(id: string, item: I, endpoint: { rate_limit: number | null; health: Health }, now_ms: number): void {
    const rate = endpoint.rate_limit
    let lane = this.#lanes.get(id)
    if (!lane) {
      lane = {
        waiting: [],
        flying: 0,
        failing: false,
        throttles: 0,
        paused_until_ms: 0,
        tokens: rate ?? 0,
        refilled_ms: now_ms,
        rate,
        used_ms: now_ms,
        health: healthy,
        window_ms: now_ms,
        taken: 0,
        taken_before: 0,
      }
      this.#lanes.set(id, lane)
    }
    if (lane.rate !== rate) Object.assign(lane, { rate, tokens: rate ?? 0 })
    if (lane.flying === 0 && lane.waiting.length === 0) lane.health = endpoint.health
    lane.waiting.push(item)
    lane.used_ms = now_ms
    this.#held++
  }

  /** What may leave now, in the order in which it came; each has a place until `give`. */
  *leaving(id: string, now_ms: number): Generator<I> {
    const lane = this.#lanes.get(id)
    while (lane && lane.waiting.length > 0 && this.#flying < FLYING_MAX && placesOf(lane, now_ms) > 0) {
      this.#flying++
      lane.flying++
      lane.tokens--
      yield lane.waiting.shift()!
    }
  }

  /** Whether little enough waits for an endpoint to ask for more. */
  isHungry(id: string): boolean {
    const lane = this.#lanes.get(id)
    return !lane || lane.waiting.length <= waitingMax(lane) / 2
  }

  /** Take back everything that waits for an endpoint. */
  clear(id: string): I[] {
    const lane = this.#lanes.get(id)
    if (!lane) return []
    const { waiting } = lane
    lane.waiting = []
    return waiting
  }

  /** How an endpoint has answered. `paused_until_ms`: it asked to be left alone. */
  learn(id: string, succeeded: boolean, now_ms: number, paused_until_ms?: number): void {
    const lane = this.#lanes.get(id)
    if (!lane) return
    lane.failing = !succeeded
    lane.throttles = paused_until_ms !== undefined ? lane.throttles + 1 : succeeded ? 0 : lane.throttles
    if (paused_until_ms !== undefined) lane.paused_until_ms = paused_until_ms
    if (!succeeded) return
    turn(lane, now_ms)
    lane.taken++
  }

  /** A place is free again. */
  give(id: string): void {
    const lane = this.#lanes.get(id)
    this.#flying--
    if (lane) lane.flying--
  }

  /** So much is no longer in hand. */
  release(count: number): void {
    this.#held -= count
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

function refill<I>(lane: Lane<I>, now_ms: number): void {
  if (lane.rate === null) return
  lane.tokens = Math.min(lane.rate, lane.tokens + ((now_ms - lane.refilled_ms) / 1000) * lane.rate)
  lane.refilled_ms = now_ms
}

function turn<I>(lane: Lane<I>, now_ms: number): void {
  if (now_ms - lane.window_ms < WINDOW_MS) return
  lane.taken_before = now_ms - lane.window_ms < 2 * WINDOW_MS ? lane.taken : 0
  lane.taken = 0
  lane.window_ms = now_ms
}

const waitingMax = <I>(lane: Lane<I>): number =>
  lane.failing || lane.rate !== null ? 0 : Math.min(WAITING_MAX, Math.max(lane.taken, lane.taken_before))

/** How many attempts more may be in the air. */
function placesOf<I>(lane: Lane<I>, now_ms: number): number {
  if (lane.paused_until_ms > now_ms) return 0
  refill(lane, now_ms)
  const places = (lane.failing ? PLACES_FAILING : PLACES) - lane.flying
  return Math.max(0, lane.rate === null ? places : Math.min(places, Math.floor(lane.tokens)))
}

function roomOf<I>(lane: Lane<I>, now_ms: number): number {
  turn(lane, now_ms)
  if (lane.paused_until_ms > now_ms) return 0
  return Math.max(0, placesOf(lane, now_ms) + waitingMax(lane) - lane.waiting.length)
}
