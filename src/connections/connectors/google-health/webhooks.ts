// Notifications of the Google Health API: the registered authorization, and a signature whose keys Google publishes. Source: discovery document
// of v4, EndpointAuthorization; the wire format of Tink.
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Change, InboundNotification, InboundOutcome, VendorApp, VendorHttp } from '../connector.ts'
import { instantOfText, readList, objectIn, objectOrEmpty, readText, type Values } from '../reading.ts'
import { readNotice } from '../notices.ts'
import { isSameText } from '../tokens.ts'
import type { Resource } from '../../../wearables/resources/resources.ts'
import { fieldOf, pointTypes } from './data-points.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const KEYSET_PATH = '/googlehealthapi/webhooks/webhooks_public_keyset.json'
const GOOGLE = 'https://health.googleapis.com'

/** Where the keys are; with another address for the vendor, below that one. */
function keysetUrl({ urls }: Pick<VendorApp, 'urls'>): string {
  if (urls.api.startsWith(`${GOOGLE}/`)) return `https://www.gstatic.com${KEYSET_PATH}`
  return urls.api.replace(/\/v4$/, '') + KEYSET_PATH
}

interface Keyset {
  keys: Map<number, KeyObject>
  read_ms: number
  /** The last attempt to read them, for all who wait for it; it fails if the vendor did not answer. */
  reading: Promise<void> | undefined
}

/** Keys rotate about every 30 days. They are read again after a day, and for a key that is not known, but not for every forged one. */
const KEPT_MS = DAY_MS
const AGAIN_MS = 60_000
const keysets = new LRUCache<string, Keyset>({ max: 20 })

/** The fields of a message of protocol buffers, by number: bytes and whole numbers. Throws for any other bytes. */
function protoFields(message: Buffer): Map<number, Buffer | number> {
  const fields = new Map<number, Buffer | number>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = message[at++]
      if (byte === undefined) break
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new RangeError('no varint')
  }
  while (at < message.length) {
    const tag = varint()
    if ((tag & 7) === 0) fields.set(tag >>> 3, varint())
    else if ((tag & 7) === 2) {
      const length = varint()
      if (at + length > message.length) throw new RangeError('too short')
      fields.set(tag >>> 3, message.subarray(at, at + length))
      at += length
    } else throw new RangeError('another kind of field')
  }
  return fields
}

const ECDSA = 'type.googleapis.com/google.crypto.tink.EcdsaPublicKey'
const NIST_P256 = 2
const SHA256 = 3

/** A coordinate of 32 bytes: Tink may put a zero before it, or leave leading zeros out. */
function coordinate(bytes: Buffer | number | undefined): string {
  if (!Buffer.isBuffer(bytes)) throw new RangeError('no coordinate')
  const all = bytes.toString('hex').replace(/^(00)+/, '')
  if (all.length > 64) throw new RangeError('too long')
  return Buffer.from(all.padStart(64, '0'), 'hex').toString('base64url')
}

function publicKey(value: string): KeyObject {
  const fields = protoFields(Buffer.from(value, 'base64'))
  const params = fields.get(2)
  const { hash, curve } = Buffer.isBuffer(params)
    ? { hash: protoFields(params).get(1), curve: protoFields(params).get(2) }
    : { hash: undefined, curve: undefined }
  if (hash !== SHA256 || curve !== NIST_P256) throw new RangeError('another curve')
  return createPublicKey({
    format: 'jwk',
    key: { kty: 'EC', crv: 'P-256', x: coordinate(fields.get(3)), y: coordinate(fields.get(4)) },
  })
}

/** Google publishes a few. */
const KEYS_MAX = 50

/** The keys of a keyset that are enabled. One that cannot be read is left out. */
function keysIn(text_of_keyset: string): Map<number, KeyObject> {
  const keys = new Map<number, KeyObject>()
  for (const { keyData, status, keyId } of readList(objectIn(text_of_keyset).key).slice(0, KEYS_MAX)) {
    const { typeUrl, value } = objectOrEmpty(keyData)
    if (status !== 'ENABLED' || typeUrl !== ECDSA || typeof keyId !== 'number' || typeof value !== 'string') continue
    try {
      keys.set(keyId, publicKey(value))
    } catch {
      continue
    }
  }
  return keys
}

/** The key with an id; undefined if there is none. Errors: VendorError if the keys cannot be read. */
async function getKey(http: VendorHttp, url: string, id: number, now_ms: number): Promise<KeyObject | undefined> {
  const known = keysets.get(url)
  const age_ms = known ? Math.abs(now_ms - known.read_ms) : Infinity
  if (known && age_ms < KEPT_MS && known.keys.has(id)) return known.keys.get(id)
  if (known && age_ms < AGAIN_MS) {
    await known.reading
    return known.keys.get(id)
  }
  const keyset: Keyset = { keys: known?.keys ?? new Map(), read_ms: now_ms, reading: undefined }
  keyset.reading = readKeys(http, url, keyset)
  keysets.set(url, keyset)
  await keyset.reading
  return keyset.keys.get(id)
}

