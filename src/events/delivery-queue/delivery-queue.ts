// The queue of deliveries: claims due deliveries under a lease and records their outcomes. Owns `delivery`, `delivery_attempt`
// and `delivery_attempt_count`; never uses the network.
//
// One process at a time serves an endpoint, the owner of its lease, so that its rate, its pauses and its order are kept without
// asking other processes. Leases of endpoints and of deliveries end: another process sends again what a killed process had
// claimed.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql, arrayLiteral, textArrayLiteral } from '../../platform/db/sql.ts'
import type { DeliveryDb } from '../fan-out/fan-out.ts'
import type { Delivery, AttemptOutcome } from './delivery.ts'
import type { EndpointLeases } from './endpoint-leases.ts'
import { countAttempts } from './attempt-counts.ts'
import { eraseTables, inOrder, type TeamEraser } from '../../platform/db/erasure.ts'
import { eraseTeamEndpoints } from '../endpoints/endpoints.ts'

/** Longer than an attempt can take. */
export const LEASE_S = 30

/** An event for an endpoint. */
export interface NewDelivery {
  team_id: string
  webhook_id: string
  event_id: string
  /** In how many seconds it is due; at once by default. */
  delay_s?: number
  /** This process sends it now: it is inserted under a lease of the process. */
  isLeased: boolean
}

const Leased = T.Object({ webhook_id: T.String(), message_id: T.String(), lease: T.String() })

/** For maps: which message goes to which endpoint. */
export const deliveryKey = (webhook_id: string, message_id: string): string => `${webhook_id} ${message_id}`

/**
 * Inserts deliveries, leased to this process or due at once or later. Numbered in this order: deliveries of the same instant are sent by
 * number. Endpoints deleted meanwhile are omitted, and so are messages that a user has resent meanwhile. Writes delivery.
 * @returns `deliveryKey` of each leased delivery → its lease
 */
export async function insertDeliveries(tx: PlainTx, deliveries: NewDelivery[]): Promise<Map<string, string>> {
  const rows = await tx.many(
    Leased,
    sql`
    with inserted as (
      insert into delivery (team_id, webhook_id, message_id, queue_position, state, due_at, leased_until, trigger, created_at)
      select given.team_id, w.id, given.event_id, nextval('delivery_queue_position'), 'pending', ${dbNow} + make_interval(secs => given.delay_s),
             case when given.is_leased then ${dbNowPlus(LEASE_S)} end, 'scheduled', ${dbNow}
      from unnest(${arrayLiteral(deliveries.map((one) => one.team_id))}::uuid[], ${textArrayLiteral(deliveries.map((one) => one.webhook_id))}::text[], ${arrayLiteral(deliveries.map((one) => one.event_id))}::uuid[],
                  ${arrayLiteral(deliveries.map((one) => one.delay_s ?? 0))}::float8[], ${arrayLiteral(deliveries.map((one) => one.isLeased))}::bool[])
           with ordinality as given (team_id, webhook_id, event_id, delay_s, is_leased, n)
      join (select id, team_id from webhook where id = any (${[...new Set(deliveries.map((one) => one.webhook_id))]}::text[]) for key share) w
        on w.id = given.webhook_id and w.team_id = given.team_id
      join event e on e.team_id = given.team_id and e.id = given.event_id
      order by given.n
      on conflict (webhook_id, message_id) do nothing
      returning webhook_id, message_id, leased_until
    )
    select webhook_id, message_id, leased_until::text as lease from inserted where leased_until is not null`,
  )
  return new Map(rows.map(({ webhook_id, message_id, lease }) => [deliveryKey(webhook_id, message_id), lease]))
}

/** Stops all pending deliveries of an endpoint. Attempts in flight may still arrive. Writes delivery. */
export const stopDeliveries = (tx: PlainTx, team_id: string, webhook_id: string): Promise<number> =>
  tx.run(sql`
    update delivery set state = 'stopped', due_at = null
    where webhook_id = ${webhook_id} and team_id = ${team_id} and due_at is not null`)

const Claimed = T.Object({
  team_id: T.String(),
  webhook_id: T.String(),
  message_id: T.String(),
  is_event: T.Boolean(),
  attempts: T.Integer(),
  trigger: T.String(),
  last_report: Nullable(T.String()),
  /** Null: there is nothing to send any more. */
  type: Nullable(T.String()),
  body: Nullable(T.String()),
  user_id: Nullable(T.String()),
  object_id: Nullable(T.String()),
  lease: T.String(),
})
export type Claimed = Static<typeof Claimed>

/** Limits of a claim: in total, for each named endpoint, and for each of the `others`. */
export interface ClaimLimits {
  total: number
  others: number
  endpoints: Map<string, number>
}

/**
 * Claims due deliveries, oldest first of each endpoint, for endpoints that no other process has, with the leases of these.
 * Writes delivery, webhook_lease.
 */
