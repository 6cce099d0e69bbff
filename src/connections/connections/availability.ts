// What the user of a connection has allowed, by resource. Source: users-wearables.md 4 C3; events.md 4.4.
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { resourcesAllowed } from './permission-names.ts'
import { providerOf, scopesFor, type ConnectedSlug } from './providers.ts'
import type { Availability } from './schema.ts'

interface Granted {
  provider: ConnectedSlug
  granted_permissions: string[] | null
  granted_scopes: string[] | null
}

/**
 * What each resource of the provider has of the user's consent. A phone names permissions in the words of its health store, or resources;
 * one that names neither has not said what it was granted, so everything counts as available.
 */
export function availability({ provider, granted_permissions, granted_scopes }: Granted): Record<string, Availability> {
  const { resources, auth_type } = providerOf(provider)
  const granted =
    granted_permissions === null
      ? undefined
      : auth_type === 'team_oauth'
        ? new Set<string>(granted_permissions)
        : resourcesAllowed(provider, resources, granted_permissions)
  return Object.fromEntries(
    resources.map((resource) => [
      resource,
      {
        status: !granted || granted.has(resource) ? 'available' : 'unavailable',
        scope_requirements: granted_scopes && requirements(scopesFor(provider, resource), granted_scopes),
      },
    ]),
  )
}

/** Which of the scopes for a resource the user has granted. */
function requirements(scopes: ReturnType<typeof scopesFor>, grantedScopes: string[]): Availability['scope_requirements'] {
  const those = (isGranted: boolean) => ({
    required: scopes.requiredScopes.filter((scope) => grantedScopes.includes(scope) === isGranted),
    optional: scopes.optionalScopes.filter((scope) => grantedScopes.includes(scope) === isGranted),
  })
  return { user_granted: those(true), user_denied: those(false) }
}

const Consent = T.Object({
  user_id: T.String(),
  provider: T.Unsafe<ConnectedSlug>({ type: 'string' }),
  granted_permissions: Nullable(T.Array(T.String())),
})

/** The connections of users, with the resources that each may have by the user's consent. */
export async function availableResources(
  tx: Tx,
  user_ids: string[],
  provider: string | undefined,
): Promise<{ user_id: string; provider: ConnectedSlug; resources: string[] }[]> {
  const rows = await tx.many(
    Consent,
    sql`
    select user_id, provider, granted_permissions from connection
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = coalesce(${provider ?? null}, provider)
    order by user_id, created_at, id`,
  )
  return rows.map((row) => {
    const all = Object.entries(availability({ ...row, granted_scopes: null }))
    const resources = all.filter(([, { status }]) => status === 'available').map(([name]) => name)
    return { user_id: row.user_id, provider: row.provider, resources }
  })
}

/** Stores the resources that a user has allowed, as a phone or the scopes of a cloud say it. Writes connection, if they are others. */
export const savePermissions = (
  tx: Tx,
  user_id: string,
  provider: string,
  grantedScopes: string[] | null,
  scopes: string[] | null = null,
): Promise<number> =>
  tx.run(sql`
    update connection set granted_permissions = ${grantedScopes}::text[], granted_scopes = ${scopes}::text[], updated_at = ${tx.now}
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider}
      and (granted_permissions is distinct from ${grantedScopes}::text[] or granted_scopes is distinct from ${scopes}::text[])`)
