// Messages to laboratories in lab_message, by their order: whether they were sent, and what the laboratory answered. Makes no decisions.
import { dbNow, dbNowPlus, endLease, isUnleased } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { OutgoingState } from './message-store.ts'

const OutgoingMessage = T.Object({
  id: T.String(),
  team_id: T.String(),
  link_account_id: T.String(),
  order_id: T.String(),
  control_id: T.String(),
  state: T.Unsafe<OutgoingState>({ type: 'string' }),
  bytes: T.Unsafe<Buffer>({}),
  answer: Nullable(T.Unsafe<Buffer>({})),
  attempts: T.Integer(),
  reason: Nullable(T.String()),
})
export type OutgoingMessage = Static<typeof OutgoingMessage>

const columns = sql`id, team_id, link_account_id, order_id, control_id, state, bytes, answer, attempts, reason`

/** A message to a laboratory; undefined if there is none, or it is one from a laboratory. */
export const findOutgoing = (db: Queries, id: string): Promise<OutgoingMessage | undefined> =>
  db.maybe(OutgoingMessage, sql`select ${columns} from lab_message where id = ${id} and direction = 'out'`)

/** Most messages of an order that are read. */
const MESSAGES_MAX = 1000

/** The messages about an order, oldest first. The caller has locked the order, so that none is added meanwhile. */
export const listOutgoing = (tx: Tx, order_id: string): Promise<OutgoingMessage[]> =>
  tx.locking.many(
    OutgoingMessage,
    sql`
    select ${columns} from lab_message
    where order_id = ${order_id} and team_id = ${tx.team} and direction = 'out' order by created_at, id limit ${MESSAGES_MAX}
    for no key update`,
  )

/**
 * Takes back those of the messages that certainly were not sent: no transport has ever claimed them. Writes lab_message.
 * @returns their ids
 */
export async function withdrawUnsent(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.many(
    T.Object({ id: T.String() }),
    sql`
    update lab_message set state = 'done', due_at = null, error = 'Withdrawn before it was sent', updated_at = ${dbNow}
    where id = any (${ids}::uuid[]) and team_id = ${tx.team} and direction = 'out' and state = 'queued' and attempts = 0 and ${isUnleased}
    returning id`,
  )
  return rows.map(({ id }) => id)
}

/** Deletes the messages about a user's orders that certainly were not sent. Writes lab_message. @returns the orders */
export async function deleteUnsent(tx: Tx, user_id: string): Promise<string[]> {
  const rows = await tx.many(
    T.Object({ order_id: T.String() }),
    sql`
    delete from lab_message
    where order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team}) and team_id = ${tx.team}
      and direction = 'out' and state = 'queued' and attempts = 0 and ${isUnleased}
    returning order_id`,
  )
  return [...new Set(rows.map(({ order_id }) => order_id))]
}

const HOUR_S = 3600
/** How long a message waits for its answer. */
const EXPIRY_S = 72 * HOUR_S

/** When a message without an answer expires: a query, because Citus computes no instant from a column of the row that it writes. */
export const expiryOf = (id: string): Sql =>
  sql`(select coalesce(queued_at, created_at) + make_interval(secs => ${EXPIRY_S}) from lab_message where id = ${id})`

/** Whether a message without an answer has expired. */
export const isExpired: Sql = sql`coalesce(queued_at, created_at) < ${dbNowPlus(-EXPIRY_S)}`

export interface AnsweredState {
  state: OutgoingState
  /** Another answer follows. */
  isAwaited: boolean
  answer: Uint8Array
  /** Without patient data. */
  error: string | null
}

/** Stores the answer of the laboratory. A message with an answer is not sent again, and expires if it waits for another one. Writes lab_message. */
export function saveAnswer(
  tx: PlainTx,
  { id, team_id }: Pick<OutgoingMessage, 'id' | 'team_id'>,
  { state, isAwaited, answer, error }: AnsweredState,
): void {
  tx.defer(sql`
    update lab_message
    set state = ${state}, answer = ${answer}, answered_at = ${dbNow}, reason = ${reasonAfter(state)}, error = ${error},
        due_at = ${isAwaited ? expiryOf(id) : sql`null`}, updated_at = ${dbNow}, ${endLease}
    where id = ${id} and team_id = ${team_id}`)
}

/** What a person has marked as done keeps its reason. */
const reasonAfter = (state: OutgoingState): Sql =>
  state === 'done' ? sql`reason` : state === 'refused' ? sql`'refused_order'` : sql`null`
