// Access to a vendor for a user: the team's application, the connector, and a token that is fresh. Source: users-wearables.md 4 C2, 17.
import type { OAuthProvider } from '../../people/users/sources.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { failConnection } from '../connections/connections.ts'
import { VendorError, type Connector, type VendorApp, type VendorHttp, type VendorUrls } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import type { VendorClient } from '../connectors/vendor-http.ts'
import { applicationOf } from '../credentials/credentials.ts'
import { currentGrant, lockGrant, recordRefusal, replaceTokens, type StoredGrant, type UserProvider } from './grants.ts'

/** A token is refreshed when it expires within this time. */
const FRESH_MS = 120_000
/** The pause after the first refusal: another process may have replaced the token, or the vendor is wrong for a moment. */
const REFUSED_MS = 30_000

export interface VendorAccess {
  cells: Cells
  vault: Vault
  client: VendorClient
  /** Provider → an address that replaces the origins of the vendor's own (PROVIDER_URLS). */
  urls: Pick<ReadonlyMap<string, string>, 'get'>
}

/** The addresses of a vendor. An address of the settings replaces their origins; its path goes before theirs. */
export function vendorUrls({ urls }: Pick<VendorAccess, 'urls'>, connector: Connector): VendorUrls {
  const base = urls.get(connector.provider)
  if (base === undefined) return connector.urls
  const replaced = (url: string) => base.replace(/\/+$/, '') + url.slice(new URL(url).origin.length)
  const { authorize, token, api } = connector.urls
  return { authorize: replaced(authorize), token: replaced(token), api: replaced(api) }
}

export interface Vendor {
  connector: Connector
  app: VendorApp
  /** The team's own redirect address, if it has one. */
  redirect_url_override: string | null
}

/** The connector to a provider with the team's application; undefined if there is no connector, or the team has no application. */
export async function vendorOf(
  tx: Tx,
  access: VendorAccess,
  provider: OAuthProvider | (string & {}),
): Promise<Vendor | undefined> {
  const connector = connectorOf(provider)
  const application = connector && (await applicationOf(tx, access.vault, provider))
  if (!application) return undefined
  const { redirect_url_override, ...app } = application
  return { connector, app: { ...app, urls: vendorUrls(access, connector) }, redirect_url_override }
}

/** Sends requests for a team: those of a sandbox may reach loopback, if the server listens there. */
export const httpOf =
  ({ client }: Pick<VendorAccess, 'client'>, { cell }: Pick<Tenant, 'cell'>): VendorHttp =>
  (request) =>
    client.send(cell.startsWith('sandbox'), request)

const isFresh = ({ grant: { expires_at_ms } }: StoredGrant, now_ms: number): boolean =>
  expires_at_ms === null || expires_at_ms - now_ms > FRESH_MS

type Refreshed = { grant: StoredGrant } | { refused: 'first' | 'last' } | undefined

/**
 * A grant whose access token can be used; undefined if there is none. One transaction at a time refreshes it, under a lock of its row: who
 * waited finds the new tokens. New tokens are committed before anybody uses them. A refusal is final only if the vendor refuses the same
 * tokens twice: then the connection is in error. Writes provider_grant, connection. Emits provider.connection.error.
 * Errors: VendorError, `invalid_grant` if the connection has ended.
 * @param rejected the version of the tokens that the vendor did not accept
 */
export async function freshGrant(
  tenant: Tenant,
  access: VendorAccess,
  { connector, app }: Vendor,
  key: UserProvider,
  rejected?: number,
): Promise<StoredGrant | undefined> {
  const { vault } = access
  const http = httpOf(access, tenant)
  // Not the transaction of a job, which commits nothing once the job has lost its lease: new tokens would be lost with it.
  const tx = <R>(work: (tx: Tx) => Promise<R>) => access.cells.of(tenant.cell).tx(tenant, work)
  const isUsable = (found: StoredGrant, now: Date) => isFresh(found, now.getTime()) && found.version !== rejected
  const found = await tx(async (current) => {
    const grant = await currentGrant(current, vault, key)
    return grant && { grant, isUsable: isUsable(grant, current.now) }
  })
  if (!found || found.isUsable) return found?.grant
  const refreshed = await tx(async (current): Promise<Refreshed> => {
    const stored = await lockGrant(current, vault, key)
    if (!stored || isUsable(stored, current.now)) return stored && { grant: stored }
    try {
      if (stored.grant.refresh_token === null) throw new VendorError('invalid_grant')
      await replaceTokens(current, vault, stored.id, await connector.refresh(http, app, stored.grant, current.now.getTime()))
    } catch (error) {
      if (!(error instanceof VendorError) || error.failure !== 'invalid_grant') throw error
      const isLast = stored.refused_version === stored.version || stored.grant.refresh_token === null
      if (isLast) await failConnection(current, key.user_id, key.provider, 'token_refresh_failed')
      else await recordRefusal(current, stored)
      return { refused: isLast ? 'last' : 'first' }
    }
    return { grant: (await lockGrant(current, vault, key))! }
  })
  if (!refreshed || 'grant' in refreshed) return refreshed?.grant
  throw refreshed.refused === 'last' ? new VendorError('invalid_grant') : new VendorError('unavailable', REFUSED_MS)
}
