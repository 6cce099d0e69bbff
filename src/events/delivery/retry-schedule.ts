// When a delivery is tried again, and when an endpoint is disabled. Pure: time, randomness and responses are parameters.
// Source: events.md 6.5, 6.7.
import { HOUR_MS } from '../../platform/runtime/durations.ts'

const JITTER = 0.2
const FAILURE_GRACE_MS = 12 * HOUR_MS
const WINDOW_MS = 24 * HOUR_MS
const DISABLE_AFTER_MS = 120 * HOUR_MS
const THROTTLE_S_MAX = 60
const THROTTLING = new Set([429, 502, 504])

/**
 * Seconds until the next attempt after `failures` of this round; undefined after the last. The receiver can only delay it.
 * @param chance from 0 to 1
 */
export function nextDelay(
  schedule_s: readonly number[],
  failures: number,
  retry_after_s: number | undefined,
  chance: number,
): number | undefined {
  const delay_s = schedule_s[failures]
  if (delay_s === undefined) return undefined
  return Math.max(delay_s * (1 - JITTER + 2 * JITTER * chance), retry_after_s ?? 0)
}

/** Seconds for which an endpoint is paused after it reported overload `times` times in a row; undefined if it did not. */
export function throttleDelay(status: number | null, retry_after_s: number | undefined, times: number): number | undefined {
  if (status === 503 && retry_after_s !== undefined) return Math.min(retry_after_s, THROTTLE_S_MAX)
  if (status === null || !THROTTLING.has(status)) return undefined
  return Math.min(Math.max(2 ** times, retry_after_s ?? 0), THROTTLE_S_MAX)
}

/** Seconds between the attempts at a broker; the last one repeats. */
export const BROKER_SCHEDULE_S: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]

/**
 * Seconds until the next attempt at a broker after this many failures in a row, randomized by a fifth.
 * @param chance from 0 to 1
 */
export const brokerDelay = (schedule_s: readonly number[], failures: number, chance: number): number =>
  schedule_s[Math.min(failures, schedule_s.length) - 1]! * (1 - JITTER + 2 * JITTER * chance)

/** The health of an endpoint. */
export interface Health {
  first_failure_at: Date | undefined
  failing_since: Date | undefined
}

export const healthy: Health = { first_failure_at: undefined, failing_since: undefined }

/**
 * The health after an attempt. An endpoint is `dead` after five days with failures only, counted from when it had failed for
 * twelve hours within a day.
 */
export function nextHealth(health: Health, succeeded: boolean, answered_at: Date): Health & { dead: boolean } {
  if (succeeded) return { ...healthy, dead: false }
  const { first_failure_at: first, failing_since: since } = health
  if (since) return { ...health, dead: answered_at.getTime() - since.getTime() >= DISABLE_AFTER_MS }
  if (!first || answered_at.getTime() - first.getTime() > WINDOW_MS)
    return { first_failure_at: answered_at, failing_since: undefined, dead: false }
  const started = answered_at.getTime() - first.getTime() >= FAILURE_GRACE_MS
  return { first_failure_at: first, failing_since: started ? answered_at : undefined, dead: false }
}
