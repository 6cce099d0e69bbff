// What waits for brokers: `pipeline_lane`, a broker of a team, and `pipeline_delivery`, an event for it. Never speaks to the network.
//
// A lane is served by one process at a time, under a lease, so that order is kept without asking others. What a killed process had in
// hand is still there when its lease ends: a row goes when the broker has acknowledged its event, and not before. Leases, due times and
// pauses go by the database's clock; whatever a process writes about a lane names itself and the fencing token of its claim.
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { dbNow, dbNowPlus, endLease, isOwned, isUnleased, takeLease } from '../../platform/db/leases.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Broker } from './schema.ts'

/** Of a lane, renewed while it is served: so long it waits at most when its process is killed. */
const LEASE_S = 5
/** How long an event waits for a broker at most. */
const RETENTION_S = 30 * 86_400
const BATCH = 100
const BATCH_BYTES = 1024 * 1024

/**
 * The lanes of a pipeline after a change: one for each enabled broker, to be served at once and with what is configured now. What
 * waits for a broker that is not enabled any more is gone. Writes pipeline_lane, pipeline_delivery.
 */
export async function syncBrokerQueues(tx: PlainTx, team_id: string, enabled: string[]): Promise<void> {
  const wanted = enabled.filter((name) => name !== 'svix')
  await tx.run(sql`delete from pipeline_lane where team_id = ${team_id} and not destination = any (${wanted}::text[])`)
  await tx.run(sql`
    insert into pipeline_lane (team_id, destination, due_at) select ${team_id}, wanted, ${dbNow} from unnest(${wanted}::text[]) wanted
    on conflict (team_id, destination) do update set owner = null, leased_until = null, failures = 0, due_at = excluded.due_at`)
  await tx.run(sql`update pipeline_delivery set due_at = ${dbNow} where team_id = ${team_id} and due_at > ${dbNow}`)
}

const Lane = T.Object({ team_id: T.String(), destination: T.String(), failures: T.Integer(), fence: T.Integer() })
export interface BrokerQueue {
  team_id: string
  destination: Broker
  failures: number
  /** The fencing token of the claim. */
  fence: number
}

/** Whether a lane could be taken, if it had something to send. */
export const hasClaimableQueue = async (db: Db): Promise<boolean> => {
  const { free } = await db.queries.one(
    T.Object({ free: T.Boolean() }),
    sql`
    select exists (select from pipeline_lane where due_at <= ${dbNow} and ${isUnleased}) as free`,
  )
  return free
}

/**
 * Take lanes that have something to send and that nobody serves, those that waited longest first. Writes pipeline_lane.
 * @param failing those whose last attempt failed, or the others
 */
export async function claimBrokerQueues(
  db: Db,
  owner: string,
  { failing, max }: { failing: boolean; max: number },
): Promise<BrokerQueue[]> {
  if (max <= 0) return []
  const rows = await db.asyncCommit.many(
    Lane,
    sql`
    with free as (
      select l.team_id, l.destination from pipeline_lane l join team t on t.id = l.team_id and t.deleted_at is null
      where l.due_at <= ${dbNow} and ${isUnleased} and (l.failures > 0) = ${failing}
        and exists (select from pipeline_delivery d where d.team_id = l.team_id and d.destination = l.destination and d.due_at <= ${dbNow})
      order by l.due_at limit ${max} for update of l skip locked)
    update pipeline_lane l set ${takeLease(owner, LEASE_S)}
    from free where l.team_id = free.team_id and l.destination = free.destination
    returning l.team_id, l.destination, l.failures, l.fence`,
  )
  return rows as BrokerQueue[]
}

/** Go on serving a lane. @returns false: it is gone, was changed, or somebody else has it */
export const renewBrokerQueue = async (db: Db, owner: string, { team_id, destination, fence }: BrokerQueue): Promise<boolean> =>
  (await db.asyncCommit.run(sql`
    update pipeline_lane set leased_until = ${dbNowPlus(LEASE_S)}
    where team_id = ${team_id} and destination = ${destination} and ${isOwned(owner, fence)}
      and exists (select from team t where t.id = ${team_id} and t.deleted_at is null)`)) > 0

