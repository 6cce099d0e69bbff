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
import { describeMessage } from '../hl7/describe-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { notOfDeletedInOrganization } from '../../people/users/users.ts'
import { findUsersOfOrders, makeDue, markDone } from './message-store.ts'
import { LabMessageSummary, type LabMessage, type MessageQuery, type MessageStep } from './schema.ts'

/** Whose messages are meant: an organization's, or all. */
type Scope = string | undefined

/** An organization sees no message that can only be about deleted users. */
const ofScope = (org_id: Scope): Sql =>
  org_id === undefined
    ? sql`true`
    : sql`
      a.org_id = ${org_id} and (
        m.order_id is not null and m.order_id not in (
          select o.id from "user" gone join team on team.id = gone.team_id join lab_order o on o.team_id = gone.team_id and o.user_id = gone.id
          where team.org_id = ${org_id} and gone.deleted_at is not null)
        or (m.order_id is null and (r.id is null or ${notOfDeletedInOrganization(org_id, sql`r.candidate_user_ids`)})))`

const messageRows = sql`
  lab_message m left join lab_account a on a.id = m.link_account_id left join lab l on l.id = a.lab_id
  left join raw_result r on r.id = m.raw_result_id and r.team_id is not distinct from m.team_id`

/** A message whose review was decided is applied. */
const stateOfRow = sql`case when m.state = 'review' and r.status in ('matched', 'resolved') then 'applied' else m.state end`

const summaryColumns = sql`
  m.id, m.link_account_id as account_id, l.slug as lab, m.team_id, m.order_id,
  case when r.status not in ('matched', 'resolved') then r.id end as unmatched_result_id, m.direction, m.source, m.message_type, m.sender,
  m.control_id, m.reuses_control_id, ${stateOfRow} as state, m.attempts, m.repetitions, m.reason, m.error, m.comment, length(m.bytes) as bytes,
  date_trunc('milliseconds', m.created_at) as created_at, date_trunc('second', m.updated_at) as updated_at,
  date_trunc('second', m.answered_at) as answered_at, date_trunc('second', case when m.state <> 'committed' then m.due_at end) as next_attempt_at`

/** The users that the result of a message may be about. */
const candidateColumn = sql`coalesce(r.candidate_user_ids, '{}')::text[] as candidates`

const Candidates = { candidates: T.Array(T.String()) }
const SummaryRow = T.Object({ ...LabMessageSummary.properties, created_at_exact: T.String(), ...Candidates })

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
    select ${summaryColumns}, m.created_at as created_at_exact, ${candidateColumn}
    from ${messageRows} where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at_exact: created_at, id }) => [created_at, id])
  return { data: await summarize(tx, page), next_cursor }
}

/** Names the users of messages for the access log: of each the one of its order, or those of its result. */
async function summarize(tx: PlainTx, rows: Static<typeof SummaryRow>[]): Promise<LabMessageSummary[]> {
  const users = await findUsersOfOrders(tx, rows)
  return rows.map(({ created_at_exact: _exact, candidates, ...message }) => {
    const user = users.get(message.order_id ?? '')
    for (const id of user === undefined ? candidates : [user]) tx.concerns(id, message.id, message.team_id ?? undefined)
    return message
  })
}

const ContentRow = T.Object({
  ...LabMessageSummary.properties,
  created_at_exact: T.String(),
  content: T.Unsafe<Buffer>({}),
  answer_content: Nullable(T.Unsafe<Buffer>({})),
  ...Candidates,
})

async function findOne(tx: PlainTx, id: string, scope: Scope): Promise<Static<typeof ContentRow>> {
  const row = await tx.maybe(
    ContentRow,
    sql`
    select ${summaryColumns}, m.created_at as created_at_exact, m.bytes as content, m.answer as answer_content, ${candidateColumn}
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
  const [summary] = await summarize(tx, [row])
  return { ...summary!, text: showMessage(content, link?.profile), answer }
}

/** The bytes of a message as they came or went. Names its users for the access log. Errors: 404 no such message. */
export async function readBytes(tx: PlainTx, id: string, scope: Scope): Promise<FileReply> {
  const { content, answer_content: _answer, ...row } = await findOne(tx, id, scope)
  await summarize(tx, [row])
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

const JSON_START = /^[\s\uFEFF]*\{/u

/** The text of a message: JSON as it is, HL7 with its segments and fields named. */
function showMessage(bytes: Uint8Array, profile: LinkProfile | undefined): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (JSON_START.test(buffer.subarray(0, 100).toString('utf8'))) return buffer.toString('utf8')
  const { charset, ignores_declared_charset: ignoresDeclaredCharset } = profile?.text ?? {}
  return describeMessage(bytes, {
    ...(charset !== undefined && { charset }),
    ...(ignoresDeclaredCharset !== undefined && { ignoresDeclaredCharset }),
  })
}
