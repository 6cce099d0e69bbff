// Tokens: a few words that somebody may carry for a while, signed so that they need not be stored. Opaque to those who carry them.
import { randomBytes } from 'node:crypto'
import { systemNow } from '../runtime/clock.ts'
import type { Vault } from './vault.ts'

const PREFIX = 'at_'
const LENGTH_MAX = 1000

export class SignedTokens {
  readonly #vault: Vault
  readonly #purpose: string

  /** @param purpose a token of one purpose is worthless for another */
  constructor(vault: Vault, purpose: string) {
    this.#vault = vault
    this.#purpose = purpose
  }

  /** A token that says `words` and expires. */
  sign(words: readonly string[], lifetime_s: number): string {
    const until_s = Math.floor(systemNow().getTime() / 1000) + lifetime_s
    const said = Buffer.from(JSON.stringify([until_s, randomBytes(9).toString('base64url'), ...words])).toString('base64url')
    return `${PREFIX}${said}.${this.#vault.sign(said, this.#purpose)}`
  }

  /** What a token says, and by which id logs name it; undefined when it has expired, is of another purpose, or is not ours. */
  verify(token: string): { id: string; words: string[] } | undefined {
    if (!token.startsWith(PREFIX) || token.length > LENGTH_MAX) return undefined
    const dot = token.indexOf('.')
    const said = token.slice(PREFIX.length, dot)
    if (dot < 0 || !this.#vault.verifySignature(said, token.slice(dot + 1), this.#purpose)) return undefined
    const [until_s, id, ...words] = JSON.parse(Buffer.from(said, 'base64url').toString('utf8')) as [number, string, ...string[]]
    return until_s * 1000 > systemNow().getTime() ? { id, words } : undefined
  }
}
