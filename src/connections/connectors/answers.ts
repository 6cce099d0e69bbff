// Reading what vendors answer. A vendor's own text is never passed on: it may hold data of patients or tokens.
import { readOutsideJson } from '../../platform/net/outside-json.ts'
import { retryAfterSeconds } from '../../platform/net/retry-after.ts'
import { VendorError, type Grant, type VendorHttp } from './connector.ts'
import { MINUTE_MS } from '../../platform/runtime/durations.ts'

export type VendorAnswer = Awaited<ReturnType<VendorHttp>>

/** How long the vendor asks to wait, a second to a day, in milliseconds; null: it does not say. */
function retryAfter(headers: Headers, now_ms: number): number | null {
  const wait_s = retryAfterSeconds(headers.get('retry-after'), now_ms)
  return wait_s === undefined ? null : wait_s * 1000
}

/**
 * The failure that a status stands for; undefined for 2xx. 401: the token is not accepted. Connectors check statuses with another meaning
 * first.
 */
export function readFailure({ status, headers }: VendorAnswer, now_ms: number): VendorError | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status === 401) return new VendorError('invalid_grant')
  if (status === 403) return new VendorError('scope_missing')
  if (status === 429) return new VendorError('rate_limited', retryAfter(headers, now_ms))
  if (status >= 500 || status === 408) return new VendorError('unavailable', retryAfter(headers, now_ms))
  return new VendorError('unexpected')
}

/** The JSON of an answer. Errors: VendorError `unexpected`. */
function jsonOf({ text }: VendorAnswer): unknown {
  try {
    return readOutsideJson(text)
  } catch {
    throw new VendorError('unexpected')
  }
}

interface TokenAnswer {
  access_token?: unknown
  refresh_token?: unknown
  expires_in?: unknown
  scope?: unknown
}

/**
 * The grant in an answer of a token endpoint (RFC 6749, 5.1). Errors: VendorError `invalid_grant` for 400 or 401 with that error,
 * `rate_limited`, `unavailable`, else `unexpected`.
 * @param previousGrant the grant that was refreshed: what the answer leaves out stays
 */
export function readGrant(answer: VendorAnswer, now_ms: number, previousGrant?: Grant): Grant {
  const { status, text } = answer
  if (status === 400 || status === 401)
    throw new VendorError(errorCode(text) === 'invalid_grant' ? 'invalid_grant' : 'unexpected')
  const failure = readFailure(answer, now_ms)
  if (failure) throw failure
  const { access_token, refresh_token, expires_in, scope } = (jsonOf(answer) ?? {}) as TokenAnswer
  const isOdd = !isToken(access_token) || (refresh_token && typeof refresh_token === 'string' && !isToken(refresh_token))
  if (isOdd || (typeof scope === 'string' && scope.length > SCOPES_MAX)) throw new VendorError('unexpected')
  const life_s = lifetime(expires_in)
  return {
    access_token,
    refresh_token: typeof refresh_token === 'string' && refresh_token ? refresh_token : (previousGrant?.refresh_token ?? null),
    expires_at_ms: life_s === null ? null : now_ms + life_s * 1000,
    scopes: typeof scope === 'string' ? scopesIn(scope) : (previousGrant?.scopes ?? null),
    external_user_id: previousGrant?.external_user_id ?? null,
  }
}

/** A token goes into a header: visible characters and spaces (RFC 6749 A.12), no more than servers accept there. */
const TOKEN = /^[\x20-\x7e]{1,16000}$/
const isToken = (value: unknown): value is string => typeof value === 'string' && TOKEN.test(value)

/** The longest text of scopes, in characters. */
export const SCOPES_MAX = 4000

/** The scopes in a text, with spaces or commas between them; what cannot be a scope (RFC 6749 3.3) is left out. */
export const scopesIn = (text: string): string[] => text.split(/[\s,]+/).filter((scope) => /^[\x21-\x7e]+$/.test(scope))

/** More than thirty years: Dexcom describes its lifetimes in milliseconds. */
const LIFE_S_MAX = 1e9

/** The seconds for which a token lives, as a number or a text; null for what is not a lifetime. */
const lifetime = (value: unknown): number | null => {
  const seconds = typeof value === 'string' && /^\d{1,10}(\.\d{1,9})?$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && seconds <= LIFE_S_MAX ? seconds : null
}

function errorCode(text: string): unknown {
  try {
    const value = readOutsideJson(text) as { error?: unknown } | null
    return value?.error
  } catch {
    return undefined
  }
}

/** `YYYY-MM-DD` in UTC. */
export const dayOf = (at_ms: number): string => new Date(at_ms).toISOString().slice(0, 10)

/** Seconds east of UTC of a text like `2026-02-10T23:10:00+01:00`, or of `+01:00` alone; null: it does not say. */
export function zoneOf(text: string): number | null {
  if (/Z$/i.test(text)) return 0
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)$/.exec(text) ?? []
  if (!sign) return null
  const offset_s = (Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
  return Math.abs(offset_s) > 18 * 3600 ? null : offset_s
}

/** The local day of an instant. */
export const localDay = (at_ms: number, zone_s: number | null): string => dayOf(at_ms + (zone_s ?? 0) * 1000)

/** A day at midnight, as summaries show it. */
export const midnight = (day: string): string => `${day}T00:00:00+00:00`

export const roundNullable = (value: number | null | undefined): number | null => (value == null ? null : Math.round(value))
export const minutesOf = (seconds: number | null | undefined): number | null =>
  seconds == null ? null : Math.round((seconds * 1000) / MINUTE_MS)