export async function claimDue(
  db: Pick<DeliveryDb, 'asyncCommit'>,
  leases: EndpointLeases,
  limits: ClaimLimits,
): Promise<Claimed[]> {
  const named = [...limits.endpoints.keys()]
  const free = sql`d.due_at <= ${dbNow} and (d.leased_until is null or d.leased_until <= ${dbNow})`
  const rows = await db.asyncCommit.many(
    Claimed,
    sql`
    with free as (
      select l.webhook_id, least(coalesce(known.room, ${limits.others}::int), w.rate_limit) as room
      from webhook_lease l
      join webhook w on w.id = l.webhook_id and w.team_id = l.team_id and not w.disabled
      join team t on t.id = l.team_id and t.deleted_at is null
      left join unnest(${named}::text[], ${[...limits.endpoints.values()]}::int[]) as known (webhook_id, room) on known.webhook_id = l.webhook_id
      where (l.paused_until is null or l.paused_until <= ${dbNow})
        and ${leases.isOursOrFree}
        and coalesce(known.room, 1) > 0
        and exists (select from delivery d where d.webhook_id = l.webhook_id and ${free})
      order by l.leased_until nulls first
      limit ${limits.total} for update of l skip locked
    ), held as (
      ${leases.claimStatement(sql`select webhook_id, room from free`, { more: sql`candidate.room` })}
    ), due as (
      select held.webhook_id, found.message_id from held
      cross join lateral (
        select d.message_id from delivery d where d.webhook_id = held.webhook_id and ${free}
        order by d.due_at, d.queue_position, d.message_id limit held.room for update skip locked) found
      limit ${limits.total}
    ), taken as (
      update delivery d set leased_until = ${dbNowPlus(LEASE_S)}
      from due where d.webhook_id = due.webhook_id and d.message_id = due.message_id
      returning d.team_id, d.webhook_id, d.message_id, d.attempts, d.trigger, d.last_report, d.due_at, d.queue_position, d.leased_until
    )
    select t.team_id, t.webhook_id, t.message_id, t.attempts, t.trigger, t.last_report, t.leased_until::text as lease, e.id is not null as is_event,
           coalesce(e.type, m.type) as type, coalesce(e.body, m.body) as body, e.user_id, e.object_id
    from taken t
    left join event e on e.team_id = t.team_id and e.id = t.message_id
    left join webhook_message m on m.team_id = t.team_id and m.id = t.message_id
    order by t.due_at, t.queue_position, t.message_id`,
  )
  return rows
}

/**
 * Records attempts and their outcomes. A delivery that was stopped meanwhile stays so, unless it
 * has arrived. A delivery that is to be resent, or that another process has claimed since, stays as it is. The successful
 * attempt is stored with its delivery, others in rows of their own.
 * Writes delivery, delivery_attempt, delivery_attempt_count.
 */
export async function recordAttempts(db: Queries, outcomes: AttemptOutcome[]): Promise<void> {
  if (outcomes.length === 0) return
  const columnArray = (of: (outcome: AttemptOutcome) => Parameters<typeof arrayLiteral>[0][number]) =>
    arrayLiteral(outcomes.map(of))
  const textColumnArray = (of: (outcome: AttemptOutcome) => string | null) => textArrayLiteral(outcomes.map(of))
  // Pending, and not leased to this process: a user has resent it meanwhile, or another process has claimed it.
  const again = sql`d.state = 'pending' and d.leased_until is distinct from s.lease`
  const kept = sql`s.succeeded and s.trigger = 'scheduled' and d.attempt_id is null`
  await db.run(sql`
    with said as (
      select * from unnest(
        ${textColumnArray((o) => o.item.webhook_id)}::text[], ${columnArray((o) => o.item.message_id)}::uuid[], ${columnArray((o) => o.attempt_id)}::uuid[], ${textColumnArray((o) => o.item.trigger)}::text[],
        ${columnArray((o) => o.at)}::timestamptz[], ${columnArray((o) => o.duration_ms)}::int[], ${columnArray((o) => o.response_status)}::int[],
        ${textColumnArray((o) => o.response_body)}::text[], ${textColumnArray((o) => o.error)}::text[], ${columnArray((o) => o.succeeded)}::bool[],
        ${textColumnArray((o) => o.signature)}::text[], ${textColumnArray((o) => o.endpoint.customNames.join(' '))}::text[], ${columnArray((o) => o.next_s ?? null)}::float8[],
        ${columnArray((o) => o.item.attempts + 1)}::int[], ${textColumnArray((o) => o.last_report)}::text[], ${textColumnArray((o) => o.item.lease)}::timestamptz[])
      as t (webhook_id, message_id, id, trigger, at, duration_ms, response_status, response_body, error, succeeded, signature, custom_headers,
            next_s, attempts, last_report, lease)
    ), counted as (
      ${countAttempts(outcomes)}
    ), changed as (
      update delivery d set
        state = case when ${again} then d.state when s.succeeded then 'delivered' when d.state = 'stopped' then 'stopped' when s.next_s is null then 'failed' else 'pending' end,
        due_at = case when ${again} then d.due_at when s.succeeded or d.state = 'stopped' then null else ${dbNow} + make_interval(secs => s.next_s) end,
        leased_until = case when ${again} then d.leased_until end,
        attempts = case when ${again} then d.attempts else s.attempts end,
        last_report = case when ${again} then d.last_report else s.last_report end,
        trigger = case when ${again} then d.trigger else 'scheduled' end,
        attempt_id = case when ${kept} then s.id else d.attempt_id end,
        attempted_at = case when ${kept} then s.at else d.attempted_at end,
        duration_ms = case when ${kept} then s.duration_ms else d.duration_ms end,
        response_status = case when ${kept} then s.response_status else d.response_status end,
        response_body = case when ${kept} then s.response_body else d.response_body end,
        signature = case when ${kept} then s.signature else d.signature end,
        custom_headers = case when ${kept} then string_to_array(nullif(s.custom_headers, ''), ' ') else d.custom_headers end
      from said s where d.webhook_id = s.webhook_id and d.message_id = s.message_id
      returning d.webhook_id, d.message_id, d.team_id, d.attempt_id
    )
    insert into delivery_attempt (id, team_id, webhook_id, message_id, trigger, at, duration_ms, response_status, response_body, error, succeeded, signature, custom_headers)
    select s.id, c.team_id, c.webhook_id, c.message_id, s.trigger, s.at, s.duration_ms, s.response_status, s.response_body, s.error, s.succeeded, s.signature,
           string_to_array(s.custom_headers, ' ')
    from said s join changed c on c.webhook_id = s.webhook_id and c.message_id = s.message_id where c.attempt_id is distinct from s.id`)
}

