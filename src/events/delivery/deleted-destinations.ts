// The end of the delivery log of a deleted destination: it is erased a batch at a time. Owns `deleted_destination`.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { ageInSeconds, type Cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { raw, sql, type Sql } from '../../platform/db/sql.ts'

/** Rows that one transaction deletes. */
const ROWS_MAX = 1000
const FIRST = '00000000-0000-0000-0000-000000000000'

/** More than the processes that erase at once. */
const LOOKED_AT_MAX = 20

const Oldest = T.Object({ age_s: Nullable(T.Number()) })
const Place = T.Object({ team_id: T.String(), destination_id: T.String() })
const Deleted = T.Object({
  ...Place.properties,
  attempts_to: Nullable(T.String()),
  deliveries_to: Nullable(T.String()),
})
type Deleted = Static<typeof Deleted>
const Erased = T.Object({ n: T.Integer() })

/** The log of deleted destinations, for the cleanup. Deletes from delivery_attempt, delivery and deleted_destination. */
export const deletedDestinationsCleanup: Cleanup = {
  kind: 'deleted_destination',
  control: false,
  async overdueFor(db) {
    const { age_s } = await db.queries.one(
      Oldest,
      sql`select ${ageInSeconds(sql`min(deleted_at)`)} as age_s from deleted_destination`,
    )
    return age_s ?? undefined
  },
  remove: (db) => db.plainTx(eraseBatch),
}

/**
 * Erases some of the log of the destination that was deleted first and that no other process is erasing: attempts first, since a
 * delivery may have many, then deliveries. Each batch continues behind the previous one, so that rows which that left for
 * vacuum are not read again. @returns the number of erased rows
 */
async function eraseBatch(tx: PlainTx): Promise<number> {
  const deleted = await lockOldest(tx)
  if (!deleted) return 0
  // The log of a destination can be larger than the planner expects: without this it may sort all of it for each batch.
  await tx.run(sql`
    select set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`)
  const attempts = await erase(
    tx,
    deleted,
    'attempts',
    sql`
    select message_id, id from delivery_attempt
    where destination_id = ${deleted.destination_id} and team_id = ${deleted.team_id} and message_id >= ${deleted.attempts_to ?? FIRST}
    order by destination_id, message_id, id limit ${ROWS_MAX}`,
    sql`delete from delivery_attempt where team_id = ${deleted.team_id} and id = any (array(select id from batch))`,
  )
  if (attempts > 0) return attempts
  const deliveries = await erase(
    tx,
    deleted,
    'deliveries',
    sql`
    select message_id from delivery
    where destination_id = ${deleted.destination_id} and team_id = ${deleted.team_id} and message_id > ${deleted.deliveries_to ?? FIRST}
    order by destination_id, message_id limit ${ROWS_MAX}`,
    sql`
    delete from delivery where destination_id = ${deleted.destination_id} and team_id = ${deleted.team_id}
      and message_id = any (array(select message_id from batch))`,
  )
  if (deliveries > 0) return deliveries
  return tx.run(
    sql`delete from deleted_destination where destination_id = ${deleted.destination_id} and team_id = ${deleted.team_id}`,
  )
}

/** Locks the destination that was deleted first, of those that no other process has locked. */
async function lockOldest(tx: PlainTx): Promise<Deleted | undefined> {
  const oldest = await tx.many(
    Place,
    sql`select team_id, destination_id from deleted_destination order by deleted_at limit ${LOOKED_AT_MAX}`,
  )
  for (const { team_id, destination_id } of oldest) {
    const deleted = await tx.locking.maybe(
      Deleted,
      sql`
      select destination_id, team_id, attempts_to, deliveries_to from deleted_destination
      where team_id = ${team_id} and destination_id = ${destination_id} for update skip locked`,
    )
    if (deleted) return deleted
  }
  return undefined
}

/** Erases a batch of one kind and stores its position. @returns the number of erased rows */
async function erase(
  tx: PlainTx,
  { destination_id, team_id }: Deleted,
  kind: 'attempts' | 'deliveries',
  batch: Sql,
  deletion: Sql,
): Promise<number> {
  const { n } = await tx.one(
    Erased,
    sql`
    with batch as materialized (${batch}), gone as (${deletion}), reached as (
      update deleted_destination set ${raw(`${kind}_to`)} = (select message_id from batch order by message_id desc limit 1)
      where destination_id = ${destination_id} and team_id = ${team_id} and exists (select from batch)
    )
    select count(*) as n from batch`,
  )
  return n
}
