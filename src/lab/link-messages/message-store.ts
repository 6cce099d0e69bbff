// The table lab_message: messages over links as bytes, and what became of them. Makes no decisions.
import { createHash } from 'node:crypto'
import { dbNow, endLease } from '../../platform/db/leases.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { arrayLiteral, raw, sql, textArrayLiteral, type Sql } from '../../platform/db/sql.ts'
import { eraseResultsOfMessages } from '../link-shadow/shadow-results.ts'
import type { IssueReason } from './issue-reasons.ts'

/**
 * `received`: stored, not processed yet. `applied`: its result has an order. `review`: its result waits for a person. `failed`: it could not
 * be processed, see `reason` and `error`. `test` and `shadow`: it was read in this mode of its link and not applied; in `error`, why no order is
 * certain. `done`: a person has dealt with it.
 */
type IncomingState = 'received' | 'applied' | 'review' | 'test' | 'shadow' | 'failed' | 'done'

/**
 * `queued`: never sent. `sent`: without an answer, so that the laboratory may have it or not. `committed`: the laboratory has stored it and
 * answers later. `accepted` and `refused`: its answer. `expired`: it was sent until its time was over. `done`: a person has dealt with it.
 */
export type OutgoingState = 'queued' | 'sent' | 'committed' | 'accepted' | 'refused' | 'expired' | 'done'
export type MessageState = IncomingState | OutgoingState

const nullableText = Nullable(T.String())

export interface NewIncoming {
  link_account_id: string | null
  source: string
  bytes: Uint8Array
  /** Of the bytes, by `digestOf`. */
  digest: string
  header: { sender: string; control_id: string; message_type: string | null } | undefined
  ordering_key: string | null
  /** Why it cannot be processed; undefined: it is due now. */
  fault: { reason: IssueReason; error: string } | undefined
}

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url')

const StoredMessage = T.Object({ id: T.String(), link_account_id: nullableText, digest: T.String(), isNew: T.Boolean() })

/** Messages of unknown senders that are stored for a source within a day. */
const UNKNOWN_MAX = raw('1000')

/**
 * Stores the bytes of incoming messages, in one transaction of their own. If a link has delivered the same bytes before, that is counted, and
 * the earlier message is due again if it was not processed. Writes lab_message.
 * @param messages no two of one link with the same bytes or control id
 * @returns in their order; undefined: the source has sent too many messages without a known link
 */
export async function storeBytes(
  db: Queries,
  messages: readonly NewIncoming[],
): Promise<({ id: string; isNew: boolean } | undefined)[]> {
  // The database has no NUL in texts; the bytes have it.
  const texts = (textOf: (message: NewIncoming) => string | null | undefined) =>
    sql`${textArrayLiteral(messages.map((message) => textOf(message)?.replaceAll('\0', '') ?? null))}::text[]`
  const ids = arrayLiteral(messages.map(() => uuid()))
  const lengths = messages.map(({ bytes }) => bytes.length)
  // An array of bytes would be sent as text. One message may be long and is not copied.
  const bytes = messages.length === 1 ? messages[0]!.bytes : Buffer.concat(messages.map((message) => message.bytes))
  const rows = await db.many(
    StoredMessage,
    sql`
    insert into lab_message (id, link_account_id, direction, source, digest, bytes, message_type, sender, control_id, reuses_control_id,
                             ordering_key, state, reason, error, due_at, created_at, updated_at)
    select m.id, m.link_account_id, 'in', m.source, m.digest, substring(b.bytes from (m.ends - m.length + 1)::int for m.length),
           m.message_type, m.sender, m.control_id,
           exists (select from lab_message e
                   where e.link_account_id = m.link_account_id and e.control_id = m.control_id and e.sender = m.sender
                     and e.direction = 'in' and e.digest <> m.digest),
           m.ordering_key, case when m.reason is null then 'received' else 'failed' end, m.reason, m.error,
           case when m.reason is null then ${dbNow} end, ${dbNow}, ${dbNow}
    from (
      select *, sum(length) over (order by nth) as ends
      from unnest(${ids}::uuid[], ${texts(({ link_account_id }) => link_account_id)}::uuid[], ${texts(({ source }) => source)},
                  ${texts(({ digest }) => digest)}, ${texts(({ header }) => header?.message_type)}, ${texts(({ header }) => header?.sender)},
                  ${texts(({ header }) => header?.control_id || null)}, ${texts(({ ordering_key }) => ordering_key)},
                  ${texts(({ fault }) => fault?.reason)}, ${texts(({ fault }) => fault?.error)}, ${arrayLiteral(lengths)}::int[])
           with ordinality as m (id, link_account_id, source, digest, message_type, sender, control_id, ordering_key, reason, error, length, nth)) m,
      -- The last value, so that the client of the database need not move it.
      (select ${bytes}::bytea as bytes) b
    where m.link_account_id is not null or m.nth + (
      select count(*) from (
        select from lab_message e where e.link_account_id is null and e.source = m.source and e.created_at > ${dbNow} - interval '1 day'
        limit ${UNKNOWN_MAX}) e) <= ${UNKNOWN_MAX}
    order by m.nth
    on conflict (link_account_id, digest) where direction = 'in' do update
    set repetitions = lab_message.repetitions + 1, updated_at = excluded.updated_at,
        state = case when ${isDueAgain} then 'received' else lab_message.state end,
        due_at = case when ${isDueAgain} then excluded.updated_at else lab_message.due_at end
    returning id, link_account_id, digest, repetitions = 0 as "isNew"`,
  )
  return messages.map(({ link_account_id, digest }) =>
    rows.find((row) => row.digest === digest && row.link_account_id === link_account_id),
  )
}

