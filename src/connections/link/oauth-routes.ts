import { multiTransactionOperation, operation, type Operation } from '../../platform/http/operation.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { UserCredential } from '../../platform/http/operation.ts'
import { OAuthProvider, providerName } from '../../people/users/sources.ts'
import { Fields, T } from '../../platform/schema/schema.ts'
import { providerOf } from '../connections/providers.ts'
import { startConsent, type ConsentDependencies } from './oauth.ts'
import { assertProvider, isNamed, offeredVendors } from './offered.ts'
import { linkResult } from './results.ts'
import {
  CompleteMfa,
  EmailLink,
  EmailProvider,
  LinkResult,
  LinkSource,
  OfferedSource,
  OldEmailLink,
  OldPasswordLink,
  PasswordLink,
  PasswordProvider,
  sourceId,
  type LinkError,
} from './schema.ts'
import { findSession, lockSession, reasonAgainst, recordFailure, usable } from './link-sessions.ts'

/**
 * The answer to credentials for a provider: this server has no connector that takes a password, and keeps none. The session can try
 * another provider. Writes link_session. Errors: 400 `INVALID_PROVIDER` the token is for another provider.
 * Source: users-wearables.md 2.2, 19 D4.
 */
async function refuseCredentials(
  tx: Tx,
  user: UserCredential,
  provider: string,
  { isStarted = true }: { isStarted?: boolean } = {},
): Promise<LinkResult> {
  const session = await lockSession(tx, user)
  const reason = reasonAgainst(session)
  if (reason) return linkResult(session, provider, reason)
  assertProvider(session!, provider)
  const error: LinkError = isStarted || session!.started_provider === provider ? 'provider_api_error' : 'token_not_validated'
  await recordFailure(tx, session!, error)
  return linkResult(session, provider, error)
}

const signIn = {
  logsAccess: true,
  auth: 'link',
  method: 'POST',
  // The body holds a password, of which a key would store a hash.
  idempotency: 'none',
  description:
    'No connector of this server takes a password: the answer has status 200 and the error `provider_api_error`. Nothing of the body is stored.',
  reply: LinkResult,
} as const

export function oauthRoutes(access: ConsentDependencies): Operation[] {
  return [
    multiTransactionOperation({
      id: 'get_link_providers',
      logsAccess: true,
      auth: 'link',
      method: 'GET',
      path: '/v2/link/providers',
      summary: 'List the providers that the user of a link token can connect',
      description: 'Those for which this server has a connector, the team has credentials and the token was issued.',
      reply: T.Array(OfferedSource),
      async run({ tenant, cells }, { user }) {
        return cells.db(tenant.cell).read(tenant, async (tx) => {
          const session = usable(await findSession(tx, user!))
          const offered = await offeredVendors(tx, access)
          const vendors = offered.filter(({ connector }) => isNamed(session, connector.provider))
          return vendors.map(({ connector: { provider, description } }) => ({
            id: sourceId(provider),
            name: providerName(provider),
            slug: provider,
            description,
            logo: '',
            oauth_url: null,
            auth_type: providerOf(provider).auth_type,
            form_components: {},
          }))
        })
      },
    }),
    multiTransactionOperation({
      id: 'generate_oauth_link',
      logsAccess: true,
      auth: 'link',
      method: 'GET',
      path: '/v2/link/provider/oauth/{oauth_provider}',
      summary: 'Give the address at which the user of a link token grants access to a provider',
      description:
        'The browser goes to `oauth_url`; the provider returns it to this server, which redirects it to the `redirect_url` of the token with the result. A further call ends the address before.',
      params: Fields({ oauth_provider: OAuthProvider }),
      reply: LinkSource,
      async run({ tenant }, { params, user }) {
        const { connector, oauth_url } = await startConsent(access, tenant, user!, params.oauth_provider)
        const { provider, description } = connector
        return {
          name: providerName(provider),
          slug: provider,
          description,
          logo: '',
          group: null,
          oauth_url,
          auth_type: providerOf(provider).auth_type,
          source_type: 'device' as const,
          is_active: true,
          backfill_num_days: null,
          id: sourceId(provider),
        }
      },
    }),
    operation({
      ...signIn,
      id: 'connect_password_provider',
      path: '/v2/link/provider/password/{provider}',
      summary: 'Connect a provider with a user name and a password',
      params: Fields({ provider: PasswordProvider }),
      body: PasswordLink,
      example: { username: 'testa@example.com', password: 'fictional' },
      run: (tx, { params, user }) => refuseCredentials(tx, user!, params.provider),
    }),
    operation({
      ...signIn,
      id: 'complete_password_provider_mfa',
      path: '/v2/link/provider/password/{provider}/complete_mfa',
      summary: 'Complete a connection for which a provider asked for a code',
      params: Fields({ provider: PasswordProvider }),
      body: CompleteMfa,
      example: { mfa_code: '000000' },
      run: (tx, { params, user }) => refuseCredentials(tx, user!, params.provider),
    }),
    operation({
      ...signIn,
      id: 'connect_email_provider',
      path: '/v2/link/provider/email/{provider}',
      summary: 'Connect a provider with an e-mail address',
      params: Fields({ provider: EmailProvider }),
      body: EmailLink,
      example: { email: 'testa@example.com', region: 'us' },
      run: (tx, { params, user }) => refuseCredentials(tx, user!, params.provider),
    }),
    operation({
      ...signIn,
      id: 'link_password_auth',
      deprecated: true,
      path: '/v2/link/auth',
      summary: 'Connect a provider with a user name and a password, after the start step',
      body: OldPasswordLink,
      example: { username: 'testa@example.com', password: 'fictional', provider: 'peloton', auth_type: 'password' },
      run: (tx, { body, user }) => refuseCredentials(tx, user!, body.provider, { isStarted: false }),
    }),
    operation({
      ...signIn,
      id: 'link_email_auth',
      deprecated: true,
      path: '/v2/link/auth/email',
      summary: 'Connect a provider with an e-mail address, after the start step',
      body: OldEmailLink,
      example: { email: 'testa@example.com', provider: 'freestyle_libre', auth_type: 'email' },
      run: (tx, { body, user }) => refuseCredentials(tx, user!, body.provider, { isStarted: false }),
    }),
  ]
}
