// Messages over links as people look at them and deal with them: lists, one as text, its bytes, replay, resend, done. An organization sees
// the messages of its own lab accounts; the operator sees all.
import { dbNow, endLease } from '../../platform/db/leases.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { FileReply } from '../../platform/http/operation.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import { findLink } from '../accounts/account-links.ts'
import { userNotDeleted } from '../../people/users/users.ts'
import { makeDue, markDone } from './message-store.ts'
import { LabMessageSummary, type LabMessage, type MessageQuery, type MessageStep } from './schema.ts'
import { showMessage } from './show-message.ts'

/** Whose messages are meant: an organization's, or all. */
type Scope = string | undefined

/** An organization sees no message that can only be about deleted users. */
const ofScope = (org_id: Scope): Sql =>
  org_id === undefined
    ? sql`true`
    : sql`
      a.org_id = ${org_id} and (o.id is null or ${userNotDeleted(sql`o.user_id`, sql`o.team_id`)})
      and (o.id is not null or r.id is null or cardinality(r.candidate_user_ids) = 0 or exists (
        select from "user" u where u.id = any (r.candidate_user_ids) and u.team_id = r.team_id and u.deleted_at is null))`

const messageRows = sql`
  lab_message m left join lab_account a on a.id = m.link_account_id left join lab l on l.id = a.lab_id
  left join raw_result r on r.id = m.raw_result_id and r.team_id is not distinct from m.team_id
  left join lab_order o on o.id = m.order_id and o.team_id = m.team_id`

/** A message whose review was decided is applied. */
const stateOfRow = sql`case when m.state = 'review' and r.status in ('matched', 'resolved') then 'applied' else m.state end`

const summaryColumns = sql`
  m.id, m.link_account_id as account_id, l.slug as lab, m.team_id, m.order_id,
  case when r.status not in ('matched', 'resolved') then r.id end as unmatched_result_id, m.direction, m.source, m.message_type, m.sender,
  m.control_id, m.reuses_control_id, ${stateOfRow} as state, m.attempts, m.repetitions, m.reason, m.error, m.comment, length(m.bytes) as bytes,
  date_trunc('milliseconds', m.created_at) as created_at, date_trunc('second', m.updated_at) as updated_at,
  date_trunc('second', m.answered_at) as answered_at, date_trunc('second', case when m.state <> 'committed' then m.due_at end) as next_attempt_at`

/** The users that a message may be about. */
const userColumns = sql`coalesce(case when o.user_id is not null then array[o.user_id] end, r.candidate_user_ids, '{}')::text[] as users`

const Users = { users: T.Array(T.String()) }
const SummaryRow = T.Object({ ...LabMessageSummary.properties, created_at_exact: T.String(), ...Users })

/**
 * Messages, newest first, without what they say. Names the users of the shown messages for the access log. Errors: 400 a cursor of another
 * list.
 */
