// Events as rows with the states of their deliveries, and one event with its destinations and attempts.
import type { Tx } from '../../platform/db/transaction.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { minUuidAt } from '../../platform/runtime/clock.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { eventBody } from '../../platform/queue/outbox.ts'
import { messageId } from '../catalog/message-id.ts'
import { isForEndpoints, type NotDeleted } from '../feed/list-events.ts'
import { findAttempts, toAttempt } from './attempts.ts'
import {
  GROUPED_ATTEMPTS_MAX,
  SHOWN_ATTEMPTS_MAX,
  EventDelivery,
  type EventDetails,
  type EventRow,
  type EventRowQuery,
} from './event-schema.ts'

const Row = T.Object({
  id: T.String(),
  type: T.String(),
  object_id: T.String(),
  user_id: Nullable(T.String()),
  created_at: T.String(),
  pending: T.Integer(),
  delivered: T.Integer(),
  failed: T.Integer(),
  stopped: T.Integer(),
})

/** The deliveries of an event `e`, counted by state. They are found by the destinations of the team: a delivery has no index by event. */
const deliveryCounts = (tx: Tx): Sql => sql`
  select count(*) filter (where d.state = 'pending') as pending, count(*) filter (where d.state = 'delivered') as delivered,
         count(*) filter (where d.state = 'failed') as failed, count(*) filter (where d.state = 'stopped') as stopped
  from destination x join delivery d on d.destination_id = x.id and d.message_id = e.id and d.team_id = x.team_id
  where x.team_id = ${tx.team}`

const toEventRow = ({ pending, delivered, failed, stopped, ...event }: Static<typeof Row>): EventRow => ({
  ...event,
  message_id: messageId(event.id),
  deliveries: { pending, delivered, failed, stopped },
})

/**
 * A page of the team's events, of those that endpoints get, without those about deleted users; newest first unless the request sorts
 * otherwise. Errors: 400 a cursor of another list.
 */
export async function listEventRows(tx: Tx, notDeleted: NotDeleted, query: EventRowQuery) {
  const { limit: _, next_cursor: __, ...filters } = query
  const list = `event rows ${tx.team} ${JSON.stringify(Object.entries(filters).toSorted())}`
  const pages = new Pages(list, query, [uuidKey(sql`id`)], { order: query.order_direction ?? 'desc' })
  const rows = await tx.many(
    Row,
    sql`
    select e.id, e.type, e.object_id, e.user_id, e.created_at, c.* from (
      select id, type, object_id, user_id, created_at from event
      where team_id = ${tx.team} and ${joinConditions([pages.afterCursor, ...filterConditions(tx, query)])}
        and ${isForEndpoints} and ${notDeleted(tx, sql`user_id`)}
      ${pages.order}) e
    cross join lateral (${deliveryCounts(tx)}) c
    order by e.id ${query.order_direction === 'asc' ? sql`asc` : sql`desc`}`,
  )
  const { page, next_cursor } = pages.cut(rows.map(toEventRow), ({ id }) => [id])
  for (const { user_id } of page) tx.concerns(user_id)
  return { data: page, next_cursor }
}

function filterConditions(tx: Tx, query: EventRowQuery): Sql[] {
  const { type, object_id, user_id, since, until } = query
  const conditions: Sql[] = []
  if (type?.length) conditions.push(sql`type = any (${type})`)
  if (object_id !== undefined) conditions.push(sql`object_id = ${object_id}`)
  if (user_id !== undefined) conditions.push(sql`user_id = ${user_id}`)
  if (since !== undefined) conditions.push(sql`id >= ${minUuidAt(new Date(since))}::uuid`)
  if (until !== undefined) conditions.push(sql`id < ${minUuidAt(new Date(until))}::uuid`)
  return [...conditions, ...deliveryConditions(tx, query)]
}

/** Only the newest deliveries in a state, or at a destination, are looked at. */
const FILTERED_MAX = 10_000

