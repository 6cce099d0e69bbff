// The encrypted signing secrets of endpoints. The newest signs; the previous one signs for another day. Source: events.md 6.3,
// 6.4.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import { sql } from '../../platform/db/sql.ts'
import { VaultError, type Vault } from '../../platform/crypto/vault.ts'
import { endpointReadable } from './endpoint-hooks.ts'
import { newSecret, withPrefix } from './signature.ts'

const OVERLAP_S = 86_400
const OLD_KEYS_MAX = 10

const contextOf = (webhook_id: string): string => `secret of ${webhook_id}`

export const encryptedSecretsColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'webhook_secret',
  column: 'secret',
  of: ['webhook_id'],
  context: contextOf,
}

/** Decrypts a secret of an endpoint. */
export const decryptSecret = (vault: Vault, webhook_id: string, encryptedText: string): string =>
  vault.decrypt(encryptedText, contextOf(webhook_id))

/** Adds a key to an endpoint. Writes webhook_secret. */
export async function addSecret(tx: Tx, vault: Vault, webhook_id: string, key: string = newSecret()): Promise<void> {
  const encrypted = vault.encrypt(withPrefix(key), contextOf(webhook_id))
  await tx.run(sql`
    insert into webhook_secret (id, team_id, webhook_id, secret, created_at)
    values (${tx.uuid()}, ${tx.team}, ${webhook_id}, ${encrypted}, ${tx.now})`)
}

const Row = T.Object({ id: T.String(), secret: T.String(), expires_at: Nullable(T.String()) })

/** The keys of an endpoint that sign at the team's time, newest first. */
const activeSecrets = (tx: Tx, webhook_id: string) =>
  tx.many(
    Row,
    sql`
    select id, secret, expires_at from webhook_secret
    where team_id = ${tx.team} and webhook_id = ${webhook_id} and (expires_at is null or expires_at > ${tx.now}) order by id desc`,
  )

/** The newest key of an endpoint, with its prefix. 503: it cannot be decrypted here. */
export async function newestSecret(tx: Tx, vault: Vault, webhook_id: string): Promise<string> {
  const [newest] = await activeSecrets(tx, webhook_id)
  if (!newest) throw new Error('the endpoint has no signing key')
  const key = readable(() => decryptSecret(vault, webhook_id, newest.secret))
  if (key === undefined) throw unavailable('The secret cannot be decrypted; rotating it makes another', RETRY_S)
  return key
}

/** The retry time of a response that depends on keys which the operator has to restore. */
export const RETRY_S = 60

/** Returns the decrypted value; undefined if the key that encrypted it is not configured, or if the text was changed. */
export function readable<R>(open: () => R): R | undefined {
  try {
    return open()
  } catch (error) {
    if (error instanceof VaultError) return undefined
    throw error
  }
}

/**
 * Replaces the key; the old one signs for another 24 h if it can be decrypted. The endpoint's row must be locked.
 * Writes webhook_secret, and what hooks on `endpointReadable` write.
 * 400: the same key, or ten old keys still sign.
 */
export async function rotateSecret(tx: Tx, vault: Vault, webhook_id: string, key: string | undefined): Promise<void> {
  const [current, ...old] = await activeSecrets(tx, webhook_id)
  if (!current) throw new Error('the endpoint has no signing key')
  const known = readable(() => decryptSecret(vault, webhook_id, current.secret))
  if (key !== undefined && known !== undefined && sameKey(known, key)) throw badRequest('The key is already the current key')
  if (old.length >= OLD_KEYS_MAX) throw badRequest(`${OLD_KEYS_MAX} old keys are still valid; try again after one has expired`)
  await tx.run(sql`
    update webhook_secret set expires_at = ${addSeconds(tx.now, OVERLAP_S)} where id = ${current.id} and team_id = ${tx.team}`)
  await tx.run(sql`
    delete from webhook_secret where team_id = ${tx.team} and webhook_id = ${webhook_id} and expires_at <= ${tx.now}`)
  await addSecret(tx, vault, webhook_id, key)
  await tx.notify(endpointReadable, webhook_id)
}

/** Two texts of one key may differ in prefix and padding. */
const sameKey = (a: string, b: string): boolean => bytesOf(a).equals(bytesOf(b))
const bytesOf = (text: string): Buffer => Buffer.from(text.replace('whsec_', ''), 'base64')
