// Steps of older clients. Source: users-wearables.md 2.6.
import { multiTransactionOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { readLinkToken, type LinkCredential } from './link-tokens.ts'
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
} from './sessions.ts'
import { assertProvider, authTypeOf } from './offered.ts'

/** What has become of a session. */
export function stateOf(session: LinkSession): 'created' | 'started' | 'success' | 'error' | 'expired' {
  if (session.is_consumed) return 'success'
  if (session.error_type !== null) return 'error'
  if (session.has_expired) return 'expired'
  return session.has_redirected || session.started_provider !== null ? 'started' : 'created'
}

export function legacyRoutes({ signingKey, guards }: LinkDependencies): Operation[] {
  /** Whom a token in a body names. 401: it was not issued here; 429: too many such tokens of the address. */
  const read = async (text: string, address: string): Promise<LinkCredential> => {
    const found = await readLinkToken(signingKey, text)
    if (!found) throw guards.checks.refusal(address, linkTokenRefused('invalid_token'))
    return found
  }
  const tenantOf = async ({ cell, team }: LinkCredential) => {
    const tenant = await guards.teams.tenant(cell, team)
    if (!tenant) throw linkTokenRefused('invalid_token')
    return tenant
  }
  return [
    multiTransactionOperation({
      id: 'validate_link_token',
      patients: false,
      auth: 'none',
      reads: true,
      method: 'POST',
      deprecated: true,
      path: '/v2/link/token/isValid',
      summary: 'Tell whether a link token can be used',
      body: ValidateLinkToken,
      reply: ValidatedLinkToken,
      example: { token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJmaWN0aW9uYWwifQ.c2lnbmF0dXJl' },
      async run({ cells, address }, { body }) {
        const found = await readLinkToken(signingKey, body.token)
        const tenant = found && (await guards.teams.tenant(found.cell, found.team))
        let error_type: LinkError | undefined = 'invalid_token'
        if (found && tenant) error_type = reasonAgainst(await cells.of(found.cell).read(tenant, (tx) => findSession(tx, found)))
        else {
          const refusal = guards.checks.refusal(address, linkTokenRefused('invalid_token'))
          if (refusal.status !== 401) throw refusal
        }
        return { is_valid: error_type === undefined, error_type: error_type ?? null }
      },
    }),
    multiTransactionOperation({
      id: 'start_link',
      patients: false,
      auth: 'none',
      method: 'POST',
      deprecated: true,
      path: '/v2/link/start',
      summary: 'Bind a link token to a provider',
      body: StartLink,
      reply: StartedLink,
      example: { link_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJmaWN0aW9uYWwifQ.c2lnbmF0dXJl', provider: 'oura' },
      async run({ cells, address }, { body }) {
        const found = await read(body.link_token, address)
        const tenant = await tenantOf(found)
        await cells.of(found.cell).tx(tenant, async (tx) => {
          const session = usable(await lockSession(tx, found))
          assertProvider(session, body.provider)
          await startSession(tx, session, body.provider)
        })
        return { success: true, provider: body.provider, auth_type: authTypeOf(body.provider) }
      },
    }),
    operation({
      id: 'get_link_state',
      patients: true,
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
