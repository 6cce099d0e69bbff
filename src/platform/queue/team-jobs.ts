// The jobs of one team, as its people see them: what becomes due until an instant of its clock, and what has failed. Names and counts, no
// payloads.
import type { Tx } from '../db/transaction.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'

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
