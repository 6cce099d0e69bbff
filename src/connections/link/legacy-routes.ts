// Steps of older clients. Source: users-wearables.md 2.6.
import type { OutsideRequest } from '../../platform/http/operation.ts'
import { multiTransactionOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { admitLinkToken, readLinkToken } from './link-tokens.ts'
import type { LinkDependencies } from './routes.ts'
import { LinkState, StartedLink, StartLink, ValidatedLinkToken, ValidateLinkToken, type LinkError } from './schema.ts'
import {
  findSession,
  linkErrorText,
  linkTokenRefused,
  lockSession,
  reasonAgainst,
  startSession,
  usable,
  type LinkSession,
} from './link-sessions.ts'
import { assertProvider, authTypeOf, invalidProvider } from './offered.ts'

/** What has become of a session. */
function stateOf(session: LinkSession): 'created' | 'started' | 'success' | 'error' | 'expired' {
  if (session.is_consumed) return 'success'
  if (session.error_type !== null) return 'error'
  if (session.has_expired) return 'expired'
  return session.has_redirected || session.started_provider !== null ? 'started' : 'created'
}

export function legacyRoutes({ signingKey, guards }: LinkDependencies): Operation[] {
  /**
   * Whom a token in a body names, and the tenant; undefined if it was not issued here, or its cell is not served here. 401: the host is
   * another cell's; 429: too many requests of the session.
   */
  const read = async (text: string, headers: OutsideRequest['headers']) => {
    const found = await readLinkToken(signingKey, text)
    const tenant = found && (await admitLinkToken(guards, found, headers))
    return tenant && { found, tenant }
  }
  return [
    multiTransactionOperation({
      id: 'validate_link_token',
      logsAccess: false,
      auth: 'none',
      reads: true,
      method: 'POST',
      deprecated: true,
      path: '/v2/link/token/isValid',
      summary: 'Tell whether a link token can be used',
      body: ValidateLinkToken,
      reply: ValidatedLinkToken,
      example: { token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJmaWN0aW9uYWwifQ.c2lnbmF0dXJl' },
      async run({ cells, address, headers }, { body }) {
        const known = await read(body.token, headers)
        let error_type: LinkError | undefined = 'invalid_token'
        if (known) {
          const { found, tenant } = known
          error_type = reasonAgainst(await cells.db(found.cell).read(tenant, (tx) => findSession(tx, found)))
        } else {
          const refusal = guards.checks.refusal(address, linkTokenRefused('invalid_token'))
          if (refusal.status !== 401) throw refusal
        }
        return { is_valid: error_type === undefined, error_type: error_type ?? null }
      },
    }),
    multiTransactionOperation({
      id: 'start_link',
      logsAccess: false,
      auth: 'none',
      method: 'POST',
      deprecated: true,
      path: '/v2/link/start',
      summary: 'Bind a link token to a provider',
      body: StartLink,
      reply: StartedLink,
      example: { link_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJmaWN0aW9uYWwifQ.c2lnbmF0dXJl', provider: 'oura' },
      async run({ cells, address, headers }, { body }) {
        const known = await read(body.link_token, headers)
        if (!known) throw guards.checks.refusal(address, linkTokenRefused('invalid_token'))
        const { found, tenant } = known
        const auth_type = await cells.db(found.cell).tx(tenant, async (tx) => {
          const session = usable(await lockSession(tx, found))
          assertProvider(session, body.provider)
          const type = authTypeOf(body.provider)
          if (type === undefined) throw invalidProvider('Users of this server cannot be connected to this provider')
          await startSession(tx, session, body.provider)
          return type
        })
        return { success: true, provider: body.provider, auth_type }
      },
    }),
    operation({
      id: 'get_link_state',
      logsAccess: true,
      auth: 'link',
      method: 'GET',
      deprecated: true,
      path: '/v2/link/state',
      summary: 'Tell how far a link session has come',
      reply: LinkState,
      async run(tx, { user }) {
        const session = await findSession(tx, user!)
        if (!session) throw linkTokenRefused('invalid_token')
        return {
          session_id: session.id,
          user_id: session.user_id,
          state: stateOf(session),
          provider: session.linked_provider ?? session.started_provider ?? session.provider,
          redirect_url: session.redirect_url,
          error_type: session.is_consumed ? null : session.error_type,
          error: session.is_consumed || session.error_type === null ? null : linkErrorText(session.error_type),
          expires_at: session.expires_at,
        } as never
      },
    }),
  ]
}
