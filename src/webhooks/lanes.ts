// What a process knows of the endpoints it serves: what waits for them, how many attempts are in the air, how fast it may go on, how
// they have answered. One endpoint never waits for another: each has its own few places, and one that fails has fewer.
import type { Room } from './deliveries.ts'
import { healthy, type Health } from './retries.ts'

const PLACES = 10
/** Of an endpoint that takes as much within a moment as is kept in hand for it: with ten it would do so only if it answered within 12 ms. */
const PLACES_FAST = 30
/** Of an endpoint whose last attempt failed: slow ones fail, and must not take the places of others. */
const PLACES_FAILING = 2
/** What a process has in hand at most: waiting, in the air, answered and not yet written down. */
const HELD_MAX = 6000
const FLYING_MAX = 500
/** More wait for an endpoint the faster it answers, as much as it took within this time: what waits is soon gone. */
const WINDOW_MS = 500
const WAITING_MAX = 400
/** So many are taken straight into hand for one that answers slowly. */
const WAITING_MIN = 40
/** What has come is taken into hand even when it is this many times as much: a delivery that has to wait costs more than twice. */
const SLACK = 4
/** No endpoint is given more of what may still come into hand. */
const SHARE_MAX = 0.25
const RECENT_MS = 1000
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
  /** Since when there has been something in hand. */
  begun_ms: number
  /** Taken by the endpoint since the window began, and in the window before. */
  window_ms: number
  taken: number
  taken_before: number
  /** Deliveries wait for it in the database, which are older than what is announced now. */
  isBehind: boolean
  /** When what waited was last taken back, in numbers of such times; how much of that is not put back yet. */
  cleared: number
  returning: number
  /** Objects with an attempt in the air, and what waits for its answer. */
  objects: Map<string, I[]>
}

export interface Mark {
  clears: number
  returning: Set<string>
}

export class Lanes<I> {
  readonly #lanes = new Map<string, Lane<I>>()
  #held = 0
  #flying = 0
  #clears = 0

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

