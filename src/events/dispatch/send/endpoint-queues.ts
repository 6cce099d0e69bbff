// The endpoint queues of a process: the buffered deliveries and attempts in flight of each endpoint, its rate, and how it has
// responded. One endpoint never waits for another: each has its own few slots, and a failing one has fewer. One team does not
// wait for another either: slots and buffers are shared (team-shares.ts).
import type { ClaimLimits } from '../../delivery-queue/delivery-queue.ts'
import {
  recordAnswer,
  leaseCapacityOf,
  isIdle,
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
} from './endpoint-queue.ts'
import { healthy, type Health } from '../../delivery-queue/retry-schedule.ts'
import { Shares, type Share } from './team-shares.ts'

/** The largest part of the free buffer that fresh deliveries of one endpoint may take. */
const BUFFER_SHARE_MAX = 0.25
const RECENTLY_USED_MS = 1000
/** Maximum time between a lease request and its response, for requests made before a lease was revoked. */
const REVOKED_MS = 120_000

/** An endpoint, and the address to which its buffered deliveries go. */
export interface Address {
  id: string
  url: string
}

export class EndpointQueues<I> {
  readonly #queues = new Map<string, EndpointQueue<I>>()
  readonly #shares = new Shares()
  /** Endpoints with free slots and buffered deliveries whose team has no share left; those that waited longest come first. */
  readonly #blocked = { quick: new Set<string>(), slow: new Set<string>() }
  /** When the last lease of an endpoint ends. */
  #holds_until_ms = -Infinity
  /** When leases were revoked. */
  readonly #revoked = new Map<string, number>()

