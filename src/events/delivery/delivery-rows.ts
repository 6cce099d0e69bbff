// The SQL of delivery rows. A row is inserted when its event is fanned out, claimed under a lease when it is due, and updated with the outcome
// of each attempt; it stays as the delivery log. Leases end: another process sends again what a killed process had claimed. Owns
// `delivery`, `delivery_attempt` and `delivery_attempt_count`; never uses the network.
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { runByTeam } from '../../platform/queue/by-team.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { eventBody } from '../../platform/queue/outbox.ts'
import { COUNTED_MAX } from '../../platform/queue/dead-letters.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql, arrayLiteral, textArrayLiteral } from '../../platform/db/sql.ts'
import { eraseTables, inOrder } from '../../platform/db/erasure.ts'
import { eraseTeamEndpoints } from '../endpoints/endpoints.ts'
import type { Attempt, Delivery } from './destination.ts'
import type { DeliveryDb, DestinationLeases } from './leases.ts'

/** Longer than an attempt can take. */
export const LEASE_S = 30

/** An event for a destination. */
export interface NewDelivery {
  team_id: string
  destination_id: string
  event_id: string
  /** Deliveries with the same key are sent one after another, also after a failure; null: any order. */
  order_key: string | null
  /** In how many seconds it is due; at once by default. */
  delay_s?: number
  /** This process sends it now: it is inserted under a lease of the process. */
  isLeased: boolean
}

const Leased = T.Object({ destination_id: T.String(), message_id: T.String(), lease: T.String() })

/** For maps: which message goes to which destination. */
export const deliveryKey = (destination_id: string, message_id: string): string => `${destination_id} ${message_id}`

/**
 * Inserts deliveries, leased to this process or due at once or later. Numbered in this order: deliveries of the same instant are sent by
 * number. Destinations deleted meanwhile are omitted, and so are messages that a user has resent meanwhile. Writes delivery.
 * @returns `deliveryKey` of each leased delivery → its lease
 */
export async function insertDeliveries(tx: PlainTx, deliveries: NewDelivery[]): Promise<Map<string, string>> {
  // A locked destination is not deleted before the commit.
  await runByTeam(deliveries, async (team_id, ofTeam) => {
    const ids = [...new Set(ofTeam.map((delivery) => delivery.destination_id))]
    return [
      await tx.locking.run(sql`select from destination where team_id = ${team_id} and id = any (${ids}::text[]) for key share`),
    ]
  })
  const rows = await tx.many(
    Leased,
    sql`
    with inserted as (
      insert into delivery (team_id, destination_id, message_id, order_key, queue_position, state, due_at, leased_until, trigger, created_at)
      select given.team_id, l.id, given.event_id, given.order_key, nextval('delivery_queue_position'), 'pending', ${dbNow} + make_interval(secs => given.delay_s),
             case when given.is_leased then ${dbNowPlus(LEASE_S)} end, 'scheduled', ${dbNow}
      from unnest(${arrayLiteral(deliveries.map((delivery) => delivery.team_id))}::uuid[], ${textArrayLiteral(deliveries.map((delivery) => delivery.destination_id))}::text[], ${arrayLiteral(deliveries.map((delivery) => delivery.event_id))}::uuid[],
                  ${arrayLiteral(deliveries.map((delivery) => delivery.order_key))}::uuid[], ${arrayLiteral(deliveries.map((delivery) => delivery.delay_s ?? 0))}::float8[], ${arrayLiteral(deliveries.map((delivery) => delivery.isLeased))}::bool[])
           with ordinality as given (team_id, destination_id, event_id, order_key, delay_s, is_leased, n)
      join destination l on l.id = given.destination_id and l.team_id = given.team_id
      join event e on e.team_id = given.team_id and e.id = given.event_id
      order by given.n
      on conflict (team_id, destination_id, message_id) do nothing
      returning destination_id, message_id, leased_until
    )
    select destination_id, message_id, leased_until::text as lease from inserted where leased_until is not null`,
  )
  return new Map(rows.map(({ destination_id, message_id, lease }) => [deliveryKey(destination_id, message_id), lease]))
}