/** Conditions on the deliveries of an event and on the failed attempts. */
function deliveryConditions(tx: Tx, { delivery_state, destination_id, response_status, error }: EventRowQuery): Sql[] {
  const conditions: Sql[] = []
  if (destination_id !== undefined) conditions.push(sql`id = any (array(${messagesAt(tx, destination_id, delivery_state)}))`)
  else if (delivery_state === 'pending') conditions.push(sql`id = any (array(${pendingMessages(tx)}))`)
  else if (delivery_state !== undefined)
    conditions.push(sql`
      id = any (array(
        select message_id from delivery
        where team_id = ${tx.team} and state = ${delivery_state} and state in ('failed', 'stopped')
        order by message_id desc limit ${FILTERED_MAX}))`)
  const causes: Sql[] = []
  if (response_status !== undefined) causes.push(sql`response_status = ${response_status}`)
  if (error !== undefined) causes.push(sql`error = ${error}`)
  if (!causes.length) return conditions
  if (destination_id !== undefined) causes.push(sql`destination_id = ${destination_id}`)
  conditions.push(sql`
    id = any (array(
      select message_id from (
        select message_id, destination_id, response_status, error, succeeded from delivery_attempt
        where team_id = ${tx.team} order by id desc limit ${GROUPED_ATTEMPTS_MAX}) attempt
      where not succeeded and ${joinConditions(causes)}))`)
  return conditions
}

const messagesAt = (tx: Tx, destination_id: string, state: EventRowQuery['delivery_state']): Sql => sql`
  select message_id from delivery
  where destination_id = ${destination_id} and team_id = ${tx.team} ${state === undefined ? sql`` : sql`and state = ${state}`}
  order by message_id desc limit ${FILTERED_MAX}`

const pendingMessages = (tx: Tx): Sql => sql`
  select d.message_id from destination x
  cross join lateral (
    select message_id from delivery
    where destination_id = x.id and team_id = ${tx.team} and due_at is not null order by due_at desc limit ${FILTERED_MAX}) d
  where x.team_id = ${tx.team}`

const Body = T.Object({ ...Row.properties, body: Nullable(T.String()) })

/**
 * An event with its body, its destinations and the newest 100 attempts to deliver it.
 * @param fixed the headers of every attempt
 * Errors: 404 the team has no such event, or it is about a deleted user.
 */
export async function getEventDetails(
  tx: Tx,
  notDeleted: NotDeleted,
  event_id: string,
  fixed: Record<string, string>,
): Promise<PreserializedJson<EventDetails>> {
  const found = await tx.maybe(
    Body,
    sql`
    select e.id, e.type, e.object_id, e.user_id, e.created_at, ${eventBody(tx.team)} as body, c.* from event e cross join lateral (${deliveryCounts(tx)}) c
    where e.team_id = ${tx.team} and e.id = ${event_id} and ${notDeleted(tx, sql`e.user_id`)}`,
  )
  if (!found) throw notFound('Event not found')
  const { body, ...row } = found
  tx.concerns(row.user_id, row.id)
  const destinations = await tx.many(
    EventDelivery,
    sql`
    select d.destination_id, x.kind, d.state, d.attempts, date_trunc('second', d.due_at) as next_attempt_at,
           date_trunc('second', d.created_at) as created_at
    from destination x join delivery d on d.destination_id = x.id and d.team_id = x.team_id and d.message_id = ${event_id}
    where x.team_id = ${tx.team} order by x.kind, x.id`,
  )
  const destination_ids = destinations.map(({ destination_id }) => destination_id)
  const attempts = destination_ids.length
    ? await findAttempts(tx, { destination_ids, message_id: event_id }, sql`true order by id desc limit ${SHOWN_ATTEMPTS_MAX}`)
    : []
  const shown = attempts.map((attempt) => ({
    destination_id: attempt.destination_id,
    ...toAttempt(attempt, event_id, fixed),
  }))
  const text = JSON.stringify({ ...toEventRow(row), destinations, attempts: shown })
  return new PreserializedJson(`${text.slice(0, -1)},"body":${body}}`)
}
