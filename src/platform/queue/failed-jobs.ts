// Jobs as the operator sees them: those that failed, by list and by number, and trying them again.
import type { Db } from '../db/database.ts'
import { dbNow, dbNowPlus, endLease, isUnleased } from '../db/leases.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'

const Id = T.Object({ id: T.String() })

const LISTED_MAX = 1000

const JobLine = T.Object({
  id: T.String(),
  team_id: T.String(),
  name: T.String(),
  attempts: T.Integer(),
  run_at: T.String(),
  failed_at: Nullable(T.String()),
  next_at: Nullable(T.String()),
  error: Nullable(T.String()),
})
export type JobLine = Static<typeof JobLine>

/**
 * Jobs of a cell that failed: those that are tried no more, or those that are tried again, oldest first, at most 1,000. Without their
 * payloads: these may name what is about patients.
 */
export const listFailedJobs = (db: Db, which: 'dead' | 'retrying'): Promise<JobLine[]> =>
  db.queries.many(
    JobLine,
    sql`
    select id, team_id, name, attempts, run_at, date_trunc('second', failed_at) as failed_at,
      case when failed_at is null then date_trunc('second', due_at) end as next_at, last_error as error
    from job where ${which === 'dead' ? sql`failed_at is not null` : sql`failed_at is null and last_error is not null`}
    order by failed_at, due_at, id limit ${LISTED_MAX}`,
  )

/**
 * Jobs that failed are due now and have all their attempts again; jobs that nobody has in hand alone. Writes job.
 * @param ids or every one that is tried no more, of a name where one is given
 * @returns the ids of those that there were
 */
export const retryJobs = async (db: Db, which: { ids: readonly string[] } | { name: string | undefined }): Promise<string[]> => {
  const chosen =
    'ids' in which
      ? sql`id = any (${which.ids}::uuid[]) and (failed_at is not null or last_error is not null)`
      : sql`failed_at is not null and ${which.name === undefined ? sql`true` : sql`name = ${which.name}`}`
  const rows = await db.queries.many(
    Id,
    sql`
    update job set ${endLease}, attempts = 0, failed_at = null, last_error = null, due_at = ${dbNow}
    where ${chosen} and ${isUnleased} returning id`,
  )
  return rows.map(({ id }) => id)
}

/** Counting stops here. */
export const JOBS_COUNTED_MAX = 10_000
const OVERDUE_S = 60
const FAILING_ATTEMPTS = 8

const JobCounts = T.Object({
  failed: T.Integer(),
  retrying: T.Integer(),
  overdue: T.Integer(),
  overdue_s: T.Number(),
  unlimited_failing: T.Integer(),
})
export type JobCounts = Static<typeof JobCounts>

/**
 * How the jobs of a cell stand. Reads indexes as far as 10,000 rows. Of jobs that are tried until they are done those are counted that are
 * among the 10,000 that are tried again next: each is, at the latest when it is due, which is within the hour.
 * @param unlimited names of jobs that are tried until they are done
 */
export const countJobs = (db: Db, unlimited: readonly string[]): Promise<JobCounts> => {
  const overdue = sql`
    from job where due_at <= ${dbNowPlus(-OVERDUE_S)} and failed_at is null and ${isUnleased} order by due_at`
  return db.queries.one(
    JobCounts,
    sql`
    select
      (select count(*) from (select from job where failed_at is not null limit ${JOBS_COUNTED_MAX}) failed) as failed,
      (select count(*) from (
        select from job where failed_at is null and last_error is not null limit ${JOBS_COUNTED_MAX}) retrying) as retrying,
      (select count(*) from (select ${overdue} limit ${JOBS_COUNTED_MAX}) overdue) as overdue,
      coalesce((select extract(epoch from ${dbNow} - due_at)::float8 ${overdue} limit 1), 0) as overdue_s,
      (select count(*) from (
        select name, attempts from job where failed_at is null and last_error is not null order by due_at limit ${JOBS_COUNTED_MAX}) retrying
        where attempts >= ${FAILING_ATTEMPTS} and name = any (${[...unlimited]})) as unlimited_failing`,
  )
}
