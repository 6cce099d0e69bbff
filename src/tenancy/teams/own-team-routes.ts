import { operation, type Operation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import { getOwnTeam, getPriorities, replacePriorities, type OwnTeamDependencies } from './own-team.ts'
import { OwnTeam, Priorities, PriorityQuery } from './schema.ts'

/** Operations on a team for the team's own keys. */
export const ownTeamRoutes = (dependencies: OwnTeamDependencies): Operation[] => [
  operation({
    id: 'get_team',
    logsAccess: false,
    method: 'GET',
    path: '/v2/team/{team_id}',
    summary: 'Get the team of the API key',
    description: 'Fields of secrets are always null.',
    deprecated: true,
    params: Fields({ team_id: Uuid }),
    reply: OwnTeam,
    run: (tx, { params }) => getOwnTeam(tx, dependencies, params.team_id),
  }),
  operation({
    id: 'get_source_priorities',
    logsAccess: false,
    method: 'GET',
    path: '/v2/team/source/priorities',
    summary: 'Get source priorities',
    query: PriorityQuery,
    reply: Priorities,
    run: (tx, { query }) => getPriorities(tx, query.data_type),
  }),
  operation({
    id: 'update_source_priorities',
    logsAccess: false,
    method: 'PATCH',
    path: '/v2/team/source/priorities',
    summary: 'Replace source priorities',
    description:
      'An item names a provider (`source_slug`), a kind of data (`data_type`) and a `priority`; a larger number comes first. Priorities decide which source a grouped query of that kind of data uses; lists and events are not affected. Without a body nothing changes, and the present list is answered.',
    body: Priorities,
    body_optional: true,
    reply: Priorities,
    example: [
      { source_slug: 'oura', data_type: 'sleep', priority: 2 },
      { source_slug: 'fitbit', data_type: 'sleep', priority: 1 },
    ],
    run: (tx, { body }) => replacePriorities(tx, body),
  }),
]
