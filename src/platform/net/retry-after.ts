// What a server asks callers to wait. Source: RFC 9110 10.2.3, 5.6.7.

/** The longest time that another server can make this server wait. */
const WAIT_S_MAX = 86_400
const WAIT_S_MIN = 1
const SECONDS = /^\d{1,15}(\.\d{1,9})?$/
const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/**
 * The seconds to wait, from 1 to a day, by the header `Retry-After` in seconds or as a date; undefined if it is absent, no such value, or asks
 * for no wait.
 */
export function retryAfterSeconds(header: string | null | undefined, now_ms: number): number | undefined {
  const text = header?.trim() ?? ''
  const wait_s = SECONDS.test(text) ? Number(text) : DATE.test(text) ? (Date.parse(text) - now_ms) / 1000 : NaN
  return wait_s > 0 ? Math.min(WAIT_S_MAX, Math.max(WAIT_S_MIN, wait_s)) : undefined
}
