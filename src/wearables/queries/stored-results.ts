// Stored results of continuous queries, and what tells their rows apart. Owns query_result. Source: users-wearables.md 15.1.
import { getUser } from '../../people/users/users.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { Row } from './align.ts'
import { compileQuery, type CompiledQuery } from './compile.ts'
import { Query } from './query-language.ts'
import { findQuery, ActiveQuery, activeQueries, scheduleTasks, type Evaluation } from './query-tasks.ts'
import { columnwise, type Table } from './run-query.ts'
import { hasFeature } from '../../platform/http/feature-flags.ts'
import type { DeletedData } from '../resources/expiry.ts'
import { continuousQueries } from './features.ts'

/** Where the columns and group keys are in a row. */
export type Layout = Pick<CompiledQuery, 'columns' | 'keys'>

/** The layout of the rows of a query. */
export const layoutOf = (query: Query): Layout =>
  compileQuery(query, { team: '', user_id: '', span: { from_ms: 0, to_ms: 0 }, providers: [], rows_max: 0 })

/** A query as it is evaluated. */
export const StoredQuery = T.Object({
  id: T.String(),
  slug: T.String(),
  status: T.String(),
  query: Query,
  provider_priority_overrides: Nullable(T.Array(T.String())),
  data_events: T.Boolean(),
  fhir_observations: T.Boolean(),
})
export type StoredQuery = Static<typeof StoredQuery>

/** A query that applies to the team, or did. */
export const readQuery = (tx: Tx, id: string): Promise<StoredQuery | undefined> =>
  tx.maybe(
    StoredQuery,
    sql`
    select id, slug, status, query, provider_priority_overrides, data_events, fhir_observations from continuous_query
    where id = ${id} and org_id = ${tx.tenant.org} and (team_id = ${tx.team} or team_id is null)`,
  )

/** The rows that were computed, and what is shown of them: with gaps filled, if the query asks for it. */
const Stored = T.Object({ computed: T.String(), shown: T.String() })
const LockedResult = T.Object({ ...Stored.properties, evaluated_at: T.String() })

/** The stored result of a query for a user; empty if it was not evaluated yet. */
export async function readStored(tx: Tx, user_id: string, query_id: string): Promise<{ computed: Row[]; shown: Row[] }> {
  const row = await tx.maybe(
    Stored,
    sql`select computed, shown from query_result where team_id = ${tx.team} and user_id = ${user_id} and query_id = ${query_id}`,
  )
  return { computed: JSON.parse(row?.computed ?? '[]') as Row[], shown: JSON.parse(row?.shown ?? '[]') as Row[] }
}

/** Evaluations of a query for a user do not overlap: a later one would store a result without what an earlier one computed. */
export async function lockStored(tx: Tx, user_id: string, query_id: string, isCurrent: boolean) {
  const { computed, shown, evaluated_at } = await tx.locking.one(
    LockedResult,
    sql`
    insert into query_result as r (team_id, user_id, query_id, computed, shown, evaluated_at)
    values (${tx.team}, ${user_id}, ${query_id}, '[]', '[]', ${tx.now})
    on conflict (team_id, user_id, query_id) do update
    set evaluated_at = case when ${isCurrent} then excluded.evaluated_at else r.evaluated_at end
    returning r.computed, r.shown, r.evaluated_at`,
  )
  return {
    computed: JSON.parse(computed) as Row[],
    shown: JSON.parse(shown) as Row[],
    evaluated_ms: Date.parse(evaluated_at),
  }
}

/** The group keys of a row, which tell rows apart. */
export const rowKey = ({ keys }: Layout, row: Row): string => JSON.stringify(keys.map(({ position }) => row[position]))

/** The rows that are new or have another value. */
export function changedRows(layout: Layout, previousRows: readonly Row[], newRows: readonly Row[]): Row[] {
  const known = new Map(previousRows.map((row) => [rowKey(layout, row), JSON.stringify(row)]))
  return newRows.filter((row) => known.get(rowKey(layout, row)) !== JSON.stringify(row))
}

/** The result of a query for a user; without rows if it was not evaluated yet. Errors: 404 unknown user or query. */
export async function readResultTable(
  tx: Tx,
  user_id: string,
  id_or_slug: string,
): Promise<{ query: Query; slug: string; table: Table }> {
  await getUser(tx, user_id)
  const { id, slug, query } = (await readQuery(tx, await findQuery(tx, id_or_slug)))!
  const { columns } = layoutOf(query)
  return { query, slug, table: columnwise(columns, (await readStored(tx, user_id, id)).shown) }
}

const StoredResult = T.Object({ user_id: T.String(), ...ActiveQuery.properties })

/**
 * Schedules the evaluation of every query that reads deleted data of a user: of those that apply to the team, and of those that do not any
 * more but whose result is stored. Writes query_task, job.
 */
export async function scheduleAfterDeletion(tx: Tx, deletedData: readonly DeletedData[]): Promise<void> {
  const active = hasFeature(tx.tenant, continuousQueries) ? await activeQueries(tx)() : []
  const stored = await tx.many(
    StoredResult,
    sql`
    select r.user_id, q.id, q.resource_dependencies, q.minimum_gap_duration_second
    from query_result r join continuous_query q on q.id = r.query_id
    where r.team_id = ${tx.team} and r.user_id = any (${deletedData.map(({ user_id }) => user_id)}::uuid[])
      and q.org_id = ${tx.tenant.org} and (q.team_id = ${tx.team} or q.team_id is null)`,
  )
  const byUser = Map.groupBy(stored, ({ user_id }) => user_id)
  const evaluations = new Map<string, Evaluation & { days: { from_ms: number; to_ms: number } }>()
  for (const { user_id, resource, from_ms, to_ms } of deletedData)
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