const Claimed = T.Object({
  team_id: T.String(),
  destination_id: T.String(),
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
  created_at: Nullable(T.String()),
  lease: T.String(),
})
export type Claimed = Static<typeof Claimed>

/** Limits of a claim: in total, for each named destination, and for each of the `others`. */
export interface ClaimLimits {
  total: number
  others_max: number
  destinations: Map<string, number>
}

/**
 * Claims due deliveries, oldest first of each destination, for destinations that no other process has, with the leases of these. Where a
 * destination keeps order, deliveries behind a failed one with the same key become due together with it, and a new owner first releases
 * the deliveries that the previous owner had claimed: it claims them in their order the next time. Writes delivery, destination.
 */
export async function claimDue(
  db: Pick<DeliveryDb, 'asyncCommit'>,
  leases: DestinationLeases,
  limits: ClaimLimits,
): Promise<Claimed[]> {
  const candidates = await listCandidates(db.asyncCommit, leases, limits)
  return runByTeam(candidates, (team_id, ofTeam) => db.asyncCommit.many(Claimed, claimStatement(leases, team_id, ofTeam)))
}

const Candidate = T.Object({
  team_id: T.String(),
  id: T.String(),
  rate_limit: Nullable(T.Integer()),
  /** Deliveries that it may have room for. */
  waiting: T.Integer(),
})

/** Destinations to which deliveries are due, with the number of deliveries that each may get. */
async function listCandidates(
  db: Queries,
  leases: DestinationLeases,
  { total, others_max, destinations }: ClaimLimits,
): Promise<{ team_id: string; id: string; room: number }[]> {
  const full = [...destinations].flatMap(([id, room]) => (room > 0 ? [] : [id]))
  const room_max = Math.max(others_max, ...destinations.values())
  const rows = await db.many(
    Candidate,
    sql`
    select l.team_id, l.id, w.rate_limit, due.waiting
    from destination l
    left join webhook w on w.id = l.id and w.team_id = l.team_id
    join team t on t.id = l.team_id and t.deleted_at is null
    cross join lateral (
      select count(*) as waiting from (
        select 1 from delivery d
        where d.team_id = l.team_id and d.destination_id = l.id and d.due_at <= ${dbNow}
          and (d.leased_until is null or d.leased_until <= ${dbNow} or l.keeps_order and l.owner is distinct from ${leases.owner}::uuid)
        order by d.due_at limit ${room_max}) d) due
    where due.waiting > 0 and l.id <> all (${full}::text[]) and ${isServable(leases)}
      and (l.kind <> 'webhook' or not w.disabled)
    order by l.leased_until nulls first limit ${total}`,
  )
  let left = total
  return rows.flatMap(({ team_id, id, rate_limit, waiting }) => {
    const room = Math.min(left, waiting, destinations.get(id) ?? others_max, rate_limit ?? Infinity)
    left -= room
    return room > 0 ? [{ team_id, id, room }] : []
  })
}

/** The condition that the process has a destination `l`, or can lease it, and that it is not paused. */
const isServable = (leases: DestinationLeases): Sql =>
  sql`${leases.isOursOrFree} and (l.paused_until is null or l.paused_until <= ${dbNow})`