  /**
   * How many events may be announced, so that `all` endpoints, or `some`, have no more in hand than they will soon have taken.
   * Undefined: deliveries wait for each of them, so that nothing could be taken into hand. Those that fail do not count.
   */
  appetite(now_ms: number): { all: number; some: number } | undefined {
    const recent = [...this.#lanes.values()].filter((lane) => lane.flying > 0 || now_ms - lane.used_ms <= RECENT_MS)
    const sound = recent.filter((lane) => !lane.failing && lane.rate === null && lane.paused_until_ms <= now_ms)
    if (sound.length === 0) return { all: WAITING_MAX, some: WAITING_MAX }
    const direct = sound.filter((lane) => !lane.isBehind)
    if (direct.length === 0) return undefined
    const spare = direct.map((lane) => PLACES + windowOf(lane, now_ms) - lane.flying - lane.waiting.length)
    return { all: Math.min(...spare), some: Math.max(...spare) }
  }

  /** How many may be taken straight into hand for an endpoint behind which nothing waits: more than would be asked for. */
  directRoom(id: string, now_ms: number): number {
    const share = Math.floor((HELD_MAX - this.#held) * SHARE_MAX)
    const lane = this.#lanes.get(id)
    if (!lane) return Math.min(share, PLACES + SLACK * WAITING_MAX)
    if (lane.failing || lane.paused_until_ms > now_ms) return 0
    return Math.min(share, PLACES + SLACK * windowOf(lane, now_ms) - lane.flying - lane.waiting.length)
  }

  /** Whether deliveries wait for an endpoint in the database. */
  setBehind(id: string, isBehind: boolean): void {
    const lane = this.#lanes.get(id)
    if (lane) lane.isBehind = isBehind
  }

  /** To ask later what was taken back since, or was on its way back. */
  mark(): Mark {
    return { clears: this.#clears, returning: new Set([...this.#lanes].flatMap(([id, lane]) => (lane.returning ? [id] : []))) }
  }

  /** Whether nothing of an endpoint has gone back to the database since: what came behind it must not overtake it. */
  isStill(id: string, mark: Mark): boolean {
    return !mark.returning.has(id) && (this.#lanes.get(id)?.cleared ?? 0) <= mark.clears
  }

  /** Something waits for an endpoint. It is in hand until `release`. */
  add(id: string, item: I, endpoint: { rate_limit: number | null; health: Health }, now_ms: number): void {
    const rate = endpoint.rate_limit
    let lane = this.#lanes.get(id)
    if (!lane) {
      lane = newLane(rate, now_ms)
      this.#lanes.set(id, lane)
    }
    if (lane.rate !== rate) Object.assign(lane, { rate, tokens: rate ?? 0 })
    if (lane.flying === 0 && lane.waiting.length === 0) Object.assign(lane, { health: endpoint.health, begun_ms: now_ms })
    lane.waiting.push(item)
    lane.used_ms = now_ms
    this.#held++
  }

  /** What leaves now for an endpoint, in the order in which it came; it has a place until `give`. */
  next(id: string, now_ms: number): I | undefined {
    const lane = this.#lanes.get(id)
    if (!lane || lane.waiting.length === 0 || this.#flying >= FLYING_MAX || placesOf(lane, now_ms) <= 0) return undefined
    this.#flying++
    lane.flying++
    lane.tokens--
    return lane.waiting.shift()
  }

  /** Whether an attempt may begin; if not, `answered` hands it out when that of the same object before it is over. */
  mayBegin(id: string, object: string, item: I): boolean {
    const objects = this.#lanes.get(id)?.objects
    const behind = objects?.get(object)
    if (behind) {
      behind.push(item)
      return false
    }
    objects?.set(object, [])
    return true
  }

  /** An attempt is over. @returns the next for the same object, which begins now */
  answered(id: string, object: string): I | undefined {
    const objects = this.#lanes.get(id)?.objects
    const next = objects?.get(object)?.shift()
    if (next === undefined) objects?.delete(object)
    return next
  }

  /** Whether little enough waits for an endpoint to ask for more. */
  isHungry(id: string): boolean {
    const lane = this.#lanes.get(id)
    return !lane || lane.waiting.length <= waitingMax(lane) / 2
  }

  /** Whether that, and there is something in the database to ask for. */
  isHungryForRows(id: string): boolean {
    return this.#lanes.get(id)?.isBehind === true && this.isHungry(id)
  }

  /** Take back everything that waits for an endpoint, and what came `before` it; `returned` when it is in the database again. */
  clear(id: string, before: I[] = []): I[] {
    const lane = this.#lanes.get(id)
    if (!lane) return before
    const all = [...before, ...lane.waiting]
    lane.waiting = []
    if (all.length) {
      lane.isBehind = true
      lane.cleared = ++this.#clears
      lane.returning++
    }
    return all
  }

  returned(id: string): void {
    const lane = this.#lanes.get(id)
    if (lane && lane.returning > 0) lane.returning--
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

const newLane = <I>(rate: number | null, now_ms: number): Lane<I> => ({
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
  begun_ms: now_ms,
  window_ms: now_ms,
  taken: 0,
  taken_before: 0,
  isBehind: false,
  cleared: 0,
  returning: 0,
  objects: new Map(),
})

/** What an endpoint takes within a moment; one that has just begun is given the benefit of the doubt. */
function windowOf<I>(lane: Lane<I>, now_ms: number): number {
  turn(lane, now_ms)
  return now_ms - lane.begun_ms < WINDOW_MS ? WAITING_MAX : Math.max(WAITING_MIN, waitingMax(lane))
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

const isFast = <I>(lane: Lane<I>): boolean => Math.max(lane.taken, lane.taken_before) >= WAITING_MAX

/** How many attempts more may be in the air. */
function placesOf<I>(lane: Lane<I>, now_ms: number): number {
  if (lane.paused_until_ms > now_ms) return 0
  refill(lane, now_ms)
  const places = (lane.failing ? PLACES_FAILING : isFast(lane) ? PLACES_FAST : PLACES) - lane.flying
  return Math.max(0, lane.rate === null ? places : Math.min(places, Math.floor(lane.tokens)))
}

function roomOf<I>(lane: Lane<I>, now_ms: number): number {
  turn(lane, now_ms)
  if (lane.paused_until_ms > now_ms) return 0
  return Math.max(0, placesOf(lane, now_ms) + waitingMax(lane) - lane.waiting.length)
}
