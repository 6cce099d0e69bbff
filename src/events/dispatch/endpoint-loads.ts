// What a process knows of the endpoints it serves: what waits for them, how many attempts are in the air, how fast it may go on, how
// they have answered. One endpoint never waits for another: each has its own few places, and one that fails has fewer. Nor does one team
// wait for another: what the process has is shared (team-shares.ts).
import type { ClaimLimits } from '../delivery-queue/delivery-queue.ts'
import {
  releaseObject,
  directRoomOf,
  isForgotten,
  isSlowNow,
  isSound,
  createQueue,
  CONCURRENCY_DEFAULT,
  freeSlots,
  queueCapacity,
  spareOf,
  QUEUED_MAX,
  queuedMax,
  type EndpointQueue,
} from './endpoint-load.ts'
import { healthy, type Health } from '../delivery-queue/retry-schedule.ts'
import { Shares, type Share } from './team-shares.ts'

/** No endpoint is given more of what may still come into hand. */
const BUFFER_SHARE_MAX = 0.25
const RECENTLY_USED_MS = 1000
/** Nothing that was asked for before an endpoint was taken from us is answered later than this. */
const REVOKED_MS = 120_000

/** An endpoint, and where what is in hand for it goes. */
export interface Address {
  id: string
  url: string
}

export interface PageCheckpoint {
  clears: number
  returning: Set<string>
}

export class EndpointQueues<I> {
  readonly #lanes = new Map<string, EndpointQueue<I>>()
  readonly #shares = new Shares()
  /** Endpoints that have places and something to send, and whose team has no share left; those that waited longest come first. */
  readonly #blocked = { quick: new Set<string>(), slow: new Set<string>() }
  #clears = 0
  /** The latest time until which an endpoint is ours. */
  #holds_until_ms = -Infinity
  /** When endpoints were taken from this process. */
  readonly #revoked = new Map<string, number>()