/** A statement that claims destinations of a team and as many of their due deliveries as they have room for. */
function claimStatement(leases: DestinationLeases, team_id: string, destinations: { id: string; room: number }[]): Sql {
  const ids = destinations.map(({ id }) => id)
  const isDue = sql`d.team_id = ${team_id} and d.due_at <= ${dbNow} and (d.leased_until is null or d.leased_until <= ${dbNow})`
  const places = sql`select place from servable where id not in (select destination_id from released)`
  return sql`
    with servable as materialized (
      select l.ctid as place, l.id, l.keeps_order, l.owner is distinct from ${leases.owner}::uuid as is_new
      from destination l where l.team_id = ${team_id} and l.id = any (${ids}::text[]) and ${isServable(leases)}
      for update skip locked
    ), postponed as (
      update delivery d set due_at = failed.due_at
      from (
        select f.destination_id, f.order_key, min(f.queue_position) as position, max(f.due_at) as due_at
        from servable l
        join delivery f on f.team_id = ${team_id} and f.destination_id = l.id and f.order_key is not null and f.attempts > 0 and f.due_at > ${dbNow}
        where l.keeps_order group by 1, 2) failed
      where d.destination_id = failed.destination_id and d.order_key = failed.order_key and d.queue_position > failed.position and ${isDue}
      returning d.destination_id, d.message_id
    ), released as (
      update delivery d set leased_until = null from servable l
      where l.keeps_order and l.is_new and d.team_id = ${team_id} and d.destination_id = l.id and d.leased_until > ${dbNow}
      returning d.destination_id
    ), held as (
      ${leases.claimStatement(places, { team: team_id })}
    ), due as (
      select held.id, oldest.message_id
      from held join unnest(${ids}::text[], ${destinations.map(({ room }) => room)}::int[]) as asked (id, room) on asked.id = held.id
      cross join lateral (
        select d.message_id from delivery d
        where d.destination_id = held.id and ${isDue} and (d.destination_id, d.message_id) not in (select destination_id, message_id from postponed)
        order by d.due_at, d.queue_position, d.message_id limit asked.room for update skip locked) oldest
    ), taken as (
      update delivery d set leased_until = ${dbNowPlus(LEASE_S)}
      from due where d.team_id = ${team_id} and d.destination_id = due.id and d.message_id = due.message_id
      returning d.destination_id, d.message_id, d.attempts, d.trigger, d.last_report, d.due_at, d.queue_position, d.leased_until
    )
    select ${team_id}::uuid as team_id, t.destination_id, t.message_id, t.attempts, t.trigger, t.last_report, t.leased_until::text as lease, e.id is not null as is_event,
           coalesce(e.type, m.type) as type, coalesce(${eventBody(team_id)}, m.body) as body, e.user_id, e.object_id, coalesce(e.created_at, m.created_at) as created_at
    from taken t
    left join event e on e.team_id = ${team_id} and e.id = t.message_id
    left join webhook_message m on m.team_id = ${team_id} and m.id = t.message_id
    order by t.due_at, t.queue_position, t.message_id`
}

/**
 * Records attempts and their outcomes. A delivery that was stopped meanwhile stays so, unless it has arrived. A delivery that is to be
 * resent, or that another process has claimed since, stays as it is. Of several attempts at one delivery the last one decides. The
 * successful attempt is stored with its delivery, others in rows of their own. Writes delivery, delivery_attempt.
 */
