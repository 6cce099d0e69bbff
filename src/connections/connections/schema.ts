// Shapes of providers and connections. Source: users-wearables.md 1, 3, 4, 16.3.
import { providers } from '../../people/users/sources.ts'
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { resources } from '../../wearables/resources/resources.ts'
import { authTypes, manualProviders } from './providers.ts'

const PERMISSIONS_MAX = 300

export const ProviderSlug = OpenEnum(providers, { title: 'Providers', example: 'apple_health_kit' })

export const ProviderDetails = Fields(
  {
    name: T.String(),
    slug: T.String(),
    description: T.String(),
    logo: Nullable(T.String()),
    auth_type: OpenEnum(authTypes),
    supported_resources: T.Array(OpenEnum(resources)),
  },
  { title: 'ProviderDetails' },
)

export const ProviderQuery = Fields({ source_type: Maybe(OpenEnum(authTypes)) })

const Scopes = Fields({ required: T.Array(T.String()), optional: T.Array(T.String()) }, { title: 'ScopeRequirements' })
export const Availability = Fields({
  status: OpenEnum(['available', 'unavailable']),
  scope_requirements: Nullable(
    Fields(
      { user_granted: Scopes, user_denied: Scopes },
      {
        title: 'ScopeRequirementsGrants',
        description:
          'Scopes of the provider that the resource needs, and those without which it lacks a part. Null if the provider has no scopes, or does not say what was granted.',
      },
    ),
  ),
})
export type Availability = Static<typeof Availability>

export const connectionErrors = [
  'token_refresh_failed',
  'webhook_registration_failed',
  'user_not_found',
  'deregistered_per_provider',
  'required_scopes_not_granted',
  'provider_credential_error',
  'provider_password_expired',
  'unknown',
] as const

export const ConnectedProvider = Fields(
  {
    name: T.String(),
    slug: T.String(),
    logo: T.String(),
    created_on: Timestamp,
    status: OpenEnum(['connected', 'error', 'paused']),
    external_user_id: Nullable(T.String()),
    error_details: Nullable(Fields({ error_type: OpenEnum(connectionErrors), error_message: T.String(), errored_at: Timestamp })),
    resource_availability: T.Record(T.String(), Availability),
  },
  { title: 'ConnectedProvider' },
)
export type ConnectedProvider = Static<typeof ConnectedProvider>

export const ConnectedProviders = Fields({ providers: T.Array(ConnectedProvider) }, { title: 'ConnectedProviders' })

export const ManualProviderSlug = OpenEnum(manualProviders, { title: 'ManualProviders' })

/** The resources that a user has allowed, or a client's own names of them. */
export const PermissionNames = T.Array(Text({ minLength: 1, maxLength: 200 }), { maxItems: PERMISSIONS_MAX })

export const ManualConnection = Fields(
  {
    user_id: Uuid,
    provider_id: Maybe(Text({ minLength: 1, maxLength: 512, example: 'meter-0001' })),
    granted_permissions: Maybe(PermissionNames),
  },
  { title: 'ManualConnectionData' },
)
export type ManualConnection = Static<typeof ManualConnection>

export const FailingConnectionQuery = Fields({
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})
export type FailingConnectionQuery = Static<typeof FailingConnectionQuery>

export const FailingConnection = Fields(
  {
    id: Uuid,
    user_id: Uuid,
    provider: T.String({ description: 'Slug of the provider.' }),
    provider_name: T.String(),
    error_type: OpenEnum(connectionErrors),
    errored_at: Timestamp,
  },
  { title: 'FailingConnection' },
)
export type FailingConnection = Static<typeof FailingConnection>
export const FailingConnectionPage = Fields(
  { data: T.Array(FailingConnection), next_cursor: Nullable(T.String()) },
  { title: 'FailingConnectionPage' },
)
