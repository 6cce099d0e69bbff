import { Environment, Nothing, OrgParams, TeamParams } from '../organizations/management-shapes.ts'
import { managementOperation, type Idempotency, type Operation } from '../../platform/http/operation.ts'
import { Fields, Maybe, T } from '../../platform/schema/schema.ts'
import { createTeam, deleteTeam, getTeam, listTeams, resolveTeam, updateTeam, type TeamDependencies } from './managed-teams.ts'
import * as shapes from './schema.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

const idempotent = (scope: string): Idempotency => ({ scope, retention_s: DAY_S })

const boundKey = { logsAccess: false, scope: 'control', keyScope: 'bound' } as const

export const teamsRoutes = (dependencies: TeamDependencies): Operation[] => [
  managementOperation({
    ...boundKey,
    id: 'list_teams_in_org',
    method: 'GET',
    path: '/v1/org/{org_id}/team',
    summary: 'List teams, newest first',
    description: '`search_query` is part of the name, or the whole id.',
    params: OrgParams,
    query: shapes.TeamListQuery,
    reply: shapes.TeamPage,
    run: (tx, { manager, query }) => listTeams(tx, manager, query),
  }),
  managementOperation({
    id: 'create_team_in_org',
    logsAccess: false,
    method: 'POST',
    path: '/v1/org/{org_id}/team',
    scope: 'control',
    keyScope: 'org',
    summary: 'Create a team',
    description:
      'The settings hold for both environments. The region cannot be changed. An id or a reference that is already in use gets 409 with the `team_id` of its team.',
    params: OrgParams,
    body: shapes.CreateTeam,
    reply: shapes.OrgTeam,
    idempotency: idempotent('create_team_in_org'),
    example: { name: 'North', region: 'us' },
    run: (tx, { manager, body }) => createTeam(tx, dependencies, manager, body),
  }),
  managementOperation({
    ...boundKey,
    id: 'get_team_in_org',
    method: 'GET',
    path: '/v1/org/{org_id}/team/{team_id}',
    summary: 'Read a team with its settings',
    params: TeamParams,
    query: Fields({ include_environment: Maybe(T.Array(Environment, { maxItems: 10 })) }),
    reply: shapes.OrgTeam,
    run: (tx, { manager, params, query }) => getTeam(tx, dependencies, manager, params.team_id, query.include_environment),
  }),
  managementOperation({
    ...boundKey,
    id: 'update_team_in_org',
    method: 'PATCH',
    path: '/v1/org/{org_id}/team/{team_id}',
    summary: 'Change a team; null clears a setting that may be empty',
    params: TeamParams,
    body: shapes.UpdateTeam,
    reply: shapes.OrgTeam,
    example: { name: 'North', sandbox: { partial_webhooks_enabled: true } },
    run: (tx, { manager, params, body }) => updateTeam(tx, dependencies, manager, params.team_id, body),
  }),
  managementOperation({
    id: 'delete_team_in_org',
    logsAccess: false,
    method: 'DELETE',
    path: '/v1/org/{org_id}/team/{team_id}',
    scope: 'control',
    keyScope: 'org',
    summary: 'Delete a team; its keys, tokens and deliveries stop at once',
    params: TeamParams,
    reply: Nothing,
    run: async (tx, { manager, params }) => {
      await deleteTeam(tx, dependencies, manager, params.team_id)
      return {}
    },
  }),
  managementOperation({
    ...boundKey,
    id: 'resolve_team',
    method: 'POST',
    path: '/v1/org/{org_id}/resolve_team',
    reads: true,
    summary: 'Resolve a team by reference',
    params: OrgParams,
    body: shapes.ResolveTeam,
    reply: shapes.OrgTeam,
    example: { integration_team_id: 'your-own-reference-1' },
    run: (tx, { manager, body }) => resolveTeam(tx, dependencies, manager, body.integration_team_id),
  }),
]