/** A message that ended its process repeatedly is due only when a person says so. */
const isDueAgain: Sql = sql`
  (lab_message.state = 'received'
   or (lab_message.state = 'failed' and lab_message.link_account_id is not null and lab_message.reason is distinct from 'unexpected'))`

const FoundMessage = T.Object({
  id: T.String(),
  link_account_id: nullableText,
  direction: T.Unsafe<'in' | 'out'>({ type: 'string' }),
  state: T.Unsafe<MessageState>({ type: 'string' }),
  attempts: T.Integer(),
  error: nullableText,
  reuses_control_id: T.Boolean(),
  team_id: nullableText,
  raw_result_id: nullableText,
  order_id: nullableText,
  candidates: T.Array(T.String()),
})

/** A message without its bytes, and the users that it may be about: the one of its order, or those of its result. */
export async function findMessage(
  db: Queries,
  id: string,
): Promise<(Omit<Static<typeof FoundMessage>, 'candidates'> & { users: string[] }) | undefined> {
  const found = await db.maybe(
    FoundMessage,
    sql`
    select m.id, m.link_account_id, m.direction, m.state, m.attempts, m.error, m.reuses_control_id, m.team_id, m.raw_result_id, m.order_id,
           coalesce(r.candidate_user_ids, '{}')::text[] as candidates
    from lab_message m left join raw_result r on r.id = m.raw_result_id and r.team_id is not distinct from m.team_id
    where m.id = ${id}`,
  )
  if (!found) return undefined
  const { candidates, ...message } = found
  const user = (await findUsersOfOrders(db, [message])).get(message.order_id ?? '')
  return { ...message, users: user === undefined ? candidates : [user] }
}

const UserOfOrder = T.Object({ id: T.String(), user_id: T.String() })

/** The users of the orders of messages, by the id of the order. An order that has been erased is not there. */
export async function findUsersOfOrders(
  db: Queries,
  messages: readonly { order_id: string | null; team_id: string | null }[],
): Promise<Map<string, string>> {
  const named = messages.filter(({ order_id, team_id }) => order_id !== null && team_id !== null)
  if (named.length === 0) return new Map()
  const rows = await db.many(
    UserOfOrder,
    sql`
    select o.id, o.user_id
    from unnest(${named.map(({ team_id }) => team_id)}::uuid[], ${named.map(({ order_id }) => order_id)}::uuid[]) as named (team_id, id)
    join lab_order o on o.team_id = named.team_id and o.id = named.id`,
  )
  return new Map(rows.map(({ id, user_id }) => [id, user_id]))
}

