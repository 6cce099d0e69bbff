// Jobs by name: how many wait and for how long, and how many failed.
import { dbNow } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { COUNTED_MAX, JobHealth } from './schema.ts'

/** Counts the first 10,000 jobs of each of the teams, by name. @param teams a statement that selects their ids */
export const countJobs = (tx: PlainTx, teams: Sql): Promise<JobHealth[]> =>
  countFirstJobs(tx, sql`select j.* from (${teams}) t cross join lateral (${firstJobs(sql`t.id`)}) j`)

/** Counts the jobs of the team of the transaction. */
export const countTeamJobs = async (tx: Tx) => ({ data: await countFirstJobs(tx, firstJobs(sql`${tx.team}`)) })

const firstJobs = (team_id: Sql): Sql =>
  sql`select name, due_at, leased_until, last_error, failed_at from job where team_id = ${team_id} order by run_at, id limit ${COUNTED_MAX}`

const countFirstJobs = (tx: PlainTx, jobs: Sql): Promise<JobHealth[]> =>
  tx.many(
    JobHealth,
    sql`
    select name,
      count(*) filter (where failed_at is null and due_at <= ${dbNow} and (leased_until is null or leased_until <= ${dbNow})) as waiting,
      coalesce(extract(epoch from ${dbNow} - min(due_at) filter (
        where failed_at is null and due_at <= ${dbNow} and (leased_until is null or leased_until <= ${dbNow}))), 0)::float8 as oldest_waiting_s,
      count(*) filter (where failed_at is null and due_at > ${dbNow} and last_error is null) as scheduled,
      count(*) filter (where failed_at is null and last_error is not null) as retrying,
      count(*) filter (where failed_at is not null) as failed
    from (${jobs}) j
    group by name order by name`,
  )
