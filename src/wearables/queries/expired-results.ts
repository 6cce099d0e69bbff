// Results of continuous queries after data that they were computed of has been deleted because its retention ended.
import { hasFeature } from '../../platform/http/feature-flags.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import type { DeletedData } from '../resources/expiry.ts'
import { continuousQueries } from './features.ts'
import { ActiveQuery, activeQueries, scheduleTasks, type Evaluation } from './query-tasks.ts'

const StoredResult = T.Object({ user_id: T.String(), ...ActiveQuery.properties })

/**
 * Schedules the evaluation of every query that reads deleted data of a user: of those that apply to the team, and of those that do not any
 * more but whose result is stored. Writes query_task, job.
 */
export async function scheduleAfterDeletion(tx: Tx, deleted: readonly DeletedData[]): Promise<void> {
  const active = hasFeature(tx.tenant, continuousQueries) ? await activeQueries(tx)() : []
  const stored = await tx.many(
    StoredResult,
    sql`
    select r.user_id, q.id, q.resource_dependencies, q.minimum_gap_duration_second
    from query_result r join continuous_query q on q.id = r.query_id
    where r.team_id = ${tx.team} and r.user_id = any (${deleted.map(({ user_id }) => user_id)}::uuid[])
      and q.org_id = ${tx.tenant.org} and (q.team_id = ${tx.team} or q.team_id is null)`,
  )
  const byUser = Map.groupBy(stored, ({ user_id }) => user_id)
  const evaluations = new Map<string, Evaluation & { days: { from_ms: number; to_ms: number } }>()
  for (const { user_id, resource, from_ms, to_ms } of deleted)
    for (const query of [...active, ...(byUser.get(user_id) ?? [])]) {
      if (!query.resource_dependencies.includes(resource)) continue
      const key = `${user_id} ${query.id}`
      const days = evaluations.get(key)?.days ?? { from_ms, to_ms }
      evaluations.set(key, {
        user_id,
        query,
        days: { from_ms: Math.min(from_ms, days.from_ms), to_ms: Math.max(to_ms, days.to_ms) },
      })
    }
  await scheduleTasks(tx, [...evaluations.values()])
}

/** Whether a query is evaluated for the team: it is active, the team has no query of its own in its place, and the feature is on. */
export const isEvaluated = async (tx: Tx, query_id: string): Promise<boolean> =>
  hasFeature(tx.tenant, continuousQueries) && (await activeQueries(tx)()).some(({ id }) => id === query_id)
