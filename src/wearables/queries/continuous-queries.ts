// Continuous queries, as organizations manage them. Owns `continuous_query`. The query itself is never changed; query-tasks.ts and evaluate.ts run it.
// Source: management-auth.md 15.
import type { ConstraintErrors } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { analyzeQuery } from './interpret.ts'
import { mappersOf } from './result-observations.ts'
import { ACTIVE_QUERIES, startEvaluations } from './query-tasks.ts'
import type { Query } from './query-language.ts'
import { StoredQuery } from './stored-results.ts'
import type { ContinuousQuery, CreateQuery, UpdateQuery } from './schema.ts'

const PAGE = 100
const ACTIVE_MAX = 100

const slugConflict = () => conflict('The slug is already in use (archived queries count)')
export const constraints: ConstraintErrors = {
  continuous_query__slug: slugConflict,
  continuous_query__platform_slug: slugConflict,
}

const Row = T.Object({
  ...StoredQuery.properties,
  title: T.String(),
  team_id: Nullable(T.String()),
  minimum_gap_duration_second: Nullable(T.Integer()),
  result_table_schema: T.Record(T.String(), T.String()),
  resource_dependencies: T.Array(T.String()),
  created_at: T.String(),
})
type Row = Static<typeof Row>

const queryColumns = sql`
  id, status, slug, title, team_id, query, provider_priority_overrides, minimum_gap_duration_second, result_table_schema,
  resource_dependencies, data_events, fhir_observations, created_at`

const toWire = (row: Row): ContinuousQuery => {
  const { provider_priority_overrides, minimum_gap_duration_second, data_events, fhir_observations, created_at: _, ...rest } = row
  return {
    ...rest,
    query_config: { provider_priority_overrides },
    scheduling_preferences: { minimum_gap_duration_second },
    export_preferences: { data_events: { enabled: data_events }, fhir_observations },
    fhir_observation_mappers: fhir_observations ? mappersOf(rest.query) : [],
  } as ContinuousQuery
}

/** Queries that apply to the team: its own, and those of its organization in this cell. */
const ofTeam = (tx: Tx) => sql`org_id = ${tx.tenant.org} and (team_id = ${tx.team} or team_id is null)`

export type Kind = 'team' | 'platform'

/** Errors: 403 a query for the whole organization requires a key that is not bound to teams. */
function assertQueryAccess(manager: ManagementPrincipal, kind: Kind): void {
  if (kind === 'platform' && manager.teams) throw forbidden('Action forbidden')
}

/**
 * Returns the columns of a query's result and its dependencies; stores nothing.
 * Errors: 400 every reason why the query cannot be used; 403 a query for the whole organization with a key that is bound to teams.
 */
export function validateQuery(manager: ManagementPrincipal, kind: Kind, query: Query) {
  assertQueryAccess(manager, kind)
  const { result_table_schema, resource_dependencies, faults } = analyzeQuery(query)
  if (faults.length) throw badRequest(`The query is invalid: ${faults.join('; ')}`)
  return { result_table_schema, resource_dependencies }
}

/**
 * Creates a query for a team, or for its whole organization in this cell, and has it evaluated for the users of the team. Other teams of the
 * organization have it evaluated as their data changes. Writes continuous_query, job.
 * Errors: 400 the query cannot be used, or a hundred are active; 403 for the whole organization, with a key that is bound to teams; 409 the
 * slug is in use.
 */