export async function recordAttempts(db: Queries, attempts: Attempt[]): Promise<void> {
  if (attempts.length === 0) return
  const values = (read: (attempt: Attempt) => Parameters<typeof arrayLiteral>[0][number]) => arrayLiteral(attempts.map(read))
  const texts = (read: (attempt: Attempt) => string | null) => textArrayLiteral(attempts.map(read))
  const keyOf = ({ delivery }: Attempt) => deliveryKey(delivery.destination_id, delivery.message_id)
  const lastAttempts = new Map(attempts.map((attempt) => [keyOf(attempt), attempt]))
  // Pending, and not leased to this process: a user has resent it meanwhile, or another process has claimed it.
  const isForeign = sql`d.state = 'pending' and d.leased_until is distinct from s.lease`
  const isStoredHere = sql`s.succeeded and s.trigger = 'scheduled' and d.attempt_id is null`
  await db.run(sql`
    with said as (
      select t.*, ${dbNow} + make_interval(secs => next_s) as next_at from unnest(
        ${values((a) => a.delivery.team_id)}::uuid[], ${texts((a) => a.delivery.destination_id)}::text[], ${values((a) => a.delivery.message_id)}::uuid[], ${values((a) => a.attempt_id)}::uuid[], ${texts((a) => a.delivery.trigger)}::text[],
        ${values((a) => a.begun_at)}::timestamptz[], ${values((a) => a.duration_ms)}::int[], ${values((a) => a.response_status)}::int[],
        ${texts((a) => a.response_body)}::text[], ${texts((a) => a.error)}::text[], ${values((a) => a.succeeded)}::bool[],
        ${texts((a) => a.signature)}::text[], ${texts((a) => a.custom_headers.join(' '))}::text[], ${values((a) => a.next_s ?? null)}::float8[],
        ${values((a) => a.delivery.attempts + 1)}::int[], ${texts((a) => a.last_report)}::text[], ${texts((a) => a.delivery.lease)}::timestamptz[],
        ${values((a) => lastAttempts.get(keyOf(a)) === a)}::bool[])
      as t (team_id, destination_id, message_id, id, trigger, at, duration_ms, response_status, response_body, error, succeeded, signature, custom_headers,
            next_s, attempts, last_report, lease, is_last)
    ), changed as (
      update delivery d set
        state = case when ${isForeign} then d.state when s.succeeded then 'delivered' when d.state = 'stopped' then 'stopped' when s.next_s is null then 'failed' else 'pending' end,
        due_at = case when ${isForeign} then d.due_at when s.succeeded or d.state = 'stopped' then null else s.next_at end,
        leased_until = case when ${isForeign} then d.leased_until end,
        attempts = case when ${isForeign} then d.attempts else s.attempts end,
        last_report = case when ${isForeign} then d.last_report else s.last_report end,
        trigger = case when ${isForeign} then d.trigger else 'scheduled' end,
        attempt_id = case when ${isStoredHere} then s.id else d.attempt_id end,
        attempted_at = case when ${isStoredHere} then s.at else d.attempted_at end,
        duration_ms = case when ${isStoredHere} then s.duration_ms else d.duration_ms end,
        response_status = case when ${isStoredHere} then s.response_status else d.response_status end,
        response_body = case when ${isStoredHere} then s.response_body else d.response_body end,
        signature = case when ${isStoredHere} then s.signature else d.signature end,
        custom_headers = case when ${isStoredHere} then string_to_array(nullif(s.custom_headers, ''), ' ') else d.custom_headers end
      -- A statement changes a row once: with two attempts at a message that was sent again, one outcome would be lost.
      from said s where s.is_last and d.team_id = s.team_id and d.destination_id = s.destination_id and d.message_id = s.message_id
      returning d.destination_id, d.message_id, d.team_id, d.attempt_id
    ), counted as (
      ${countAttempts(attempts)}
    )
    insert into delivery_attempt (id, team_id, destination_id, message_id, trigger, at, duration_ms, response_status, response_body, error, succeeded, signature, custom_headers)
    select s.id, c.team_id, c.destination_id, c.message_id, s.trigger, s.at, s.duration_ms, s.response_status, s.response_body, s.error, s.succeeded, s.signature,
           string_to_array(s.custom_headers, ' ')
    from said s join changed c on c.team_id = s.team_id and c.destination_id = s.destination_id and c.message_id = s.message_id where c.attempt_id is distinct from s.id`)
}

/** Every interval in which attempts are counted is a multiple. */
const COUNT_STEP_S = 300

/**
 * A statement that counts attempts at each destination per five minutes: an index of all attempts would cost more than writing them. In the
 * order of the key, so that two statements do not deadlock. Writes delivery_attempt_count.
 */
