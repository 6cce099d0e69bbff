// Dispatch batches: deliveries that a process sends before any of them has a row. One row represents the batch. A delivery that
// arrives is inserted with its attempt; one that fails or takes long is inserted as pending. Owns `dispatch_batch`, the table of
// batches. Never uses the network.
//
// The process that has a batch inserts its deliveries within a second. When the lease of a batch has ended, another process
// inserts its deliveries as due ones; deliveries that have a row by then stay as they are.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { dbNow, dbNowPlus, isUnleased } from '../../platform/db/leases.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql, type Sql, arrayLiteral, textArrayLiteral } from '../../platform/db/sql.ts'
import type { Delivery, DispatchBatch, AttemptOutcome } from './delivery.ts'
import type { SendableEndpoint } from './sendable-endpoint.ts'

/** Much longer than a second: a process that was not killed has inserted all deliveries long before. */
const LEASE_S = 10
const RECOVERED_MAX = 10

/** Inserts the row of a dispatch batch. Writes dispatch_batch. */
export async function createDispatchBatch(tx: PlainTx, batch: DispatchBatch): Promise<void> {
  const hooks = [...new Set(batch.items.map((item) => item.webhook_id))]
  const nth = new Map(hooks.map((id, i) => [id, i + 1]))
  await tx.run(sql`
    insert into dispatch_batch (id, leased_until, webhook_ids, event_ids, webhook_indexes)
    values (${batch.id}, ${dbNowPlus(LEASE_S)}, ${hooks}::text[], ${arrayLiteral(batch.items.map((item) => item.message_id))}::uuid[],
            ${arrayLiteral(batch.items.map((item) => nth.get(item.webhook_id)!))}::int[])`)
}

/** Inserts the deliveries of dispatch batches whose lease has ended. Writes dispatch_batch, delivery. @returns how many are due */
export const recoverExpiredBatches = (db: Queries): Promise<number> =>
  db.run(sql`
    with gone as (
      delete from dispatch_batch where id in (
        select id from dispatch_batch where ${isUnleased} order by id limit ${RECOVERED_MAX} for update skip locked)
      returning *
    )
    insert into delivery (team_id, webhook_id, message_id, queue_position, state, due_at, trigger, created_at)
    select w.team_id, w.id, e.id, nextval('delivery_queue_position'), case when w.disabled then 'stopped' else 'pending' end, case when not w.disabled then ${dbNow} end,
           'scheduled', ${dbNow}
    from gone
    cross join lateral unnest(gone.event_ids, gone.webhook_indexes) with ordinality as given (event_id, nth, n)
    join (select id, team_id, disabled from webhook where id in (select unnest(webhook_ids) from gone) for share) w
      on w.id = gone.webhook_ids[given.nth]
    join event e on e.team_id = w.team_id and e.id = given.event_id
    order by gone.id, given.n
    on conflict (webhook_id, message_id) do nothing`)

const Row = T.Object({ webhook_id: T.String(), message_id: T.String() })
const Written = T.Object({ ...Row.properties, lease: Nullable(T.String()) })

/**
 * Inserts rows for deliveries of dispatch batches, in this order. A delivery that has a row already, because a user has resent
 * the message, keeps it. A delivery of a disabled endpoint is stopped. A delivery whose event or endpoint was deleted gets no
 * row. Writes delivery.
 * @param lease_s how long this process continues to send them; undefined: it does not
 * @param now_ms by the monotonic clock of the process
 */
export async function persistDeliveries(
  db: Queries,
  items: Delivery[],
  lease_s: number | undefined,
  now_ms: number,
): Promise<void> {
  const pairs = [
    arrayLiteral(items.map((item) => item.message_id)),
    textArrayLiteral(items.map((item) => item.webhook_id)),
  ] as const
  const hooks = [...new Set(items.map((item) => item.webhook_id))]
  const written = await db.many(
    Written,
    sql`
    insert into delivery (team_id, webhook_id, message_id, queue_position, state, due_at, leased_until, trigger, created_at)
    select w.team_id, w.id, e.id, nextval('delivery_queue_position'), case when w.disabled then 'stopped' else 'pending' end,
           case when not w.disabled then ${dbNow} - make_interval(secs => given.age_s) end,
           case when not w.disabled then ${dbNow} + make_interval(secs => ${lease_s ?? null}) end, 'scheduled', ${dbNow}
    from unnest(${pairs[0]}::uuid[], ${pairs[1]}::text[], ${arrayLiteral(items.map((item) => (now_ms - item.taken_ms) / 1000))}::float8[])
         with ordinality as given (message_id, webhook_id, age_s, n)
    join (select id, team_id, disabled from webhook where id = any (${hooks}::text[]) for share) w on w.id = given.webhook_id
    join event e on e.team_id = w.team_id and e.id = given.message_id
    order by given.n
    on conflict (webhook_id, message_id) do nothing
    returning webhook_id, message_id, leased_until::text as lease`,
  )
  const leases = new Map(written.map(({ webhook_id, message_id, lease }) => [`${webhook_id} ${message_id}`, lease]))
  // Another process may change the row of a delivery that had one before.
  if (written.length < items.length) {
    const rows = await db.many(
      Row,
      sql`
        select d.webhook_id, d.message_id from unnest(${pairs[0]}::uuid[], ${pairs[1]}::text[]) as given (message_id, webhook_id)
        join delivery d on d.webhook_id = given.webhook_id and d.message_id = given.message_id`,
    )
    for (const { webhook_id, message_id } of rows) {
      const key = `${webhook_id} ${message_id}`
      if (!leases.has(key)) leases.set(key, null)
    }
  }
  for (const item of items) {
    const lease = leases.get(`${item.webhook_id} ${item.message_id}`)
    item.has_row = lease !== undefined
    item.lease = lease ?? null
  }
}

