// What both published mobile clients have in common: sign-in, a new access token when one is rejected, and errors for every other status.
// Source: the public sources of the clients; users-wearables.md 16.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import type { Decode } from './client-decoding.ts'
import { exchange, readSignInToken, refresh, type Tokens } from './phones.ts'
import { url, type TestTeam } from './server.ts'

export class HttpError extends Error {
  readonly status: number
  constructor(status: number, place: string, body: string) {
    super(`${place}: ${status} ${body.slice(0, 300)}`)
    this.status = status
  }
}

interface Call {
  method: string
  path: string
  body: unknown
}

interface Platform {
  headers: Record<string, string>
  isPacked: (path: string) => boolean
}

/** A phone with the app of a team on it. `calls` are those that it has made, the newest last. */
class SignedInPhone {
  readonly #platform: Platform
  #tokens: Tokens | undefined
  #user_id = ''
  readonly calls: Call[] = []

  constructor(platform: Platform) {
    this.#platform = platform
  }

  get user_id(): string {
    return this.#user_id
  }

  get tokens(): Tokens {
    assert(this.#tokens, 'the phone is not signed in')
    return this.#tokens
  }

  /** Signs in with the token that the team's backend hands to the app. */
  async signIn(team: TestTeam, user_id: string): Promise<void> {
    const { body } = await team.api.post(`/v2/user/${user_id}/sign_in_token`)
    await this.exchange(body.sign_in_token as string)
  }

  async exchange(sign_in_token: string): Promise<void> {
    const { user_token, claims } = readSignInToken(sign_in_token)
    assert.match(String(claims.iss), /^id-signer-[a-z]+-[a-z]+@vital-id-[a-z]+-[a-z]+\.iam\.gserviceaccount\.com$/)
    const { status, body } = await exchange(user_token)
    assert.equal(status, 200, JSON.stringify(body))
    this.#user_id = String(claims.uid)
    this.#tokens = body
  }

  /** Throws HttpError for each status but 2xx. A rejected token is refreshed once. */
  async send<V>(
    method: string,
    path: string,
    read: Decode<V> | undefined,
    { body, headers }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<V> {
    this.calls.push({ method, path, body })
    let response = await this.#request(method, path, body, headers)
    if (response.status === 401) {
      const { status, body: tokens } = await refresh(this.tokens.refresh_token)
      assert.equal(status, 200, JSON.stringify(tokens))
      this.#tokens = tokens
      response = await this.#request(method, path, body, headers)
    }
    const text = await response.text()
    if (!response.ok) throw new HttpError(response.status, `${method} ${path}`, text)
    return read ? read(JSON.parse(text), path) : (undefined as V)
  }

  #request(method: string, path: string, body: unknown, extraHeaders: Record<string, string> = {}): Promise<Response> {
    const { headers, isPacked } = this.#platform
    const text = body === undefined ? undefined : JSON.stringify(body)
    const isGzip = text !== undefined && isPacked(path)
    return fetch(url + path, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${this.tokens.access_token}`,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
        ...extraHeaders,
      },
      ...(text === undefined ? {} : { body: isGzip ? gzipSync(text) : text }),
    })
  }
}

/** Something that the health store of a phone has. */
interface Entry {
  at_ms: number
  data: unknown
}

/** A health store: what it has of each resource, in the order in which it was written. */
class HealthStore {
  readonly #entries = new Map<string, Entry[]>()

  write(resource: string, ...entries: Entry[]): void {
    this.#entries.set(resource, [...this.listAll(resource), ...entries])
  }

  listAll(resource: string): Entry[] {
    return this.#entries.get(resource) ?? []
  }
}

/** What a phone has of its server, as its last answer says it. */
export class ConnectionPaused extends Error {}
export class ConnectionDestroyed extends Error {}

interface SyncState {
  status: 'active' | 'paused' | 'error'
  expires_ms: number
}

export type ConnectionPolicy = 'auto' | 'explicit'

/** What both clients do with a health store: they connect it, keep its sync state and send its entries. */
export abstract class HealthStorePhone<State extends SyncState> extends SignedInPhone {
  readonly health = new HealthStore()
  protected state: State | undefined
  readonly #policy: ConnectionPolicy

  constructor(platform: Platform, policy: ConnectionPolicy) {
    super(platform)
    this.#policy = policy
  }

  protected abstract readonly provider: string
  /** What the client reads in the answers to a connection and its end. */
  protected abstract readonly success: Decode | undefined
  protected abstract linkBody(): object
  protected abstract requestState(now_ms: number): Promise<State>
  protected abstract syncResource(name: string): Promise<number>

  async connect(): Promise<void> {
    await this.#createConnection()
    await this.syncState(true)
  }

  async disconnect(): Promise<void> {
    await this.send('DELETE', `/v2/user/${this.user_id}/${this.provider}`, this.success)
    try {
      await this.syncState(true)
    } catch (error) {
      if (error instanceof ConnectionDestroyed) return
      throw error
    }
    throw new Error('the connection is still active')
  }

  /** Synchronizes resources, each with its history first. @returns how many entries were sent */
  async sync(...names: string[]): Promise<number> {
    let sent = 0
    for (const name of names) sent += await this.syncResource(name)
    return sent
  }

  /** The local sync state expires, as it does after four hours. */
  expireState(): void {
    if (this.state) this.state.expires_ms = 0
  }

  protected async connectByPolicy(): Promise<void> {
    if (this.#policy === 'auto') await this.#createConnection()
  }

  protected async syncState(isForced = false): Promise<State> {
    if (!this.state || isForced || this.state.expires_ms <= Date.now()) {
      await this.connectByPolicy()
      this.state = await this.requestState(Date.now())
    }
    if (this.state.status === 'paused') throw new ConnectionPaused()
    if (this.state.status === 'error') throw new ConnectionDestroyed()
    return this.state
  }

  /** The path to which the entries of a resource are posted: `summary/sleep` or `timeseries/heartrate` with the user in it. */
  protected uploadPath(path: string): string {
    const [root, resource] = path.split('/')
    return root === 'summary' ? `/v2/${root}/${resource}/${this.user_id}` : `/v2/${root}/${this.user_id}/${resource}`
  }

  async #createConnection(): Promise<void> {
    try {
      const body = { user_id: this.user_id, ...this.linkBody() }
      await this.send('POST', `/v2/link/provider/manual/${this.provider}`, this.success, { body })
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 409)) throw error
    }
  }
}
