// Stored responses under a caller's idempotency key, so that a repeated request has no further effect. The first statement of the
// transaction claims the record and the last one fills it, so it commits with the work. A concurrent duplicate waits for the claim and then
// gets the same response; after waiting for 5 s it gets 409 and may try again. Source: lab-testing.md 7, management-auth.md 21.
import type { Db } from '../db/database.ts'
import type { Tenant, Tx } from '../db/transaction.ts'
import { conflict } from './errors.ts'
import { Problem } from '../runtime/problem.ts'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { cleanup } from '../queue/retention.ts'
import { Nullable, T } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'

/** How a request uses its key. */
export interface IdempotencyKey {
  scope: string
  key: string
  retention_s: number
  /** The response holds a secret: it is not stored, and a repeated key gets 409. */
  secret?: boolean
  /** Distinguishes requests, if a key belongs to only one. */
  fingerprint?: string | null
  /** Whether error responses are stored as well. */
  storeFailures: boolean
}

/** A response, and the users whom it is about. */
export interface StoredResponse {
  status: number
  text: string
  user_ids: readonly string[]
}

const StoredResponseRow = T.Object({
  status: T.Integer(),
  body: T.String(),
  object_id: Nullable(T.String()),
  fingerprint: Nullable(T.String()),
  user_ids: Nullable(T.Array(T.String())),
})

/** With the object of the response, if the operation named one. */
export interface FoundResponse extends StoredResponse {
  object_id: string | null
  user_ids: string[]
}

/**
 * Claims a key for this transaction, or finds its stored response. A claim that is older than its retention is free. 409: another request
 * with this key has been executing for more than 5 s; the key belongs to another request.
 * @param fingerprint distinguishes requests, if a key belongs to only one
 */
export async function claimKey(
  tx: Tx,
  scope: string,
  key: string,
  retention_s: number,
  fingerprint: string | null = null,
): Promise<FoundResponse | undefined> {
  let claimed: number
  try {
    // A claim that ended before now ended longer before the new end than the retention. Citus allows no clock after a conflict.
    claimed = await tx.run(sql`
      insert into idempotency_key as i (team_id, scope, key, expires_at, fingerprint)
      values (${tx.team}, ${scope}, ${key}, ${dbNowPlus(retention_s)}, ${fingerprint})
      on conflict (team_id, scope, key) do update
      set expires_at = excluded.expires_at, status = null, body = null, object_id = null, user_ids = null, fingerprint = excluded.fingerprint
      where excluded.expires_at - i.expires_at > make_interval(secs => ${retention_s}) or i.status is null`)
  } catch (error) {
    if ((error as { code?: string }).code === '55P03')
      throw conflict('A request with the same idempotency key is still executing')
    throw error
  }
  if (claimed) return undefined
  return findStoredResponse(tx, { scope, key, fingerprint })
}

/** Finds the stored response of a key without claiming it. 409: the key belongs to another request. */
export async function findStoredResponse(
  tx: Tx,
  { scope, key, fingerprint = null }: { scope: string; key: string; fingerprint?: string | null },
): Promise<FoundResponse | undefined> {
  const row = await tx.maybe(
    StoredResponseRow,
    sql`
    select status, body, object_id, fingerprint, user_ids from idempotency_key
    where team_id = ${tx.team} and scope = ${scope} and key = ${key} and status is not null and expires_at >= ${dbNow}`,
  )
  if (row && row.fingerprint !== fingerprint) throw conflict('This idempotency key has been used for another request')
  return row && { status: row.status, text: row.body, object_id: row.object_id, user_ids: row.user_ids ?? [] }
}

/** Releases a key: the next request with it is a new one. */
export const releaseKey = (tx: Tx, scope: string, key: string): Promise<number> =>
  tx.run(sql`
    update idempotency_key set status = null, body = null, object_id = null, user_ids = null
    where team_id = ${tx.team} and scope = ${scope} and key = ${key}`)

/**
 * Stores the response of a claimed key; commits with the transaction. When its users are erased, the stored response is erased with them.
 */
export function storeResponse(
  tx: Tx,
  { scope, key }: Pick<IdempotencyKey, 'scope' | 'key'>,
  { status, text, user_ids }: StoredResponse,
  object_id: string | null = null,
): void {
  tx.defer(sql`
    update idempotency_key
    set status = ${status}, body = ${text}, object_id = ${object_id}, user_ids = ${user_ids.length ? user_ids : null}::uuid[]
    where team_id = ${tx.team} and scope = ${scope} and key = ${key}`)
}

/** The response to a repeated request whose first response held a secret. */
const SECRET_ALREADY_SHOWN = {
  status: 409,
  text: '{"detail":"A request with this idempotency key has been answered, and its secret is shown once"}',
}

interface Execution {
  /** Returns the response, in the transaction that stores it. */
  work: (tx: Tx) => Promise<StoredResponse>
  /** The users of an error response. */
  usersOfError: (error: { status: number; text: string }) => readonly string[]
  /** Rejects showing a response about these users. */
  assertShown: (tx: Tx, user_ids: string[]) => Promise<void>
}

/**
 * Runs `work` under a key: the same key gets the stored response, for any body, unless `fingerprint` distinguishes requests. An error
 * response (a `Problem`) is stored too, in a transaction of its own, unless `storeFailures` is false or the error may be temporary.
 */
export async function withIdempotencyKey(
  db: Db,
  tenant: Tenant,
  idempotency: IdempotencyKey,
  { work, usersOfError, assertShown }: Execution,
): Promise<StoredResponse> {
  const { scope, key, retention_s, fingerprint = null } = idempotency
  const replayOrStore = (respond: (tx: Tx) => Promise<StoredResponse>) =>
    db.tx(tenant, async (tx) => {
      const stored = await claimKey(tx, scope, key, retention_s, fingerprint)
      if (stored?.user_ids.length) await assertShown(tx, stored.user_ids)
      if (stored) return stored
      const response = await respond(tx)
      const { user_ids } = response
      storeResponse(tx, idempotency, idempotency.secret ? { ...SECRET_ALREADY_SHOWN, user_ids } : response)
      return response
    })
  try {
    return await replayOrStore(work)
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error) || !idempotency.storeFailures) throw error
    const response = { status: error.status, text: JSON.stringify(error.body) }
    return replayOrStore(async () => ({ ...response, user_ids: usersOfError(response) }))
  }
}

/** Whether the same request may get another response later: such an error response is not stored. */
const isTemporary = ({ status }: Problem): boolean => status >= 500 || status === 409 || status === 422 || status === 429

/**
 * Erases the stored responses that are about a user. Writes idempotency_key. A view finds them first, because with the policy of the table the
 * planner cannot use the index of users (docs/decisions/row-security.md).
 */
export const eraseStoredResponses = (tx: Tx, user_id: string): Promise<number> =>
  tx.run(sql`
    with about as materialized (
      select scope, key from idempotency_key_of_team where team_id = ${tx.team} and user_ids @> array[${user_id}]::uuid[])
    delete from idempotency_key i using about where i.team_id = ${tx.team} and i.scope = about.scope and i.key = about.key`)

/** Deletes stored responses after their retention. */
export const idempotencyCleanup = cleanup({ table: 'idempotency_key', column: 'expires_at', control: true })
