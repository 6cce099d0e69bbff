// Access to a vendor for a user: the team's application, the connector, and a token that is fresh. Source: users-wearables.md 4 C2, 17.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OAuthProvider } from '../../people/users/sources.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { teamNow } from '../../platform/db/database.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { failConnection } from '../connections/connections.ts'
import { VendorError, type Connector, type VendorApp, type VendorHttp, type VendorUrls } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import type { VendorClient } from '../connectors/vendor-http.ts'
import { findApplication } from '../credentials/credentials.ts'
import {
  claimRefresh,
  currentGrant,
  recordRefusal,
  releaseRefresh,
  replaceTokens,
  type StoredGrant,
  type UserProvider,
} from './grants.ts'

/** A token is refreshed when it expires within this time. */
const FRESH_MS = 120_000
/** The pause after the first refusal: another process may have replaced the token, or the vendor is wrong for a moment. */
const REFUSED_MS = 30_000
/** The lease of a refresh: longer than the two requests that a connector makes at most. */
const LEASE_S = 30
/** How long others wait for the new tokens: longer than the lease of a process that was killed. */
const WAIT_MS = 40_000
/** The pauses between looks for the new tokens grow from the first to the last. */
const PAUSE_MS = 50
const PAUSE_MS_MAX = 500

export interface VendorAccess {
  cells: Cells
  vault: Vault
  client: VendorClient
  /** Provider → an address that replaces the origins of the vendor's own (PROVIDER_URLS). */
  urls: Pick<ReadonlyMap<string, string>, 'get'>
  /** How long a call waits for tokens that another one refreshes; 40 s unless given. */
  refresh_wait_ms?: number
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
export async function findVendor(
  tx: Tx,
  access: VendorAccess,
  provider: OAuthProvider | (string & {}),
): Promise<Vendor | undefined> {
  const connector = connectorOf(provider)
  const application = connector && (await findApplication(tx, access.vault, provider))
  if (!application) return undefined
  const { redirect_url_override, ...app } = application
  return { connector, app: { ...app, urls: vendorUrls(access, connector) }, redirect_url_override }
}

/**
 * Sends requests for a team: those of a sandbox may reach loopback, if the server listens there.
 * @param answer_bytes_max 256 kB by default, which the main thread may read
 */
export const vendorHttp =
  ({ client }: Pick<VendorAccess, 'client'>, { cell }: Pick<Tenant, 'cell'>, answer_bytes_max?: number): VendorHttp =>
  (request) =>
    client.send(cell.startsWith('sandbox'), request, answer_bytes_max)

const isFresh = ({ grant: { expires_at_ms } }: StoredGrant, now_ms: number): boolean =>
  expires_at_ms === null || expires_at_ms - now_ms > FRESH_MS

/** For how long the vendor is not asked again after it has refused these tokens. */
const refusedFor = ({ version, refused_version, refused_at_ms, grant }: StoredGrant, now_ms: number): number =>
  refused_version === version && refused_at_ms !== null && grant.refresh_token !== null ? refused_at_ms + REFUSED_MS - now_ms : 0

type Found = { grant: StoredGrant | undefined } | { leasedGrant: StoredGrant } | 'refreshed by another'

/**
 * A grant whose access token can be used; undefined if there is none. One process at a time refreshes it, under a lease of the grant; the
 * others wait for the new tokens, for at most 40 s. No transaction is open while the vendor is asked or the tokens are waited for. New tokens
 * are committed before anybody uses them. A refusal is final only if the vendor refuses the same tokens again after 30 s or later: then the connection is in
 * error. Writes provider_grant, connection. Emits provider.connection.error.
 * Errors: VendorError, `invalid_grant` if the connection has ended, `unavailable` if another process does not refresh the tokens in time.
 * @param rejectedVersion the version of the tokens that the vendor did not accept
 */
export async function freshGrant(
  tenant: Tenant,
  access: VendorAccess,
  vendor: Vendor,
  key: UserProvider,
  rejectedVersion?: number,
): Promise<StoredGrant | undefined> {
  // Not the transaction of a job, which commits nothing once the job has lost its lease: new tokens would be lost with it.
  const tx = <R>(work: (tx: Tx) => Promise<R>) => access.cells.db(tenant.cell).tx(tenant, work)
  const owner = randomUUID()
  const deadline = AbortSignal.timeout(access.refresh_wait_ms ?? WAIT_MS)
  for (let pause_ms = PAUSE_MS; ; pause_ms = Math.min(pause_ms * 2, PAUSE_MS_MAX)) {
    const found = await tx(async (current): Promise<Found> => {
      const grant = await currentGrant(current, access.vault, key)
      if (!grant || (isFresh(grant, current.now.getTime()) && grant.version !== rejectedVersion)) return { grant }
      const wait_ms = refusedFor(grant, current.now.getTime())
      if (wait_ms > 0) throw new VendorError('unavailable', wait_ms)
      return (await claimRefresh(current, grant, owner, LEASE_S)) ? { leasedGrant: grant } : 'refreshed by another'
    })
    if (found !== 'refreshed by another') {
      if ('grant' in found) return found.grant
      if (await refresh(tenant, access, vendor, found.leasedGrant, owner))
        return tx((current) => currentGrant(current, access.vault, key))
    }
    if (deadline.aborted) throw new VendorError('unavailable')
    await sleep(pause_ms)
  }
}

/**
 * Refreshes the tokens of a grant under the lease of `owner`. Returns false if they were replaced meanwhile, or the grant has ended. Writes
 * provider_grant, connection. Emits provider.connection.error. Errors: VendorError.
 */
async function refresh(
  tenant: Tenant,
  access: VendorAccess,
  { connector, app }: Vendor,
  storedGrant: StoredGrant,
  owner: string,
): Promise<boolean> {
  const { cells, vault } = access
  const db = cells.db(tenant.cell)
  try {
    if (storedGrant.grant.refresh_token === null) throw new VendorError('invalid_grant')
    const now_ms = teamNow(tenant).getTime()
    const grant = await connector.refresh(vendorHttp(access, tenant), app, storedGrant.grant, now_ms)
    return (await db.tx(tenant, (tx) => replaceTokens(tx, vault, storedGrant, grant))) > 0
  } catch (error) {
    if (!(error instanceof VendorError) || error.failure !== 'invalid_grant') {
      await db.tx(tenant, (tx) => releaseRefresh(tx, storedGrant, owner))
      throw error
    }
  }
  const isLast = storedGrant.refused_version === storedGrant.version || storedGrant.grant.refresh_token === null
  const counts = await db.tx(tenant, async (tx) => {
    const isCurrent = (await recordRefusal(tx, storedGrant)) > 0
    if (isCurrent && isLast) await failConnection(tx, storedGrant.user_id, storedGrant.provider, 'token_refresh_failed')
    return isCurrent
  })
  if (!counts) return false
  throw isLast ? new VendorError('invalid_grant') : new VendorError('unavailable', REFUSED_MS)
}
