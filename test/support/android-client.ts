// A peer of the published client for Android, as Health Connect feeds it: what it sends in which order, and what it makes of the answers.
// Source: github.com/tryVital/vital-android, 5.0; users-wearables.md 16.
import { whatever, type Decode } from './client-decoding.ts'
import * as answers from './android-answers.ts'
import { HealthStorePhone, type ConnectionPolicy } from './signed-in-phone.ts'

const DAY_MS = 86_400_000
/** Health Connect gives no more without another permission. */
const DAYS_MAX = 30

/** What the client synchronizes, by its own names; those that the tests need. `byRecord`: its changes have a token. */
const resources: Record<string, { path: string; isOne?: boolean; byRecord: boolean }> = {
  profile: { path: 'summary/profile', isOne: true, byRecord: true },
  body: { path: 'summary/body', isOne: true, byRecord: true },
  activity: { path: 'summary/activity', byRecord: false },
  sleep: { path: 'summary/sleep', byRecord: true },
  workout: { path: 'summary/workouts', byRecord: true },
  heartRate: { path: 'timeseries/heartrate', byRecord: true },
  bloodPressure: { path: 'timeseries/blood_pressure', byRecord: true },
  glucose: { path: 'timeseries/glucose', byRecord: true },
}

interface LocalState {
  status: 'active' | 'paused' | 'error'
  anchor_ms: number
  ingestion_end_ms: number | null
  expires_ms: number
}

export class AndroidClient extends HealthStorePhone<LocalState> {
  /** The names of the permissions that its owner has granted to the app. */
  grantedPermissions: string[] = []
  protected override readonly provider: string
  protected override readonly success = answers.Success
  readonly #zone: string
  /** Of each resource with its history: what it has read, and when. */
  readonly #incremental = new Map<string, { token: number; last_ms: number }>()

  constructor({ provider = 'health_connect', policy = 'auto' as ConnectionPolicy, zone = 'America/Phoenix' } = {}) {
    super(
      { headers: { 'x-vital-android-sdk-version': '5.0.2' }, isPacked: (path) => /^\/v2\/(summary|timeseries)\//.test(path) },
      policy,
    )
    this.provider = provider
    this.#zone = zone
  }

  user = () => this.send('GET', `/v2/user/${this.user_id}`, answers.User)
  connections = () => this.send('GET', `/v2/user/providers/${this.user_id}`, answers.Connections)
  refreshUser = () => this.send('POST', `/v2/user/refresh/${this.user_id}`, answers.Refreshed)
  oauthLink = async (provider: string, redirect_url: string) => {
    const body = { user_id: this.user_id, provider, redirect_url }
    const { link_token } = await this.send('POST', '/v2/link/token', answers.LinkToken, { body })
    const headers = { 'x-vital-link-token': link_token }
    return this.send('GET', `/v2/link/provider/oauth/${provider}`, answers.OAuthLink, { headers })
  }

  #summary = <V>(path: string, read: Decode<V>) =>
    this.send('GET', `/v2/summary/${path}?start_date=2026-01-01T00:00:00Z&end_date=2036-12-31T00:00:00Z`, read)
  activity = async () => (await this.#summary(`activity/${this.user_id}`, answers.Activity)).activity
  body = async () => (await this.#summary(`body/${this.user_id}`, answers.Body)).body
  sleeps = async () => (await this.#summary(`sleep/${this.user_id}`, answers.Sleep)).sleep
  sleepStreams = async () => (await this.#summary(`sleep/${this.user_id}/stream`, answers.Sleep)).sleep
  workouts = async () => (await this.#summary(`workouts/${this.user_id}`, answers.Workouts)).workouts
  raw = (kind: string) => this.#summary(`${kind}/${this.user_id}/raw`, whatever)
  profile = () => this.send('GET', `/v2/summary/profile/${this.user_id}`, answers.Profile)
  workoutStream = (id: string) => this.send('GET', `/v2/timeseries/workouts/${id}/stream`, answers.WorkoutStream)
  samples = (resource: string, start: string) =>
    this.send('GET', `/v2/timeseries/${this.user_id}/${resource}?start_date=${start}`, answers.Samples)

  protected override linkBody(): object {
    return { provider_id: null, granted_permissions: this.grantedPermissions.toSorted() }
  }

  protected override async requestState(now_ms: number): Promise<LocalState> {
    const body = {
      tzinfo: this.#zone,
      request_start_date: new Date(now_ms - DAYS_MAX * DAY_MS).toISOString(),
      request_end_date: new Date(now_ms).toISOString(),
      granted_permissions: this.grantedPermissions.toSorted(),
    }
    const place = `/v2/user/${this.user_id}/sdk_sync_state/${this.provider}`
    const answer = await this.send('POST', place, answers.SyncState, { body })
    return {
      status: answer.status,
      anchor_ms: answer.request_start_date ?? this.state?.anchor_ms ?? now_ms,
      ingestion_end_ms: answer.request_end_date,
      expires_ms: now_ms + answer.expires_in * 1000,
    }
  }

  protected override async syncResource(name: string): Promise<number> {
    const state = await this.syncState()
    const now_ms = Date.now()
    const end_ms = state.ingestion_end_ms ?? now_ms
    const all = this.health.listAll(name)
    const before = this.#incremental.get(name)
    // Changes by a token have no lower bound; days of activity are read again from the last time on.
    const isFresh = (i: number) => !before || !resources[name]!.byRecord || i >= before.token
    const from_ms = before
      ? resources[name]!.byRecord
        ? -Infinity
        : Math.min(before.last_ms, now_ms - 3 * DAY_MS)
      : state.anchor_ms - DAYS_MAX * DAY_MS
    const entries = all.filter(({ at_ms }, i) => isFresh(i) && at_ms >= from_ms && at_ms < Math.max(end_ms, from_ms))
    if (!before || entries.length)
      await this.#upload(
        name,
        entries.map(({ data }) => data),
        before ? undefined : { from_ms, to_ms: end_ms },
      )
    this.#incremental.set(name, { token: all.length, last_ms: now_ms })
    return entries.length
  }

  #upload(name: string, entries: unknown[], history: { from_ms: number; to_ms: number } | undefined): Promise<void> {
    const { path, isOne } = resources[name]!
    return this.send('POST', this.uploadPath(path), undefined, {
      body: {
        stage: history ? 'historical' : 'daily',
        provider: this.provider,
        // Its adapters write each null.
        start_date: history ? new Date(history.from_ms).toISOString() : null,
        end_date: history ? new Date(history.to_ms).toISOString() : null,
        time_zone: this.#zone,
        data: isOne ? Object.assign({}, ...entries) : entries,
      },
    })
  }
}