/** Stops claimed deliveries that must not be sent, since the event or its user was deleted. */
export async function deleteDeliveries(db: Queries, claimed: Owned[]): Promise<void> {
  if (claimed.length) await db.run(sql`update delivery d set state = 'stopped', due_at = null from ${matchKeys(claimed)}`)
}

/** Returns claimed, unsent deliveries to the queue; those that another process has claimed since stay with it. */
export async function returnDeliveries(db: Pick<DeliveryDb, 'asyncCommit'>, claimed: Owned[]): Promise<void> {
  if (claimed.length) await db.asyncCommit.run(sql`update delivery d set leased_until = null from ${matchKeys(claimed)}`)
}

type Owned = Pick<Delivery, 'webhook_id' | 'message_id' | 'lease'>

/** For a statement about `delivery d`: the condition that no other process has claimed it since. */
const matchKeys = (claimed: Owned[]): Sql => sql`
  unnest(${textArrayLiteral(claimed.map((key) => key.webhook_id))}::text[], ${arrayLiteral(claimed.map((key) => key.message_id))}::uuid[],
         ${textArrayLiteral(claimed.map((key) => key.lease))}::timestamptz[]) as given (webhook_id, message_id, lease)
  where d.webhook_id = given.webhook_id and d.message_id = given.message_id and d.leased_until = given.lease`

/** The retention of the delivery log. Source: events.md 6.7. */
export const RETENTION_S = 30 * 86_400
/**
 * Cleanups: deliveries with their attempts, including those still pending, so that none waits indefinitely; the counts of the
 * metric; operational messages whose delivery log was deleted. Deletes from delivery, delivery_attempt, delivery_attempt_count and
 * webhook_message.
 */
export const deliveryCleanups = [
  cleanup({ table: 'delivery', column: 'created_at', retention_s: RETENTION_S }),
  cleanup({ table: 'delivery_attempt_count', column: 'bucket_start', retention_s: RETENTION_S }),
  cleanup({
    table: 'webhook_message',
    column: 'created_at',
    retention_s: RETENTION_S,
    only: sql`
      not exists (select from webhook w join delivery d on d.webhook_id = w.id and d.message_id = t.id where w.team_id = t.team_id)`,
  }),
]

/** Selects by endpoints, including deleted ones: the table has no index by team. */
const eraseDeliveriesByEndpoint: TeamEraser = (tx, team, max) =>
  tx.run(sql`
    delete from delivery where (webhook_id, message_id) in (
      select webhook_id, message_id from delivery
      where webhook_id in (
        select id from webhook where team_id = ${team} union all select webhook_id from deleted_webhook where team_id = ${team})
      limit ${max})`)

/** Erases the deliveries of a deleted team, with its endpoints. The deletion of an endpoint leaves a row in deleted_webhook: the endpoints are erased in between. */
export const eraseTeamDeliveries = inOrder(
  eraseTables('delivery_attempt'),
  eraseDeliveriesByEndpoint,
  eraseTables('delivery_attempt_count', 'webhook_message', 'webhook_lease', 'revoked_webhook_lease'),
  eraseTeamEndpoints,
  eraseTables('deleted_webhook'),
)
