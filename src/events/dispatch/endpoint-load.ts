// What a process knows of one endpoint that it serves, and what follows from that: how many attempts may be in the air, how much may wait
// in hand. Pure: time is handed in.
import { healthy, type Health } from '../delivery-queue/retry-schedule.ts'
import type { Share } from './team-shares.ts'

export const CONCURRENCY_DEFAULT = 10
/** Of an endpoint that takes as much within a moment as is kept in hand for it: with ten it would do so only if it answered within 12 ms. */
const CONCURRENCY_FAST = 30
/** Of an endpoint whose last attempt failed: slow ones fail, and must not take the places of others. */
const CONCURRENCY_FAILING = 2
/** Of an endpoint that has not answered yet: nobody knows whether it will. */
const PLACES_NEW = 2
/** An endpoint whose answers take longer is slow, whatever it answers; so is one that has been silent for so long. */
const SLOW_MS = 1000
/** How much the last answer tells of the next ones. */
const SLOW_WEIGHT = 0.25
/** What is announced does not wait for an endpoint that has been silent for so long. */
const SILENT_MS = 250
/** More wait for an endpoint the faster it answers, as much as it took within this time: what waits is soon gone. */
const WINDOW_MS = 500
export const QUEUED_MAX = 400
/** So many are taken straight into hand for one that answers slowly. */
const QUEUED_MIN = 40
/** What has come is taken into hand even when it is this many times as much: a delivery that has to wait costs more than twice. */
const OVERCOMMIT_FACTOR = 4
const IDLE_EVICTION_MS = 600_000

export interface EndpointQueue<I> {
  team: string
  share: Share
  /** Until when it is ours, by the process's own clock: nothing leaves after that. */
  until_ms: number
  /** Its address when something was last taken into hand for it; undefined: it has been taken from us since. */
  url: string | undefined
  waiting: I[]
  flying: number
  failing: boolean
  /** How long answers take, on average; undefined: there has been none. */
  answer_ms: number | undefined
  /** Since when it owes an answer, while there are attempts in the air: the last one, or since the first of them began. */
  silent_since_ms: number
  /** Its attempts in the air are among those of slow endpoints. */
  isSlow: boolean
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
  hasBacklog: boolean
  /** When what waited was last taken back, in numbers of such times; how much of that is not put back yet. */
  cleared: number
  returning: number
  /** Objects with an attempt in the air, and what waits for its answer. */
  objects: Map<string, I[]>
}

export const createQueue = <I>(team: string, share: Share, rate: number | null, now_ms: number): EndpointQueue<I> => ({
  team,
  share,
  until_ms: 0,
  url: undefined,
  waiting: [],
  flying: 0,
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
  cleared: 0,
  returning: 0,
  objects: new Map(),
})

/** What an endpoint takes within a moment; one that has just begun is given the benefit of the doubt. */
function recentThroughput<I>(lane: EndpointQueue<I>, now_ms: number): number {
  rotateWindow(lane, now_ms)
  return now_ms - lane.begun_ms < WINDOW_MS ? QUEUED_MAX : Math.max(QUEUED_MIN, queuedMax(lane))
}

const silentMs = <I>(lane: EndpointQueue<I>, now_ms: number): number => (lane.flying > 0 ? now_ms - lane.silent_since_ms : 0)

/** Whether an endpoint answers late, wrongly or not at all. */
export const isSlowNow = <I>(lane: EndpointQueue<I>, now_ms: number): boolean =>
  lane.failing || (lane.answer_ms ?? 0) > SLOW_MS || silentMs(lane, now_ms) > SLOW_MS

/** Whether an endpoint takes what it is sent, so that what is announced may wait for it a moment. */
export const isSound = <I>(lane: EndpointQueue<I>, now_ms: number): boolean =>
  !lane.isSlow && lane.rate === null && lane.paused_until_ms <= now_ms && silentMs(lane, now_ms) <= SILENT_MS

/** Whether nothing has been sent to an endpoint for long, and nothing is to be. */
export const isForgotten = <I>(lane: EndpointQueue<I>, now_ms: number): boolean =>
  lane.flying === 0 && lane.waiting.length === 0 && now_ms - lane.used_ms > IDLE_EVICTION_MS

/** An endpoint has answered, or has not, after so long. */
export function releaseObject<I>(lane: EndpointQueue<I>, succeeded: boolean, duration_ms: number, now_ms: number): void {
  lane.failing = !succeeded
  lane.answer_ms = lane.answer_ms === undefined ? duration_ms : lane.answer_ms + SLOW_WEIGHT * (duration_ms - lane.answer_ms)
  lane.silent_since_ms = now_ms
  if (!succeeded) return
  rotateWindow(lane, now_ms)
  lane.taken++
}

/** How much less an endpoint has in hand than it will soon have taken. */
export const spareOf = <I>(lane: EndpointQueue<I>, now_ms: number): number =>
  CONCURRENCY_DEFAULT + recentThroughput(lane, now_ms) - lane.flying - lane.waiting.length

/** How much may come straight into hand for an endpoint; of one that is not known, as much as for one that has just begun. */
export function directRoomOf<I>(lane: EndpointQueue<I> | undefined, now_ms: number): number {
  if (!lane) return CONCURRENCY_DEFAULT + QUEUED_MAX
  if (lane.isSlow || lane.paused_until_ms > now_ms) return 0
  if (lane.answer_ms === undefined) return spareOf(lane, now_ms)
  return CONCURRENCY_DEFAULT + OVERCOMMIT_FACTOR * recentThroughput(lane, now_ms) - lane.flying - lane.waiting.length
}

function refillTokens<I>(lane: EndpointQueue<I>, now_ms: number): void {
  if (lane.rate === null) return
  lane.tokens = Math.min(lane.rate, lane.tokens + ((now_ms - lane.refilled_ms) / 1000) * lane.rate)
  lane.refilled_ms = now_ms
}

function rotateWindow<I>(lane: EndpointQueue<I>, now_ms: number): void {
  if (now_ms - lane.window_ms < WINDOW_MS) return
  lane.taken_before = now_ms - lane.window_ms < 2 * WINDOW_MS ? lane.taken : 0
  lane.taken = 0
  lane.window_ms = now_ms
}

export const queuedMax = <I>(lane: EndpointQueue<I>): number =>
  lane.failing || lane.rate !== null ? 0 : Math.min(QUEUED_MAX, Math.max(lane.taken, lane.taken_before))

const isFast = <I>(lane: EndpointQueue<I>): boolean => Math.max(lane.taken, lane.taken_before) >= QUEUED_MAX

/** How many attempts more may be in the air. */
export function freeSlots<I>(lane: EndpointQueue<I>, now_ms: number): number {
  if (lane.paused_until_ms > now_ms) return 0
  refillTokens(lane, now_ms)
  const places =
    (lane.failing
      ? CONCURRENCY_FAILING
      : lane.answer_ms === undefined
        ? PLACES_NEW
        : isFast(lane)
          ? CONCURRENCY_FAST
          : CONCURRENCY_DEFAULT) - lane.flying
  return Math.max(0, lane.rate === null ? places : Math.min(places, Math.floor(lane.tokens)))
}

export function queueCapacity<I>(lane: EndpointQueue<I>, now_ms: number): number {
  rotateWindow(lane, now_ms)
  if (lane.paused_until_ms > now_ms) return 0
  return Math.max(0, freeSlots(lane, now_ms) + queuedMax(lane) - lane.waiting.length)
}
