// Failed rows of a queue, as the operator lists and retries them, and the counts of a queue. Without the data of the rows.
import type { Db } from '../db/database.ts'
import { dbNow, dbNowPlus, endLease, isUnleased } from '../db/leases.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { join, raw, sql, type Sql } from '../db/sql.ts'
import type { QueueDefinition } from './leased-queue.ts'

/** A queue whose rows have an id, an error, and dead letters. */
export type RetryableQueue = QueueDefinition & Required<Pick<QueueDefinition, 'error' | 'dead'>>

const LISTED_MAX = 1000

/** A dead letter that is still listed and counted. */
const isListed = ({ is, failed_at, listed_s }: RetryableQueue['dead']): Sql =>
  listed_s === undefined ? is : sql`${is} and ${raw(failed_at)} > ${dbNowPlus(-listed_s)}`

const FailedRow = T.Object({
  id: T.String(),
  attempts: T.Integer(),
  failed_at: Nullable(T.String()),
  next_at: Nullable(T.String()),
  error: Nullable(T.String()),
})
/** A failed row, with the further columns that its queue shows. */
export type FailedRow = Static<typeof FailedRow> & Record<string, string | number | null>

/** Failed rows of a queue: dead letters, or rows that are retried, oldest first, at most 1,000. */
export async function listFailed(
  db: Db,
  { name, isPending, error, dead }: RetryableQueue,
  state: 'dead' | 'retrying',
): Promise<FailedRow[]> {
  const failed_at = raw(dead.failed_at)
  const rows = await db.queries.many(
    T.Object({ ...dead.listedColumns, ...FailedRow.properties }),
    sql`
    select ${join(['id', ...Object.keys(dead.listedColumns)].map((column) => raw(column)))}, attempts,
      case when ${dead.is} then date_trunc('second', ${failed_at}) end as failed_at,
      case when not (${dead.is}) then date_trunc('second', due_at) end as next_at, ${raw(error)} as error
    from ${raw(name)} where ${state === 'dead' ? isListed(dead) : sql`${isPending} and ${raw(error)} is not null`}
    order by ${failed_at}, due_at, id limit ${LISTED_MAX}`,
  )
  return rows as FailedRow[]
}

const Id = T.Object({ id: T.String() })

/**
 * Makes failed rows due now with all their attempts, if no owner has claimed them and they are not too old. Writes the table of
 * the queue.
 * @param selection ids; or every dead letter, only those with `name` if it is given
 * @returns the ids of the rows found
 */
export async function retryFailed(
  db: Db,
  { name: table, isPending, isExpired, error, dead }: RetryableQueue,
  selection: { ids: readonly string[] } | { name: string | undefined },
): Promise<string[]> {
  const isFailed = sql`(${dead.is} or (${isPending} and ${raw(error)} is not null))`
  const isChosen =
    'ids' in selection
      ? sql`id = any (${selection.ids}::uuid[]) and ${isFailed}`
      : sql`${dead.is} and ${selection.name === undefined ? sql`true` : sql`name = ${selection.name}`}`
  const rows = await db.queries.many(
    Id,
    sql`
    update ${raw(table)} set ${endLease}, ${dead.unset}, attempts = 0, ${raw(error)} = null, due_at = ${dbNow}
    where ${isChosen} and ${isUnleased} ${isExpired ? sql`and not (${isExpired})` : sql``} returning id`,
  )
  return rows.map(({ id }) => id)
}

/** Counting stops here. */
export const COUNTED_MAX = 10_000
const OVERDUE_S = 60
const FAILING_ATTEMPTS = 8

const QueueCounts = T.Object({
  failed: T.Integer(),
  retrying: T.Integer(),
  waiting: T.Integer(),
  waiting_s: T.Number(),
  overdue: T.Integer(),
  overdue_s: T.Number(),
  unlimited_failing: T.Integer(),
})
export type QueueCounts = Static<typeof QueueCounts>

/**
 * The counts of a queue in a cell. Reads at most 10,000 rows of each index. Jobs that are retried until they complete are
 * counted among the 10,000 that are retried next: each is among them at the latest when it is due, which is within the hour.
 * @param unlimited names of jobs that are retried until they complete
 */
export const countQueue = (
  db: Pick<Db, 'queries'>,
  { name, isPending, error, dead }: RetryableQueue,
  unlimited: readonly string[] = [],
): Promise<QueueCounts> => {
  const table = raw(name)
  const dueFor = (s: number) =>
    sql`from ${table} where due_at <= ${dbNowPlus(-s)} and ${isPending} and ${isUnleased} order by due_at`
  const [due, overdue] = [dueFor(0), dueFor(OVERDUE_S)]
  const isRetrying = sql`${isPending} and ${raw(error)} is not null`
  const unlimitedFailing = sql`
    (select count(*) from (
      select name, attempts from ${table} where ${isRetrying} order by due_at limit ${COUNTED_MAX}) retrying
      where attempts >= ${FAILING_ATTEMPTS} and name = any (${[...unlimited]}))`
  return db.queries.one(
    QueueCounts,
    sql`
    select
      (select count(*) from (select 1 from ${table} where ${isListed(dead)} limit ${COUNTED_MAX}) failed) as failed,
      (select count(*) from (select 1 from ${table} where ${isRetrying} limit ${COUNTED_MAX}) retrying) as retrying,
      (select count(*) from (select 1 ${due} limit ${COUNTED_MAX}) waiting) as waiting,
      coalesce((select extract(epoch from ${dbNow} - due_at)::float8 ${due} limit 1), 0) as waiting_s,
      (select count(*) from (select 1 ${overdue} limit ${COUNTED_MAX}) overdue) as overdue,
      coalesce((select extract(epoch from ${dbNow} - due_at)::float8 ${overdue} limit 1), 0) as overdue_s,
      ${unlimited.length ? unlimitedFailing : sql`0`} as unlimited_failing`,
  )
}