/**
 * Inserts delivered deliveries with their attempts, and deletes dispatch batches that are empty then.
 * Writes delivery, delivery_attempt_count, dispatch_batch.
 * @returns the deliveries that have another row already
 */
export async function recordDelivered(db: Queries, outcomes: AttemptOutcome[], finished: string[]): Promise<AttemptOutcome[]> {
  try {
    // Other rows of these deliveries are very rare, and looking for each beforehand costs a third of the statement.
    await db.run(delivered(outcomes, finished))
    return []
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== 'delivery__once') throw error
  }
  const written = await db.run(sql`${delivered(outcomes, finished)} on conflict (webhook_id, message_id) do nothing`)
  if (written === outcomes.length) return []
  const known = await db.many(
    T.Object({ attempt_id: T.String() }),
    sql`
    select d.attempt_id from unnest(${arrayLiteral(outcomes.map((o) => o.item.message_id))}::uuid[], ${textArrayLiteral(outcomes.map((o) => o.endpoint.id))}::text[])
         as given (message_id, webhook_id)
    join delivery d on d.webhook_id = given.webhook_id and d.message_id = given.message_id where d.attempt_id is not null`,
  )
  const ids = new Set(known.map((row) => row.attempt_id))
  return outcomes.filter((outcome) => !ids.has(outcome.attempt_id))
}

/**
 * Does not read the events: an event that was just sent is erased seven days after its user at the earliest. Writes nothing for
 * a deleted endpoint.
 */
function delivered(outcomes: AttemptOutcome[], finished: string[]): Sql {
  const hooks = [...new Set(outcomes.map((outcome) => outcome.endpoint))]
  const nth = new Map<SendableEndpoint, number>(hooks.map((hook, i) => [hook, i + 1]))
  const queuePositions = (of: (outcome: AttemptOutcome) => number) => arrayLiteral(outcomes.map(of))
  return sql`
    with hook as (
      select given.nth, given.names, w.id, w.team_id
      from unnest(${hooks.map((hook) => hook.id)}::text[], ${hooks.map((hook) => hook.customNames.join(' '))}::text[]) with ordinality as given (id, names, nth)
      join (select id, team_id from webhook where id = any (${[...new Set(hooks.map((hook) => hook.id))]}::text[]) for key share) w on w.id = given.id
    ), gone as (
      delete from dispatch_batch where id = any (${finished}::uuid[])
    ), counted as (
      ${countAttempts(outcomes)}
    )
    insert into delivery (team_id, webhook_id, message_id, state, attempts, trigger, created_at,
                          attempt_id, attempted_at, duration_ms, response_status, response_body, signature, custom_headers)
    select hook.team_id, hook.id, given.message_id, 'delivered', 1, 'scheduled', to_timestamp(given.at_s),
           given.attempt_id, to_timestamp(given.at_s), given.duration_ms, given.status, given.body, given.signature,
           string_to_array(nullif(hook.names, ''), ' ')
    from unnest(
      ${arrayLiteral(outcomes.map((o) => o.item.message_id))}::uuid[], ${queuePositions((o) => nth.get(o.endpoint)!)}::int[], ${arrayLiteral(outcomes.map((o) => o.attempt_id))}::uuid[],
      ${queuePositions((o) => o.at.getTime() / 1000)}::float8[], ${queuePositions((o) => o.duration_ms)}::int[], ${queuePositions((o) => o.response_status!)}::int[],
      ${textArrayLiteral(outcomes.map((o) => o.response_body))}::text[], ${textArrayLiteral(outcomes.map((o) => o.signature))}::text[])
      as given (message_id, nth, attempt_id, at_s, duration_ms, status, body, signature)
    join hook on hook.nth = given.nth`
}

/** Deletes dispatch batches. Writes dispatch_batch. */
export async function deleteDispatchBatches(db: Queries, ids: string[]): Promise<void> {
  if (ids.length) await db.run(sql`delete from dispatch_batch where id = any (${ids}::uuid[])`)
}

/** Every interval of the metric is a multiple. */
const STEP_S = 300

/**
 * A statement that counts attempts per five minutes, for the metric: an index of all attempts would cost more than writing them. In the
 * order of the key, so that two statements do not deadlock. Writes delivery_attempt_count.
 */
export function countAttempts(attempts: { item: { team_id: string }; at: Date; succeeded: boolean }[]): Sql {
  const counts = new Map<string, number>()
  for (const { item, at, succeeded } of attempts) {
    const key = `${item.team_id} ${Math.floor(at.getTime() / 1000 / STEP_S) * STEP_S} ${succeeded}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const keys = [...counts.keys()].sort()
  const columnOf = (i: number) => arrayLiteral(keys.map((key) => key.split(' ')[i]!))
  return sql`
    insert into delivery_attempt_count (team_id, bucket_start, succeeded, attempts)
    select given.team_id, to_timestamp(given.at_s), given.succeeded, given.n
    from unnest(${columnOf(0)}::uuid[], ${columnOf(1)}::bigint[], ${columnOf(2)}::bool[], ${arrayLiteral(keys.map((key) => counts.get(key)!))}::bigint[])
         with ordinality as given (team_id, at_s, succeeded, n, nth)
    join team t on t.id = given.team_id order by given.nth
    on conflict (team_id, bucket_start, succeeded) do update set attempts = delivery_attempt_count.attempts + excluded.attempts`
}
