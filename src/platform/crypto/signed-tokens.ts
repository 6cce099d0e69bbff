// Signed tokens: claims that a client holds for a while. The signature makes storage unnecessary. Clients treat them as opaque.
import { randomBytes } from 'node:crypto'
import { systemNow } from '../runtime/clock.ts'
import type { Vault } from './vault.ts'

const PREFIX = 'at_'
const LENGTH_MAX = 1000

export interface TokenClaims {
  id: string
  words: string[]
}

export class SignedTokens {
  readonly #vault: Vault
  readonly #purpose: string
  readonly #prefix: string

  /**
   * @param purpose a token of one purpose is invalid for another
   * @param prefix what every token begins with
   */
  constructor(vault: Vault, purpose: string, prefix = PREFIX) {
    this.#vault = vault
    this.#purpose = purpose
    this.#prefix = prefix
  }

  /** Signs a token with the claims `words` and an expiry. */
  sign(words: readonly string[], lifetime_s: number): string {
    const until_s = Math.floor(systemNow().getTime() / 1000) + lifetime_s
    const said = Buffer.from(JSON.stringify([until_s, randomBytes(9).toString('base64url'), ...words])).toString('base64url')
    return `${this.#prefix}${said}.${this.#vault.sign(said, this.#purpose)}`
  }

  /**
   * The claims of a token, and the id that logs use for it; undefined if it has expired, has another purpose, or has no valid signature.
   */
  verify(token: string): TokenClaims | undefined {
    const claims = this.read(token)
    return claims?.has_expired ? undefined : claims
  }

  /** As `verify`, but a token with a valid signature that has expired is returned and marked. */
  read(token: string): (TokenClaims & { has_expired: boolean }) | undefined {
    if (!token.startsWith(this.#prefix) || token.length > LENGTH_MAX) return undefined
    const dot = token.indexOf('.')
    const said = token.slice(this.#prefix.length, dot)
    if (dot < 0 || !this.#vault.verifySignature(said, token.slice(dot + 1), this.#purpose)) return undefined
    const [until_s, id, ...words] = JSON.parse(Buffer.from(said, 'base64url').toString('utf8')) as [number, string, ...string[]]
    return { id, words, has_expired: until_s * 1000 <= systemNow().getTime() }
  }
}
