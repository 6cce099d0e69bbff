// The return of a browser from a provider: the code is exchanged for a grant, and the user is connected. Source: users-wearables.md 2.2, 2.3.
import { lockUser } from '../../people/users/connected-sources.ts'
import type { OAuthProvider } from '../../people/users/sources.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { hasOther } from '../connections/demo.ts'
import { scopesIn, SCOPES_MAX } from '../connectors/answers.ts'
import { VendorError, type Grant, type VendorFailure } from '../connectors/connector.ts'
import { vendorHttp, findVendor, type Vendor } from '../grants/access.ts'
import { isAccountTaken, saveGrant, usersOfAccount } from '../grants/grants.ts'
import { consumeSession, redirectUri, getScopes, codeVerifier, type ConsentDependencies } from './oauth.ts'
import { lockSession, reasonAgainst, recordFailure, type LinkSession } from './link-sessions.ts'
import type { LinkError } from './schema.ts'

const CODE_MAX = 4000

/** What a provider adds to the address to which it sends the browser back. */
export interface Return {
  state: string
  code: string | undefined
  error: string | undefined
  /** What was granted: some providers say it here and not with the token. */
  scope: string | undefined
}

const causes: Partial<Record<VendorFailure, LinkError>> = {
  invalid_grant: 'provider_credential_error',
  scope_missing: 'required_scopes_not_granted',
}

/** Called in the transaction that connects the user. */
export type OnConnected = (tx: Tx) => void

/** Thrown inside a transaction, which it rolls back. */
class LinkFailure extends Error {
  readonly linkError: LinkError
  constructor(cause: LinkError) {
    super(cause)
    this.linkError = cause
  }
}

/**
 * Completes the consent of a session whose `state` was used up. Writes link_session, and what saveGrant writes. Emits
 * provider.connection.created if a connection begins.
 * @returns why the user is not connected; undefined if the user is
 */
export async function completeConsent(
  access: ConsentDependencies,
  tenant: Tenant,
  session: LinkSession,
  provider: OAuthProvider,
  back: Return,
  onConnected: OnConnected,
): Promise<LinkError | undefined> {
  const db = access.cells.db(tenant.cell)
  const error = await connect(access, tenant, session, provider, back, onConnected)
  if (error) await db.tx(tenant, (tx) => recordFailure(tx, session, error))
  return error
}

async function connect(
  access: ConsentDependencies,
  tenant: Tenant,
  session: LinkSession,
  provider: OAuthProvider,
  back: Return,
  onConnected: OnConnected,
): Promise<LinkError | undefined> {
  const reason = reasonAgainst(session)
  if (reason) return reason
  if (back.error !== undefined) return back.error === 'access_denied' ? 'user_cancelled' : 'provider_api_error'
  const { code } = back
  if (code === undefined || code.length > CODE_MAX) return 'provider_api_error'
  const db = access.cells.db(tenant.cell)
  const { vendor, now_ms } = await db.read(tenant, async (tx) => ({
    vendor: await findVendor(tx, access, provider),
    now_ms: tx.now.getTime(),
  }))
  if (!vendor) return 'provider_api_error'
  const { connector, app } = vendor
  const http = vendorHttp(access, tenant)
  let grant: Grant
  try {
    const given = await connector.exchange(http, app, {
      code,
      redirect_uri: redirectUri(access.publicUrl, vendor),
      code_verifier: codeVerifier(access.vault, back.state),
      now_ms,
    })
    grant = { ...given, scopes: given.scopes ?? scopesOfReturn(back.scope) }
  } catch (error) {
    if (error instanceof VendorError) return causes[error.failure] ?? 'provider_api_error'
    throw error
  }
  const { requiredScopes } = await getScopes(access.cells, tenant.team, connector)
  try {
    await db.tx(tenant, async (tx) => {
      await store(access, tx, session, { provider, grant, requiredScopes })
      onConnected(tx)
    })
  } catch (error) {
    if (!(error instanceof LinkFailure)) throw error
    if (error.linkError !== 'duplicate_connection') await revoke(access, tenant, vendor, grant, now_ms)
    return error.linkError
  }
  return undefined
}

interface Consent {
  provider: OAuthProvider
  grant: Grant
  requiredScopes: string[]
}

/** Throws LinkFailure. */
async function store(
  { vault }: ConsentDependencies,
  tx: Tx,
  { user_id, id }: LinkSession,
  { provider, grant, requiredScopes }: Consent,
): Promise<void> {
  const fail = (cause: LinkError | undefined): void => {
    if (cause) throw new LinkFailure(cause)
  }
  if (!(await lockUser(tx, user_id))) fail('invalid_token')
  // Another return of the session may have linked meanwhile.
  const session = await lockSession(tx, { user_id, session_id: id })
  fail(reasonAgainst(session))
  const { scopes, external_user_id } = grant
  if (scopes !== null && requiredScopes.some((scope) => !scopes.includes(scope))) fail('required_scopes_not_granted')
  if (await isAccountTaken(tx, { user_id, provider }, external_user_id)) fail('duplicate_connection')
  // The user was given a demo connection meanwhile.
  if (await hasOther(tx, user_id, false)) fail('provider_api_error')
  await saveGrant(tx, vault, user_id, provider, grant)
  await consumeSession(tx, session!, provider)
}

/** Returns a grant that is not kept, if no user of the team has connected the account: providers may end all grants of an account at once. */
async function revoke(
  access: ConsentDependencies,
  tenant: Tenant,
  { connector, app }: Vendor,
  grant: Grant,
  now_ms: number,
): Promise<void> {
  const { external_user_id } = grant
  if (external_user_id === null) return
  const users = await access.cells.db(tenant.cell).read(tenant, (tx) => usersOfAccount(tx, connector.provider, external_user_id))
  if (users.length) return
  try {
    await connector.revoke(vendorHttp(access, tenant), app, grant, now_ms)
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
  }
}

/** The scopes in the address of a return; null if there are none. */
function scopesOfReturn(text: string | undefined): string[] | null {
  const scopes = text === undefined || text.length > SCOPES_MAX ? [] : scopesIn(text)
  return scopes.length ? scopes : null
}
