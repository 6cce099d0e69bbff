// The last step of every way to sign in: a session with a new token, in the cookie of the browser.
import type { Cells } from '../../platform/db/cells.ts'
import { StatusReply, type Operation } from '../../platform/http/operation.ts'
import type { CredentialChecks, FixedWindowLimiter } from '../../platform/http/rate-limits.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import { assertCookieIsSafe, ownOrigin, sessionCookie, type Headers } from './browser-requests.ts'
import type { MemberSession } from '../../platform/http/operation.ts'
import { addAuditEntries } from '../../platform/http/call.ts'
import type { OidcSettings } from '../../settings/config.ts'
import { findLogoutAddress } from './openid.ts'
import { endSession, startSession, type SessionLimits, type SignIn } from './sessions.ts'

export interface SignInDependencies {
  cells: Cells
  log: Log
  /** The guard, which caches sessions. */
  sessions: { invalidateMember(member_id: string): void }
  limits: SessionLimits
  /** Whether the server has demo data. */
  demo: boolean
  /** Whether mails leave the server. */
  sendsMail: boolean
  publicUrl: () => string
  /** The operations of all modules. */
  operations: () => readonly Operation[]
  /** Wrong passwords and links of an address. */
  checks: CredentialChecks
  attempts: {
    /** Passwords for one account. */
    passwords: FixedWindowLimiter
    /** Sign-ins of an address that take more than one request. */
    starts: FixedWindowLimiter
    /** Mails to set a password: asked for by an address, and for an account. */
    resetsOfAddress: FixedWindowLimiter
    resetsOfAccount: FixedWindowLimiter
  }
  /** The OpenID issuer; undefined if there is none. */
  openId: OidcSettings | undefined
  /** The system clock. */
  clock: () => Date
}

/** The request of a browser that signs in. */
export interface BrowserRequest {
  headers: Headers
  /** Client address. */
  address: string
}

/** 403: no page of this server asks, or the cookie of a session would not be safe. @returns the origin of the page */
export function assertMaySignIn({ publicUrl }: Pick<SignInDependencies, 'publicUrl'>, { headers }: BrowserRequest): URL {
  const origin = ownOrigin(headers, publicUrl())
  assertCookieIsSafe(origin)
  return origin
}

/**
 * The reply that puts a new session into the browser. Writes console_session, audit_log. 403: as of `assertMaySignIn`.
 * @param member who signs in, and how
 */
export async function signInBrowser<R>(
  dependencies: Pick<SignInDependencies, 'cells' | 'limits' | 'publicUrl'>,
  request: BrowserRequest,
  member: Pick<SignIn, 'member_id' | 'org_id' | 'method'>,
  body: R,
): Promise<StatusReply<R>> {
  const { cells, limits } = dependencies
  const origin = assertMaySignIn(dependencies, request)
  const { member_id, org_id, method } = member
  const session = { member_id, org_id, method, address: request.address, user_agent: request.headers['user-agent'] }
  const token = await cells.control.plainTx((tx) => startSession(tx, session, limits))
  return new StatusReply(200, body, { 'set-cookie': sessionCookie(origin, token, limits.total_s) })
}

/**
 * Ends the session of a request. Writes console_session, audit_log.
 * @returns the page of the OpenID issuer that ends its own session, if the member signed in there
 */
export async function signOut(
  { cells, sessions, openId, publicUrl }: SignInDependencies,
  { member_id, session_id, org, key_id }: MemberSession,
): Promise<string | undefined> {
  const method = await cells.control.plainTx((tx) => {
    addAuditEntries(tx, { org, key_id, member_id, operation: 'sign_out' }, [{ team_id: null, object: null }])
    tx.afterCommit(() => sessions.invalidateMember(member_id))
    return endSession(tx, member_id, session_id)
  })
  return openId && method === 'oidc' ? findLogoutAddress(openId, publicUrl()) : undefined
}
