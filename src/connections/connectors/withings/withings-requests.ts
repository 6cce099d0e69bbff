// Requests as Withings wants them: a form with an action, answered with HTTP 200 and a status in the body, errors too.
import type { VendorAnswer } from '../answers.ts'
import { VendorError, type VendorHttp } from '../connector.ts'
import { readNumber, object, objectIn, objectOrEmpty, refusalOf, type Values } from '../reading.ts'
import { bearer } from '../tokens.ts'

const NOT_SIGNED_IN = new Set([100, 101, 102, 200, 401])
const NOT_ALLOWED = new Set([214, 277, 343, 2553, 2554, 2555])
const OUT_OF_ORDER = new Set([522, 524, 2556])
const TOO_MANY = 601
const INVALID_PARAMETERS = 503
/** Limits are counted by the minute, and the answer does not say how long to wait. */
const MINUTE_MS = 60_000

/** Why a status in the body is not 0. `of_grant`: the request named a code or a refresh token. */
function failureOfStatus(status: number, error: unknown, of_grant: boolean): VendorError {
  if (NOT_SIGNED_IN.has(status)) return new VendorError('invalid_grant')
  if (NOT_ALLOWED.has(status)) return new VendorError('scope_missing')
  if (status === TOO_MANY) return new VendorError('rate_limited', MINUTE_MS)
  if (OUT_OF_ORDER.has(status)) return new VendorError('unavailable')
  const names_grant = typeof error === 'string' && /refresh[_ ]token|\bcode\b|\bgrant\b/i.test(error)
  if (of_grant && status === INVALID_PARAMETERS && names_grant) return new VendorError('invalid_grant')
  return new VendorError('unexpected')
}

/** The body of an answer. Errors: VendorError, by the status in it. */
export function readBody(answer: VendorAnswer, of_grant = false): Values {
  if (answer.status !== 200) throw refusalOf(answer)
  const values = objectIn(answer.text)
  const status = readNumber(values.status)
  if (status === null) throw new VendorError('unexpected')
  if (status !== 0) throw failureOfStatus(status, values.error, of_grant)
  return objectOrEmpty(values.body)
}

export async function ask(
  http: VendorHttp,
  url: string,
  access_token: string,
  action: string,
  parameters: Record<string, string>,
): Promise<Values> {
  const answer = await http({ method: 'POST', url, headers: bearer(access_token), body: { action, ...parameters } })
  return readBody(answer)
}

/** More pages than a range can have. */
const PAGES_MAX = 1000

/** The bodies of all pages of an answer. Errors: VendorError. */
export async function* fetchPages(
  http: VendorHttp,
  url: string,
  access_token: string,
  action: string,
  parameters: Record<string, string>,
): AsyncGenerator<Values> {
  let offset: number | null = null
  for (let page = 0; page < PAGES_MAX; page++) {
    const body = object(
      await ask(http, url, access_token, action, { ...parameters, ...(offset !== null && { offset: String(offset) }) }),
    )
    yield body
    if (body.more !== true && body.more !== 1) return
    const next = readNumber(body.offset)
    if (next === null || next === offset) throw new VendorError('unexpected')
    offset = next
  }
  throw new VendorError('unexpected')
}
