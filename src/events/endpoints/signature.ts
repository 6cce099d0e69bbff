// Signatures of deliveries by Standard Webhooks. Source: events.md 6.3.
import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'

const PREFIX = 'whsec_'

/** A new signing secret: the prefix and 24 random bytes in base64. */
export const newSecret = (): string => `${PREFIX}${randomBytes(24).toString('base64')}`

/** A secret as it is stored: with its prefix, which is not part of the key. */
export const withPrefix = (secret: string): string => (secret.startsWith(PREFIX) ? secret : `${PREFIX}${secret}`)

/** The key of a secret. Made once per secret. */
export const signingKey = (secret: string): KeyObject => createSecretKey(Buffer.from(secret.replace(PREFIX, ''), 'base64'))

/** The signature header: one token per key, newest key first. `at_s` is the time of this attempt in Unix seconds. */
export const signatures = (keys: KeyObject[], id: string, at_s: number, body: Buffer): string =>
  keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${at_s}.`).update(body).digest('base64')}`).join(' ')

/** The headers of an attempt under both of their names; names and values alternate. Source: events.md 6.2. */
export const signatureNames = (id: string, timestamp: string, signature: string): string[] => [
  'webhook-id',
  id,
  'webhook-timestamp',
  timestamp,
  'webhook-signature',
  signature,
  'svix-id',
  id,
  'svix-timestamp',
  timestamp,
  'svix-signature',
  signature,
]

/** The same headers as an object. */
export function signatureHeaders(keys: KeyObject[], id: string, at_s: number, body: Buffer): Record<string, string> {
  const list = signatureNames(id, String(at_s), signatures(keys, id, at_s, body))
  return Object.fromEntries(list.flatMap((name, i) => (i % 2 ? [] : [[name, list[i + 1]!]])))
}