/** The database client holds what it reads as hexadecimal text, in several copies: long messages are read in pieces. */
const PIECE_BYTES = 2_097_152

const Piece = T.Object({ length: T.Integer(), piece: T.Unsafe<Buffer>({}) })

/** The bytes of a message. Errors: there is no such message any more. */
export async function readMessageBytes(db: Queries, id: string): Promise<Buffer> {
  const readPiece = (start: number) =>
    db.one(
      Piece,
      sql`
      select length(bytes), substring(bytes from ${start + 1}::int for ${PIECE_BYTES}::int) as piece from lab_message where id = ${id}`,
    )
  const { length, piece } = await readPiece(0)
  if (piece.length === length) return piece
  const bytes = Buffer.allocUnsafe(length)
  let end = piece.copy(bytes)
  while (end < length) end += (await readPiece(end)).piece.copy(bytes, end)
  return bytes
}

export interface MessageOutcome {
  state: IncomingState
  reason: IssueReason | null
  error: string | null
  /** One for each order of the message, and of the messages of a batch. */
  raw_result_ids: string[]
  order_id: string | null
  /** Absent: that of the results. */
  team_id?: string | null
}

/**
 * Writes the outcome of processing an incoming message. The team is that of all of its results; none if they are of several, so that no team
 * sees the bytes of another. An order that has been erased is not named. Writes lab_message, lab_message_result.
 */
export async function saveOutcome(db: Pick<Db, 'queries' | 'plainTx'>, id: string, outcome: MessageOutcome): Promise<void> {
  if (outcome.order_id === null) return void (await db.queries.run(outcomeWrite(id, outcome)))
  await db.plainTx(async (tx) => tx.defer(outcomeWrite(id, { ...outcome, order_id: await lockOrder(tx, outcome) })))
}

const Id = T.Object({ id: T.String() })
const OfTeam = T.Object({ team_id: T.String() })

/** The order of an outcome, locked, because the eraser of orders deletes the messages that name them; null if it has been erased. */
async function lockOrder(tx: PlainTx, { order_id, raw_result_ids, team_id }: MessageOutcome): Promise<string | null> {
  const rows = await tx.many(
    OfTeam,
    sql`select distinct team_id from raw_result where id = any (${raw_result_ids}::uuid[]) and team_id is not null`,
  )
  for (const team of new Set([...rows.map((row) => row.team_id), ...(team_id ? [team_id] : [])])) {
    const order = await tx.locking.maybe(
      Id,
      sql`select id from lab_order where team_id = ${team} and id = ${order_id} for key share`,
    )
    if (order) return order.id
  }
  return null
}

function outcomeWrite(id: string, { state, reason, error, raw_result_ids, order_id, team_id = null }: MessageOutcome): Sql {
  return sql`
    with results as (
      insert into lab_message_result (message_id, raw_result_id, team_id)
      select ${id}::uuid, r.id, r.team_id from raw_result r where r.id = any (${raw_result_ids}::uuid[])
      on conflict (message_id, raw_result_id) do nothing),
    teams as (
      select case when count(distinct r.team_id) = 1 and count(*) = count(r.team_id) then min(r.team_id::text)::uuid end as team_id,
             count(*) > 0 as exist
      from raw_result r where r.id = any (${raw_result_ids}::uuid[]))
    update lab_message
    set state = ${state}, reason = ${reason}, error = ${error}, due_at = null, updated_at = ${dbNow},
        raw_result_id = coalesce(${raw_result_ids[0] ?? null}::uuid, raw_result_id), order_id = coalesce(${order_id}::uuid, order_id),
        team_id = case when teams.exist then teams.team_id else coalesce(${team_id}::uuid, lab_message.team_id) end
    from teams where id = ${id}`
}

/** Makes an incoming message due again, whatever became of it. Writes lab_message. @returns whether it exists and has a link */
export const makeDue = async (db: Queries, id: string): Promise<boolean> =>
  (await db.run(sql`
    update lab_message
    set state = 'received', attempts = 0, reason = null, error = null, comment = null, due_at = ${dbNow}, updated_at = ${dbNow}, ${endLease}
    where id = ${id} and direction = 'in' and link_account_id is not null`)) > 0