export async function listMessages(
  tx: PlainTx,
  { next_cursor: after, limit, ...filter }: MessageQuery,
  scope: Scope,
): Promise<{ data: LabMessageSummary[]; next_cursor: string | null }> {
  const pages = new Pages(`lab messages ${JSON.stringify([scope, filter])}`, { next_cursor: after, limit }, byCreation('m'))
  const { account_id, order_id, direction, state, control_id, since } = filter
  const conditions = [pages.afterCursor, ofScope(scope)]
  if (account_id !== undefined) conditions.push(sql`m.link_account_id = ${account_id}`)
  if (order_id !== undefined) conditions.push(sql`m.order_id = ${order_id}`)
  if (direction !== undefined) conditions.push(sql`m.direction = ${direction}`)
  if (state?.length) conditions.push(sql`${stateOfRow} = any (${state}::text[])`)
  if (control_id !== undefined) conditions.push(sql`m.control_id = ${control_id}`)
  if (since !== undefined) conditions.push(sql`m.created_at >= ${since}`)
  const rows = await tx.many(
    SummaryRow,
    sql`
    select ${summaryColumns}, m.created_at as created_at_exact, ${userColumns}
    from ${messageRows} where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at_exact: created_at, id }) => [created_at, id])
  return { data: page.map((row) => summarize(tx, row)), next_cursor }
}

/** Names the users of a message for the access log. */
function summarize(tx: PlainTx, { created_at_exact: _exact, users, ...message }: Static<typeof SummaryRow>): LabMessageSummary {
  for (const user of users) tx.concerns(user, message.id, message.team_id ?? undefined)
  return message
}

const ContentRow = T.Object({
  ...LabMessageSummary.properties,
  created_at_exact: T.String(),
  content: T.Unsafe<Buffer>({}),
  answer_content: Nullable(T.Unsafe<Buffer>({})),
  ...Users,
})

async function findOne(tx: PlainTx, id: string, scope: Scope): Promise<Static<typeof ContentRow>> {
  const row = await tx.maybe(
    ContentRow,
    sql`
    select ${summaryColumns}, m.created_at as created_at_exact, m.bytes as content, m.answer as answer_content, ${userColumns}
    from ${messageRows} where m.id = ${id} and ${ofScope(scope)}`,
  )
  if (!row) throw notFound('Message not found')
  return row
}

/** One message as text. Names its users for the access log. Errors: 404 no such message. */
export async function readMessage(tx: PlainTx, id: string, scope: Scope): Promise<LabMessage> {
  const { content, answer_content, ...row } = await findOne(tx, id, scope)
  const link = row.account_id === null ? undefined : await findLink(tx, row.account_id)
  const answer = answer_content && showMessage(answer_content, link?.profile)
  return { ...summarize(tx, row), text: showMessage(content, link?.profile), answer }
}

/** The bytes of a message as they came or went. Names its users for the access log. Errors: 404 no such message. */
export async function readBytes(tx: PlainTx, id: string, scope: Scope): Promise<FileReply> {
  const { content, answer_content: _answer, ...row } = await findOne(tx, id, scope)
  summarize(tx, row)
  return new FileReply(BYTES, `${id}.txt`, content)
}

/** The media type of messages, whatever their format. */
export const BYTES = 'application/octet-stream'

/**
 * Makes an incoming message due again, by the present profile of its link. Writes lab_message. A worker processes it, and writes and emits as
 * `receiveFromLink`. Errors: 404 no such message; 400 an outgoing message, or one without a link.
 */
export async function replay(tx: PlainTx, id: string, scope: Scope): Promise<MessageStep> {
  const { direction } = await findOne(tx, id, scope)
  if (direction !== 'in') throw badRequest('A message to a laboratory cannot be replayed: resend it')
  if (!(await makeDue(tx, id))) throw badRequest('The message has no link')
  return { id, state: 'received' }
}

/**
 * Queues an outgoing message again, with the same bytes and the same control id, by which the laboratory recognizes it. Writes lab_message.
 * Errors: 404 no such message; 400 an incoming message, or one that the laboratory has.
 */
export async function resend(tx: PlainTx, id: string, scope: Scope): Promise<MessageStep> {
  const { direction, state } = await findOne(tx, id, scope)
  if (direction !== 'out') throw badRequest('A message of a laboratory cannot be resent: replay it')
  const count = await tx.run(sql`
    update lab_message
    set state = 'queued', attempts = 0, reason = null, error = null, comment = null, due_at = ${dbNow}, queued_at = ${dbNow},
        updated_at = ${dbNow}, ${endLease}
    where id = ${id} and state in ('queued', 'sent', 'refused', 'expired', 'done')`)
  if (!count) throw badRequest(`The laboratory has the message: its state is ${state}`)
  return { id, state: 'queued' }
}

/** Marks a message as dealt with: it is neither processed nor sent any more. Writes lab_message. Errors: 404 no such message. */
export async function finish(tx: PlainTx, id: string, scope: Scope, comment: string | null = null): Promise<MessageStep> {
  await findOne(tx, id, scope)
  await markDone(tx, id, comment)
  return { id, state: 'done' }
}
