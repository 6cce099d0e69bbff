// The queue of one endpoint in a process, and its limits: how many attempts may be in flight, how many deliveries may be buffered. Pure: the
// time is a parameter.
import { healthy, type Health } from '../../delivery-queue/retry-schedule.ts'
import type { Share } from './team-shares.ts'

export const CONCURRENCY_DEFAULT = 10
/**
 * Attempts in flight to an endpoint that empties its buffer within `WINDOW_MS`: with ten it would have to respond within 12 ms.
 */
const CONCURRENCY_FAST = 30
/** Attempts in flight to an endpoint whose last attempt failed: slow endpoints fail, and must not use the slots of others. */
const CONCURRENCY_FAILING = 2
/** Attempts in flight to an endpoint that has not answered yet. */
const CONCURRENCY_NEW = 2
/** An endpoint that takes longer to respond is slow, whatever it responds; so is one without a response for this time. */
const SLOW_MS = 1000
/** The weight of the last answer in the average. */
const SLOW_WEIGHT = 0.25
/** Fan-out does not wait for an endpoint without a response for this time. */
const SILENT_MS = 250
/** The buffer of an endpoint holds as many deliveries as the endpoint has taken within this time, so that they are soon sent. */
const WINDOW_MS = 500
export const QUEUED_MAX = 400
/** Number of fresh deliveries that may be leased for an endpoint that answers slowly. */
const QUEUED_MIN = 40
/**
 * Fresh deliveries are leased up to this multiple of the recent throughput: one that has to be claimed costs more.
 */
const OVERCOMMIT_FACTOR = 4
const IDLE_EVICTION_MS = 600_000

export interface EndpointQueue<I> {
  team: string
  share: Share
  /** When the lease ends, by the monotonic clock of the process: no attempt begins after that. */
  until_ms: number
  /** Its address when a delivery was last buffered; undefined: the lease was revoked since. */
  url: string | undefined
  waiting: I[]
  in_flight: number
  failing: boolean
  /** The average response time; undefined: there has been no response. */
  answer_ms: number | undefined
  /** While attempts are in flight: when the last response came, or when the first of them began. */
  silent_since_ms: number
  /** Its attempts in flight count among those of slow endpoints. */
  isSlow: boolean
  throttles: number
  paused_until_ms: number
  /** Messages that may be sent now, of an endpoint with a rate limit. */
  tokens: number
  refilled_ms: number
  rate: number | null
  used_ms: number
  health: Health
  /** Since when there have been buffered deliveries. */
  begun_ms: number
  /** Deliveries taken by the endpoint since the window began, and in the previous window. */
  window_ms: number
  taken: number
  taken_before: number
  /** Deliveries wait for it in the database, which are older than the events that are fanned out now. */
  hasBacklog: boolean
  /** The number of the last removal of its deliveries; how many removals are not in the database yet. */
  /** When deliveries that were returned to the database had last arrived there. */
  returned_ms: number
  returning: number
  /** Objects with an attempt in flight, and the deliveries that wait for its response. */
  objects: Map<string, I[]>
}

export const createQueue = <I>(team: string, share: Share, rate: number | null, now_ms: number): EndpointQueue<I> => ({
  team,
  share,
  until_ms: 0,
  url: undefined,
  waiting: [],
  in_flight: 0,
  failing: false,
  answer_ms: undefined,
  silent_since_ms: now_ms,
  isSlow: false,
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
  hasBacklog: false,
  returned_ms: -Infinity,
  returning: 0,
  objects: new Map(),
})

/** The number of deliveries that an endpoint has taken within `WINDOW_MS`; the maximum for a new endpoint. */
function recentThroughput<I>(queue: EndpointQueue<I>, now_ms: number): number {
  rotateWindow(queue, now_ms)
  return now_ms - queue.begun_ms < WINDOW_MS ? QUEUED_MAX : Math.max(QUEUED_MIN, queuedMax(queue))
}

const silentMs = <I>(queue: EndpointQueue<I>, now_ms: number): number =>
  queue.in_flight > 0 ? now_ms - queue.silent_since_ms : 0