/**
 * Marks a message as dealt with: it is neither processed nor sent any more. Writes lab_message.
 * @param comment null: a former one stays
 * @returns whether it exists
 */
export const markDone = async (db: Queries, id: string, comment: string | null): Promise<boolean> =>
  (await db.run(sql`
    update lab_message set state = 'done', comment = coalesce(${comment}, comment), due_at = null, updated_at = ${dbNow}
    where id = ${id}`)) > 0

/** A message to a laboratory. */
interface NewOutgoing {
  link_account_id: string
  order_id: string
  /** Unique for the link. */
  control_id: string
  message_type: string
  bytes: Uint8Array
}

/** Queues a message for the transport of its link, in the transaction of its order: it is sent if and only if that commits. Writes lab_message. */
export function queueOutgoing(tx: Tx, { link_account_id, order_id, control_id, message_type, bytes }: NewOutgoing): string {
  const id = tx.uuid()
  tx.defer(sql`
    insert into lab_message (id, team_id, link_account_id, direction, digest, bytes, message_type, control_id, state, order_id, due_at, queued_at, created_at,
                             updated_at)
    values (${id}, ${tx.team}, ${link_account_id}, 'out', ${digestOf(bytes)}, ${bytes}, ${message_type}, ${control_id}, 'queued', ${order_id}, ${dbNow},
            ${dbNow}, ${dbNow}, ${dbNow})`)
  return id
}

/** Gives a message the team of its results. Writes lab_message, lab_message_result. */
export function assignMessages(tx: Tx, raw_result_id: string): void {
  tx.defer(sql`update lab_message_result set team_id = ${tx.team} where raw_result_id = ${raw_result_id}`)
  tx.defer(sql`
    update lab_message m set team_id = ${tx.team}
    from lab_message_result s
    where s.raw_result_id = ${raw_result_id} and m.id = s.message_id
      and not exists (
        select from lab_message_result other
        where other.message_id = m.id and other.raw_result_id <> s.raw_result_id and other.team_id is distinct from ${tx.team})`)
}

/** Erases the messages with a deleted user's orders and results, before these go. Writes lab_message, lab_shadow_result. */
export const eraseMessages = (tx: Tx, user_id: string): Promise<void> =>
  deleteMessages(
    tx,
    sql`
    (m.order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})
           or m.id in (
             select s.message_id from lab_message_result s join raw_result_of_team r on r.id = s.raw_result_id and r.team_id = s.team_id
             where s.team_id = ${tx.team} and r.candidate_user_ids = array[${user_id}::uuid]))`,
  )

/**
 * Erases the messages of orders that are erased in this transaction: they may have come since `eraseMessages`. Writes lab_message,
 * lab_shadow_result.
 */
export const eraseMessagesOfOrders = (tx: Tx, order_ids: string[]): Promise<void> =>
  deleteMessages(tx, sql`m.order_id = any (${order_ids}::uuid[])`)

/** The results of links in mode `shadow` are distributed by team and messages are not, so no foreign key deletes them. */
async function deleteMessages(tx: Tx, condition: Sql): Promise<void> {
  const erased = await tx.many(Id, sql`delete from lab_message m where m.team_id = ${tx.team} and ${condition} returning m.id`)
  if (erased.length > 0)
    await eraseResultsOfMessages(
      tx,
      erased.map(({ id }) => id),
    )
}

const DAY_S = 86_400

/** Deletes messages 400 days after they came or were written. Deletes from lab_message. */
export const messageCleanup = cleanup({ table: 'lab_message', column: 'created_at', retention_s: 400 * DAY_S })

/** Deletes messages without a team 90 days after they came, as unassigned results. Deletes from lab_message. */
export const unassignedMessageCleanup = cleanup({
  kind: 'unassigned_lab_message',
  table: 'lab_message',
  column: 'created_at',
  retention_s: 90 * DAY_S,
  condition: sql`t.team_id is null`,
})
