// Webhooks of Polar AccessLink, those of version 3: one for each application, made by its API, whose answer alone has the key that signs.
// Source: POST and GET /v3/webhooks.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { VendorError, type Connector, type InboundNotification, type InboundOutcome, type VendorApp } from '../connector.ts'
import { day, idOf, instantOfText, readList, object, objectIn, refusalOf, readText, type Values } from '../reading.ts'
import { basic } from '../tokens.ts'
import { readNotice } from '../notices.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const ofEvent = {
  EXERCISE: 'workouts',
  SLEEP: 'sleep',
  ACTIVITY_SUMMARY: 'activity',
  CONTINUOUS_HEART_RATE: 'heartrate',
} as const
const events = Object.keys(ofEvent) as (keyof typeof ofEvent)[]
const isEvent = (name: string): name is keyof typeof ofEvent => Object.hasOwn(ofEvent, name)

const secretIn = (details: VendorApp['details']): string | undefined => {
  const secret = details?.webhook_secret
  return typeof secret === 'string' && secret !== '' ? secret : undefined
}

/** Undefined: there is no signature. */
function isSigned(details: VendorApp['details'], { headers, body }: InboundNotification): boolean | undefined {
  const given = headers['polar-webhook-signature']
  if (given === undefined) return undefined
  const secret = secretIn(details)
  if (secret === undefined || !/^[0-9a-f]{64}$/i.test(given)) return false
  return timingSafeEqual(Buffer.from(given, 'hex'), createHmac('sha256', secret).update(body).digest())
}

/**
 * A PING comes before the key that signs is known: it is answered, and leads to nothing. Everything else must be signed.
 */
export function receiveNotification({ details }: VendorApp, request: InboundNotification): InboundOutcome {
  const signed = isSigned(details, request)
  const event = readNotice(request.body)
  if (!event) return { outcome: 'refused' }
  const isPing = event.event === 'PING'
  if (isPing && (signed === undefined || signed)) return { outcome: signed ? 'verified' : 'unsigned', changes: [] }
  if (!signed) return { outcome: 'refused' }
  const name = readText(event.event) ?? ''
  const resource = isEvent(name) ? ofEvent[name] : undefined
  const external_user_id = idOf(event.user_id)
  if (resource === undefined || external_user_id === null) return { outcome: 'verified', changes: [] }
  const date = day(event.date)
  const said_ms = date === null ? instantOfText(event.timestamp) : Date.parse(date)
  // Nothing is recorded in the future, whatever a notification says.
  const at_ms = Math.min(said_ms ?? request.now_ms, request.now_ms)
  const range = { from_ms: at_ms - DAY_MS, to_ms: Math.min(at_ms + 2 * DAY_MS, request.now_ms + DAY_MS) }
  return { outcome: 'verified', changes: [{ external_user_id, resource, ...range }] }
}

/** Polar ends a webhook after seven days without a delivery: it is looked at again before. */
const RENEW_MS = 7 * DAY_MS

/**
 * Makes the webhook of an application, activates one that Polar has ended, and replaces one whose key is not known. One that leads elsewhere
 * and whose key the team has entered is the team's own, and stays. Errors: VendorError.
 */
export const subscribe: NonNullable<Connector['subscribe']> = async (http, app, { callback_url, now_ms }) => {
  const base = app.urls.api.replace(/\/v4\/data$/, '/v3/webhooks')
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => {
    const headers = { ...basic(app), ...(body && { 'content-type': 'application/json' }) }
    const answer = await http({ method, url: base + path, headers, ...(body && { body: JSON.stringify(body) }) })
    if (answer.status >= 300 && !(answer.status === 404 && method !== 'POST')) throw refusalOf(answer)
    return answer
  }
  const renewed = { renew_at_ms: now_ms + RENEW_MS }
  const known = await call('GET', '')
  const webhooks = known.status === 200 ? readList(objectIn(known.text).data) : []
  const [webhook] = webhooks
  if (webhook && secretIn(app.details) !== undefined) {
    if (webhook.url !== callback_url) return renewed
    const subscribed = Array.isArray(webhook.events) ? (webhook.events as unknown[]) : []
    if (!events.every((event) => subscribed.includes(event))) await call('PATCH', `/${pathOf(webhook)}`, { events })
    if (webhook.active === false) await call('POST', '/activate')
    return renewed
  }
  for (const one of webhooks) await call('DELETE', `/${pathOf(one)}`)
  const made = object(objectIn((await call('POST', '', { events, url: callback_url })).text).data)
  const webhook_secret = readText(made.signature_secret_key)
  if (webhook_secret === null) throw new VendorError('unexpected')
  return { ...renewed, details: { webhook_secret } }
}

const pathOf = ({ id }: Values): string => encodeURIComponent(idOf(id) ?? '')
