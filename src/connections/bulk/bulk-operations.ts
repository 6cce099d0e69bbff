// Operations on the connections of many users: what was asked for, how far it is, and what came of it for each user. Owns the tables
// bulk_operation and bulk_operation_user. Source: users-wearables.md 2.5.
import type { OAuthProvider } from '../../people/users/sources.ts'
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { defineJob, enqueue } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { BulkOperation, BulkStatus, BulkType, ConnectionRecipe } from './schema.ts'

/** Operations of a team that have not ended. */
const UNFINISHED_MAX = 50
const KEPT_S = 90 * 86_400
const LISTED = 10
const WAIT_MS = 20_000
const PAUSE_MS = 200

export const runBulkOperation = defineJob('bulk.run', T.Object({ operation_id: T.String() }), { timeout_s: 240 })

const encryptionContext = (operation_id: string, position: string | number): string =>
  `recipe ${position} of bulk operation ${operation_id}`
export const encryptedRecipeColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'bulk_operation_user',
  column: 'recipe',
  of: ['operation_id', 'position'],
  context: encryptionContext,
}

const Count = T.Object({ n: T.Integer() })

/**
 * Records an operation on users and queues its job. Writes bulk_operation, bulk_operation_user, job. Errors: 400 with 50 operations of the
 * team that have not ended.
 * @param recipes of an import: one for each user
 * @returns its id
 */
export async function beginBulkOperation(
  tx: Tx,
  type: BulkType,
  provider: OAuthProvider,
  user_ids: string[],
  encryption?: { vault: Vault; recipes: ConnectionRecipe[] },
): Promise<string> {
  for (const user_id of user_ids) tx.concerns(user_id)
  await tx.locking.run(sql`select pg_advisory_xact_lock(hashtextextended(${`bulk_operation ${tx.team}`}, 0))`)
  const { n } = await tx.one(Count, sql`select count(*) as n from bulk_operation where team_id = ${tx.team} and ended_at is null`)
  if (n >= UNFINISHED_MAX) throw badRequest(`A team has at most ${UNFINISHED_MAX} bulk operations that have not ended`)
  const id = tx.uuid()
  await tx.run(sql`
    insert into bulk_operation (team_id, id, type, provider, status, total, started_at)
    values (${tx.team}, ${id}, ${type}, ${provider}, 'in_progress', ${user_ids.length}, ${tx.now})`)
  const recipes = user_ids.map((_, position) =>
    encryption ? encryption.vault.encrypt(JSON.stringify(encryption.recipes[position]), encryptionContext(id, position)) : null,
  )
  await tx.run(sql`
    insert into bulk_operation_user (team_id, operation_id, position, user_id, recipe)
    select ${tx.team}, ${id}, given.position - 1, given.user_id, given.recipe
    from unnest(${user_ids}::uuid[], ${recipes}::text[]) with ordinality as given (user_id, recipe, position)`)
  enqueue(tx, runBulkOperation, { operation_id: id })
  return id
}

const Row = T.Object({
  id: T.String(),
  type: T.Unsafe<BulkType>({ type: 'string' }),
  provider: T.Unsafe<OAuthProvider>({ type: 'string' }),
  status: T.Unsafe<BulkStatus>({ type: 'string' }),
  total: T.Integer(),
  processed: T.Integer(),
  started_at: T.String(),
  ended_at: Nullable(T.String()),
})
const operationColumns = sql`id, type, provider, status, total, processed, started_at, ended_at`

/** An operation that has not ended. */
export const unfinishedOperation = (tx: Tx, id: string): Promise<Static<typeof Row> | undefined> =>
  tx.maybe(
    Row,
    sql`select ${operationColumns} from bulk_operation where team_id = ${tx.team} and id = ${id} and ended_at is null`,
  )

/** Lists the operations of the team, newest first. Errors: 400 a cursor of another list. */
export async function listBulkOperations(
  tx: Tx,
  { next_cursor, page_size = LISTED }: { next_cursor?: string | undefined; page_size?: number | undefined },
): Promise<{ data: BulkOperation[]; next_cursor: string | null }> {
  const pages = new Pages('bulk operations', { next_cursor, limit: Math.max(1, page_size) }, [uuidKey(sql`id`)])
  if (page_size === 0) return { data: [], next_cursor: next_cursor ?? null }
  const rows = await tx.many(
    Row,
    sql`select ${operationColumns} from bulk_operation where team_id = ${tx.team} and ${pages.afterCursor} ${pages.order}`,
  )
  const cut = pages.cut(rows, ({ id }) => [id])
  return {
    data: cut.page.map(({ type, status, provider, total, processed, started_at, ended_at }) => {
      const pending = total - processed
      return { type, status, provider, pending, processed, started_at, ended_at }
    }),
    next_cursor: cut.next_cursor,
  }
}

