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

export interface Call {
  method: string
  path: string
  body: unknown
}

interface Platform {
  headers: Record<string, string>
  isPacked: (path: string) => boolean
}

/** A phone with the app of a team on it. `calls` are those that it has made, the newest last. */
export class SignedInPhone {
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
export interface Entry {
  at_ms: number
  data: unknown
}

/** A health store: what it has of each resource, in the order in which it was written. */
export class HealthStore {
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
