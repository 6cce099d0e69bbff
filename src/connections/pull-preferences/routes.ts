import type { Cells } from '../../platform/db/cells.ts'
import { CellParams, Nothing } from '../../tenancy/organizations/management-shapes.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { authorizedTeamsInRegion } from '../../tenancy/teams/team-access.ts'
import { listPulls, resetPulls, upsertPulls } from './pull-preferences.ts'
import { PullPage, PullQuery, RevertPullsQuery, UpsertPulls } from './schema.ts'

const inCell = {
  logsAccess: false,
  path: '/v1/org/{org_id}/team_data_pull_preferences/{env}/{region}',
  scope: 'cell',
  keyScope: 'bound',
  params: CellParams,
} as const
const A_TEAM = '01890000-0000-7000-8000-000000000001'

export const pullPreferencesRoutes = ({ cells }: { cells: Cells }): Operation[] => [
  managementOperation({
    ...inCell,
    id: 'get_team_data_pull_preferences',
    method: 'GET',
    summary: 'List data pull preferences',
    description: 'Shows all effective preferences, including defaults. `limit` counts teams.',
    query: PullQuery,
    reply: PullPage,
    run: (tx, { manager, params, query }) => listPulls(tx, manager, params, query),
  }),
  managementOperation({
    ...inCell,
    id: 'upsert_team_data_pull_preferences',
    idempotency: 'none',
    method: 'POST',
    summary: 'Set data pull preferences',
    description:
      'Replaces the preferences of these teams for these providers. A provider with a fixed number rejects another one.',
    body: UpsertPulls,
    reply: PullPage,
    example: {
      team_ids: [A_TEAM],
      providers: {
        oura: { default: { historical_days_to_pull: 60 }, resource_overrides: { sleep: { historical_days_to_pull: 90 } } },
      },
    },
    run: async (tx, { manager, params, body, recordAuditSubject }) => {
      await authorizedTeamsInRegion(cells.control.queries, manager, params.region, body.team_ids)
      return upsertPulls(tx, body, recordAuditSubject)
    },
  }),
  managementOperation({
    ...inCell,
    id: 'delete_team_data_pull_preferences',
    method: 'DELETE',
    summary: 'Reset data pull preferences',
    description: 'For these providers or all, and these teams or all accessible ones; `providers` or `team_ids` is required.',
    query: RevertPullsQuery,
    reply: Nothing,
    run: async (tx, { manager, query, recordAuditSubject }) => {
      await resetPulls(tx, manager, query, recordAuditSubject)
      return {}
    },
  }),
]
