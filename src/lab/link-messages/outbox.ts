// Messages to laboratories in lab_message, for the transport of their link: which are due, and what became of an attempt. A process sends the
// messages of a link while it holds the lease of the link; every statement about an attempt checks that. Makes no decisions.
import { dbNow } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { expiryOf, isExpired } from './outgoing-messages.ts'

/** Pauses between attempts double from the first to the last. */
const BACKOFF_S = { first: 5, last: 600 }

const DueMessage = T.Object({
  id: T.String(),
  control_id: T.String(),
  bytes: T.Unsafe<Buffer>({}),
  attempts: T.Integer(),
})
export type DueMessage = Static<typeof DueMessage>

const isUnanswered: Sql = sql`direction = 'out' and state in ('queued', 'sent')`

/** The pause after the attempts of a row. */
const backoff = (attempts: Sql): Sql => sql`least(${BACKOFF_S.last}, ${BACKOFF_S.first} * power(2, least(${attempts} - 1, 20)))`

/** The link is live for the team of the message: an order that was written before goes out in no other mode. */
const isLive: Sql = sql`
  exists (
    select from lab_link k
    where k.account_id = m.link_account_id and (k.mode = 'live' or (k.mode = 'live_for_team' and k.live_team_id = m.team_id)))`

/**
 * No earlier message about the order waits for its answer: a cancellation never overtakes its order. `is not distinct` uses no index, so that the
 * one of orders is used, also before the database knows how long the table is.
 */
const isNext: Sql = sql`
  not exists (
    select from lab_message e
    where e.order_id = m.order_id and e.link_account_id is not distinct from m.link_account_id and e.direction = 'out' and e.state in ('queued', 'sent')
      and (e.created_at, e.id) < (m.created_at, m.id))`

/**
 * Claims messages of a link that are due, oldest first. They count as sent from here on, because a process that ends may have sent them; without an answer
 * they are due again after the time for it and a pause. Writes lab_message.
 * @param isHeld the condition that this process holds the lease of the link
 */
export const claimDue = (
  db: Queries,
  account_id: string,
  { max, answer_s, isHeld }: { max: number; answer_s: number; isHeld: Sql },
): Promise<DueMessage[]> =>
  db.many(
    DueMessage,
    sql`
    with due as materialized (
      select id, ${dbNow} + make_interval(secs => ${answer_s * max} + ${backoff(sql`m.attempts + 1`)}) as next_at from lab_message m
      where link_account_id = ${account_id} and ${isUnanswered} and due_at <= ${dbNow} and ${isNext} and ${isLive} and ${isHeld}
      order by created_at, id limit ${max} for no key update skip locked),
    claimed as (
      update lab_message as m
      set state = 'sent', attempts = m.attempts + 1, updated_at = ${dbNow}, due_at = due.next_at
      from due where m.id = due.id
      returning m.id, m.control_id, m.bytes, m.attempts, m.created_at)
    select id, control_id, bytes, attempts from claimed order by created_at, id`,
  )

/**
 * Gives back messages that were claimed and certainly not sent: they are due at once, and the claim was no attempt. Without the lease it does
 * nothing, since the process that has the lease now may have claimed them. Writes lab_message.
 */
export const returnUnsent = (db: Queries, ids: readonly string[], isHeld: Sql): Promise<number> =>
  db.run(sql`
    update lab_message
    set state = case when attempts <= 1 then 'queued' else 'sent' end, attempts = attempts - 1, due_at = ${dbNow}, updated_at = ${dbNow}
    where id = any (${ids}::uuid[]) and direction = 'out' and state = 'sent' and ${isHeld}`)

/**
 * Notes that an attempt had no answer: the message is due again after a pause that grows with its attempts. Without the lease it does nothing,
 * as `returnUnsent`. Writes lab_message.
 */
export const postponeUnanswered = (db: Queries, id: string, { error, isHeld }: { error: string; isHeld: Sql }): Promise<number> =>
  db.run(sql`
    update lab_message
    set error = ${error}, updated_at = ${dbNow},
        due_at = (select ${dbNow} + make_interval(secs => ${backoff(sql`attempts`)}) from lab_message where id = ${id})
    where id = ${id} and direction = 'out' and state = 'sent' and ${isHeld}`)

/**
 * Notes that a message was delivered where no answer is expected at once, such as in a folder: it is not sent again. Writes lab_message.
 * @param isAnswered whether the laboratory answers later
 */
export const markDelivered = (db: Queries, id: string, isAnswered: boolean): Promise<number> =>
  db.run(sql`
    update lab_message set state = 'committed', error = null, due_at = ${isAnswered ? expiryOf(id) : sql`null`}, updated_at = ${dbNow}
    where id = ${id} and direction = 'out' and state = 'sent'`)

/**
 * Ends messages that had no answer for 72 hours, or no more than that the laboratory has stored them. A later answer is still taken. Writes
 * lab_message. @returns the links of these messages
 */
export async function expireUnanswered(db: Queries): Promise<string[]> {
  const rows = await db.many(
    AccountRow,
    sql`
    update lab_message
    set state = 'expired', reason = 'expired_order', due_at = null, updated_at = ${dbNow},
        error = case when state = 'committed' then 'The laboratory has the message, and has not said within 72 hours whether it accepts it'
                     else 'The laboratory has not answered within 72 hours' end
    where direction = 'out' and state in ('queued', 'sent', 'committed') and due_at is not null and ${isExpired}
    returning link_account_id`,
  )
  return rows.map(({ link_account_id }) => link_account_id)
}

const AccountRow = T.Object({ link_account_id: T.String() })

/** The links with messages that are due. */
export async function listLinksWithDue(db: Queries): Promise<string[]> {
  const rows = await db.many(
    AccountRow,
    sql`select distinct link_account_id from lab_message m where ${isUnanswered} and due_at <= ${dbNow} and ${isLive}`,
  )
  return rows.map(({ link_account_id }) => link_account_id)
}

const Id = T.Object({ id: T.String() })

/** The message of a link that a laboratory answers; undefined if there is none. The newest one, if control ids were used again. */
export async function findByControlId(db: Queries, account_id: string, control_id: string): Promise<string | undefined> {
  const row = await db.maybe(
    Id,
    sql`
    select id from lab_message
    where link_account_id = ${account_id} and control_id = ${control_id} and direction = 'out' order by created_at desc, id desc limit 1`,
  )
  return row?.id
}