  /** How much may be claimed now. */
  room(now_ms: number): ClaimLimits {
    const lanes = new Map<string, number>()
    const left = new Map<Share, number>()
    for (const [id, revoked_ms] of this.#revoked) if (now_ms - revoked_ms > REVOKED_MS) this.#revoked.delete(id)
    for (const [id, lane] of this.#lanes) {
      const { share } = lane
      if (isForgotten(lane, now_ms)) {
        this.#lanes.delete(id)
        this.#shares.leave(lane.team, share)
        continue
      }
      this.#judge(lane, now_ms)
      const ofTeam = left.get(share) ?? Math.max(0, this.#shares.roomOf(share))
      // What goes back to the database must not be overtaken by what is behind it there.
      const room = lane.returning ? 0 : Math.min(ofTeam, queueCapacity(lane, now_ms))
      left.set(share, ofTeam - room)
      lanes.set(id, room)
    }
    return { total: this.#shares.room, others: CONCURRENCY_DEFAULT, lanes }
  }

  /** Endpoints with something in hand. */
  get inUse(): string[] {
    return [...this.#lanes].filter(([, lane]) => lane.flying > 0 || lane.waiting.length > 0).map(([id]) => id)
  }

  /**
   * How many events may be announced, so that `all` endpoints, or `some`, have no more in hand than they will soon have taken.
   * Undefined: deliveries wait for each of them, so that nothing could be taken into hand. Those that fail or are slow do not count.
   */
  appetite(now_ms: number): { all: number; some: number } | undefined {
    const recent = [...this.#lanes.values()].filter((lane) => lane.flying > 0 || now_ms - lane.used_ms <= RECENTLY_USED_MS)
    const sound = recent.filter((lane) => isSound(lane, now_ms))
    if (sound.length === 0) return { all: QUEUED_MAX, some: QUEUED_MAX }
    const direct = sound.filter((lane) => !lane.hasBacklog)
    if (direct.length === 0) return undefined
    const spare = direct.map((lane) => spareOf(lane, now_ms))
    return { all: Math.min(...spare), some: Math.max(...spare) }
  }

  /** How many deliveries of a team may come into hand. */
  roomOfTeam(team: string): number {
    return this.#shares.roomOf(this.#shares.of(team))
  }

  /** How many may be taken straight into hand for an endpoint behind which nothing waits: more than would be asked for. */
  directCapacity(id: string, now_ms: number): number {
    return Math.min(Math.floor(this.#shares.room * BUFFER_SHARE_MAX), directRoomOf(this.#lanes.get(id), now_ms))
  }

  /** Whether deliveries wait for an endpoint in the database. */
  setBacklogged(id: string, isBehind: boolean): void {
    const lane = this.#lanes.get(id)
    if (lane) lane.hasBacklog = isBehind
  }

  /** To ask later what was taken back since, or was on its way back. */
  snapshot(): PageCheckpoint {
    return { clears: this.#clears, returning: new Set([...this.#lanes].flatMap(([id, lane]) => (lane.returning ? [id] : []))) }
  }

  /** Whether nothing of an endpoint has gone back to the database since: what came behind it must not overtake it. */
  isUnchangedSince(id: string, mark: PageCheckpoint): boolean {
    return !mark.returning.has(id) && (this.#lanes.get(id)?.cleared ?? 0) <= mark.clears
  }

  /** Something waits for an endpoint. It is in hand until `release`. */
  add(
    id: string,
    item: I,
    endpoint: { team_id: string; url: string; rate_limit: number | null; health: Health },
    now_ms: number,
  ): void {
    const rate = endpoint.rate_limit
    let lane = this.#lanes.get(id)
    if (!lane) {
      lane = createQueue(endpoint.team_id, this.#shares.join(endpoint.team_id), rate, now_ms)
      this.#lanes.set(id, lane)
    }
    if (lane.rate !== rate) Object.assign(lane, { rate, tokens: rate ?? 0 })
    if (lane.flying === 0 && lane.waiting.length === 0) Object.assign(lane, { health: endpoint.health, begun_ms: now_ms })
    lane.url = endpoint.url
    lane.waiting.push(item)
    lane.used_ms = now_ms
    this.#shares.hold(lane.share)
  }

  /**
   * An endpoint is ours for so long from when that was asked for, unless it was taken from us since. By the process's own clock, so that
   * it is never later than the database thinks. @returns whether an attempt may begin
   */
  hold(id: string, asked_ms: number, for_ms: number): boolean {
    const lane = this.#lanes.get(id)
    const revoked_ms = this.#revoked.get(id)
    if (revoked_ms !== undefined && asked_ms <= revoked_ms) return false
    const until_ms = asked_ms + for_ms
    if (lane) lane.until_ms = Math.max(lane.until_ms, until_ms)
    this.#holds_until_ms = Math.max(this.#holds_until_ms, until_ms)
    return true
  }

  /** An endpoint is not ours any more: nothing begins, whatever was asked for before. */
  revoke(id: string, now_ms: number): void {
    this.#revoked.set(id, now_ms)
    const lane = this.#lanes.get(id)
    if (lane) Object.assign(lane, { until_ms: 0, url: undefined })
  }

  /**
   * Whether an attempt may begin.
   * @param url the address that it would be sent to: the endpoint may have been given another one since
   */
  isOurs({ id, url }: Address, now_ms: number): boolean {
    const lane = this.#lanes.get(id)
    return lane !== undefined && now_ms < lane.until_ms && lane.url === url
  }

  /** Whether an endpoint has been taken from us, or given another address, since it had this one. */
  isFormer({ id, url }: Address): boolean {
    return this.#lanes.get(id)?.url !== url
  }

  /** Whether there may be an endpoint that is ours. */
  mayHold(now_ms: number): boolean {
    return now_ms < this.#holds_until_ms
  }

  /** Endpoints with something that waits for them, that are not ours any more by our clock. */
  lapsed(now_ms: number): string[] {
    return [...this.#lanes].filter(([, lane]) => lane.waiting.length > 0 && lane.until_ms <= now_ms).map(([id]) => id)
  }

  /** What leaves now for an endpoint, in the order in which it came; it has a place until `give`. */
  next(id: string, now_ms: number): I | undefined {
    const lane = this.#lanes.get(id)
    if (!lane || lane.waiting.length === 0 || now_ms >= lane.until_ms || freeSlots(lane, now_ms) <= 0) return undefined
    if (!this.#shares.mayFly(lane.share, lane.isSlow)) {
      this.#blocked[lane.isSlow ? 'slow' : 'quick'].add(id)
      return undefined
    }
    if (lane.flying++ === 0) lane.silent_since_ms = now_ms
    this.#shares.fly(lane.share, lane.isSlow, 1)
    lane.tokens--
    return lane.waiting.shift()
  }

  /** The endpoint that has waited longest for a share, now that an attempt is over. */
  nextBlocked(isSlow: boolean): string | undefined {
    const blocked = this.#blocked[isSlow ? 'slow' : 'quick']
    if (blocked.size === 0) return undefined
    const [id] = blocked
    blocked.delete(id!)
    return id
  }

  /** All endpoints that waited for a share. */
  takeBlocked(): string[] {
    const ids = [...this.#blocked.quick, ...this.#blocked.slow]
    this.#blocked.quick.clear()
    this.#blocked.slow.clear()
    return ids
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
  needsRefill(id: string): boolean {
    const lane = this.#lanes.get(id)
    return !lane || lane.waiting.length <= queuedMax(lane) / 2
  }

  /** Whether that, and there is something in the database to ask for. */
  needsRefillFromDatabase(id: string): boolean {
    return this.#lanes.get(id)?.hasBacklog === true && this.needsRefill(id)
  }

  /** Take back everything that waits for an endpoint, and what came `before` it; `returned` when it is in the database again. */
  takeQueued(id: string, before: I[] = []): I[] {
    const lane = this.#lanes.get(id)
    if (!lane) return before
    const all = [...before, ...lane.waiting]
    this.#shares.drop(lane.share, lane.waiting.length)
    lane.waiting = []
    if (all.length) {
      lane.hasBacklog = true
      lane.cleared = ++this.#clears
      lane.returning++
    }
    return all
  }

  requeued(id: string): void {
    const lane = this.#lanes.get(id)
    if (lane && lane.returning > 0) lane.returning--
  }

  /** How an endpoint has answered, and after how long. `paused_until_ms`: it asked to be left alone. */
  recordResult(
    id: string,
    { succeeded, duration_ms }: { succeeded: boolean; duration_ms: number },
    now_ms: number,
    paused_until_ms?: number,
  ): void {
    const lane = this.#lanes.get(id)
    if (!lane) return
    releaseObject(lane, succeeded, duration_ms, now_ms)
    this.#judge(lane, now_ms)
    lane.throttles = paused_until_ms !== undefined ? lane.throttles + 1 : succeeded ? 0 : lane.throttles
    if (paused_until_ms !== undefined) lane.paused_until_ms = paused_until_ms
  }

  /** A place is free again. */
  give(id: string): void {
    const lane = this.#lanes.get(id)
    if (!lane) return
    lane.flying--
    this.#shares.fly(lane.share, lane.isSlow, -1)
    this.#shares.drop(lane.share, 1)
  }

  /** So much is no longer in hand. */
  release(count: number): void {
    this.#shares.release(count)
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

  /** Count the attempts in the air of an endpoint where they belong now. */
  #judge(lane: EndpointQueue<I>, now_ms: number): void {
    const isSlow = isSlowNow(lane, now_ms)
    if (isSlow === lane.isSlow) return
    this.#shares.fly(lane.share, lane.isSlow, -lane.flying)
    this.#shares.fly(lane.share, isSlow, lane.flying)
    lane.isSlow = isSlow
  }
}