  /** How much may be claimed now. */
  claimLimits(now_ms: number): ClaimLimits {
    const endpoints = new Map<string, number>()
    const left = new Map<Share, number>()
    for (const [id, revoked_ms] of this.#revoked) if (now_ms - revoked_ms > REVOKED_MS) this.#revoked.delete(id)
    for (const [id, queue] of this.#queues) {
      const { share } = queue
      if (isIdle(queue, now_ms)) {
        this.#queues.delete(id)
        this.#shares.leave(queue.team, share)
        continue
      }
      this.#classify(queue, now_ms)
      const ofTeam = left.get(share) ?? Math.max(0, this.#shares.roomOf(share))
      // Deliveries that are being returned to the database must not be overtaken by later ones there.
      const room = queue.returning ? 0 : Math.min(ofTeam, queueCapacity(queue, now_ms))
      left.set(share, ofTeam - room)
      endpoints.set(id, room)
    }
    return { total: this.#shares.room, others: CONCURRENCY_DEFAULT, endpoints }
  }

  /** Endpoints with buffered deliveries or attempts in flight. */
  get inUse(): string[] {
    return [...this.#queues].filter(([, queue]) => queue.in_flight > 0 || queue.waiting.length > 0).map(([id]) => id)
  }

  /**
   * The number of events that may be fanned out without buffering more for `all` endpoints, or for `some`, than they will soon
   * take. Undefined: deliveries wait for each of them in the database, so that no fresh ones could be leased. Failing or slow endpoints do
   * not count.
   */
  fanOutBudget(now_ms: number): { all: number; some: number } | undefined {
    const recent = [...this.#queues.values()].filter((queue) => queue.in_flight > 0 || now_ms - queue.used_ms <= RECENTLY_USED_MS)
    const sound = recent.filter((queue) => isSound(queue, now_ms))
    if (sound.length === 0) return { all: QUEUED_MAX, some: QUEUED_MAX }
    const direct = sound.filter((queue) => !queue.hasBacklog)
    if (direct.length === 0) return undefined
    const spare = direct.map((queue) => spareOf(queue, now_ms))
    return { all: Math.min(...spare), some: Math.max(...spare) }
  }

  /** The number of deliveries of a team that may be buffered. */
  capacityOfTeam(team: string): number {
    return this.#shares.roomOf(this.#shares.of(team))
  }

  /**
   * The number of fresh deliveries of an endpoint without deliveries in the database that may be leased: more than would be claimed.
   */
  leaseCapacity(id: string, now_ms: number): number {
    return Math.min(Math.floor(this.#shares.room * BUFFER_SHARE_MAX), leaseCapacityOf(this.#queues.get(id), now_ms))
  }

  /** Whether deliveries wait for an endpoint in the database. */
  setBacklogged(id: string, hasBacklog: boolean): void {
    const queue = this.#queues.get(id)
    if (queue) queue.hasBacklog = hasBacklog
  }

  /**
   * Whether all deliveries of an endpoint that were returned to the database had arrived there before this time: later ones must not
   * overtake them.
   */
  isSettledSince(id: string, asked_ms: number): boolean {
    const queue = this.#queues.get(id)
    return !queue || (queue.returning === 0 && queue.returned_ms < asked_ms)
  }

  /** Buffers a delivery. It counts until `release`. */
  add(
    id: string,
    item: I,
    endpoint: { team_id: string; url: string; rate_limit: number | null; health: Health },
    now_ms: number,
  ): void {
    const rate = endpoint.rate_limit
    let queue = this.#queues.get(id)
    if (!queue) {
      queue = createQueue(endpoint.team_id, this.#shares.join(endpoint.team_id), rate, now_ms)
      this.#queues.set(id, queue)
    }
    if (queue.rate !== rate) Object.assign(queue, { rate, tokens: rate ?? 0 })
    if (queue.in_flight === 0 && queue.waiting.length === 0) Object.assign(queue, { health: endpoint.health, begun_ms: now_ms })
    queue.url = endpoint.url
    queue.waiting.push(item)
    queue.used_ms = now_ms
    this.#shares.addBuffered(queue.share)
  }

  /**
   * Sets the lease of an endpoint: it lasts for this time from the request for it, unless it was revoked since. By the
   * monotonic clock of the process, so that it never ends later than the database expects. @returns whether an attempt may
   * begin
   */
  hold(id: string, asked_ms: number, for_ms: number): boolean {
    const queue = this.#queues.get(id)
    const revoked_ms = this.#revoked.get(id)
    if (revoked_ms !== undefined && asked_ms <= revoked_ms) return false
    const until_ms = asked_ms + for_ms
    if (queue) queue.until_ms = Math.max(queue.until_ms, until_ms)
    this.#holds_until_ms = Math.max(this.#holds_until_ms, until_ms)
    return true
  }

  /** This process no longer has the lease of an endpoint: no attempt begins, even if the lease was requested before. */
  revoke(id: string, now_ms: number): void {
    this.#revoked.set(id, now_ms)
    const queue = this.#queues.get(id)
    if (queue) Object.assign(queue, { until_ms: 0, url: undefined })
  }

  /**
   * Whether this process has the lease of the endpoint, so that an attempt may begin.
   * @param url the address of the request: the address of the endpoint may have changed since
   */
  isOurs({ id, url }: Address, now_ms: number): boolean {
    const queue = this.#queues.get(id)
    return queue !== undefined && now_ms < queue.until_ms && queue.url === url
  }

  /** Whether the lease of an endpoint was revoked, or its address changed, since it had this one. */
  isFormer({ id, url }: Address): boolean {
    return this.#queues.get(id)?.url !== url
  }

  /** Whether this process may have the lease of any endpoint. */
  mayHold(now_ms: number): boolean {
    return now_ms < this.#holds_until_ms
  }

  /** Endpoints with waiting deliveries whose lease has ended by the process's clock. */
  lapsed(now_ms: number): string[] {
    return [...this.#queues].filter(([, queue]) => queue.waiting.length > 0 && queue.until_ms <= now_ms).map(([id]) => id)
  }

  /** The next delivery for an endpoint, in the order of buffering; it has a slot until `releaseSlot`. */
  next(id: string, now_ms: number): I | undefined {
    const queue = this.#queues.get(id)
    if (!queue || queue.waiting.length === 0 || now_ms >= queue.until_ms || freeSlots(queue, now_ms) <= 0) return undefined
    if (!this.#shares.maySend(queue.share, queue.isSlow)) {
      this.#blocked[queue.isSlow ? 'slow' : 'quick'].add(id)
      return undefined
    }
    if (queue.in_flight++ === 0) queue.silent_since_ms = now_ms
    this.#shares.addInFlight(queue.share, queue.isSlow, 1)
    queue.tokens--
    return queue.waiting.shift()
  }

  /** The endpoint that has waited longest for a share, after an attempt has ended. */
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

  /** Whether an attempt may begin: none about the same object is in flight. If not, `releaseObject` returns the delivery when it may. */
  tryAcquireObject(id: string, object: string, item: I): boolean {
    const objects = this.#queues.get(id)?.objects
    const behind = objects?.get(object)
    if (behind) {
      behind.push(item)
      return false
    }
    objects?.set(object, [])
    return true
  }

  /** An attempt has ended. @returns the next delivery for the same object, which begins now */
  releaseObject(id: string, object: string): I | undefined {
    const objects = this.#queues.get(id)?.objects
    const next = objects?.get(object)?.shift()
    if (next === undefined) objects?.delete(object)
    return next
  }

  /** Whether so few deliveries are buffered for an endpoint that more may be claimed. */
  needsRefill(id: string): boolean {
    const queue = this.#queues.get(id)
    return !queue || queue.waiting.length <= queuedMax(queue) / 2
  }

  /** Whether so few are buffered, and more deliveries wait in the database. */
  needsRefillFromDatabase(id: string): boolean {
    return this.#queues.get(id)?.hasBacklog === true && this.needsRefill(id)
  }

  /**
   * Removes all buffered deliveries of an endpoint. @returns them, after the ones in `before`. Call `requeued` when they are
   * back in the database.
   */
  takeQueued(id: string, before: I[] = []): I[] {
    const queue = this.#queues.get(id)
    if (!queue) return before
    const all = [...before, ...queue.waiting]
    this.#shares.removeBuffered(queue.share, queue.waiting.length)
    queue.waiting = []
    if (all.length) {
      queue.hasBacklog = true
      queue.returning++
    }
    return all
  }

  requeued(id: string, now_ms: number): void {
    const queue = this.#queues.get(id)
    if (!queue || queue.returning === 0) return
    queue.returning--
    queue.returned_ms = now_ms
  }

  /** Records the response time and outcome of an endpoint. `paused_until_ms`: nothing is sent to it until then. */
  recordResult(
    id: string,
    { succeeded, duration_ms }: { succeeded: boolean; duration_ms: number },
    now_ms: number,
    paused_until_ms?: number,
  ): void {
    const queue = this.#queues.get(id)
    if (!queue) return
    recordAnswer(queue, succeeded, duration_ms, now_ms)
    this.#classify(queue, now_ms)
    queue.throttles = paused_until_ms !== undefined ? queue.throttles + 1 : succeeded ? 0 : queue.throttles
    if (paused_until_ms !== undefined) queue.paused_until_ms = paused_until_ms
  }

  /** A slot is free again. */
  releaseSlot(id: string): void {
    const queue = this.#queues.get(id)
    if (!queue) return
    queue.in_flight--
    this.#shares.addInFlight(queue.share, queue.isSlow, -1)
    this.#shares.removeBuffered(queue.share, 1)
  }

  /** A number of deliveries is no longer buffered: recorded, or returned to the database. */
  release(count: number): void {
    this.#shares.release(count)
  }

  throttles(id: string): number {
    return this.#queues.get(id)?.throttles ?? 0
  }

  health(id: string): Health {
    return this.#queues.get(id)?.health ?? healthy
  }

  setHealth(id: string, health: Health): void {
    const queue = this.#queues.get(id)
    if (queue) queue.health = health
  }

  /** Counts the attempts in flight of an endpoint among those of slow endpoints, or not. */
  #classify(queue: EndpointQueue<I>, now_ms: number): void {
    const isSlow = isSlowNow(queue, now_ms)
    if (isSlow === queue.isSlow) return
    this.#shares.addInFlight(queue.share, queue.isSlow, -queue.in_flight)
    this.#shares.addInFlight(queue.share, isSlow, queue.in_flight)
    queue.isSlow = isSlow
  }
}