const Item = T.Object({ position: T.Integer(), user_id: T.String(), recipe: Nullable(T.String()) })
export type BulkItem = Static<typeof Item>

/** The next users of an operation, in the order in which they were given. */
export const nextItems = (tx: Tx, operation_id: string, limit: number): Promise<BulkItem[]> =>
  tx.many(
    Item,
    sql`
    select position, user_id, recipe from bulk_operation_user
    where team_id = ${tx.team} and operation_id = ${operation_id} and result is null order by position limit ${limit}`,
  )

/** The users that were processed with success, before the waiting ones. */
export const lastDone = async (tx: Tx, operation_id: string, limit: number): Promise<string[]> =>
  (
    await tx.many(
      T.Pick(Item, ['user_id']),
      sql`
      select user_id from bulk_operation_user
      where team_id = ${tx.team} and operation_id = ${operation_id} and result = 'done' order by position desc limit ${limit}`,
    )
  ).map(({ user_id }) => user_id)

export const decryptRecipe = (vault: Vault, operation_id: string, { position, recipe }: BulkItem): ConnectionRecipe =>
  JSON.parse(vault.decrypt(recipe!, encryptionContext(operation_id, position))) as ConnectionRecipe

/** Records what came of a user, and forgets the tokens. Writes bulk_operation_user, bulk_operation. */
export async function recordResult(tx: Tx, operation_id: string, position: number, result: 'done' | 'failed'): Promise<void> {
  const recorded = await tx.run(sql`
    update bulk_operation_user set result = ${result}, recipe = null
    where team_id = ${tx.team} and operation_id = ${operation_id} and position = ${position} and result is null`)
  if (recorded)
    await tx.run(sql`update bulk_operation set processed = processed + 1 where team_id = ${tx.team} and id = ${operation_id}`)
}

/**
 * Ends an operation: with success, if it had no users or succeeded for at least one. Users who were erased meanwhile count as
 * processed. Writes bulk_operation, bulk_operation_user.
 */
export async function endBulkOperation(tx: Tx, operation_id: string, { isAborted }: { isAborted: boolean }): Promise<void> {
  await tx.run(sql`
    update bulk_operation_user set recipe = null
    where team_id = ${tx.team} and operation_id = ${operation_id} and recipe is not null`)
  await tx.run(sql`
    update bulk_operation o
    set ended_at = ${tx.now}, expires_at = ${dbNowPlus(KEPT_S)},
        processed = case when ${isAborted}::boolean then processed else total end,
        status = case when ${isAborted}::boolean then 'aborted'
                      when total = 0 or exists (
                        select from bulk_operation_user u
                        where u.team_id = ${tx.team} and u.operation_id = o.id and u.result = 'done') then 'success'
                      else 'failure' end
    where team_id = ${tx.team} and id = ${operation_id} and ended_at is null`)
}

const State = T.Object({ is_over: T.Boolean(), done: T.Array(T.String()), failed: T.Array(T.String()) })
export type BulkState = Static<typeof State>

/** What came of the users of an operation so far; all have failed who were not processed when it ended. */
export const getBulkState = (tx: Tx, operation_id: string): Promise<BulkState> =>
  tx.one(
    State,
    sql`
    select ended_at is not null as is_over,
      array_to_json(array(
        select user_id from bulk_operation_user u
        where u.team_id = ${tx.team} and u.operation_id = o.id and u.result = 'done' group by user_id order by min(position))) as done,
      array_to_json(array(
        select user_id from bulk_operation_user u
        where u.team_id = ${tx.team} and u.operation_id = o.id and (u.result = 'failed' or (o.ended_at is not null and u.result is null))
        group by user_id order by min(position))) as failed
    from bulk_operation o where team_id = ${tx.team} and id = ${operation_id}`,
  )

/** Waits for the end of an operation, at most 20 s, without a connection of the database in between. @returns its state then */
export async function waitForEnd(cells: Cells, tenant: Tenant, operation_id: string): Promise<BulkState> {
  const db = cells.db(tenant.cell)
  const end_ms = performance.now() + WAIT_MS
  for (;;) {
    const { ended_at } = await db.read(tenant, (tx) =>
      tx.one(
        T.Pick(Row, ['ended_at']),
        sql`select ended_at from bulk_operation where team_id = ${tx.team} and id = ${operation_id}`,
      ),
    )
    if (ended_at !== null || performance.now() + PAUSE_MS > end_ms) return db.read(tenant, (tx) => getBulkState(tx, operation_id))
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