/** Whether an endpoint responds late, with an error or not at all. */
export const isSlowNow = <I>(queue: EndpointQueue<I>, now_ms: number): boolean =>
  queue.failing || (queue.answer_ms ?? 0) > SLOW_MS || silentMs(queue, now_ms) > SLOW_MS

/** Whether an endpoint responds in time, so that fan-out may wait for it a moment. */
export const isSound = <I>(queue: EndpointQueue<I>, now_ms: number): boolean =>
  !queue.isSlow && queue.rate === null && queue.paused_until_ms <= now_ms && silentMs(queue, now_ms) <= SILENT_MS

/** Whether nothing has been sent to an endpoint for long, and nothing is buffered. */
export const isIdle = <I>(queue: EndpointQueue<I>, now_ms: number): boolean =>
  queue.in_flight === 0 && queue.waiting.length === 0 && now_ms - queue.used_ms > IDLE_EVICTION_MS

/** Records a response of an endpoint, or a timeout, with the time it took. */
export function recordAnswer<I>(queue: EndpointQueue<I>, succeeded: boolean, duration_ms: number, now_ms: number): void {
  queue.failing = !succeeded
  queue.answer_ms = queue.answer_ms === undefined ? duration_ms : queue.answer_ms + SLOW_WEIGHT * (duration_ms - queue.answer_ms)
  queue.silent_since_ms = now_ms
  if (!succeeded) return
  rotateWindow(queue, now_ms)
  queue.taken++
}

/** The number of deliveries that an endpoint will soon have taken beyond those buffered. */
export const spareOf = <I>(queue: EndpointQueue<I>, now_ms: number): number =>
  CONCURRENCY_DEFAULT + recentThroughput(queue, now_ms) - queue.in_flight - queue.waiting.length

/** The number of fresh deliveries of an endpoint that may be leased; without a queue, that of a new endpoint. */
export function leaseCapacityOf<I>(queue: EndpointQueue<I> | undefined, now_ms: number): number {
  if (!queue) return CONCURRENCY_DEFAULT + QUEUED_MAX
  if (queue.isSlow || queue.paused_until_ms > now_ms) return 0
  if (queue.answer_ms === undefined) return spareOf(queue, now_ms)
  return CONCURRENCY_DEFAULT + OVERCOMMIT_FACTOR * recentThroughput(queue, now_ms) - queue.in_flight - queue.waiting.length
}

function refillTokens<I>(queue: EndpointQueue<I>, now_ms: number): void {
  if (queue.rate === null) return
  queue.tokens = Math.min(queue.rate, queue.tokens + ((now_ms - queue.refilled_ms) / 1000) * queue.rate)
  queue.refilled_ms = now_ms
}

function rotateWindow<I>(queue: EndpointQueue<I>, now_ms: number): void {
  if (now_ms - queue.window_ms < WINDOW_MS) return
  queue.taken_before = now_ms - queue.window_ms < 2 * WINDOW_MS ? queue.taken : 0
  queue.taken = 0
  queue.window_ms = now_ms
}

export const queuedMax = <I>(queue: EndpointQueue<I>): number =>
  queue.failing || queue.rate !== null ? 0 : Math.min(QUEUED_MAX, Math.max(queue.taken, queue.taken_before))

const isFast = <I>(queue: EndpointQueue<I>): boolean => Math.max(queue.taken, queue.taken_before) >= QUEUED_MAX

/** The number of attempts that may begin. */
export function freeSlots<I>(queue: EndpointQueue<I>, now_ms: number): number {
  if (queue.paused_until_ms > now_ms) return 0
  refillTokens(queue, now_ms)
  const slots =
    (queue.failing
      ? CONCURRENCY_FAILING
      : queue.answer_ms === undefined
        ? CONCURRENCY_NEW
        : isFast(queue)
          ? CONCURRENCY_FAST
          : CONCURRENCY_DEFAULT) - queue.in_flight
  return Math.max(0, queue.rate === null ? slots : Math.min(slots, Math.floor(queue.tokens)))
}

export function queueCapacity<I>(queue: EndpointQueue<I>, now_ms: number): number {
  rotateWindow(queue, now_ms)
  if (queue.paused_until_ms > now_ms) return 0
  return Math.max(0, freeSlots(queue, now_ms) + queuedMax(queue) - queue.waiting.length)
}
