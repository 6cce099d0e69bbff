// A peer of the published client for iOS: what it sends in which order, and what it makes of the answers.
// Source: github.com/tryVital/vital-ios, 1.8; users-wearables.md 16.
import { list, object, whatever, type Decode } from './client-decoding.ts'
import * as answers from './ios-answers.ts'
import { HealthStorePhone, type ConnectionPolicy } from './signed-in-phone.ts'

const DAY_MS = 86_400_000
const APPLE = 'apple_health_kit'

const summary = (backfill_type: string, overrides: object = {}) => ({
  backfill_type,
  path: `summary/${backfill_type}`,
  ...overrides,
})
const series = (name: string) => ({ backfill_type: name, path: `timeseries/${name}` })
/** What the client synchronizes, by its own names; those that the tests need. */
const resources: Record<string, { backfill_type: string; path: string; isOne?: boolean }> = {
  profile: summary('profile', { isOne: true }),
  body: summary('body', { isOne: true }),
  activity: summary('activity'),
  sleep: summary('sleep'),
  workout: summary('workouts'),
  electrocardiogram: summary('electrocardiogram'),
  heartRate: series('heartrate'),
  heartRateVariability: series('heartrate_variability'),
  distance: series('distance'),
  steps: series('steps'),
}

interface LocalState {
  status: 'active' | 'paused' | 'error'
  anchor_ms: number
  days: (backfill_type: string) => number
  ingestion_start_ms: number
  ingestion_end_ms: number | null
  expires_ms: number
}

/** An instant as the client encodes it. */
export const swift = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

export class IosClient extends HealthStorePhone<LocalState> {
  protected override readonly provider = APPLE
  protected override readonly success = undefined
  /** Identifiers of the types of HealthKit for which its owner was asked. */
  requestedPaths: string[] = []
  readonly #days: number
  readonly #chunk: number
  readonly #zone: string
  readonly #anchors = new Map<string, number>()
  readonly #withHistory = new Set<string>()

  constructor({ policy = 'auto' as ConnectionPolicy, days = 90, chunk = 10_000, zone = 'America/Phoenix' } = {}) {
    super(
      { headers: { 'x-vital-ios-sdk-version': '1.8.8' }, isPacked: (path) => /summary|timeseries|sdk_sync_progress/.test(path) },
      policy,
    )
    this.#days = days
    this.#chunk = chunk
    this.#zone = zone
  }

  /** Asks its owner for permissions. */
  async ask(...identifiers: string[]): Promise<void> {
    this.requestedPaths = [...new Set([...this.requestedPaths, ...identifiers])].toSorted()
    await this.connectByPolicy()
  }

  override async sync(...names: string[]): Promise<number> {
    const sent = await super.sync(...names)
    await this.#report(names, sent)
    return sent
  }

