// The jobs of one team, as its people see them: what becomes due until an instant of its clock, and what has failed. Names and counts, no
// payloads.
import { dbNow, endLease, isUnleased } from '../db/leases.ts'
import type { Tx } from '../db/transaction.ts'
import { Fields, Nullable, T, Timestamp, Uuid, type Static } from '../schema/schema.ts'
import { sql, type Sql } from '../db/sql.ts'

/** The most jobs that are counted. */
export const COUNTED_JOBS_MAX = 100_000

const DueJobs = T.Object({
  name: T.String(),
  is_retry: T.Boolean(),
  n: T.Integer(),
  first_at: T.String(),
  last_at: T.String(),
})
export type DueJobs = Static<typeof DueJobs>

/** The jobs of the team that become due until an instant of its clock, by name, earliest first. Counts the first 100,000. */
export const countDueJobs = (tx: Tx, end: Date): Promise<DueJobs[]> =>
  tx.many(
    DueJobs,
    sql`
    select name, attempts > 0 as is_retry, count(*) as n, date_trunc('second', min(run_at)) as first_at,
           date_trunc('second', max(run_at)) as last_at
    from (
      select name, attempts, run_at from job
      where team_id = ${tx.team} and run_at <= ${end} and failed_at is null order by run_at, id limit ${COUNTED_JOBS_MAX}) due
    group by 1, 2 order by first_at, name, is_retry`,
  )

const Next = T.Object({ run_at: Nullable(T.String()) })

/** When the next job of the team becomes due after now, by its clock; null if none is queued. */
export async function nextJobAt(tx: Tx): Promise<string | null> {
  const { run_at } = await tx.one(
    Next,
    sql`
    select (select date_trunc('second', run_at + interval '999 milliseconds') from job
            where team_id = ${tx.team} and run_at > ${tx.now} and failed_at is null order by run_at, id limit 1) as run_at`,
  )
  return run_at
}

export const FailedJob = Fields(
  {
    id: Uuid,
    name: T.String(),
    run_at: Timestamp,
    attempts: T.Integer(),
    failed_at: Nullable(Timestamp),
    next_at: Nullable(Timestamp),
    error: Nullable(T.String({ description: 'The class and the code of the last error.' })),
  },
  { title: 'FailedJob' },
)

/**
 * The jobs of the team that failed: those that are tried no more, or those that are tried again.
 * @param name of the jobs; undefined: of all kinds
 * @param page the end of the statement: a condition on the position in the list, the order by id and the limit
 */
export const listFailedJobs = (
  tx: Tx,
  { state, name }: { state: 'dead' | 'retrying'; name: string | undefined },
  page: Sql,
): Promise<Static<typeof FailedJob>[]> =>
  tx.many(
    FailedJob,
    sql`
    select id, name, date_trunc('second', run_at) as run_at, attempts, date_trunc('second', failed_at) as failed_at,
           case when failed_at is null then date_trunc('second', due_at) end as next_at, last_error as error
    from job
    where team_id = ${tx.team} and ${state === 'dead' ? sql`failed_at is not null` : sql`failed_at is null and last_error is not null`}
      and ${isNamed(name)} and ${page}`,
  )

const isNamed = (name: string | undefined): Sql => (name === undefined ? sql`true` : sql`name = ${name}`)

const Id = T.Object({ id: T.String() })

/** Which jobs are retried: without ids the oldest, without a name those of all kinds. */
export interface JobSelection {
  /** At most as many as the caller allows. */
  ids?: readonly string[] | undefined
  name?: string | undefined
}

/**
 * Makes jobs of the team that are tried no more due now, with all their attempts. Writes job.
 * @returns the ids of the jobs
 */
export async function retryFailedJobs(tx: Tx, { ids, name }: JobSelection, max: number): Promise<string[]> {
  const rows = await tx.many(
    Id,
    sql`
    update job set ${endLease}, failed_at = null, attempts = 0, last_error = null, due_at = ${dbNow}
    where team_id = ${tx.team} and failed_at is not null and ${isUnleased} and id = any (array(
      select id from job
      where team_id = ${tx.team} and failed_at is not null and ${ids === undefined ? sql`true` : sql`id = any (${[...ids]}::uuid[])`}
        and ${isNamed(name)}
      order by failed_at, id limit ${max}))
    returning id`,
  )
  if (rows.length) tx.notifyWorker()
  return rows.map(({ id }) => id)
}
