// Jobs by name: how many wait and for how long, and how many failed.
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { runByTeam } from '../../platform/queue/by-team.ts'
import { COUNTED_MAX, JobHealth } from './schema.ts'

/** Counts the first 10,000 jobs of each of the teams, by name. */
export async function countJobs(tx: PlainTx, team_ids: string[]): Promise<JobHealth[]> {
  const teams = team_ids.map((team_id) => ({ team_id }))
  const counts = await runByTeam(teams, (team_id) => countOneTeam(tx, team_id))
  const byName = [...Map.groupBy(counts, ({ name }) => name).values()]
  return byName.map((ofName) => ofName.reduce(add)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Counts the jobs of the team of the transaction. */
export const countTeamJobs = async (tx: Tx) => ({ data: await countOneTeam(tx, tx.team) })

const countOneTeam = (tx: PlainTx, team_id: string): Promise<JobHealth[]> =>
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
    from (
      select name, due_at, leased_until, last_error, failed_at from job where team_id = ${team_id}
      order by run_at, id limit ${COUNTED_MAX}) j
    group by name order by name`,
  )

const add = (a: JobHealth, b: JobHealth): JobHealth => ({
  name: a.name,
  waiting: a.waiting + b.waiting,
  oldest_waiting_s: Math.max(a.oldest_waiting_s, b.oldest_waiting_s),
  scheduled: a.scheduled + b.scheduled,
  retrying: a.retrying + b.retrying,
  failed: a.failed + b.failed,
})
