// Shapes of credentials, scopes and pull preferences of teams. Source: openapi-management.json; management-auth.md 5, 7, 13, 14.
import { isMask } from '../../platform/crypto/api-keys.ts'
import { browserAddress } from '../../platform/net/browser-address.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { NextCursor } from '../../tenancy/organizations/management-shapes.ts'
import {
  Clearable,
  Fields,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { labSlugs, OAuthProvider, providers } from '../../people/users/sources.ts'
import { Details, detailShapes } from './credential-details.ts'

export const TEAMS_MAX = 100
export const TeamIds = T.Array(Uuid, { maxItems: TEAMS_MAX })

const others = ['aftership', 'shippo', 'supera', 'twilio', 'telnyx', 'getlabs', 'phlebfinders'] as const
/** Every provider of credentials: device clouds, laboratories, carriers of mail and messages, mobile phlebotomy providers. */
export const CredentialProvider = OpenEnum([...new Set([...providers, ...labSlugs, ...others])], { title: 'CredentialProvider' })
export type CredentialProvider = Static<typeof CredentialProvider>

export const Credential = Fields(
  {
    id: Uuid,
    client_id: Nullable(T.String()),
    client_secret_hash: Nullable(T.String({ description: 'SHA-256 of the secret in hexadecimal digits.' })),
    source: CredentialProvider,
    team_id: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
    details: Nullable(Details),
    app_url: Nullable(T.String({ description: 'Always null.' })),
    redirect_url_override: Nullable(T.String()),
  },
  { title: 'ClientFacingTeamProviderCredentials' },
)
export type Credential = Static<typeof Credential>

export const CredentialPage = Fields(
  { credentials: T.Array(Credential), next_cursor: Nullable(T.String()) },
  { title: 'CustomCredentialsResponse' },
)

export const CredentialQuery = Fields({
  team_id: Maybe(TeamIds),
  provider: Maybe(CredentialProvider),
  next_cursor: NextCursor,
})
export type CredentialQuery = Static<typeof CredentialQuery>

const Redirect = Text({
  minLength: 1,
  maxLength: 2000,
  pattern: '^https?://[^\\s]+$',
  says: 'be an address that begins with http:// or https://',
  // As it is: providers compare it with what was registered, character by character.
  rule: (text) =>
    browserAddress(text) ? text : new RuleError('must be an address of a host, without a user name, password or backslash'),
})

export const UpsertCredential = Fields(
  {
    team_id: Uuid,
    provider: CredentialProvider,
    client_id: Clearable(Text({ minLength: 1, maxLength: 1000 })),
    client_secret: Maybe(
      Text({
        minLength: 1,
        maxLength: 4000,
        description: 'Absent or null: keeps the stored secret.',
        rule: (text) => (isMask(text) ? new RuleError('must be the secret itself, not its mask') : text),
      }),
    ),
    details: Clearable(Details),
    redirect_url_override: Clearable(Redirect),
  },
  {
    title: 'UpsertTeamCustomCredentialsBody',
    dependent: { field: 'details', dependsOn: 'provider', shapes: detailShapes },
  },
)
export type UpsertCredential = Static<typeof UpsertCredential>

export const DeleteCredentialsQuery = Fields({ credential_id: T.Array(Uuid, { minItems: 1, maxItems: TEAMS_MAX }) })

export const DeletedCredentials = Fields(
  { success: T.Array(Uuid), failure: T.Array(Uuid), not_found: T.Array(Uuid) },
  { title: 'DeleteTeamCustomCredentialsResponse' },
)

export const PrepareCredential = Fields(
  { team_id: Uuid, provider: OpenEnum([...new Set([...providers, ...labSlugs])]) },
  { title: 'PrepareTeamCustomCredentialsBody' },
)
export type PrepareCredential = Static<typeof PrepareCredential>

export const Step = Fields(
  {
    type: OpenEnum(['redirect_uri', 'webhook_uri', 'iam_principal']),
    key: Nullable(T.String()),
    value: T.String(),
    description: Nullable(T.String()),
  },
  { title: 'CustomCredentialPreparationStep' },
)
export type Step = Static<typeof Step>

export const Preparation = Fields(
  { status: OpenEnum(['no_action_needed', 'preparations_required']), preparation_steps: T.Array(Step) },
  { title: 'PrepareTeamCustomCredentialsResponse' },
)

export const ScopeQuery = Fields({ provider: Maybe(OAuthProvider) })

export const ScopeRequirements = Fields(
  {
    requirements: T.Array(
      Fields(
        {
          user_must_grant: T.Array(T.String()),
          user_may_grant: T.Array(T.String()),
          team_id: Uuid,
          provider: OAuthProvider,
        },
        { title: 'TeamScopeRequirements' },
      ),
    ),
  },
  { title: 'TeamScopeRequirementsResponse' },
)
