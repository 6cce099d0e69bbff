// Which delivery a process sends next, and how many at once. Every destination has a queue of its own with a few slots, so that none
// waits for another; a slow or failing one has fewer. Teams share the slots and the buffer of the process. Pure: the time is a parameter.
//
// A team may use as much as is still free, so that a new team always finds room: one team has at most half, two a third each, ten an
// eleventh each. Slow destinations share half of the attempts by the same rule, so that the other half is always available for
// destinations that respond in time.
// Source: A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.
import type { BufferedDelivery, Target } from './destination.ts'
import type { ClaimLimits } from './delivery-rows.ts'
import { healthy, type Health } from './retry-schedule.ts'

/** Maximum number of buffered deliveries of a process: waiting, in flight, or answered and not yet recorded. */
const BUFFERED_MAX = 6000
const IN_FLIGHT_MAX = 500
const SLOW_MAX = IN_FLIGHT_MAX / 2
const CONCURRENCY_DEFAULT = 10
/**
 * Attempts in flight to a destination that empties its buffer within `WINDOW_MS`: with ten it would have to respond within 12 ms.
 */
const CONCURRENCY_FAST = 30
/** Attempts in flight to a destination whose last attempt failed: slow destinations fail, and must not use the slots of others. */
const CONCURRENCY_FAILING = 2
/** Attempts in flight to a destination that has not answered yet. */
const CONCURRENCY_NEW = 2
/** A destination that takes longer to respond is slow, whatever it responds; so is one without a response for this time. */
const SLOW_MS = 1000
/** The weight of the last answer in the average. */
const SLOW_WEIGHT = 0.25
/** Fan-out does not wait for a destination without a response for this time. */
const SILENT_MS = 250
/** The buffer of a destination holds as many deliveries as it has taken within this time, so that they are soon sent. */
const WINDOW_MS = 500
const QUEUED_MAX = 400
/** Number of fresh deliveries that may be leased for a destination that answers slowly. */
const QUEUED_MIN = 40
/** Fresh deliveries are leased up to this multiple of the recent throughput: one that has to be claimed costs more. */
const OVERCOMMIT_FACTOR = 4
/** The largest part of the free buffer that fresh deliveries of one destination may take. */
const BUFFER_SHARE_MAX = 0.25
/** The largest batch of one attempt at a broker. */
const BATCH_MAX = 100
const BATCH_BYTES_MAX = 1024 * 1024
const RECENTLY_USED_MS = 1000
const IDLE_EVICTION_MS = 600_000
/** Maximum time between a lease request and its response, for requests made before a lease was revoked. */
const REVOKED_MS = 120_000

/** The usage of a team. */
interface Share {
  /** The number of its destinations with a queue in the process. */
  queues: number
  /** Deliveries waiting or in flight. */
  bufferedCount: number
  /** Attempts in flight to destinations that respond in time, and to slow ones. */
  quick: number
  slow: number
}

/** The queue of one destination in a process. */
interface DestinationQueue {
  team: string
  share: Share
  /** The destination takes one batch of deliveries at a time, instead of single ones concurrently. */
  isBatch: boolean
  /** When the lease ends, by the monotonic clock of the process: no attempt begins after that. */
  until_ms: number
  /** Its address when a delivery was last buffered; undefined: the lease was revoked since. */
  address: string | undefined
  deliveries: BufferedDelivery[]
  in_flight: number
  failing: boolean
  /** The average response time; undefined: there has been no response. */
  answer_ms: number | undefined
  /** While attempts are in flight: when the last response came, or when the first of them began. */
  silent_since_ms: number
  /** Its attempts in flight count among those of slow destinations. */
  isSlow: boolean
  /** How often in a row it asked for a pause, or was unreachable. */
  pauses: number
  paused_until_ms: number
  /** Deliveries that may be sent now, to an endpoint with a rate limit. */
  tokens: number
  refilled_ms: number
  rate: number | null
  used_ms: number
  health: Health
  /** Since when there have been buffered deliveries. */
  begun_ms: number
  /** Deliveries taken by the destination since the window began, and in the previous window. */
  window_ms: number
  takenCount: number
  taken_before: number
  /** Deliveries wait for it in the database, which are older than the events that are fanned out now. */
  hasBacklog: boolean
  /** When deliveries that were returned to the database had last arrived there, and how many returns are under way. */
  returned_ms: number
  returnCount: number
  /** Objects with an attempt in flight, and the deliveries that wait for its response. */
  objects: Map<string, BufferedDelivery[]>
}

