// The delivery log of an endpoint: messages with their state, attempts with their responses, and resending.
// Source: events.md 6.5-6.7; the operations are this project's own.
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import type { EventCatalog } from '../catalog/event-catalog.ts'
import type { NotDeleted } from '../feed/list-events.ts'
import { getEnabledEndpoint, getEndpoint } from '../endpoints/endpoints.ts'
import { findAttempts, toAttempt } from './attempts.ts'
import { eventBody } from '../../platform/queue/outbox.ts'
import { messageId, uuidFromId } from '../catalog/message-id.ts'
import { resendDeliveries } from '../delivery/delivery-rows.ts'
import { queueMessage } from '../delivery/operational-messages.ts'
import type { Message, MessageBody, MessageQuery } from '../endpoints/schema.ts'

/** The time of a team's transaction by the system clock. */
export const systemTimestamp = (tx: Tx): Date => addSeconds(tx.now, -tx.tenant.clock_offset_s)

const Row = T.Object({
  id: T.String(),
  event_id: Nullable(T.String()),
  type: T.String(),
  user_id: Nullable(T.String()),
  created_at: T.String(),
  state: T.String(),
  attempts: T.Integer(),
  due_at: Nullable(T.String()),
})

const rows = (tx: Tx, notDeleted: NotDeleted, webhook_id: string, conditions: Sql[], limit: number) =>
  tx.many(
    Row,
    sql`
    select d.message_id as id, e.id as event_id, coalesce(e.type, m.type) as type, e.user_id,
           date_trunc('second', coalesce(e.created_at, m.created_at)) as created_at, d.state, d.attempts, date_trunc('second', d.due_at) as due_at
    from delivery d
    left join event e on e.team_id = d.team_id and e.id = d.message_id
    left join webhook_message m on m.team_id = d.team_id and m.id = d.message_id
    where d.team_id = ${tx.team} and d.destination_id = ${webhook_id} and ${joinConditions(conditions)} and ${notDeleted(tx, sql`e.user_id`)}
      and coalesce(e.id, m.id) is not null
    order by d.message_id desc limit ${limit}`,
  )

const toMessage = (row: Static<typeof Row>): Static<typeof Message> => ({
  id: messageId(row.id),
  event_id: row.event_id,
  event_type: row.type,
  created_at: row.created_at,
  state: row.state as Static<typeof Message>['state'],
  attempts: row.attempts,
  next_attempt_at: row.due_at,
})

/** A page of an endpoint's messages, newest first, without those about deleted users. 404: no such endpoint. 400: a cursor of another list. */
export async function listMessages(tx: Tx, notDeleted: NotDeleted, webhook_id: string, query: MessageQuery) {
  await getEndpoint(tx, webhook_id)
  const list = `messages of ${webhook_id} ${query.state ?? ''} ${query.event_type ?? ''}`
  const pages = new Pages(list, query, [uuidKey(sql`d.message_id`)])
  const conditions = [pages.afterCursor]
  if (query.state !== undefined) conditions.push(sql`d.state = ${query.state}`)
  if (query.event_type !== undefined) conditions.push(sql`coalesce(e.type, m.type) = ${query.event_type}`)
  const { page, next_cursor } = pages.cut(await rows(tx, notDeleted, webhook_id, conditions, pages.limit + 1), ({ id }) => [id])
  for (const { user_id } of page) tx.concerns(user_id)
  return { data: page.map(toMessage), next_cursor }
}

const UNKNOWN = 'Message not found'

async function findMessage(tx: Tx, notDeleted: NotDeleted, webhook_id: string, message_id: string): Promise<Static<typeof Row>> {
  await getEndpoint(tx, webhook_id)
  const id = uuidFromId(message_id)
  const [found] = id ? await rows(tx, notDeleted, webhook_id, [sql`d.message_id = ${id}`], 1) : []
  if (!found) throw notFound(UNKNOWN)
  tx.concerns(found.user_id, found.id)
  return found
}

const Body = T.Object({ body: Nullable(T.String()) })

/** A message with its body as it is sent; null: it is deleted. 404: no such endpoint, or the message was not for it. */
export async function getMessage(
  tx: Tx,
  notDeleted: NotDeleted,
  webhook_id: string,
  message_id: string,
): Promise<PreserializedJson<Static<typeof MessageBody>>> {
  const found = await findMessage(tx, notDeleted, webhook_id, message_id)
  const { body } = await tx.one(
    Body,
    sql`
    select ${eventBody(tx.team)} as body from event e where e.team_id = ${tx.team} and e.id = ${found.id}
    union all select body from webhook_message where team_id = ${tx.team} and id = ${found.id}`,
  )
  return new PreserializedJson(`${JSON.stringify(toMessage(found)).slice(0, -1)},"body":${body}}`)
}

/** A page of a message's attempts at an endpoint, newest first. 404: unknown. 400: a cursor of another list. */
export async function listAttempts(
  tx: Tx,
  notDeleted: NotDeleted,
  webhook_id: string,
  message_id: string,
  query: { limit?: number; next_cursor?: string },
  fixed: Record<string, string>,
) {
  const message = await findMessage(tx, notDeleted, webhook_id, message_id)
  const pages = new Pages(`attempts ${webhook_id} ${message_id}`, query, [uuidKey(sql`id`)])
  const found = await findAttempts(
    tx,
    { destination_ids: [webhook_id], message_id: message.id },
    sql`${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(found, ({ id }) => [id])
  const data = page.map((row) => toAttempt(row, message.id, fixed))
  return { data, next_cursor }
}

/**
 * Sends a message again: the same id and bytes, a new timestamp. Also sends an event that was never queued for the endpoint.
 * Writes delivery. 400: the endpoint is disabled, or the body of the event is deleted. 404: no such endpoint or message, or it is about a
 * deleted user.
 */
export async function resendMessage(
  tx: Tx,
  notDeleted: NotDeleted,
  webhook_id: string,
  message_id: string,
): Promise<Static<typeof Message>> {
  await getEnabledEndpoint(tx, webhook_id)
  const id = uuidFromId(message_id)
  if (!id) throw notFound(UNKNOWN)
  const event = await tx.maybe(
    Body,
    sql`select ${eventBody(tx.team)} as body from event e where e.team_id = ${tx.team} and e.id = ${id} and ${notDeleted(tx, sql`e.user_id`)}`,
  )
  if (event?.body === null) throw badRequest('The body of this event is deleted, so it cannot be sent again: read the object')
  // It is rolled back if the message is about a deleted user.
  await resendDeliveries(tx, webhook_id, [id])
  return toMessage(await findMessage(tx, notDeleted, webhook_id, message_id))
}

/** Send a sample event to an endpoint. Writes webhook_message, delivery. 400: it is disabled. 404: unknown. */
export async function sendTest(
  tx: Tx,
  { catalog, notDeleted }: { catalog: EventCatalog; notDeleted: NotDeleted },
  webhook_id: string,
  type: string,
): Promise<Static<typeof Message>> {
  await getEnabledEndpoint(tx, webhook_id)
  const body = JSON.stringify(catalog.exampleBody(type, { team_id: tx.team, at_text: iso(tx.now) }))
  const created_at = systemTimestamp(tx)
  const id = await queueMessage(tx, { team_id: tx.team, type, body, created_at, trigger: 'manual' }, webhook_id)
  tx.notifyDelivery()
  return toMessage(await findMessage(tx, notDeleted, webhook_id, messageId(id)))
}
