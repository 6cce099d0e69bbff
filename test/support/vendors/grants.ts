// The grants of a vendor's users: codes that are used once, access tokens that expire, refresh tokens that rotate.
import { randomBytes } from 'node:crypto'
import type { VendorAnswer, VendorRequest } from './vendor-server.ts'

export interface VendorTokens {
  user: string
  access_token: string
  refresh_token: string
  scopes: string[]
  expires_at_ms: number
}

export interface GrantRules {
  life_s: number
  /** What becomes of a refresh token that was used: it dies at once, lives until a token that came for it is used, or lives on and no new one comes. */
  afterUse: 'dies' | 'until_new_is_used' | 'stays'
}

export class VendorGrants {
  readonly #rules: GrantRules
  readonly #codes = new Map<string, { user: string; scopes: string[]; redirect_uri: string }>()
  readonly #access = new Map<string, VendorTokens>()
  readonly #refresh = new Map<string, VendorTokens>()
  /** New access token → the refresh token that it came for. */
  readonly #replaced = new Map<string, string>()

  constructor(rules: GrantRules) {
    this.#rules = rules
  }

  /** A user agrees. @returns the code that the browser brings back */
  agree(user: string, scopes: string[], redirect_uri: string): string {
    const code = random('code')
    this.#codes.set(code, { user, scopes, redirect_uri })
    return code
  }

  /** The page on which a user agrees; here every request agrees at once. */
  consent(query: URLSearchParams, user: string, scopes: string[] = query.get('scope')!.split(' ')): VendorAnswer {
    return redirectWithCode(query, this.agree(user, scopes, query.get('redirect_uri')!))
  }

  /** The tokens for a request to the token endpoint. */
  answerForm(form: URLSearchParams, now_ms: number): VendorTokens | undefined {
    return form.get('grant_type') === 'refresh_token'
      ? this.refresh(form.get('refresh_token') ?? '', now_ms)
      : this.exchange(form.get('code') ?? '', form.get('redirect_uri') ?? '', now_ms)
  }

  /** `redirect_uri` undefined: the vendor does not compare it. */
  exchange(code: string, redirect_uri: string | undefined, now_ms: number): VendorTokens | undefined {
    const found = this.#codes.get(code)
    this.#codes.delete(code)
    return found && (redirect_uri === undefined || found.redirect_uri === redirect_uri)
      ? this.#issue(found, random('refresh'), now_ms)
      : undefined
  }

  refresh(refresh_token: string, now_ms: number): VendorTokens | undefined {
    const found = this.#refresh.get(refresh_token)
    if (!found) return undefined
    const { afterUse } = this.#rules
    if (afterUse === 'dies') this.#refresh.delete(refresh_token)
    const tokens = this.#issue(found, afterUse === 'stays' ? refresh_token : random('refresh'), now_ms)
    if (afterUse === 'until_new_is_used') this.#replaced.set(tokens.access_token, refresh_token)
    return tokens
  }

  /** Whose access token it is; undefined if it is none, or an expired one. */
  findHolder(access_token: string, now_ms: number): VendorTokens | undefined {
    const found = this.#access.get(access_token)
    if (!found || found.expires_at_ms <= now_ms) return undefined
    const replaced = this.#replaced.get(access_token)
    if (replaced !== undefined) this.#refresh.delete(replaced)
    return found
  }

  /** The tokens whose access token a request has in its header. */
  findBearer({ headers }: Pick<VendorRequest, 'headers'>, now_ms: number): VendorTokens | undefined {
    return this.findHolder((headers.authorization ?? '').replace(/^Bearer /, ''), now_ms)
  }

  /** A user or an application ends the grant. */
  end(user: string): void {
    for (const tokens of [this.#access, this.#refresh])
      for (const [token, held] of tokens) if (held.user === user) tokens.delete(token)
  }

  /** The vendor ends the access tokens of a user before their time; the refresh tokens stay. */
  expireAccess(user: string): void {
    for (const [token, held] of this.#access) if (held.user === user) this.#access.delete(token)
  }

  /** A user takes back one scope at the vendor. */
  narrow(user: string, scope: string): void {
    for (const held of [...this.#access.values(), ...this.#refresh.values()])
      if (held.user === user) held.scopes = held.scopes.filter((item) => item !== scope)
  }

  /** The newest access token of a user. */
  tokenOf(user: string): string | undefined {
    return [...this.#access.values()].findLast((tokens) => tokens.user === user)?.access_token
  }

  isGranted(user: string): boolean {
    return [...this.#refresh.values()].some((tokens) => tokens.user === user)
  }

  #issue({ user, scopes }: Pick<VendorTokens, 'user' | 'scopes'>, refresh_token: string, now_ms: number): VendorTokens {
    const expires_at_ms = now_ms + this.#rules.life_s * 1000
    const tokens = { user, scopes, access_token: random('access'), refresh_token, expires_at_ms }
    this.#access.set(tokens.access_token, tokens)
    this.#refresh.set(refresh_token, tokens)
    return tokens
  }
}

/** The redirect of a consent page with a code and the state of the request. */
export function redirectWithCode(query: URLSearchParams, code: string): VendorAnswer {
  const target = new URL(query.get('redirect_uri')!)
  target.searchParams.set('state', query.get('state')!)
  target.searchParams.set('code', code)
  return { status: 302, headers: { location: target.href } }
}

const random = (kind: string): string => `${kind}-${randomBytes(12).toString('hex')}`
