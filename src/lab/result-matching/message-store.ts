// The table lab_message: the messages that came over links, as bytes, and what became of them. Makes no decisions.
import { createHash } from 'node:crypto'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'

/**
 * `received`: stored, not processed yet. `applied`: its result has an order. `review`: its result waits for a person. `failed`: it could not
 * be processed, see `error`. `done`: a person has dealt with it.
 */
const messageStates = ['received', 'applied', 'review', 'failed', 'done'] as const
export type MessageState = (typeof messageStates)[number]

const nullableText = Nullable(T.String())
const State = T.Unsafe<MessageState>({ type: 'string' })

const StoredMessage = T.Object({ id: T.String(), isNew: T.Boolean() })

/**
 * Stores the bytes of a message, unless the link has delivered the same bytes before; then it counts the repetition. Writes lab_message.
 * @param header undefined if the message cannot be read
 */
export function storeMessage(
  tx: PlainTx,
  link_account_id: string,
  bytes: Uint8Array,
  header: { sender: string; control_id: string } | undefined,
): Promise<Static<typeof StoredMessage>> {
  const digest = createHash('sha256').update(bytes).digest('base64url')
  const { sender = null, control_id = null } = header ?? {}
  return tx.one(
    StoredMessage,
    sql`
    insert into lab_message (id, link_account_id, digest, bytes, sender, control_id, reuses_control_id, state, received_at, updated_at)
    values (${tx.uuid()}, ${link_account_id}, ${digest}, ${bytes}, ${sender}, ${control_id},
            exists (select from lab_message m
                    where m.link_account_id = ${link_account_id} and m.control_id = ${control_id} and m.sender = ${sender}),
            'received', ${tx.now}, ${tx.now})
    on conflict (link_account_id, digest) do update set repetitions = lab_message.repetitions + 1, updated_at = ${tx.now}
    returning id, repetitions = 0 as "isNew"`,
  )
}

const MessageBytes = T.Object({
  id: T.String(),
  link_account_id: T.String(),
  state: State,
  attempts: T.Integer(),
  bytes: T.Unsafe<Buffer>({}),
  team_id: nullableText,
  raw_result_id: nullableText,
  users: T.Array(T.String()),
})
export type MessageBytes = Static<typeof MessageBytes>

/** A message with its bytes, and the users that it may be about. */
export const findMessage = (db: Queries, id: string): Promise<MessageBytes | undefined> =>
  db.maybe(
    MessageBytes,
    sql`
    select m.id, m.link_account_id, m.state, m.attempts, m.bytes, m.team_id, m.raw_result_id, coalesce(r.candidate_user_ids, '{}')::text[] as users
    from lab_message m left join raw_result r on r.id = m.raw_result_id and r.team_id is not distinct from m.team_id
    where m.id = ${id}`,
  )

/** Writes the outcome of an attempt. The team is that of the result. Writes lab_message. */
export async function saveOutcome(
  tx: PlainTx,
  id: string,
  { state, error, raw_result_id }: { state: MessageState; error: string | null; raw_result_id: string | null },
): Promise<void> {
  await tx.run(sql`
    update lab_message
    set state = ${state}, error = ${error}, attempts = attempts + 1, updated_at = ${tx.now},
        raw_result_id = coalesce(${raw_result_id}::uuid, raw_result_id),
        team_id = coalesce((select r.team_id from raw_result r where r.id = ${raw_result_id}::uuid), team_id)
    where id = ${id}`)
}

/** Marks a message as dealt with. Writes lab_message. @returns whether it exists */
export const markDone = async (tx: PlainTx, id: string): Promise<boolean> =>
  (await tx.run(sql`update lab_message set state = 'done', updated_at = ${tx.now} where id = ${id}`)) > 0

const ListedMessage = T.Object({
  id: T.String(),
  lab: T.String(),
  link_account_id: T.String(),
  sender: nullableText,
  control_id: nullableText,
  reuses_control_id: T.Boolean(),
  state: State,
  attempts: T.Integer(),
  repetitions: T.Integer(),
  error: nullableText,
  bytes: T.Integer(),
  received_at: Timestamp,
})
export type ListedMessage = Static<typeof ListedMessage>

/**
 * The messages of a cell, newest first; at most 200. Without patient data. A message whose review was decided is `applied`.
 * @param attention only those that a person must look at: failed, not processed for a minute, or with a control id of another message
 */
export const listMessages = (tx: PlainTx, { attention }: { attention: boolean }): Promise<ListedMessage[]> =>
  tx.many(
    ListedMessage,
    sql`
    select * from (
      select m.id, l.slug as lab, m.link_account_id, m.sender, m.control_id, m.reuses_control_id, m.attempts, m.repetitions, m.error,
             case when m.state = 'review' and r.status in ('matched', 'resolved') then 'applied' else m.state end as state,
             length(m.bytes) as bytes, m.received_at
      from lab_message m join lab_account a on a.id = m.link_account_id join lab l on l.id = a.lab_id
      left join raw_result r on r.id = m.raw_result_id and r.team_id is not distinct from m.team_id) m
    where ${attention ? needsAttention(tx) : sql`true`}
    order by m.received_at desc, m.id desc limit 200`,
  )

const needsAttention = ({ now }: PlainTx): Sql => sql`
  (m.state = 'failed' or (m.state = 'received' and m.received_at < ${new Date(now.getTime() - MINUTE_MS)})
   or (m.reuses_control_id and m.state <> 'done'))`

const MINUTE_MS = 60_000

const DAY_S = 86_400

/** Deletes messages 400 days after they came. Deletes from lab_message. */
export const messageCleanup = cleanup({ table: 'lab_message', column: 'received_at', retention_s: 400 * DAY_S })

/** Deletes messages without a team 90 days after they came, as unassigned results. Deletes from lab_message. */
export const unassignedMessageCleanup = cleanup({
  kind: 'unassigned_lab_message',
  table: 'lab_message',
  column: 'received_at',
  retention_s: 90 * DAY_S,
  condition: sql`t.team_id is null`,
})
