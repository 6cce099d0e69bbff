// Consent at a provider: the address to which the user's browser is sent, and what is exchanged when it comes back. The `state` in that address
// is random, stored as a hash with its session, and used up by the first return; a new one replaces it. Source: users-wearables.md 2.2, 17.
import { createHash } from 'node:crypto'
import { generateKey, hashKey } from '../../platform/crypto/api-keys.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { cellNames, type CellName } from '../../settings/cells.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import type { UserCredential } from '../../platform/http/operation.ts'
import type { OAuthProvider } from '../../people/users/sources.ts'
import { hasOther, mixedConnections } from '../connections/demo.ts'
import { listScopes } from '../credentials/scope-requirements.ts'
import { scopes as knownScopes } from '../credentials/scopes.ts'
import type { Connector } from '../connectors/connector.ts'
import { findVendor, type Vendor, type VendorAccess } from '../grants/access.ts'
import { assertProvider, invalidProvider } from './offered.ts'
import { findSession, lockSession, SessionRow, sessionColumns, usable, type LinkSession } from './link-sessions.ts'

export interface ConsentDependencies extends VendorAccess {
  publicUrl: () => string
}

const UUID = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
/** `lb_`: begun on the link page, and bound to its browser by a cookie. `ls_`: begun by a page or an app of the team. */
const STATE = new RegExp(`^(ls|lb)_([a-z]+-[a-z]+)_${UUID}_${UUID}_[\\w-]{43}$`)
const hashOf = (state: string): string => hashKey(state).toString('base64url')

/** Where the session of a `state` is. */
export interface StatePlace {
  cell: CellName
  team: string
  session_id: string
  isBound: boolean
}

/** What a `state` names; undefined if the text has another form. */
export function readState(text: string): StatePlace | undefined {
  const [, kind, cell, team, session_id] = STATE.exec(text) ?? []
  const known = cellNames.find((name) => name === cell)
  return known && { cell: known, team: team!, session_id: session_id!, isBound: kind === 'lb' }
}

/** The code verifier of a `state` (RFC 7636). It is derived and not stored, so that a reader of the database does not have it. */
export const codeVerifier = (vault: Vault, state: string): string => vault.sign(state, 'link code verifier').split('.')[1]!
const codeChallenge = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

/** Scopes of a team: required and requested ones. */
export interface Scopes {
  requiredScopes: string[]
  requestedScopes: string[]
}

/**
 * The connector's own scopes, without the ones that the team does not request, and with the ones that it requires. Scopes that requirements cannot
 * name are always asked for.
 */
export async function getScopes(cells: Cells, team: string, { provider, scopes }: Connector): Promise<Scopes> {
  const { requirements } = await cells.control.plainTx((tx) => listScopes(tx, team, provider))
  const [found] = requirements
  if (!found) return { requiredScopes: [], requestedScopes: [...scopes] }
  const named: readonly string[] = knownScopes[found.provider]
  const wanted = new Set([...found.user_must_grant, ...found.user_may_grant])
  const asked = scopes.filter((scope) => !named.includes(scope) || wanted.has(scope))
  return { requiredScopes: found.user_must_grant, requestedScopes: [...new Set([...asked, ...found.user_must_grant])] }
}

/** The address of this server at a provider, or the team's own, which forwards to it. */
export const redirectUri = (publicUrl: () => string, { connector, redirect_url_override }: Vendor): string =>
  redirect_url_override ?? `${publicUrl()}/v2/link/connect/${connector.provider}`

/**
 * Sends a user to a provider: the address for the browser. The `state` of an earlier address of the session ends. Writes link_session.
 * @param options.isBound whether only the browser that leaves may return: the caller gives it a cookie for the `state`
 * Errors: 400 `INVALID_PROVIDER` the token is for other providers, there is no connector to it, or the team has no credentials for it; 400
 * the user has demo connections; 401 the token has expired or has linked.
 */
export async function startConsent(
  access: ConsentDependencies,
  tenant: Tenant,
  user: UserCredential,
  provider: OAuthProvider,
  { isBound = false }: { isBound?: boolean } = {},
): Promise<{ connector: Connector; oauth_url: string; state: string }> {
  const { cells, vault, publicUrl } = access
  const db = cells.db(tenant.cell)
  const vendor = await db.read(tenant, async (tx) => {
    assertProvider(usable(await findSession(tx, user)), provider)
    if (await hasOther(tx, user.user_id, false)) throw mixedConnections(false)
    return findVendor(tx, access, provider)
  })
  if (!vendor) throw invalidProvider('This server has no connector to the provider, or the team no credentials for it')
  const { connector, app } = vendor
  const { requestedScopes } = await getScopes(cells, tenant.team, connector)
  const state = generateKey(`${isBound ? 'lb' : 'ls'}_${tenant.cell}_${tenant.team}_${user.session_id}_`)
  await db.tx(tenant, async (tx) => {
    const session = usable(await lockSession(tx, user))
    await tx.run(sql`
      update link_session set state_hash = ${hashOf(state)}, state_provider = ${provider}, error_type = null
      where team_id = ${tx.team} and user_id = ${session.user_id} and id = ${session.id}`)
  })
  const oauth_url = connector.authorizeUrl(app, {
    redirect_uri: redirectUri(publicUrl, vendor),
    state,
    scopes: requestedScopes,
    code_challenge: codeChallenge(codeVerifier(vault, state)),
  })
  return { connector, oauth_url, state }
}

/** Uses a `state` up. Writes link_session. @returns its session, as it was; undefined if it is unknown, was used or was replaced */
export async function takeState(
  tx: Tx,
  { session_id }: StatePlace,
  state: string,
  provider: string,
): Promise<LinkSession | undefined> {
  const session = await tx.locking.maybe(
    SessionRow,
    sql`
    select ${sessionColumns} from link_session
    where team_id = ${tx.team} and id = ${session_id} and state_hash = ${hashOf(state)} and state_provider = ${provider} for update`,
  )
  if (!session) return undefined
  await tx.run(sql`
    update link_session set state_hash = null, state_provider = null
    where team_id = ${tx.team} and user_id = ${session.user_id} and id = ${session.id}`)
  return session
}

/** Ends a session with its success. Writes link_session. */
export const consumeSession = (tx: Tx, { user_id, id }: LinkSession, provider: string): Promise<number> =>
  tx.run(sql`
    update link_session
    set consumed_at = ${dbNow}, linked_provider = ${provider}, error_type = null, state_hash = null, state_provider = null
    where team_id = ${tx.team} and user_id = ${user_id} and id = ${id}`)
