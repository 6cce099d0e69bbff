// Dexcom, version 3: values of glucose sensors. Refresh tokens that are used once, ranges of at most 30 days, no notifications, and two clocks.
import { VendorError, type Connector, type PullRequest, type Pulled, type VendorApp, type VendorHttp } from '../connector.ts'
import {
  readInstant,
  instantOfText,
  readList,
  localTime,
  readNumber,
  objectIn,
  objectOrEmpty,
  refusalOf,
  readText,
  type Values,
} from '../reading.ts'
import { SampleBatches, toDevice, mmolPerLiter, offsetBetween } from '../vendor-records.ts'
import { askForTokens, bearer, consentPage, refreshBy, type FetchTokens } from '../tokens.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

/** A longer lifetime is given in milliseconds: the description says so, while the vendor answers seconds. */
const LIFE_S_MAX = 7 * 86_400

const fetchTokens: FetchTokens = async (http, app, form, now_ms, previousGrant) => {
  const grant = await askForTokens(http, app, form, now_ms, previousGrant)
  if (grant.expires_at_ms === null) return grant
  const life_ms = grant.expires_at_ms - now_ms
  return { ...grant, expires_at_ms: now_ms + (life_ms > LIFE_S_MAX * 1000 ? life_ms / 1000 : life_ms) }
}

async function readPath(http: VendorHttp, { urls }: VendorApp, access_token: string, path: string): Promise<Values> {
  const answer = await http({ method: 'GET', url: `${urls.api}/v3/users/self/${path}`, headers: bearer(access_token) })
  if (answer.status !== 200) throw refusalOf(answer)
  return objectIn(answer.text)
}

/** An instant in UTC, with an offset from phones and without one from receivers. */
const systemInstant = (value: unknown): number | null => instantOfText(value) ?? localTime(value)

/**
 * The offset of the user's clock. A phone says it. A receiver shows what its owner set, which may be wrong by minutes or years: then the
 * nearest quarter of an hour counts, or none.
 */
function readOffset(displayTime: unknown, at_ms: number): number | null {
  const shown = readText(displayTime)
  if (shown === null) return null
  const local_ms = localTime(shown.replace(/(Z|[+-]\d\d:?\d\d)$/, ''))
  const said_ms = instantOfText(shown)
  return local_ms !== null && said_ms !== null ? offsetBetween(local_ms, said_ms) : offsetBetween(local_ms, at_ms)
}

/** The instants between which the account has values; undefined if it has none. */
function rangeIn({ egvs }: Values): { from_ms: number; to_ms: number } | undefined {
  const { start, end } = objectOrEmpty(egvs)
  const from_ms = systemInstant(objectOrEmpty(start).systemTime)
  const to_ms = systemInstant(objectOrEmpty(end).systemTime)
  return from_ms === null || to_ms === null ? undefined : { from_ms, to_ms: to_ms + 1000 }
}

const source_type = 'automatic'
/** `g6Pro` as `G6Pro`; null where the generation is not known. */
const modelOf = (generation: unknown): string | null => {
  const name = readText(generation)
  return name === null || name === 'unknown' ? null : name.replace(/^g/, 'G')
}

const WINDOW_MS = 30 * DAY_MS
/** `2026-01-31T09:12:35`, in UTC without saying so. */
const second = (ms: number): string => new Date(ms).toISOString().slice(0, 19)

async function* pull(http: VendorHttp, app: VendorApp, access_token: string, request: PullRequest): AsyncGenerator<Pulled> {
  const known = rangeIn(await readPath(http, app, access_token, 'dataRange'))
  if (!known) return
  const [first, end] = [Math.max(request.from_ms, known.from_ms), Math.min(request.to_ms, known.to_ms)]
  for (let from_ms = first; from_ms < end; from_ms += WINDOW_MS) {
    const range = { startDate: second(from_ms), endDate: second(Math.min(from_ms + WINDOW_MS, end)) }
    const { records } = await readPath(http, app, access_token, `egvs?${new URLSearchParams(range)}`)
    const batches = new SampleBatches()
    for (const { systemTime, displayTime, value, transmitterGeneration, transmitterId } of readList(records)) {
      // What the display shows is not an instant: its clock is the user's.
      const at_ms = readInstant(systemInstant(systemTime))
      const mg_dl = readNumber(value)
      if (at_ms === null || mg_dl === null || mg_dl <= 0) continue
      const offset_s = readOffset(displayTime, at_ms)
      const model = modelOf(transmitterGeneration)
      const device = toDevice(source_type, { manufacturer: 'Dexcom', model, device_id: transmitterId })
      batches.add('glucose', { at_ms, offset_s, value: mmolPerLiter(mg_dl), type: 'automatic', source_type, device })
    }
    yield* batches.take()
  }
}

export const dexcom = {
  provider: 'dexcom_v3',
  description: 'Glucose sensors of Dexcom',
  resources: ['glucose'],
  urls: {
    authorize: 'https://api.dexcom.com/v3/oauth2/login',
    token: 'https://api.dexcom.com/v3/oauth2/token',
    api: 'https://api.dexcom.com',
  },
  scopes: ['offline_access'],
  scopesByResource: { glucose: 'offline_access' },
  pkce: false,
  days_per_request: 30,
  limits: [{ requests: 60_000, window_ms: 3_600_000 }],

  authorizeUrl: consentPage(false),

  async exchange(http, app, { code, redirect_uri, now_ms }) {
    const grant = await fetchTokens(http, app, { grant_type: 'authorization_code', code, redirect_uri }, now_ms)
    const { userId } = await readPath(http, app, grant.access_token, 'dataRange')
    return { ...grant, external_user_id: readText(userId) }
  },

  refresh: refreshBy(fetchTokens),

  /** Users end a grant in their account: Dexcom has no request for it. */
  async revoke() {},

  pull(http, app, access_token, request) {
    if (request.resource !== 'glucose') throw new VendorError('unexpected')
    return pull(http, app, access_token, request)
  },
} satisfies Connector
