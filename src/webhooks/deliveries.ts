// The queue of deliveries: what is due is claimed under a lease, what came of it is written down. Owns `delivery`, `webhook_lane` and
// `delivery_attempt`; never speaks to the network.
//
// An endpoint is served by one process at a time, its lane's owner, so that its rate, its pauses and its order are kept without
// asking others. Leases end, lanes' and deliveries' alike: what a killed process had in hand is sent again by the next.
import { plusSeconds } from '../platform/clock.ts'
import type { Db, PlainTx, Queries, Tx } from '../platform/db.ts'
import { Nullable, T, type Static } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'

/** Longer than an attempt can take. */
export const LEASE_S = 30
/** Of a lane, renewed while its owner lives: so long an endpoint waits at most when its process is killed. */
const LANE_LEASE_S = 5

export const startLane = (tx: Tx, webhook_id: string): Promise<number> =>
  tx.run(sql`insert into webhook_lane (webhook_id, team_id) values (${webhook_id}, ${tx.team})`)

/** Forget how an endpoint has been answering, since it is another one now. */
export const resetLane = (tx: Tx, webhook_id: string): Promise<number> =>
  tx.run(sql`
    update webhook_lane set throttled_until = null, first_failure_at = null, failing_since = null
    where webhook_id = ${webhook_id} and team_id = ${tx.team}`)

/** Nothing that is pending for an endpoint is sent any more. What is in the air may still arrive. */
export const stopDeliveries = (tx: Tx, webhook_id: string): Promise<number> =>
  tx.run(sql`
    update delivery set state = 'stopped', due_at = null
    where webhook_id = ${webhook_id} and team_id = ${tx.team} and due_at is not null`)

const Claimed = T.Object({
  id: T.Integer(),
  team_id: T.String(),
  webhook_id: T.String(),
  event_id: Nullable(T.String()),
  message_id: Nullable(T.String()),
  attempts: T.Integer(),
  trigger: T.String(),
  reported: Nullable(T.String()),
  /** Null: there is nothing to send any more. */
  type: Nullable(T.String()),
  body: Nullable(T.String()),
  user_id: Nullable(T.String()),
  object_id: Nullable(T.String()),
})
export type Claimed = Static<typeof Claimed>

/** How many deliveries of a lane a process takes at most; of lanes not named, `others`. */
export interface Room {
  total: number
  others: number
  lanes: Map<string, number>
}

/**
 * Claim what is due, oldest first in each lane, of lanes that nobody else has. Writes delivery, webhook_lane.
 * @param owner the process
 */
export async function claimDue(db: Db, owner: string, now: Date, room: Room): Promise<Claimed[]> {
  const until = plusSeconds(now, LEASE_S)
  const held = plusSeconds(now, LANE_LEASE_S)
  const named = [...room.lanes.keys()]
  const free = sql`d.due_at <= ${now} and (d.leased_until is null or d.leased_until <= ${now})`
  const rows = await db.relaxed.many(
    Claimed,
    sql`
    with lane as (
      select l.webhook_id, least(coalesce(known.room, ${room.others}::int), coalesce(w.rate_limit, ${room.others}::int)) as room
      from webhook_lane l
      join webhook w on w.id = l.webhook_id and w.team_id = l.team_id and not w.disabled
      join team t on t.id = l.team_id and t.deleted_at is null
      left join unnest(${named}::text[], ${[...room.lanes.values()]}::int[]) as known (webhook_id, room) on known.webhook_id = l.webhook_id
      where (l.throttled_until is null or l.throttled_until <= ${now})
        and (l.owner = ${owner} or l.leased_until is null or l.leased_until <= ${now})
        and coalesce(known.room, 1) > 0
        and exists (select from delivery d where d.webhook_id = l.webhook_id and ${free})
      order by l.leased_until nulls first
      limit ${room.total} for update of l skip locked
    ), held as (
      update webhook_lane l set owner = ${owner}, leased_until = ${held}
      from lane where l.webhook_id = lane.webhook_id returning l.webhook_id, lane.room
    ), due as (
      select found.id from held
      cross join lateral (
        select d.id from delivery d where d.webhook_id = held.webhook_id and ${free}
        order by d.due_at, d.id limit held.room for update skip locked) found
      limit ${room.total}
    ), taken as (
      update delivery d set leased_until = ${until}
      from due where d.id = due.id
      returning d.id, d.team_id, d.webhook_id, d.event_id, d.message_id, d.attempts, d.trigger, d.reported
    )
    select t.*, coalesce(e.type, m.type) as type, coalesce(e.body, m.body) as body, e.user_id, e.object_id
    from taken t
    left join event e on e.team_id = t.team_id and e.id = t.event_id
    left join webhook_message m on m.team_id = t.team_id and m.id = t.message_id
    order by t.id`,
  )
  return rows
}

