// The broker queues: `pipeline_queue` has a row for each broker of a team, `pipeline_delivery` the events that wait for it.
// Never uses the network.
//
// One process at a time sends to a broker, under a lease, so that events keep their order. Events that a killed process was
// sending still exist when its lease ends: a row is deleted only after the broker has acknowledged its event.
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { dbNow, isUnleased } from '../../platform/db/leases.ts'
import { LeasedQueue, type QueueDefinition } from '../../platform/queue/leased-queue.ts'
import type { LeaseOwner } from '../../platform/queue/leased-table.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Broker } from './schema.ts'

/** The lease of a broker, renewed while its events are sent. Events wait at most this long if the process is killed. */
const LEASE_S = 5
/** Maximum time that an event waits for a broker. */
const RETENTION_S = 30 * 86_400
const BATCH = 100
const BATCH_BYTES = 1024 * 1024

/**
 * Adapts the queues of a pipeline to a change: one for each enabled broker, due at once. Events that wait for a broker that is
 * no longer enabled are deleted. Writes pipeline_queue, pipeline_delivery.
 */
export async function syncBrokerQueues(tx: PlainTx, team_id: string, enabled: string[]): Promise<void> {
  const brokers = enabled.filter((name) => name !== 'svix')
  await tx.run(sql`delete from pipeline_queue where team_id = ${team_id} and not destination = any (${brokers}::text[])`)
  await tx.run(sql`
    insert into pipeline_queue (team_id, destination, due_at) select ${team_id}, wanted, ${dbNow} from unnest(${brokers}::text[]) wanted
    on conflict (team_id, destination) do update set owner = null, leased_until = null, consecutive_failures = 0, due_at = excluded.due_at`)
  await tx.run(sql`update pipeline_delivery set due_at = ${dbNow} where team_id = ${team_id} and due_at > ${dbNow}`)
}

const ClaimedBroker = T.Object({
  team_id: T.String(),
  destination: T.Unsafe<Broker>(T.String()),
  consecutive_failures: T.Integer(),
  fence: T.Integer(),
})
/** A broker of a team, claimed by a process, with its consecutive failures then. */
export type ClaimedBroker = Static<typeof ClaimedBroker>

const brokerQueue: QueueDefinition = {
  name: 'pipeline_queue',
  key: { team_id: 'uuid', destination: 'text' },
  row: ClaimedBroker,
  lease_s: LEASE_S,
  isPending: sql`
    exists (select from pipeline_delivery d
            where d.team_id = pipeline_queue.team_id and d.destination = pipeline_queue.destination and d.due_at <= ${dbNow})
    and exists (select from team t where t.id = pipeline_queue.team_id and t.deleted_at is null)`,
  order: sql`due_at`,
  attempts: { column: 'consecutive_failures', countedBy: 'failure' },
  completed: sql`consecutive_failures = 0, due_at = ${dbNow}`,
}

/** The brokers of a cell with waiting events, longest waiting first. */
export class BrokerQueue extends LeasedQueue<ClaimedBroker> {
  constructor(db: Pick<Db, 'queries' | 'asyncCommit'>, owner: LeaseOwner = {}) {
    super(db, brokerQueue, owner)
  }

  /** Claims brokers, at most `failing_max` of which failed last time. Writes pipeline_queue. */
  async claimBrokers({ max, failing_max }: { max: number; failing_max: number }): Promise<ClaimedBroker[]> {
    if (max <= 0 || !(await this.#isAnyFree())) return []
    const sound = await this.claim(max, sql`consecutive_failures = 0`)
    return [...sound, ...(await this.claim(Math.min(failing_max, max - sound.length), sql`consecutive_failures > 0`))]
  }

  /** Whether a broker could be claimed if it had events. */
  async #isAnyFree(): Promise<boolean> {
    const { free } = await this.db.queries.one(
      T.Object({ free: T.Boolean() }),
      sql`select exists (select from pipeline_queue where due_at <= ${dbNow} and ${isUnleased}) as free`,
    )
    return free
  }

  /** Delays an event that the broker rejected, unless another process has claimed the broker since. Writes pipeline_delivery. */
  async postponeEvents(broker: ClaimedBroker, refused: { id: number; pause_s: number }[]): Promise<void> {
    if (refused.length === 0) return
    await this.db.asyncCommit.run(sql`
      update pipeline_delivery d set attempts = attempts + 1, due_at = ${dbNow} + make_interval(secs => given.pause_s)
      from unnest(${refused.map(({ id }) => id)}::bigint[], ${refused.map(({ pause_s }) => pause_s)}::float8[]) as given (id, pause_s)
      where d.id = given.id and exists (select from pipeline_queue where ${this.isOwnedRow(broker)})`)
  }
}

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

/** Delays events of a user until an earlier event of the user has been retried. Writes pipeline_delivery. */
export const postponeUserEvents = (db: Db, { team_id, destination }: ClaimedBroker): Promise<number> =>
  db.asyncCommit.run(sql`
    update pipeline_delivery d set due_at = failed.due_at
    from (
      select user_id, min(id) as id, max(due_at) as due_at from pipeline_delivery
      where team_id = ${team_id} and destination = ${destination} and attempts > 0 and due_at > ${dbNow} group by user_id) failed
    where d.team_id = ${team_id} and d.destination = ${destination} and d.user_id is not distinct from failed.user_id and d.id > failed.id
      and d.due_at <= ${dbNow}`)

/** The next events for a broker, none of a deleted team, oldest first, at most 100 and 1 MiB, but one at least. */
export const nextEvents = (db: Db, { team_id, destination }: ClaimedBroker): Promise<QueuedEvent[]> =>
  db.queries.many(
    Waiting,
    sql`
    select id, event_id, user_id, attempts, type, created_at, body from (
      select d.id, d.event_id, d.user_id, d.attempts, e.type, e.created_at, e.body,
             row_number() over (order by d.id) as n, sum(octet_length(e.body)) over (order by d.id) as bytes
      from (
        select * from pipeline_delivery
        where team_id = ${team_id} and destination = ${destination} and due_at <= ${dbNow}
          and exists (select from team t where t.id = ${team_id} and t.deleted_at is null)
        order by id limit ${BATCH}) d
      join event e on e.team_id = d.team_id and e.id = d.event_id) found
    where n = 1 or bytes <= ${BATCH_BYTES} order by id`,
  )

/** Deletes events that the broker has acknowledged or that must not be sent any more. Writes pipeline_delivery. */
export async function deleteEvents(db: Queries, ids: number[]): Promise<void> {
  if (ids.length) await db.run(sql`delete from pipeline_delivery where id = any (${ids}::bigint[])`)
}

/** The cleanup of events that have waited for a broker for 30 days. */
export const pipelineCleanup = cleanup({ table: 'pipeline_delivery', column: 'created_at', retention_s: RETENTION_S })
