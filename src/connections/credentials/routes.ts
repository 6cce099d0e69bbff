import type { ServiceAccount } from '../../settings/service-account.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { authorizedTeamsInRegion } from '../../tenancy/teams/team-access.ts'
import { CellParams, Nothing, TeamParams } from '../../tenancy/organizations/management-shapes.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { deleteCredentials, listCredentials, getRedirectOverride, upsertCredential } from './credentials.ts'
import { notificationToken, preparationSteps } from './preparation.ts'
import * as shapes from './schema.ts'
import { listScopes, upsertScopes, UpsertScopes } from './scope-requirements.ts'

/** Dependencies of these operations. */
export interface CredentialDependencies {
  vault: Vault
  cells: Cells
  /** Public address of this server, without a final slash. */
  publicUrl: () => string
  /** The operator's account at Google Cloud. */
  googleAccount: () => Pick<ServiceAccount, 'client_email'> | undefined
}

const CREDENTIALS = '/v1/org/{org_id}/team_custom_credentials/{env}/{region}' as const

const inCell = { logsAccess: false, scope: 'cell', keyScope: 'bound', params: CellParams } as const
const A_TEAM = '01890000-0000-7000-8000-000000000001'

const credentials = ({ vault, cells, publicUrl, googleAccount }: CredentialDependencies): Operation[] => [
  managementOperation({
    ...inCell,
    id: 'get_team_custom_credentials',
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
    method: 'POST',
    path: CREDENTIALS,
    summary: "Set a team's own credentials for a provider",
    description:
      'What is absent stays as it is; null clears it, but for the secret. The shape of `details` is that of the provider; a masked value that is sent back stays as it is stored.',
    body: shapes.UpsertCredential,
    reply: shapes.Credential,
    example: { team_id: A_TEAM, provider: 'oura', client_id: 'fictional-client', client_secret: 'fictional-secret' },
    run: async (tx, { manager, params, body, recordAuditSubject }) => {
      await authorizedTeamsInRegion(cells.control.queries, manager, params.region, [body.team_id])
      return upsertCredential(tx, vault, body, recordAuditSubject)
    },
  }),
  managementOperation({
    ...inCell,
    id: 'delete_team_custom_credentials',
    method: 'DELETE',
    path: CREDENTIALS,
    summary: "Delete teams' own credentials",
    query: shapes.DeleteCredentialsQuery,
    reply: shapes.DeletedCredentials,
    run: (tx, { manager, query, recordAuditSubject }) => deleteCredentials(tx, manager, query.credential_id, recordAuditSubject),
  }),
  managementOperation({
    ...inCell,
    id: 'prepare_team_custom_credentials',
    method: 'POST',
    path: '/v1/org/{org_id}/prepare_team_custom_credentials/{env}/{region}',
    reads: true,
    summary: 'Get the setup steps at a provider',
    body: shapes.PrepareCredential,
    reply: shapes.Preparation,
    example: { team_id: A_TEAM, provider: 'oura' },
    run: async (tx, { manager, params, body: { team_id, provider } }) => {
      await authorizedTeamsInRegion(cells.control.queries, manager, params.region, [team_id])
      const place = { env: params.env, region: params.region, team_id }
      const override = await getRedirectOverride(tx, team_id, provider)
      const token = notificationToken(vault, `${params.env}-${params.region}`, team_id, provider)
      const steps = preparationSteps(publicUrl(), place, provider, override, { token, principal: googleAccount()?.client_email })
      return { status: steps.length ? 'preparations_required' : 'no_action_needed', preparation_steps: steps } as const
    },
  }),
]

const inControlPlane = {
  logsAccess: false,
  path: '/v1/org/{org_id}/team/{team_id}/scope_requirements',
  scope: 'control',
  keyScope: 'bound',
  params: TeamParams,
} as const

const scopeRequirements = [
  managementOperation({
    ...inControlPlane,
    id: 'get_team_scope_requirements',
    method: 'GET',
    summary: 'List OAuth scope requirements',
    description:
      'Everything that holds is shown, also where the team has set nothing. Providers without a list of scopes have no entry.',
    query: shapes.ScopeQuery,
    reply: shapes.ScopeRequirements,
    run: (tx, { params, query }) => listScopes(tx, params.team_id, query.provider),
  }),
  managementOperation({
    ...inControlPlane,
    id: 'upsert_team_scope_requirements',
    idempotency: 'none',
    method: 'POST',
    summary: 'Set OAuth scope requirements',
    description: 'Applies to both environments. An absent provider does not change; null resets it to the default.',
    body: UpsertScopes,
    reply: Nothing,
    example: { oura: { user_must_grant: ['daily'], user_may_grant: ['workout'] } },
    run: async (tx, { params, body }) => {
      await upsertScopes(tx, params.team_id, body)
      return {}
    },
  }),
]

export const credentialsRoutes = (dependencies: CredentialDependencies): Operation[] => [
  ...credentials(dependencies),
  ...scopeRequirements,
]
