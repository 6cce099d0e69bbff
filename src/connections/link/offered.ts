// Which providers a link session may connect. Source: users-wearables.md 2.1, 2.2, 3.
import { providerName } from '../../people/users/sources.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { connectableProviders, providerOf, type AuthType, type ConnectedSlug } from '../connections/providers.ts'
import { connectors } from '../connectors/connectors.ts'
import { findVendor, type Vendor, type VendorAccess } from '../grants/access.ts'
import { emailProviders, passwordProviders } from './schema.ts'
import type { LinkSession } from './link-sessions.ts'

const has = (list: readonly string[], provider: string): boolean => list.includes(provider)

/**
 * How a user is connected to a provider, as the list of providers says it; undefined if users cannot be connected. Providers with passwords
 * or e-mail addresses have steps of their own, which say that this server has no connector for them.
 */
export function authTypeOf(provider: string): AuthType | undefined {
  if (has(connectableProviders, provider)) return providerOf(provider as ConnectedSlug).auth_type
  if (has(passwordProviders, provider)) return 'password'
  return has(emailProviders, provider) ? 'email' : undefined
}

/** 400 `INVALID_PROVIDER`. */
export const invalidProvider = (error_message: string): Problem =>
  new Problem(400, { detail: { error_type: 'INVALID_PROVIDER', error_message } })

/** Whether a token was issued for this provider: for one, for a list, or for all. */
export const isNamed = ({ provider, filter_on_providers }: LinkSession, name: string): boolean =>
  provider === null ? filter_on_providers === null || filter_on_providers.includes(name) : provider === name

/** Errors: 400 `INVALID_PROVIDER`, if the token was issued for other providers. */
export function assertProvider(session: LinkSession, provider: string): void {
  if (!isNamed(session, provider))
    throw invalidProvider(`The link token is for ${session.provider ?? session.filter_on_providers!.join(', ')} only`)
}

/** The connectors for which the team has credentials, each with the team's application, by the names that people know. */
export async function offeredVendors(tx: Tx, access: VendorAccess): Promise<Vendor[]> {
  const found: Vendor[] = []
  for (const { provider } of connectors) {
    const vendor = await findVendor(tx, access, provider)
    if (vendor) found.push(vendor)
  }
  return found.toSorted((a, b) => (providerName(a.connector.provider) < providerName(b.connector.provider) ? -1 : 1))
}