  connections = () => this.send('GET', `/v2/user/providers/${this.user_id}`, answers.Connections)
  linkToken = async (body: object = {}) =>
    (await this.send('POST', '/v2/link/token', answers.LinkToken, { body: { user_id: this.user_id, ...body } })).link_token
  oauthLink = async (provider: string) =>
    this.send('GET', `/v2/link/provider/oauth/${provider}`, answers.OAuthLink, { headers: await this.#linkHeaders() })
  emailLink = async (provider: string, body: object) =>
    this.send('POST', `/v2/link/provider/email/${provider}`, answers.LinkResult, { body, headers: await this.#linkHeaders() })
  passwordLink = async (provider: string, body: object) =>
    this.send('POST', `/v2/link/provider/password/${provider}`, answers.LinkResult, { body, headers: await this.#linkHeaders() })
  #linkHeaders = async () => ({ 'x-vital-link-token': await this.linkToken() })

  #summary = <V>(path: string, read: Decode<V>) =>
    this.send('GET', `/v2/summary/${path}?start_date=2026/01/01&end_date=2036/12/31`, read)
  activity = async () => (await this.#summary(`activity/${this.user_id}`, answers.Activity)).activity
  body = async () => (await this.#summary(`body/${this.user_id}`, answers.Body)).body
  sleeps = async () => (await this.#summary(`sleep/${this.user_id}`, answers.Sleep)).sleep
  workouts = async () => (await this.#summary(`workouts/${this.user_id}`, answers.Workouts)).workouts
  raw = async (kind: string) => (await this.#summary(`${kind}/${this.user_id}/raw`, object({ [kind]: list(whatever) })))[kind]!
  samples = (resource: string, start: string) =>
    this.send('GET', `/v2/timeseries/${this.user_id}/${resource}/grouped?start_date=${start}`, answers.Samples)

  protected override linkBody(): object {
    return { granted_permissions: this.requestedPaths }
  }

  protected override async requestState(now_ms: number): Promise<LocalState> {
    const body = {
      tzinfo: this.#zone,
      request_start_date: swift(now_ms - this.#days * DAY_MS),
      request_end_date: swift(now_ms),
      granted_permissions: this.requestedPaths,
    }
    const answer = await this.send('POST', `/v2/user/${this.user_id}/sdk_sync_state/${APPLE}`, answers.SyncState, { body })
    const { pull_preferences: preferred } = answer
    const overrides = preferred?.backfill_type_overrides
    return {
      status: answer.status,
      anchor_ms: this.state?.anchor_ms ?? now_ms,
      // The first answer counts for as long as the app is installed.
      days:
        this.state?.days ??
        ((type) => overrides?.[type]?.historical_days_to_pull ?? preferred?.historical_days_to_pull ?? this.#days),
      ingestion_start_ms: answer.ingestion_start ?? this.state?.ingestion_start_ms ?? -Infinity,
      ingestion_end_ms: answer.request_end_date,
      expires_ms: now_ms + (answer.expires_in ?? 14_400) * 1000,
    }
  }

  protected override async syncResource(name: string): Promise<number> {
    const { backfill_type } = resources[name]!
    const state = await this.syncState()
    const from_ms = Math.max(state.ingestion_start_ms, state.anchor_ms - state.days(backfill_type) * DAY_MS)
    const to_ms = state.ingestion_end_ms ?? Date.now()
    if (from_ms > to_ms) throw new Error('Fatal error: Range requires lowerBound <= upperBound')
    const isHistorical = !this.#withHistory.has(name) && name !== 'profile'
    const range = { from_ms, to_ms, isHistorical }
    if (isHistorical)
      await this.send('POST', `/v2/user/${this.user_id}/sdk_start_historical_stage/${APPLE}`, undefined, {
        body: { range_start: swift(from_ms), range_end: swift(to_ms), backfill_type },
      })
    let sent = 0
    for (let hasMore = true; hasMore;) {
      const all = this.health.listAll(name)
      const anchor = this.#anchors.get(name) ?? 0
      const fresh = all.slice(anchor).filter(({ at_ms }) => at_ms >= from_ms && at_ms < to_ms)
      const chunk = fresh.slice(0, this.#chunk)
      hasMore = chunk.length < fresh.length
      if (isHistorical || chunk.length)
        await this.#upload(
          name,
          chunk.map(({ data }) => data),
          { ...range, isFinal: !hasMore },
        )
      this.#anchors.set(name, hasMore ? all.indexOf(chunk.at(-1)!) + 1 : all.length)
      sent += chunk.length
    }
    this.#withHistory.add(name)
    return sent
  }

  #upload(
    name: string,
    entries: unknown[],
    { from_ms, to_ms, isHistorical, isFinal }: { from_ms: number; to_ms: number; isHistorical: boolean; isFinal: boolean },
  ): Promise<void> {
    const { path, isOne } = resources[name]!
    return this.send('POST', this.uploadPath(path), undefined, {
      body: {
        stage: isHistorical ? 'historical' : 'daily',
        ...(isHistorical ? { start_date: swift(from_ms), end_date: swift(to_ms) } : {}),
        time_zone: this.#zone,
        provider: APPLE,
        data: isOne ? Object.assign({}, ...entries) : entries,
        is_final_chunk: isFinal,
      },
    })
  }

  #report(names: string[], data_count: number): Promise<void> {
    const now = swift(Date.now())
    const statuses = [{ timestamp: now, type: 2, count: 1 }]
    const one = { syncs: [{ start: now, end: now, tags: [3], statuses, data_count }], system_events: [], data_count }
    const backfill_types = Object.fromEntries(names.map((name) => [resources[name]!.backfill_type, one]))
    const device_info = {
      os_version: '26.1',
      model: 'iPhone17,1',
      app_bundle: 'com.example.fictional',
      app_version: '1',
      app_build: '1',
    }
    return this.send('POST', `/v2/user/${this.user_id}/sdk_sync_progress/${APPLE}`, undefined, {
      body: { sync_progress: { backfill_types }, device_info },
    })
  }
}