export class DestinationQueues {
  readonly #queues = new Map<string, DestinationQueue>()
  readonly #teams = new Map<string, Share>()
  /** The share of all teams together. */
  readonly #total: Share = newShare()
  /** Destinations with free slots and buffered deliveries whose team has no share left; the ones that waited longest come first. */
  readonly #blocked = { quick: new Set<string>(), slow: new Set<string>() }
  /** When the last lease of a destination ends. */
  #holds_until_ms = -Infinity
  /** When leases were revoked. */
  readonly #revoked = new Map<string, number>()

  // How much may be fanned out, leased and claimed.

  /** How many deliveries may be claimed now: in total, and for each destination. */
  claimLimits(now_ms: number): ClaimLimits {
    const destinations = new Map<string, number>()
    const left = new Map<Share, number>()
    for (const [id, revoked_ms] of this.#revoked) if (now_ms - revoked_ms > REVOKED_MS) this.#revoked.delete(id)
    for (const [id, queue] of this.#queues) {
      const { share } = queue
      if (isEmpty(queue) && now_ms - queue.used_ms > IDLE_EVICTION_MS) {
        this.#queues.delete(id)
        if (--share.queues === 0) this.#teams.delete(queue.team)
        continue
      }
      // The pause is in the database, where it may have been ended.
      if (isEmpty(queue)) queue.paused_until_ms = 0
      this.#classify(queue, now_ms)
      const teamRoom = left.get(share) ?? Math.max(0, this.#room - share.bufferedCount)
      // Deliveries that are being returned to the database must not be overtaken by later ones there.
      const room = queue.returnCount ? 0 : Math.min(teamRoom, claimCapacity(queue, now_ms))
      left.set(share, teamRoom - room)
      destinations.set(id, room)
    }
    return { total: this.#room, others_max: CONCURRENCY_DEFAULT, destinations }
  }

  /**
   * The number of events that may be fanned out without buffering more for `all` destinations, or for `some`, than they will soon
   * take. Undefined: deliveries wait for each of them in the database, so that no fresh ones could be leased. Failing or slow
   * destinations do not count.
   */
  fanOutBudget(now_ms: number): { forAll: number; forSome: number } | undefined {
    const recent = [...this.#queues.values()].filter((queue) => queue.in_flight > 0 || now_ms - queue.used_ms <= RECENTLY_USED_MS)
    const responsive = recent.filter((queue) => isResponsive(queue, now_ms))
    if (responsive.length === 0) return { forAll: QUEUED_MAX, forSome: QUEUED_MAX }
    const withoutBacklog = responsive.filter((queue) => !queue.hasBacklog)
    if (withoutBacklog.length === 0) return undefined
    const spare = withoutBacklog.map((queue) => spareCapacity(queue, now_ms))
    return { forAll: Math.min(...spare), forSome: Math.max(...spare) }
  }

  /** The number of deliveries of a team that may be buffered. */
  teamCapacity(team: string): number {
    return this.#room - (this.#teams.get(team)?.bufferedCount ?? 0)
  }

  /** The number of fresh deliveries that may be leased for a destination without deliveries in the database. */
  leaseCapacity(id: string, now_ms: number): number {
    return Math.min(Math.floor(this.#room * BUFFER_SHARE_MAX), freshCapacity(this.#queues.get(id), now_ms))
  }

  /** Whether deliveries wait for a destination in the database. */
  setBacklogged(id: string, hasBacklog: boolean): void {
    const queue = this.#queues.get(id)
    if (queue) queue.hasBacklog = hasBacklog
  }

  /** Whether so few deliveries are buffered for a destination, and more wait in the database, that they should be claimed. */
  needsRefill(id: string): boolean {
    const queue = this.#queues.get(id)
    return queue !== undefined && queue.hasBacklog && queue.deliveries.length <= queuedMax(queue) / 2
  }

  // What is buffered, and its way back to the database.

  /** Destinations with buffered deliveries or attempts in flight. */
  get inUse(): string[] {
    return [...this.#queues].filter(([, queue]) => !isEmpty(queue)).map(([id]) => id)
  }

  /** Buffers a delivery. It counts until `release`. */
  add(delivery: BufferedDelivery, now_ms: number): void {
    const { id, team_id, rate_limit: rate, health, address, isBatch } = delivery.target
    let queue = this.#queues.get(id)
    if (!queue) {
      queue = newQueue(team_id, this.#joinTeam(team_id), { rate, isBatch }, now_ms)
      this.#queues.set(id, queue)
    }
    if (queue.rate !== rate) Object.assign(queue, { rate, tokens: rate ?? 0 })
    if (isEmpty(queue)) Object.assign(queue, { health, begun_ms: now_ms })
    queue.address = address
    queue.deliveries.push(delivery)
    queue.used_ms = now_ms
    queue.share.bufferedCount++
    this.#total.bufferedCount++
  }

  /** A number of deliveries is no longer buffered: recorded, or returned to the database. */
  release(count: number): void {
    this.#total.bufferedCount -= count
  }

  /**
   * Removes all buffered deliveries of a destination. @returns them, after the ones in `before`. Call `confirmReturn` when they are
   * back in the database.
   */
  takeQueued(id: string, earlier: BufferedDelivery[] = []): BufferedDelivery[] {
    const queue = this.#queues.get(id)
    if (!queue) return earlier
    const all = [...earlier, ...queue.deliveries]
    queue.share.bufferedCount -= queue.deliveries.length
    queue.deliveries = []
    if (all.length) {
      queue.hasBacklog = true
      queue.returnCount++
    }
    return all
  }

  confirmReturn(id: string, now_ms: number): void {
    const queue = this.#queues.get(id)
    if (!queue || queue.returnCount === 0) return
    queue.returnCount--
    queue.returned_ms = now_ms
  }

  /**
   * Whether all deliveries of a destination that were returned to the database had arrived there before this time: later ones must not
   * overtake them.
   */
  isSettledSince(id: string, asked_ms: number): boolean {
    const queue = this.#queues.get(id)
    return !queue || (queue.returnCount === 0 && queue.returned_ms < asked_ms)
  }

  // Leases.

  /**
   * Sets the lease of a destination: it lasts for this time from the request for it, unless it was revoked since. By the monotonic
   * clock of the process, so that it never ends later than the database expects. @returns whether an attempt may begin
   */
  hold(id: string, asked_ms: number, for_ms: number): boolean {
    const revoked_ms = this.#revoked.get(id)
    if (revoked_ms !== undefined && asked_ms <= revoked_ms) return false
    const queue = this.#queues.get(id)
    const until_ms = asked_ms + for_ms
    if (queue) queue.until_ms = Math.max(queue.until_ms, until_ms)
    this.#holds_until_ms = Math.max(this.#holds_until_ms, until_ms)
    return true
  }

  /** This process no longer has the lease of a destination: no attempt begins, even if the lease was requested before. */
  revoke(id: string, now_ms: number): void {
    this.#revoked.set(id, now_ms)
    const queue = this.#queues.get(id)
    if (queue) Object.assign(queue, { until_ms: 0, address: undefined })
  }

  /**
   * Whether this process has the lease of a destination, so that an attempt may begin.
   * @param address that of the request: the address of the destination may have changed since
   */
  isOurs(id: string, address: string, now_ms: number): boolean {
    const queue = this.#queues.get(id)
    return queue !== undefined && now_ms < queue.until_ms && queue.address === address
  }

  /** Whether the lease of a destination was revoked, or its address changed, since it had this one. */
  isFormer({ id, address }: Target): boolean {
    return this.#queues.get(id)?.address !== address
  }

  /** Whether this process may have the lease of any destination. */
  mayHold(now_ms: number): boolean {
    return now_ms < this.#holds_until_ms
  }

  /** Destinations with waiting deliveries whose lease has ended by the process's clock. */
  listLapsed(now_ms: number): string[] {
    return [...this.#queues].filter(([, queue]) => queue.deliveries.length > 0 && queue.until_ms <= now_ms).map(([id]) => id)
  }

  // Attempts.

  /** The deliveries of the next attempt, in the order of buffering; they have a slot until `releaseSlot`. Undefined: none may begin. */
  next(id: string, now_ms: number): BufferedDelivery[] | undefined {
    const queue = this.#queues.get(id)
    if (!queue || queue.deliveries.length === 0 || now_ms >= queue.until_ms || freeSlots(queue, now_ms) <= 0) return undefined
    if (!this.#mayBegin(queue)) {
      this.#blocked[queue.isSlow ? 'slow' : 'quick'].add(id)
      return undefined
    }
    if (queue.in_flight++ === 0) queue.silent_since_ms = now_ms
    this.#countInFlight(queue, queue.isSlow, 1)
    queue.tokens--
    return queue.isBatch ? queue.deliveries.splice(0, batchSize(queue.deliveries)) : [queue.deliveries.shift()!]
  }

  /** An attempt with this many deliveries has ended: its slot is free again. */
  releaseSlot(id: string, deliveries = 1): void {
    const queue = this.#queues.get(id)
    if (!queue) return
    queue.in_flight--
    this.#countInFlight(queue, queue.isSlow, -1)
    queue.share.bufferedCount -= deliveries
  }

  /** The destination that has waited longest for a share, after an attempt has ended. */
  nextBlocked(isSlow: boolean): string | undefined {
    const blocked = this.#blocked[isSlow ? 'slow' : 'quick']
    const [id] = blocked
    if (id !== undefined) blocked.delete(id)
    return id
  }

  /** All destinations that waited for a share. */
  takeBlocked(): string[] {
    const ids = [...this.#blocked.quick, ...this.#blocked.slow]
    this.#blocked.quick.clear()
    this.#blocked.slow.clear()
    return ids
  }

  /** Whether an attempt may begin: none about the same object is in flight. If not, `releaseObject` returns the delivery when it may. */
  tryAcquireObject(object: string, delivery: BufferedDelivery): boolean {
    const objects = this.#queues.get(delivery.target.id)?.objects
    const behind = objects?.get(object)
    if (behind) {
      behind.push(delivery)
      return false
    }
    objects?.set(object, [])
    return true
  }

  /** An attempt has ended. @returns the next delivery about the same object, which begins now */
  releaseObject(id: string, object: string): BufferedDelivery | undefined {
    const objects = this.#queues.get(id)?.objects
    const next = objects?.get(object)?.shift()
    if (next === undefined) objects?.delete(object)
    return next
  }

  /** Records the response time and outcome of an attempt. `paused_until_ms`: nothing is sent to the destination until then. */
  recordResult(
    id: string,
    { succeeded, duration_ms }: { succeeded: boolean; duration_ms: number },
    now_ms: number,
    paused_until_ms?: number,
  ): void {
    const queue = this.#queues.get(id)
    if (!queue) return
    queue.failing = !succeeded
    queue.answer_ms =
      queue.answer_ms === undefined ? duration_ms : queue.answer_ms + SLOW_WEIGHT * (duration_ms - queue.answer_ms)
    queue.silent_since_ms = now_ms
    if (succeeded) {
      rotateWindow(queue, now_ms)
      queue.takenCount++
    }
    this.#classify(queue, now_ms)
    queue.pauses = paused_until_ms !== undefined ? queue.pauses + 1 : succeeded ? 0 : queue.pauses
    if (paused_until_ms !== undefined) queue.paused_until_ms = paused_until_ms
  }

  countPauses(id: string): number {
    return this.#queues.get(id)?.pauses ?? 0
  }

  health(id: string): Health {
    return this.#queues.get(id)?.health ?? healthy
  }

  setHealth(id: string, health: Health): void {
    const queue = this.#queues.get(id)
    if (queue) queue.health = health
  }

  // Shares of teams.

  /** The number of deliveries that the process may still buffer. */
  get #room(): number {
    return BUFFERED_MAX - this.#total.bufferedCount
  }

  #joinTeam(team: string): Share {
    let share = this.#teams.get(team)
    if (!share) this.#teams.set(team, (share = newShare()))
    share.queues++
    return share
  }

  /** Whether the team of a destination may begin one more attempt. */
  #mayBegin({ share, isSlow }: DestinationQueue): boolean {
    const free = IN_FLIGHT_MAX - this.#total.quick - this.#total.slow
    return isSlow ? free > 0 && share.slow < SLOW_MAX - this.#total.slow : share.quick < free
  }

  #countInFlight({ share }: DestinationQueue, isSlow: boolean, count: number): void {
    for (const one of [share, this.#total]) one[isSlow ? 'slow' : 'quick'] += count
  }

  /** Counts the attempts in flight of a destination among those of slow ones, or not. */
  #classify(queue: DestinationQueue, now_ms: number): void {
    const isSlow = queue.failing || (queue.answer_ms ?? 0) > SLOW_MS || silentMs(queue, now_ms) > SLOW_MS
    if (isSlow === queue.isSlow) return
    this.#countInFlight(queue, queue.isSlow, -queue.in_flight)
    this.#countInFlight(queue, isSlow, queue.in_flight)
    queue.isSlow = isSlow
  }
}

const newShare = (): Share => ({ queues: 0, bufferedCount: 0, quick: 0, slow: 0 })

const newQueue = (
  team: string,
  share: Share,
  { rate, isBatch }: { rate: number | null; isBatch: boolean },
  now_ms: number,
): DestinationQueue => ({
  team,
  share,
  isBatch,
  until_ms: 0,
  address: undefined,
  deliveries: [],
  in_flight: 0,
  failing: false,
  answer_ms: undefined,
  silent_since_ms: now_ms,
  isSlow: false,
  pauses: 0,
  paused_until_ms: 0,
  tokens: rate ?? 0,
  refilled_ms: now_ms,
  rate,
  used_ms: now_ms,
  health: healthy,
  begun_ms: now_ms,
  window_ms: now_ms,
  takenCount: 0,
  taken_before: 0,
  hasBacklog: false,
  returned_ms: -Infinity,
  returnCount: 0,
  objects: new Map(),
})

const isEmpty = ({ in_flight, deliveries }: DestinationQueue): boolean => in_flight === 0 && deliveries.length === 0

/** The number of attempts that may begin. */
function freeSlots(queue: DestinationQueue, now_ms: number): number {
  if (queue.paused_until_ms > now_ms) return 0
  if (queue.isBatch) return 1 - queue.in_flight
  const slots = concurrency(queue) - queue.in_flight
  if (queue.rate === null) return Math.max(0, slots)
  queue.tokens = Math.min(queue.rate, queue.tokens + ((now_ms - queue.refilled_ms) / 1000) * queue.rate)
  queue.refilled_ms = now_ms
  return Math.max(0, Math.min(slots, Math.floor(queue.tokens)))
}

function concurrency({ failing, answer_ms, takenCount, taken_before }: DestinationQueue): number {
  if (failing) return CONCURRENCY_FAILING
  if (answer_ms === undefined) return CONCURRENCY_NEW
  return Math.max(takenCount, taken_before) >= QUEUED_MAX ? CONCURRENCY_FAST : CONCURRENCY_DEFAULT
}

/** The number of deliveries of the next batch: at least one. */
function batchSize(deliveries: BufferedDelivery[]): number {
  let bytes = 0
  const end = deliveries.findIndex(({ delivery }, i) => (bytes += delivery.body.length) > BATCH_BYTES_MAX && i > 0)
  return Math.min(BATCH_MAX, end === -1 ? deliveries.length : end)
}

/** The number of due deliveries of a destination that may be claimed. */
function claimCapacity(queue: DestinationQueue, now_ms: number): number {
  rotateWindow(queue, now_ms)
  if (queue.paused_until_ms > now_ms) return 0
  return Math.max(0, freeSlots(queue, now_ms) + queuedMax(queue) - queue.deliveries.length)
}

/** The number of fresh deliveries of a destination that may be leased; without a queue, that of a new destination. */
function freshCapacity(queue: DestinationQueue | undefined, now_ms: number): number {
  if (!queue) return CONCURRENCY_DEFAULT + QUEUED_MAX
  if (queue.isSlow || queue.paused_until_ms > now_ms) return 0
  if (queue.isBatch || queue.answer_ms === undefined) return spareCapacity(queue, now_ms)
  return spareCapacity(queue, now_ms) + (OVERCOMMIT_FACTOR - 1) * recentThroughput(queue, now_ms)
}

/** The number of deliveries that a destination will soon have taken beyond those buffered. */
const spareCapacity = (queue: DestinationQueue, now_ms: number): number =>
  CONCURRENCY_DEFAULT + recentThroughput(queue, now_ms) - queue.in_flight - queue.deliveries.length

/** The number of deliveries that a destination has taken within `WINDOW_MS`; the maximum for a new one. */
function recentThroughput(queue: DestinationQueue, now_ms: number): number {
  rotateWindow(queue, now_ms)
  return now_ms - queue.begun_ms < WINDOW_MS ? QUEUED_MAX : Math.max(QUEUED_MIN, queuedMax(queue))
}

function queuedMax({ failing, rate, isBatch, takenCount, taken_before }: DestinationQueue): number {
  if (failing || rate !== null) return 0
  return isBatch ? BATCH_MAX : Math.min(QUEUED_MAX, Math.max(takenCount, taken_before))
}

function rotateWindow(queue: DestinationQueue, now_ms: number): void {
  if (now_ms - queue.window_ms < WINDOW_MS) return
  queue.taken_before = now_ms - queue.window_ms < 2 * WINDOW_MS ? queue.takenCount : 0
  queue.takenCount = 0
  queue.window_ms = now_ms
}

const silentMs = (queue: DestinationQueue, now_ms: number): number => (queue.in_flight > 0 ? now_ms - queue.silent_since_ms : 0)

/** Whether a destination responds in time, so that fan-out may wait for it a moment. */
const isResponsive = (queue: DestinationQueue, now_ms: number): boolean =>
  !queue.isSlow && queue.rate === null && queue.paused_until_ms <= now_ms && silentMs(queue, now_ms) <= SILENT_MS