export async function createQuery(tx: Tx, manager: ManagementPrincipal, kind: Kind, body: CreateQuery): Promise<ContinuousQuery> {
  const { result_table_schema, resource_dependencies } = validateQuery(manager, kind, body.query)
  const { org } = tx.tenant
  const team_id = kind === 'platform' ? null : tx.team
  await (kind === 'platform'
    ? tx.locking.run(
        sql`select pg_advisory_xact_lock(hashtextextended('queries ' || current_schema() || ' ' || ${org}::text, 0))`,
      )
    : tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`))
  const active = sql`
    select count(*) as n from continuous_query
    where org_id = ${org} and team_id is not distinct from ${team_id}::uuid and status = 'active'`
  await assertBelowLimit(tx, active, ACTIVE_MAX, 'A team', 'active queries')
  const { query_config, scheduling_preferences, export_preferences } = body
  const row = await tx.one(
    Row,
    sql`
    insert into continuous_query (id, org_id, team_id, slug, title, status, query, provider_priority_overrides,
      minimum_gap_duration_second, data_events, fhir_observations, result_table_schema, resource_dependencies, created_at, updated_at)
    values (${tx.uuid()}, ${org}, ${team_id}, ${body.slug}, ${body.title}, 'active', ${JSON.stringify(body.query)}::json,
      ${query_config?.provider_priority_overrides ?? null}::text[], ${scheduling_preferences?.minimum_gap_duration_second ?? null},
      ${export_preferences?.data_events?.enabled ?? true}, ${export_preferences?.fhir_observations ?? false},
      ${JSON.stringify(result_table_schema)}::json, ${resource_dependencies}::text[], ${tx.now}, ${tx.now})
    returning ${queryColumns}`,
  )
  startEvaluations(tx, row.id)
  tx.invalidate(tx.team, ACTIVE_QUERIES)
  return toWire(row)
}

/** Lists queries that apply to the team, archived ones too, newest first, 100 a page. Errors: 400 a cursor of another list. */
export async function listQueries(tx: Tx, query: { next_cursor?: string }) {
  const pages = new Pages(`continuous queries ${tx.team}`, query, byCreation(), { limit: PAGE })
  const rows = await tx.many(
    Row,
    sql`
    select ${queryColumns} from continuous_query where ${ofTeam(tx)} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { data: page.map(toWire), next_cursor }
}

/** Locks a query. Errors: 404 the team has no such query; 403 it belongs to the organization, and the key is bound to teams. */
async function lockQuery(tx: Tx, manager: ManagementPrincipal, id: string): Promise<Row> {
  const row = await tx.locking.maybe(
    Row,
    sql`select ${queryColumns} from continuous_query where id = ${id} and ${ofTeam(tx)} for no key update`,
  )
  if (!row) throw notFound('Continuous query not found')
  assertQueryAccess(manager, row.team_id === null ? 'platform' : 'team')
  return row
}

/**
 * Changes title or schedule: absent and null keep the value, but null clears the gap. Writes continuous_query.
 * Errors: 400 the query is archived; 403 it belongs to the organization, and the key is bound to teams; 404 unknown.
 */
export async function updateQuery(tx: Tx, manager: ManagementPrincipal, id: string, body: UpdateQuery): Promise<ContinuousQuery> {
  const before = await lockQuery(tx, manager, id)
  if (before.status === 'archived') throw badRequest('The query is archived')
  const gap = body.scheduling_preferences?.minimum_gap_duration_second
  const row = await tx.one(
    Row,
    sql`
    update continuous_query set title = ${body.title ?? before.title}, updated_at = ${tx.now},
      minimum_gap_duration_second = ${gap === undefined ? before.minimum_gap_duration_second : gap}
    where id = ${id} and ${ofTeam(tx)} returning ${queryColumns}`,
  )
  tx.invalidate(tx.team, ACTIVE_QUERIES)
  return toWire(row)
}

/**
 * Archives a query: it stays in the list and keeps its slug. An archived query does not change. The query of the organization that it took
 * the place of is evaluated for the users of the team. Writes continuous_query, job.
 * Errors: 403 it belongs to the organization, and the key is bound to teams; 404 unknown.
 */
export async function archiveQuery(tx: Tx, manager: ManagementPrincipal, id: string): Promise<void> {
  const { team_id, slug } = await lockQuery(tx, manager, id)
  const changed = await tx.run(sql`
    update continuous_query set status = 'archived', updated_at = ${tx.now}
    where id = ${id} and ${ofTeam(tx)} and status = 'active'`)
  if (team_id !== null && changed) await startQueryOfOrg(tx, slug)
  tx.invalidate(tx.team, ACTIVE_QUERIES)
}

const Id = T.Object({ id: T.String() })

async function startQueryOfOrg(tx: Tx, slug: string): Promise<void> {
  const query = await tx.maybe(
    Id,
    sql`
    select id from continuous_query
    where org_id = ${tx.tenant.org} and team_id is null and slug = ${slug} and status = 'active'`,
  )
  if (query) startEvaluations(tx, query.id)
}