function countAttempts(attempts: Attempt[]): Sql {
  const counts = new Map<string, number>()
  for (const { delivery, begun_at, succeeded } of attempts) {
    const at_s = Math.floor(begun_at.getTime() / 1000 / COUNT_STEP_S) * COUNT_STEP_S
    const key = `${delivery.team_id} ${at_s} ${delivery.destination_id} ${succeeded}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const keys = [...counts.keys()].sort()
  const column = (i: number) => keys.map((key) => key.split(' ')[i]!)
  return sql`
    insert into delivery_attempt_count (team_id, bucket_start, destination_id, succeeded, attempts)
    select given.team_id, to_timestamp(given.at_s), given.destination_id, given.succeeded, given.n
    from unnest(${arrayLiteral(column(0))}::uuid[], ${arrayLiteral(column(1))}::bigint[], ${textArrayLiteral(column(2))}::text[],
                ${arrayLiteral(column(3))}::bool[], ${arrayLiteral(keys.map((key) => counts.get(key)!))}::bigint[])
         with ordinality as given (team_id, at_s, destination_id, succeeded, n, nth)
    join team t on t.id = given.team_id order by given.nth
    on conflict (team_id, bucket_start, destination_id, succeeded)
    do update set attempts = delivery_attempt_count.attempts + excluded.attempts`
}

type Owned = Pick<Delivery, 'team_id' | 'destination_id' | 'message_id' | 'lease'>

/** For a statement about `delivery d`: the condition that no other process has claimed it since. */
const matchOwned = (deliveries: Owned[]): Sql => sql`
  unnest(${arrayLiteral(deliveries.map((key) => key.team_id))}::uuid[], ${textArrayLiteral(deliveries.map((key) => key.destination_id))}::text[], ${arrayLiteral(deliveries.map((key) => key.message_id))}::uuid[],
         ${textArrayLiteral(deliveries.map((key) => key.lease))}::timestamptz[]) as given (team_id, destination_id, message_id, lease)
  where d.team_id = given.team_id and d.destination_id = given.destination_id and d.message_id = given.message_id and d.leased_until = given.lease`

/** Returns claimed, unsent deliveries to the queue; deliveries that another process has claimed since stay with it. */
export async function returnDeliveries(db: Pick<DeliveryDb, 'asyncCommit'>, deliveries: Owned[]): Promise<void> {
  if (deliveries.length) await db.asyncCommit.run(sql`update delivery d set leased_until = null from ${matchOwned(deliveries)}`)
}

/** Stops claimed deliveries that must not be sent, since the event or its user was deleted. Writes delivery. */
export async function stopClaimed(db: Queries, deliveries: Owned[]): Promise<void> {
  if (deliveries.length) await db.run(sql`update delivery d set state = 'stopped', due_at = null from ${matchOwned(deliveries)}`)
}

/** Stops all pending deliveries of a destination. Attempts in flight may still arrive. Writes delivery. */
export const stopDeliveries = (tx: PlainTx, team_id: string, destination_id: string): Promise<number> =>
  tx.run(sql`
    update delivery set state = 'stopped', due_at = null
    where destination_id = ${destination_id} and team_id = ${team_id} and due_at is not null`)

/** What resending sets: due at once, with a new round of attempts. Several deliveries go in the order of their messages. */
export const resent: Sql = sql`
  state = 'pending', due_at = ${dbNow}, queue_position = null, leased_until = null, attempts = 0, trigger = 'manual'`

/**
 * Sends messages to an endpoint again. Events that were never queued for the endpoint are queued. Messages that do not exist, and events
 * whose body is gone, are ignored.
 * Writes delivery.
 */
export async function resendDeliveries(tx: Tx, webhook_id: string, message_ids: string[]): Promise<void> {
  if (message_ids.length === 0) return
  const ids = sql`${message_ids}::uuid[]`
  await tx.run(sql`
    update delivery d set ${resent}
    where d.team_id = ${tx.team} and d.destination_id = ${webhook_id} and d.message_id = any (${ids})
      and not exists (
        select from event e where e.team_id = ${tx.team} and e.id = d.message_id and ${eventBody(tx.team)} is null)`)
  await tx.run(sql`
    insert into delivery (team_id, destination_id, message_id, state, due_at, trigger, created_at)
    select e.team_id, l.id, e.id, 'pending', ${dbNow}, 'manual', ${dbNow}
    from unnest(${ids}) with ordinality as given (id, n)
    join event e on e.team_id = ${tx.team} and e.id = given.id
    join (select id from destination where id = ${webhook_id} and team_id = ${tx.team} for key share) l on true
    where ${eventBody(tx.team)} is not null
    order by given.n
    on conflict (team_id, destination_id, message_id) do nothing`)
  tx.notifyDelivery()
}

const DeliveryBacklog = T.Object({
  waiting: T.Integer(),
  waiting_s: T.Number(),
  outbox: T.Integer(),
  broker_events: T.Integer(),
  broker_events_s: T.Number(),
})
export type DeliveryBacklog = Static<typeof DeliveryBacklog>

/**
 * What waits in a cell, for /metrics: deliveries to endpoints that are due and not being sent, and for how long the oldest has been due;
 * outbox entries that wait for the fan-out; events that no broker has acknowledged yet, and the age of the oldest. Deliveries to disabled
 * endpoints do not count, those to paused ones do. Reads at most 10,000 rows of each.
 */
export const countDeliveryBacklog = (db: Pick<Db, 'queries'>): Promise<DeliveryBacklog> =>
  db.queries.one(
    DeliveryBacklog,
    sql`
    with waiting as (
      select d.due_at from destination l
      join webhook w on w.id = l.id and w.team_id = l.team_id and not w.disabled
      cross join lateral (
        select due_at from delivery
        where destination_id = l.id and team_id = l.team_id and due_at <= ${dbNow}
          and (leased_until is null or leased_until <= ${dbNow})
        order by due_at limit ${COUNTED_MAX}) d
      limit ${COUNTED_MAX}
    ), broker_events as (
      select d.created_at from destination l
      cross join lateral (
        select created_at from delivery where destination_id = l.id and team_id = l.team_id and due_at is not null
        order by due_at limit ${COUNTED_MAX}) d
      where l.kind <> 'webhook' limit ${COUNTED_MAX}
    )
    select
      (select count(*) from waiting) as waiting,
      coalesce((select extract(epoch from ${dbNow} - min(due_at))::float8 from waiting), 0) as waiting_s,
      (select count(*) from (select 1 from event_outbox limit ${COUNTED_MAX}) outbox) as outbox,
      (select count(*) from broker_events) as broker_events,
      coalesce((select extract(epoch from ${dbNow} - min(created_at))::float8 from broker_events), 0) as broker_events_s`,
  )

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
    condition: sql`
      not exists (select from webhook w join delivery d on d.team_id = w.team_id and d.destination_id = w.id and d.message_id = t.id where w.team_id = t.team_id)`,
  }),
]

/**
 * A condition: whether an event `e` is still to be sent, or was not delivered and can be recovered. It waits for the fan-out, or a delivery to
 * a destination of its team has not arrived.
 */
export const isStillToSend: Sql = sql`
  (exists (select from destination x join delivery d on d.destination_id = x.id and d.message_id = e.id and d.team_id = x.team_id
           where x.team_id = e.team_id and d.state <> 'delivered')
   or (select o.event_ids[1] <= e.id from event_outbox o where o.team_id = e.team_id order by o.id limit 1))`

/** Erases the deliveries of erased events, with their attempts, also those to deleted destinations. Writes delivery, delivery_attempt. */
export const eraseDeliveriesOfEvents = async (tx: Tx, event_ids: string[]): Promise<void> =>
  void (await tx.run(sql`
    delete from delivery
    where team_id = ${tx.team} and message_id = any (${event_ids}::uuid[]) and destination_id = any (array(
      select id from destination where team_id = ${tx.team} union all select destination_id from deleted_destination where team_id = ${tx.team}))`))

/** Erases the deliveries of a deleted team, with its destinations and endpoints. */
export const eraseTeamDeliveries = inOrder(
  eraseTables(
    'delivery_attempt',
    'delivery',
    'delivery_attempt_count',
    'webhook_message',
    'destination',
    'deleted_destination',
    'revoked_lease',
  ),
  eraseTeamEndpoints,
)
