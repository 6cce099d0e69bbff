// Answers kept under a caller's key, so that a repeated request repeats nothing. The record is claimed by the first statement of
// the transaction and filled by the last, so it commits with the work. A twin that arrives meanwhile waits for the claim and then
// gets the same answer; after 5 s of waiting it is told to try again (409).
// Source: lab-testing.md 7, management-auth.md 21.
import type { Db } from '../db/database.ts'
import type { Tenant, Tx } from '../db/transaction.ts'
import { conflict } from './errors.ts'
import { Problem } from '../runtime/problem.ts'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { cleanup } from '../queue/retention.ts'
import { Nullable, T } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'

export interface OperationResult {
  status: number
  text: string
  /** The users it is about, when it was kept. */
  user_ids?: readonly string[]
}

const StoredResponseRow = T.Object({
  status: T.Integer(),
  body: T.String(),
  object_id: Nullable(T.String()),
  fingerprint: Nullable(T.String()),
  user_ids: Nullable(T.Array(T.String())),
})

export interface StoredResponse extends OperationResult {
  /** What the answer was about, when the operation said so. */
  object_id: string | null
  /** The users it is about. */
  user_ids: string[]
}

/**
 * Claim a key for this transaction, or find the answer it already stands for. A claim that is older than its retention is free.
 * 409: another request with this key has been executing for more than 5 s; the key stands for another request.
 * @param fingerprint what a request is told from others by, where a key stands for one alone
 */
export async function claimKey(
  tx: Tx,
  scope: string,
  key: string,
  retention_s: number,
  fingerprint: string | null = null,
): Promise<StoredResponse | undefined> {
  let claimed: number
  try {
    claimed = await tx.run(sql`
      insert into idempotency as i (team_id, scope, key, expires_at, fingerprint)
      values (${tx.team}, ${scope}, ${key}, ${dbNowPlus(retention_s)}, ${fingerprint})
      on conflict (team_id, scope, key) do update
      set expires_at = excluded.expires_at, status = null, body = null, object_id = null, user_ids = null, fingerprint = excluded.fingerprint
      where i.expires_at < ${dbNow} or i.status is null`)
  } catch (error) {
    if ((error as { code?: string }).code === '55P03')
      throw conflict('A request with the same idempotency key is still executing')
    throw error
  }
  if (claimed) return undefined
  const kept = await tx.one(
    StoredResponseRow,
    sql`
    select status, body, object_id, fingerprint, user_ids from idempotency where team_id = ${tx.team} and scope = ${scope} and key = ${key}`,
  )
  if (kept.fingerprint !== fingerprint) throw conflict('This idempotency key has been used for another request')
  return { status: kept.status, text: kept.body, object_id: kept.object_id, user_ids: kept.user_ids ?? [] }
}

/** Free a key again: the next request with it is a new one. */
export const releaseKey = (tx: Tx, scope: string, key: string): Promise<number> =>
  tx.run(sql`
    update idempotency set status = null, body = null, object_id = null, user_ids = null
    where team_id = ${tx.team} and scope = ${scope} and key = ${key}`)

/**
 * Keep the answer of a claimed key; commits with the transaction. The users whom it is about take it along when they are erased.
 */
export function storeResponse(
  tx: Tx,
  scope: string,
  key: string,
  answer: OperationResult,
  { object_id = null, user_ids = [] }: { object_id?: string | null; user_ids?: readonly string[] } = {},
): void {
  tx.defer(sql`
    update idempotency
    set status = ${answer.status}, body = ${answer.text}, object_id = ${object_id},
        user_ids = ${user_ids.length ? user_ids : null}::uuid[]
    where team_id = ${tx.team} and scope = ${scope} and key = ${key}`)
}

/** What a repeated request is answered whose first answer held a secret. */
const SECRET_ALREADY_SHOWN: OperationResult = {
  status: 409,
  text: '{"detail":"A request with this idempotency key has been answered, and its secret is shown once"}',
}

/**
 * Run `work` under a key: its answer is given again for the same key, whatever the body then says, unless `fingerprint` tells requests
 * apart. A refusal (a `Problem`) is kept too, in a transaction of its own, unless `storeFailures` is false or it may pass.
 */
export async function withIdempotencyKey(
  db: Db,
  tenant: Tenant,
  options: {
    scope: string
    key: string
    retention_s: number
    storeFailures: boolean
    secret?: boolean
    fingerprint?: string | null
  },
  about: {
    /** The users whom an answer is about: of what `work` has made, in the same transaction, or of a refusal. */
    usersOf: (answer: OperationResult, tx: Tx | undefined) => readonly string[]
    /** Refuses to show an answer about these users. */
    assertShown: (tx: Tx, user_ids: string[]) => Promise<void>
  },
  work: (tx: Tx) => Promise<OperationResult>,
): Promise<OperationResult> {
  const { scope, key, retention_s, fingerprint = null } = options
  const find = async (tx: Tx) => {
    const kept = await claimKey(tx, scope, key, retention_s, fingerprint)
    if (kept?.user_ids.length) await about.assertShown(tx, kept.user_ids)
    return kept
  }
  try {
    return await db.tx(tenant, async (tx) => {
      const kept = await find(tx)
      if (kept) return kept
      const answer = await work(tx)
      storeResponse(tx, scope, key, options.secret ? SECRET_ALREADY_SHOWN : answer, { user_ids: about.usersOf(answer, tx) })
      return answer
    })
  } catch (error) {
    if (!(error instanceof Problem) || isPassing(error) || !options.storeFailures) throw error
    const answer = { status: error.status, text: JSON.stringify(error.body) }
    return db.tx(tenant, async (tx) => {
      const kept = await find(tx)
      if (kept) return kept
      storeResponse(tx, scope, key, answer, { user_ids: about.usersOf(answer, undefined) })
      return answer
    })
  }
}

/** Whether the same request may be answered otherwise later: a refusal of this kind is not kept. */
const isPassing = ({ status }: Problem): boolean => status >= 500 || status === 409 || status === 422 || status === 429

/**
 * Erase the kept answers that are about a user. Writes idempotency. They are found first, in a view, since the policy of the table keeps the
 * index of users from use (docs/decisions/row-security.md).
 */
export const eraseAnswers = (tx: Tx, user_id: string): Promise<number> =>
  tx.run(sql`
    with about as materialized (
      select scope, key from idempotency_of_team where team_id = ${tx.team} and user_ids @> array[${user_id}]::uuid[])
    delete from idempotency i using about where i.team_id = ${tx.team} and i.scope = about.scope and i.key = about.key`)

/** Answers whose retention is over. */
export const idempotencyCleanup = cleanup({ table: 'idempotency', column: 'expires_at', control: true })