/** Stop serving a lane; nothing is sent for `pause_s`, and lanes are taken in the order in which they are due. One that somebody else has by now stays as it is. Writes pipeline_lane. */
export const releaseBrokerQueue = (
  db: Db,
  owner: string,
  lane: BrokerQueue,
  { failures, pause_s }: { failures: number; pause_s: number },
) =>
  db.asyncCommit.run(sql`
    update pipeline_lane set ${endLease}, failures = ${failures}, due_at = ${dbNowPlus(pause_s)}
    where team_id = ${lane.team_id} and destination = ${lane.destination} and ${isOwned(owner, lane.fence)}`)

const Waiting = T.Object({
  id: T.Integer(),
  event_id: T.String(),
  user_id: Nullable(T.String()),
  attempts: T.Integer(),
  type: T.String(),
  created_at: T.String(),
  body: T.String(),
})
export type QueuedEvent = Static<typeof Waiting>

/** Events of a user whose earlier event is to be tried again wait until then. Writes pipeline_delivery. */
export const postponeUserEvents = (db: Db, { team_id, destination }: BrokerQueue): Promise<number> =>
  db.asyncCommit.run(sql`
    update pipeline_delivery d set due_at = failed.due_at
    from (
      select user_id, min(id) as id, max(due_at) as due_at from pipeline_delivery
      where team_id = ${team_id} and destination = ${destination} and attempts > 0 and due_at > ${dbNow} group by user_id) failed
    where d.team_id = ${team_id} and d.destination = ${destination} and d.user_id is not distinct from failed.user_id and d.id > failed.id
      and d.due_at <= ${dbNow}`)

/** The next events of a lane, oldest first, at most 100 and 1 MiB, but one at least. */
export const nextEvents = (db: Db, { team_id, destination }: BrokerQueue): Promise<QueuedEvent[]> =>
  db.queries.many(
    Waiting,
    sql`
    select id, event_id, user_id, attempts, type, created_at, body from (
      select d.id, d.event_id, d.user_id, d.attempts, e.type, e.created_at, e.body,
             row_number() over (order by d.id) as n, sum(octet_length(e.body)) over (order by d.id) as bytes
      from (
        select * from pipeline_delivery where team_id = ${team_id} and destination = ${destination} and due_at <= ${dbNow}
        order by id limit ${BATCH}) d
      join event e on e.team_id = d.team_id and e.id = d.event_id) found
    where n = 1 or bytes <= ${BATCH_BYTES} order by id`,
  )

/** Acknowledged by the broker, or not to be sent any more. Writes pipeline_delivery. */
export async function deleteEvents(db: Queries, ids: number[]): Promise<void> {
  if (ids.length) await db.run(sql`delete from pipeline_delivery where id = any (${ids}::bigint[])`)
}

/** Refused by the broker: tried again later, unless somebody else serves the lane by now. Writes pipeline_delivery. */
export async function postpone(
  db: Queries,
  owner: string,
  { team_id, destination, fence }: BrokerQueue,
  refused: { id: number; pause_s: number }[],
): Promise<void> {
  if (refused.length)
    await db.run(sql`
      update pipeline_delivery d set attempts = attempts + 1, due_at = ${dbNow} + make_interval(secs => given.pause_s)
      from unnest(${refused.map(({ id }) => id)}::bigint[], ${refused.map(({ pause_s }) => pause_s)}::float8[]) as given (id, pause_s)
      where d.id = given.id and exists (
        select from pipeline_lane where team_id = ${team_id} and destination = ${destination} and ${isOwned(owner, fence)})`)
}

/** Events that have waited for a broker for 30 days: they are given up. */
export const pipelineCleanup = cleanup({ table: 'pipeline_delivery', column: 'created_at', kept_s: RETENTION_S })