async function readKeys(http: VendorHttp, url: string, keyset: Keyset): Promise<void> {
  const answer = await http({ method: 'GET', url })
  if (answer.status === 200) keyset.keys = keysIn(answer.text)
}

/** Base64 of 0x01, the id of the key in four bytes, and a signature in DER. */
async function isSigned(http: VendorHttp, app: VendorApp, { headers, body, now_ms }: InboundNotification): Promise<boolean> {
  const given = headers['google-health-api-signature'] ?? headers['x-healthapi-signature'] ?? ''
  if (!/^[A-Za-z0-9+/_-]{12,400}={0,2}$/.test(given)) return false
  const bytes = Buffer.from(given, 'base64')
  if (bytes.length < 13 || bytes[0] !== 1) return false
  const key = await getKey(http, keysetUrl(app), bytes.readUInt32BE(1), now_ms)
  if (!key) return false
  try {
    return verify('sha256', body, { key, dsaEncoding: 'der' }, bytes.subarray(5))
  } catch {
    return false
  }
}

const ofActivity: readonly string[] = ['steps', 'distance', 'active-energy-burned', 'floors']
/** Google does not say that it notifies of electrocardiograms and alerts of rhythms: with the resting heart rate of a day they are asked for. */
const others: Readonly<Record<string, readonly Resource[]>> = {
  sleep: ['sleep'],
  exercise: ['workouts'],
  weight: ['body'],
  'body-fat': ['body'],
  height: ['profile'],
  'daily-resting-heart-rate': ['activity', 'electrocardiogram', 'heart_rate_alert'],
  'daily-sleep-temperature-derivations': ['body_temperature_delta'],
  'active-minutes': ['activity'],
  'total-calories': ['activity'],
  electrocardiogram: ['electrocardiogram'],
  'nutrition-log': ['meal'],
  'hydration-log': ['water'],
}

/** The types whose changes are notified of. */
export const notifiedTypes: readonly string[] = [
  ...new Set([...Object.values(pointTypes).map(({ type }) => type), ...Object.keys(others)]),
]

/** The resources that have data of a type, which is written in several ways. */
function resourcesOf(value: unknown): readonly Resource[] {
  const name = fieldOf((readText(value) ?? '').split('/').at(-1)!.replaceAll('_', '-').toLowerCase())
  const type = [...Object.keys(others), ...Object.values(pointTypes).map((pointType) => pointType.type)].find(
    (candidate) => fieldOf(candidate).toLowerCase() === name.toLowerCase(),
  )
  if (type === undefined) return []
  if (Object.hasOwn(others, type)) return others[type]!
  const resource = (Object.keys(pointTypes) as (keyof typeof pointTypes)[]).find((key) => pointTypes[key].type === type)!
  return ofActivity.includes(type) ? [resource, 'activity'] : [resource]
}

/** The longest range that a notification leads to. */
const RANGE_MS_MAX = 31 * DAY_MS

/** The range of all intervals; the last day if there is none. */
function readRange(data: Values, now_ms: number): { from_ms: number; to_ms: number } {
  const intervals = Array.isArray(data.intervals) ? readList(data.intervals) : [objectOrEmpty(data.interval), data]
  const times = intervals.flatMap((interval) => {
    const { startTime, endTime } = objectOrEmpty(interval.physicalTimeInterval ?? interval)
    return [instantOfText(startTime), instantOfText(endTime)].filter((ms) => ms !== null)
  })
  if (!times.length) return { from_ms: now_ms - DAY_MS, to_ms: now_ms }
  const to_ms = Math.min(times.reduce((a, b) => Math.max(a, b)) + 1000, now_ms + DAY_MS)
  const from_ms = times.reduce((a, b) => Math.min(a, b))
  return { from_ms: Math.min(to_ms - 1000, Math.max(from_ms, to_ms - RANGE_MS_MAX)), to_ms }
}

/**
 * A notification counts if it has the authorization that was registered and a signature of Google. Google tries an address twice: with the
 * authorization it wants 201, without it 401.
 */
export async function receiveNotification(
  app: VendorApp,
  request: InboundNotification,
  http: VendorHttp,
): Promise<InboundOutcome> {
  const { headers, verify_token, body, now_ms } = request
  const refused: InboundOutcome = { outcome: 'refused', answer: { status: 401, body: {} } }
  // A subscriber that a team has registered may have the token alone.
  if (![`Bearer ${verify_token}`, verify_token].some((expected) => isSameText(headers.authorization, expected))) return refused
  const sent = readNotice(body)
  if (!sent) return refused
  // It brings nothing and has no signature.
  if (sent.type === 'verification') return { outcome: 'verified', answer: { status: 201, body: {} }, changes: [] }
  if (!(await isSigned(http, app, request))) return refused
  const data = objectOrEmpty(sent.data ?? sent)
  const external_user_id = readText(data.healthUserId)
  if (external_user_id === null) return { outcome: 'verified', changes: [] }
  const range = readRange(data, now_ms)
  const changes = resourcesOf(data.dataType).map((resource): Change => ({ external_user_id, resource, ...range }))
  return { outcome: 'verified', changes }
}
