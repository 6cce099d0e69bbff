import type { Administration } from '../../tenancy/access/access.ts'
import { reachedIn } from '../../tenancy/teams/reach.ts'
import { CellParams, Nothing, TeamParams } from '../../platform/http/management-shapes.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { deleteCredentials, listCredentials, redirectOverride, upsertCredential } from './credentials.ts'
import { stepsFor } from './preparation.ts'
import { listPulls, revertPulls, upsertPulls } from '../pull-preferences/pull-preferences.ts'
import { PullPage, PullQuery, RevertPullsQuery, UpsertPulls } from '../pull-preferences/schema.ts'
import * as shapes from './schema.ts'
import { listScopes, upsertScopes, UpsertScopes } from './scope-requirements.ts'

/** What these operations need of the process. */
export interface Means {
  vault: Vault
  administration: Administration
}

const CREDENTIALS = '/v1/org/{org_id}/team_custom_credentials/{env}/{region}' as const
const PULLS = '/v1/org/{org_id}/team_data_pull_preferences/{env}/{region}' as const
const SCOPES = '/v1/org/{org_id}/team/{team_id}/scope_requirements' as const

const inCell = { place: 'cell', reach: 'bound', params: CellParams } as const
const A_TEAM = '01890000-0000-7000-8000-000000000001'

const credentials = ({ vault, administration }: Means): Operation[] => [
  managementOperation({
    ...inCell,
    id: 'get_team_custom_credentials',
    patients: false,
    method: 'GET',
    path: CREDENTIALS,
    summary: "List teams' own credentials for providers, newest first",
    description: `Secrets are not shown: of the client secret there is a hash, and in \`details\` they are masked.`,
    query: shapes.CredentialQuery,
    reply: shapes.CredentialPage,
    run: (tx, { manager, params, query }) => listCredentials(tx, vault, manager, params, query),
  }),
  managementOperation({
    ...inCell,
    id: 'upsert_team_custom_credentials',
    idempotency: 'none',
    patients: false,
    method: 'POST',
    path: CREDENTIALS,
    summary: "Set a team's own credentials for a provider",
    description:
      'What is absent stays as it is; null clears it, but for the secret. The shape of `details` is that of the provider; a masked value that is sent back stays as it is stored.',
    body: shapes.UpsertCredential,
    reply: shapes.Credential,
    example: { team_id: A_TEAM, provider: 'oura', client_id: 'fictional-client', client_secret: 'fictional-secret' },
    run: async (tx, { manager, params, body, about }) => {
      await reachedIn(administration.cells.control.queries, manager, params.region, [body.team_id])
      return upsertCredential(tx, vault, body, about)
    },
  }),
  managementOperation({
    ...inCell,
    id: 'delete_team_custom_credentials',
    patients: false,
    method: 'DELETE',
    path: CREDENTIALS,
    summary: "Delete teams' own credentials",
    query: shapes.DeleteCredentialsQuery,
    reply: shapes.DeletedCredentials,
    run: (tx, { manager, query, about }) => deleteCredentials(tx, manager, query.credential_id, about),
  }),
  managementOperation({
    ...inCell,
    id: 'prepare_team_custom_credentials',
    patients: false,
    method: 'POST',
    path: '/v1/org/{org_id}/prepare_team_custom_credentials/{env}/{region}',
    reads: true,
    summary: 'Read what has to be done at a provider before credentials are set',
    body: shapes.PrepareCredential,
    reply: shapes.Preparation,
    example: { team_id: A_TEAM, provider: 'oura' },
    run: async (tx, { manager, params, body: { team_id, provider } }) => {
      await reachedIn(administration.cells.control.queries, manager, params.region, [team_id])
      const place = { env: params.env, region: params.region, team_id }
      const steps = stepsFor(administration.publicUrl(), place, provider, await redirectOverride(tx, team_id, provider))
      return { status: steps.length ? 'preparations_required' : 'no_action_needed', preparation_steps: steps } as const
    },
  }),
]

const pulls = ({ administration }: Means): Operation[] => [
  managementOperation({
    ...inCell,
    id: 'get_team_data_pull_preferences',
    patients: false,
    method: 'GET',
    path: PULLS,
    summary: 'Read how many days of history teams want from providers',
    description: 'Everything that holds is shown, also where a team has set nothing. `limit` counts teams.',
    query: PullQuery,
    reply: PullPage,
    run: (tx, { manager, params, query }) => listPulls(tx, manager, params, query),
  }),
  managementOperation({
    ...inCell,
    id: 'upsert_team_data_pull_preferences',
    idempotency: 'none',
    patients: false,
    method: 'POST',
    path: PULLS,
    summary: 'Set how many days of history teams want from providers',
    description: 'Replaces what these teams had set for these providers. Providers whose number is fixed refuse another.',
    body: UpsertPulls,
    reply: PullPage,
    example: {
      team_ids: [A_TEAM],
      providers: {
        oura: { default: { historical_days_to_pull: 60 }, resource_overrides: { sleep: { historical_days_to_pull: 90 } } },
      },
    },
    run: async (tx, { manager, params, body, about }) => {
      await reachedIn(administration.cells.control.queries, manager, params.region, body.team_ids)
      return upsertPulls(tx, body, about)
    },
  }),
  managementOperation({
    ...inCell,
    id: 'delete_team_data_pull_preferences',
    patients: false,
    method: 'DELETE',
    path: PULLS,
    summary: 'Go back to the usual days of history',
    description: 'Of these providers, or all, for these teams, or all that the key reaches; at least one has to be named.',
    query: RevertPullsQuery,
    reply: Nothing,
    run: async (tx, { manager, query, about }) => {
      await revertPulls(tx, manager, query, about)
      return {}
    },
  }),
]

const inControl = { place: 'control', reach: 'bound', params: TeamParams } as const

const scopeRequirements = [
  managementOperation({
    ...inControl,
    id: 'get_team_scope_requirements',
    patients: false,
    method: 'GET',
    path: SCOPES,
    summary: 'Read what users of a team are asked to consent to',
    description:
      'Everything that holds is shown, also where the team has set nothing. Providers without a list of scopes have no entry.',
    query: shapes.ScopeQuery,
    reply: shapes.ScopeRequirements,
    run: (tx, { params, query }) => listScopes(tx, params.team_id, query.provider),
  }),
  managementOperation({
    ...inControl,
    id: 'upsert_team_scope_requirements',
    idempotency: 'none',
    patients: false,
    method: 'POST',
    path: SCOPES,
    summary: 'Set what users of a team are asked to consent to',
    description: 'Holds for both environments. Providers that are absent stay as they are; null goes back to what is usual.',
    body: UpsertScopes,
    reply: Nothing,
    example: { oura: { user_must_grant: ['daily'], user_may_grant: ['workout'] } },
    run: async (tx, { params, body }) => {
      await upsertScopes(tx, params.team_id, body)
      return {}
    },
  }),
]

export const routes = (means: Means): Operation[] => [...credentials(means), ...pulls(means), ...scopeRequirements]