const Endpoint = T.Object({
  id: T.String(),
  url: T.String(),
  rate_limit: Nullable(T.Integer()),
  headers: T.String(),
  secrets: T.Array(T.String()),
  first_failure_at: Nullable(T.String()),
  failing_since: Nullable(T.String()),
})
export type Endpoint = Static<typeof Endpoint>

/** Endpoints with what signs for them now, newest first; the old key ends at the team's time. */
export const loadEndpoints = (db: Db, ids: string[], now: Date): Promise<Endpoint[]> =>
  db.queries.many(
    Endpoint,
    sql`
    select w.id, w.url, w.rate_limit, w.headers, l.first_failure_at, l.failing_since,
           to_json(array(
             select s.secret from webhook_secret s
             where s.webhook_id = w.id and (s.expires_at is null or s.expires_at > ${now}::timestamptz + make_interval(secs => t.clock_offset_s))
             order by s.id desc)) as secrets
    from webhook w join team t on t.id = w.team_id join webhook_lane l on l.webhook_id = w.id
    where w.id = any (${ids}::text[])`,
  )

/** What came of an attempt. */
export interface Outcome {
  claimed: Claimed
  attempt_id: string
  at: Date
  duration_ms: number
  response_status: number | null
  response_body: string
  error: string | null
  succeeded: boolean
  signature: string
  custom_headers: string[]
  /** When it is tried again; undefined: not any more. */
  next_at: Date | undefined
  reported: string | null
}

/**
 * Write attempts down and what they make of their deliveries. One that was stopped meanwhile stays so, unless it has arrived; one that
 * is to be sent again stays due.
 * Writes delivery, delivery_attempt.
 */
export async function record(db: Queries, outcomes: Outcome[]): Promise<void> {
  if (outcomes.length === 0) return
  const list = <V>(of: (outcome: Outcome) => V): V[] => outcomes.map(of)
  // Pending and in nobody's hand: somebody has asked meanwhile for it to be sent again.
  const again = sql`d.state = 'pending' and d.leased_until is null`
  await db.run(sql`
    with said as (
      select * from unnest(
        ${list((o) => o.claimed.id)}::bigint[], ${list((o) => o.attempt_id)}::uuid[], ${list((o) => o.claimed.trigger)}::text[],
        ${list((o) => o.at)}::timestamptz[], ${list((o) => o.duration_ms)}::int[], ${list((o) => o.response_status)}::int[],
        ${list((o) => o.response_body)}::text[], ${list((o) => o.error)}::text[], ${list((o) => o.succeeded)}::bool[],
        ${list((o) => o.signature)}::text[], ${list((o) => o.custom_headers.join(' '))}::text[], ${list((o) => o.next_at ?? null)}::timestamptz[],
        ${list((o) => o.claimed.attempts + 1)}::int[], ${list((o) => o.reported)}::text[])
      as t (delivery_id, id, trigger, at, duration_ms, response_status, response_body, error, succeeded, signature, custom_headers,
            next_at, attempts, reported)
    ), changed as (
      update delivery d set
        state = case when ${again} then d.state when s.succeeded then 'delivered' when d.state = 'stopped' then 'stopped' when s.next_at is null then 'failed' else 'pending' end,
        due_at = case when ${again} then d.due_at when s.succeeded or d.state = 'stopped' then null else s.next_at end,
        leased_until = null,
        attempts = case when ${again} then d.attempts else s.attempts end,
        reported = case when ${again} then d.reported else s.reported end,
        trigger = case when ${again} then d.trigger else 'scheduled' end
      from said s where d.id = s.delivery_id
      returning d.id, d.team_id
    )
    insert into delivery_attempt (id, team_id, delivery_id, trigger, at, duration_ms, response_status, response_body, error, succeeded, signature, custom_headers)
    select s.id, c.team_id, c.id, s.trigger, s.at, s.duration_ms, s.response_status, s.response_body, s.error, s.succeeded, s.signature,
           string_to_array(s.custom_headers, ' ')
    from said s join changed c on c.id = s.delivery_id`)
}

