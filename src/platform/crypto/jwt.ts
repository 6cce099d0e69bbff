// JSON Web Tokens under RS256, in a form that simple clients can read. Source: users-wearables.md 16.2.
import { sign, verify, type KeyObject } from 'node:crypto'
import { systemNow } from '../runtime/clock.ts'

const LENGTH_MAX = 2000
const TOKEN = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/
const HEADER = encode({ alg: 'RS256', typ: 'JWT' })

/**
 * A part of a token. Clients decode it as plain base64: the text has no padding, since spaces fill it up to whole groups. It has no `-` and
 * `_` either if the claims are in ASCII without `>`, `?` and `~`.
 */
function encode(claims: object): string {
  const text = JSON.stringify(claims)
  return Buffer.from(text.padEnd(Math.ceil(text.length / 3) * 3)).toString('base64url')
}

const nowS = (): number => Math.floor(systemNow().getTime() / 1000)

/** A token with these claims, and with `iat` and `exp`. */
export function signJwt(claims: object, lifetime_s: number, key: KeyObject): string {
  const iat = nowS()
  const signed = `${HEADER}.${encode({ ...claims, iat, exp: iat + lifetime_s })}`
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`
}

export interface Jwt {
  claims: unknown
  has_expired: boolean
}

/** The claims of a token that `signJwt` made with this key; undefined if it is another one. */
export function readJwt(token: string, key: KeyObject): Jwt | undefined {
  const [, header, payload, signature] = (token.length <= LENGTH_MAX && TOKEN.exec(token)) || []
  if (header !== HEADER || payload === undefined || signature === undefined) return undefined
  if (!verify('RSA-SHA256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))) return undefined
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { exp: number }
  return { claims, has_expired: claims.exp <= nowS() }
}
