import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { Fields } from '../../platform/schema/schema.ts'
import { archiveQuery, createQuery, listQueries, updateQuery, validateQuery } from './continuous-queries.ts'
import { observationPreviews } from './result-observations.ts'
import * as shapes from './schema.ts'

const TEAM = '/v1/org/{org_id}/team/{team_id}/{environment}' as const
const ofTeam = { logsAccess: false, scope: 'team', keyScope: 'bound', params: shapes.TeamScopeParams } as const
const ofQuery = { scope: 'team', keyScope: 'bound', params: shapes.QueryScopeParams } as const

const example = {
  slug: 'weekly-sleep',
  title: 'Sleep week by week',
  query: {
    select: [{ group_key: '*' }, { func: 'mean', arg: { sleep: 'duration_second' } }],
    group_by: [{ date_trunc: { value: 1, unit: 'week' }, arg: { index: 'sleep' } }],
  },
  scheduling_preferences: { minimum_gap_duration_second: 3600 },
}

export const queriesRoutes: Operation[] = [
  managementOperation({
    ...ofTeam,
    id: 'get_continuous_queries',
    method: 'GET',
    path: `${TEAM}/continuous_query`,
    summary: "List a team's continuous queries, newest first",
    description: 'Includes archived queries, and those of the whole organization, whose `team_id` is null. A hundred a page.',
    query: shapes.ListQuery,
    reply: shapes.QueryList,
    run: (tx, { query }) => listQueries(tx, query),
  }),
  managementOperation({
    ...ofTeam,
    id: 'create_continuous_query',
    method: 'POST',
    path: `${TEAM}/continuous_query`,
    summary: 'Create a continuous query',
    description:
      'It is evaluated for every user whose data it reads, and again as their data changes, at most every 30 minutes or `minimum_gap_duration_second`. A query for the whole organization (`query_type=platform`) takes an organization key. At most a hundred are active.',
    query: shapes.QueryType,
    body: shapes.CreateQuery,
    reply: shapes.ContinuousQuery,
    idempotency: { scope: 'create_continuous_query', retention_s: 86_400 },
    example,
    run: (tx, { manager, query, body }) => createQuery(tx, manager, query.query_type ?? 'team', body),
  }),
  managementOperation({
    ...ofTeam,
    id: 'validate_continuous_query',
    method: 'POST',
    path: `${TEAM}/validate_continuous_query`,
    reads: true,
    summary: 'Validate a continuous query',
    description:
      'Returns the columns with their types, and the resources the query depends on. Nothing is stored, and the slug may be in use.',
    query: shapes.QueryType,
    body: shapes.CreateQuery,
    reply: shapes.Validated,
    example,
    run: async (_tx, { manager, query, body }) => ({
      ...validateQuery(manager, query.query_type ?? 'team', body.query),
      fhir_observation_previews: body.export_preferences?.fhir_observations ? observationPreviews(body.query) : null,
    }),
  }),
  managementOperation({
    ...ofQuery,
    id: 'update_continuous_query',
    logsAccess: false,
    method: 'PATCH',
    path: `${TEAM}/continuous_query/{query_id}`,
    summary: 'Change title or schedule of a continuous query',
    body: shapes.UpdateQuery,
    reply: shapes.ContinuousQuery,
    example: { title: 'Sleep by the week' },
    run: (tx, { manager, params, body }) => updateQuery(tx, manager, params.query_id, body),
  }),
  managementOperation({
    ...ofQuery,
    id: 'archive_continuous_query',
    logsAccess: false,
    method: 'DELETE',
    path: `${TEAM}/continuous_query/{query_id}`,
    summary: 'Archive a continuous query; it is still listed and keeps its slug',
    reply: Fields({}),
    run: async (tx, { manager, params }) => {
      await archiveQuery(tx, manager, params.query_id)
      return {}
    },
  }),
]
