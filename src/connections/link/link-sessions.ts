// Link sessions: one for each link token. A session belongs to a user, lasts an hour and links once. Owns `link_session`.
// Source: users-wearables.md 2.1, 2.3.
import { lockUser } from '../../people/users/connected-sources.ts'
import { notDeletedHere } from '../../people/users/users.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import type { UserCredential } from '../../platform/http/operation.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { originOf } from '../../platform/net/browser-address.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { CreateLinkToken, LinkError } from './schema.ts'

/** How long a link token is valid. */
export const LINK_SESSION_S = 3600

const Row = T.Object({
  id: T.String(),
  user_id: T.String(),
  provider: Nullable(T.String()),
  redirect_url: Nullable(T.String()),
  filter_on_providers: Nullable(T.Array(T.String())),
  redirects_on_error: T.Boolean(),
  redirects_on_close: T.Boolean(),
  started_provider: Nullable(T.String()),
  has_redirected: T.Boolean(),
  error_type: Nullable(T.Unsafe<LinkError>({ type: 'string' })),
  linked_provider: Nullable(T.String()),
  has_expired: T.Boolean(),
  is_consumed: T.Boolean(),
  expires_at: T.String(),
})
export type LinkSession = Static<typeof Row>

export const sessionColumns = sql`
  id, user_id, provider, redirect_url, filter_on_providers, redirects_on_error, redirects_on_close, started_provider,
  state_hash is not null as has_redirected, error_type, linked_provider, expires_at <= ${dbNow} as has_expired,
  consumed_at is not null as is_consumed, expires_at`
export const SessionRow = Row

const messages: Record<LinkError, string> = {
  invalid_token: 'The link token is not valid',
  token_expired: 'The link token has expired',
  token_consumed: 'The link token was used: a source is connected',
  token_not_validated: 'The link was not started: POST /v2/link/start comes first',
  provider_credential_error: 'The provider did not accept the consent of the user',
  provider_password_expired: 'The provider asks the user for a new password',
  provider_api_error:
    'The provider could not be reached, or answered unexpectedly; or this server has no connector for this way of linking',
  unsupported_region: 'The provider does not serve this region',
  duplicate_connection: 'Another user of the team has connected this account of the provider',
  required_scopes_not_granted: 'The user did not grant everything that the team requires',
  incorrect_mfa_code: 'The code is not correct',
  user_cancelled: 'The user did not give consent',
}

/** A sentence for developers. */
export const linkErrorText = (error: LinkError): string => messages[error]

/** 401 for a link token that cannot be used; `link_error_type` says why. */
export const linkTokenRefused = (link_error_type: LinkError): Problem =>
  new Problem(401, {
    detail: { error_type: 'INVALID_REQUEST', error_message: linkErrorText(link_error_type), link_error_type },
  })

export const unknownLinkUser = (): Problem =>
  new Problem(400, { detail: { error_type: 'INVALID_USER_ID', error_message: 'User not found' } })

/** Opens a session of a user. Writes link_session. Errors: 400 `INVALID_USER_ID`; 422 the team does not allow the `redirect_url`. Source: users-wearables.md 2.1, 2.3. */
export async function createSession(tx: Tx, body: CreateLinkToken): Promise<UserCredential> {
  const { redirect_url } = body
  if (redirect_url && !isAllowedRedirect(tx.tenant, redirect_url))
    throw invalidField(['body', 'redirect_url'], 'must have one of the origins in link_redirect_origins of the team')
  const user = await lockUser(tx, body.user_id)
  if (!user) throw unknownLinkUser()
  const session_id = tx.uuid()
  await tx.run(sql`
    insert into link_session (team_id, user_id, id, provider, redirect_url, filter_on_providers, redirects_on_error, redirects_on_close,
                              created_at, expires_at)
    values (${tx.team}, ${user.user_id}, ${session_id}, ${body.provider ?? null}, ${redirect_url ?? null},
            ${body.filter_on_providers ?? null}::text[], ${body.on_error === 'redirect'}, ${body.on_close === 'redirect'},
            ${dbNow}, ${dbNowPlus(LINK_SESSION_S)})`)
  return { user_id: user.user_id, session_id }
}

/** Whether browsers of patients may return to an address: to any, if the team has no list. */
function isAllowedRedirect({ settings }: Tenant, redirect_url: string): boolean {
  const origins = settings.link_redirect_origins as readonly string[] | null | undefined
  return !origins || origins.includes(originOf(new URL(redirect_url)))
}

/** The session of a link token; undefined if it is not there any more, or its user is deleted. */
export const findSession = (tx: Tx, { user_id, session_id }: UserCredential): Promise<LinkSession | undefined> =>
  tx.maybe(
    Row,
    sql`
    select ${sessionColumns} from link_session
    where team_id = ${tx.team} and user_id = ${user_id} and id = ${session_id} and ${notDeletedHere(tx, sql`link_session.user_id`)}`,
  )

/** The same, locked until the transaction ends. */
export const lockSession = (tx: Tx, { user_id, session_id }: UserCredential): Promise<LinkSession | undefined> =>
  tx.locking.maybe(
    Row,
    sql`
    select ${sessionColumns} from link_session
    where team_id = ${tx.team} and user_id = ${user_id} and id = ${session_id} and ${notDeletedHere(tx, sql`link_session.user_id`)}
    for update`,
  )

/** Why a session cannot link; undefined if it can. */
export function reasonAgainst(session: LinkSession | undefined): LinkError | undefined {
  if (!session) return 'invalid_token'
  if (session.is_consumed) return 'token_consumed'
  return session.has_expired ? 'token_expired' : undefined
}

/** The session. Errors: 401 it is not there, has expired or has linked a provider. */
export function usable(session: LinkSession | undefined): LinkSession {
  const reason = reasonAgainst(session)
  if (reason) throw linkTokenRefused(reason)
  return session!
}

/** Binds a session to a provider, as the older start step does. Writes link_session. */
export const startSession = (tx: Tx, { user_id, id }: LinkSession, provider: string): Promise<number> =>
  tx.run(sql`
    update link_session set started_provider = ${provider}, error_type = null
    where team_id = ${tx.team} and user_id = ${user_id} and id = ${id}`)

/** Records why an attempt to link failed; the session can try again. Writes link_session. */
export const recordFailure = (
  tx: Tx,
  { user_id, id }: Pick<LinkSession, 'user_id' | 'id'>,
  error_type: LinkError,
): Promise<number> =>
  tx.run(sql`
    update link_session set error_type = ${error_type} where team_id = ${tx.team} and user_id = ${user_id} and id = ${id}`)