/** Deliveries that are not to be sent any more, since there is nothing to send or nobody to tell about. */
export async function dropDeliveries(db: Queries, ids: number[]): Promise<void> {
  if (ids.length) await db.run(sql`update delivery set state = 'stopped', due_at = null where id = any (${ids}::bigint[])`)
}

/** What a process learned about an endpoint. */
export interface Learned {
  webhook_id: string
  throttled_until: Date | undefined
  first_failure_at: Date | undefined
  failing_since: Date | undefined
}

/** Write down how endpoints answer. Only the lane's owner does. */
export async function learn(db: Queries, owner: string, learned: Learned[]): Promise<void> {
  if (learned.length === 0) return
  await db.run(sql`
    update webhook_lane l set throttled_until = coalesce(s.throttled_until, l.throttled_until), first_failure_at = s.first_failure_at, failing_since = s.failing_since
    from unnest(${learned.map((l) => l.webhook_id)}::text[], ${learned.map((l) => l.throttled_until ?? null)}::timestamptz[],
                ${learned.map((l) => l.first_failure_at ?? null)}::timestamptz[], ${learned.map((l) => l.failing_since ?? null)}::timestamptz[])
         as s (webhook_id, throttled_until, first_failure_at, failing_since)
    where l.webhook_id = s.webhook_id and l.owner = ${owner}`)
}

/** Keep lanes that are in use. Writes webhook_lane. */
export async function renewLanes(db: Db, owner: string, webhook_ids: string[], now: Date): Promise<void> {
  if (webhook_ids.length)
    await db.relaxed.run(sql`
      update webhook_lane set leased_until = ${plusSeconds(now, LANE_LEASE_S)}
      where owner = ${owner} and webhook_id = any (${webhook_ids}::text[])`)
}

/** Let other processes have the lanes of this one. */
export const releaseLanes = (db: Db, owner: string): Promise<number> =>
  db.relaxed.run(sql`update webhook_lane set owner = null, leased_until = null where owner = ${owner}`)

/** Put deliveries that were claimed and not sent back where they were. */
export async function putBack(db: Db, ids: number[]): Promise<void> {
  if (ids.length) await db.relaxed.run(sql`update delivery set leased_until = null where id = any (${ids}::bigint[])`)
}

/** How long the log of deliveries is kept. Source: events.md 6.7. */
export const KEPT_S = 30 * 86_400
const PRUNED_MAX = 20_000

/** Forget what was delivered, given up or stopped long ago, with its attempts. For the sweep of the worker. */
export const pruneDeliveries = async (tx: PlainTx): Promise<void> => {
  await tx.run(sql`
    delete from delivery where id = any (array(
      select id from delivery where created_at < ${plusSeconds(tx.now, -KEPT_S)} and due_at is null limit ${PRUNED_MAX}))`)
  await tx.run(sql`
    delete from webhook_message where id = any (array(
      select m.id from webhook_message m
      where m.created_at < ${plusSeconds(tx.now, -KEPT_S)} and not exists (select from delivery d where d.message_id = m.id) limit ${PRUNED_MAX}))`)
}
