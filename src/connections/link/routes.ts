import type { Vault } from '../../platform/crypto/vault.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { multiTransactionOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { SignInTokens } from '../sign-in/sign-in-tokens.ts'
import { getBrand } from '../../tenancy/teams/brand.ts'
import { createLinkCode, LinkCodes } from './codes.ts'
import { issueLinkToken, type LinkGuardDependencies } from './link-tokens.ts'
import {
  CreateLinkCode,
  CreateLinkToken,
  ExchangedLinkCode,
  ExchangeLinkCode,
  LinkCode,
  LinkConfig,
  LinkToken,
} from './schema.ts'
import { createSession, findSession, usable } from './link-sessions.ts'

export interface LinkDependencies extends LinkGuardDependencies {
  cells: Cells
  vault: Vault
  publicUrl: () => string
}

export function linkRoutes(dependencies: LinkDependencies): Operation[] {
  const { signingKey, publicUrl, guards } = dependencies
  const signInTokens = new SignInTokens(signingKey)
  const { cells, vault } = dependencies
  const codes = new LinkCodes({ cells, vault, findTenant: guards.teams.tenant })
  return [
    operation({
      id: 'generate_link_token',
      logsAccess: true,
      method: 'POST',
      path: '/v2/link/token',
      userTokens: 'body',
      summary: 'Create a link token for a user',
      description:
        'It goes into the header `x-vital-link-token` of the operations that connect a source, or the user opens `link_web_url`. It is valid for 60 minutes and for one successful link.',
      body: CreateLinkToken,
      reply: LinkToken,
      example: {
        user_id: '01890000-0000-7000-8000-000000000001',
        provider: 'oura',
        redirect_url: 'https://clinic.example/linked?from=app',
      },
      // The answer holds a credential: it is not stored, and a repeated key gets 409.
      idempotency: { scope: 'generate_link_token', retention_s: 86_400, secret: true },
      async run(tx, { body }) {
        const session = await createSession(tx, body)
        const { cell } = tx.tenant
        const link_token = await issueLinkToken(signingKey, publicUrl(), { cell, team: tx.team, ...session })
        const [env = '', region = ''] = cell.split('-')
        return { link_token, link_web_url: `${publicUrl()}/link?${new URLSearchParams({ token: link_token, env, region })}` }
      },
    }),
    operation({
      id: 'create_link_code',
      logsAccess: true,
      method: 'POST',
      path: '/v2/link/code/create',
      summary: 'Create a code that hands a user to an app on a phone',
      description:
        'The app exchanges it once for a sign-in token. A person may type it in upper or lower case and without the hyphens. A user has at most five valid codes; a further one ends the oldest.',
      query: CreateLinkCode,
      reply: LinkCode,
      // The answer holds a credential: it is not stored, and a repeated key gets 409.
      idempotency: { scope: 'create_link_code', retention_s: 86_400, secret: true },
      run: (tx, { query }) => createLinkCode(tx, vault, query.user_id, query.expires_at),
    }),
    multiTransactionOperation({
      id: 'exchange_link_code',
      logsAccess: false,
      auth: 'none',
      method: 'POST',
      path: '/v2/link/code/exchange',
      summary: 'Exchange a link code for a sign-in token',
      description:
        'An app calls it, without a key. Of an unknown, used or expired code the answer is 401; few wrong ones may be sent.',
      query: ExchangeLinkCode,
      reply: ExchangedLinkCode,
      async run({ cells, address }, { query }) {
        return codes.redeem(query.code, address, async ({ tenant, user_id }) => {
          const { brand_color: _color, ...team } = await getBrand(cells, tenant)
          const signIn = { cell: tenant.cell, team: tenant.team, user_id, session_id: uuid() }
          return { user_id, sign_in_token: await signInTokens.issue(signIn), team }
        })
      },
    }),
    multiTransactionOperation({
      id: 'get_link_config',
      logsAccess: true,
      auth: 'link',
      method: 'GET',
      path: '/v2/team/link/config',
      summary: 'Show what a link page needs to know of its team and its token',
      reply: LinkConfig,
      async run({ tenant, cells }, { user }) {
        const session = usable(await cells.db(tenant.cell).read(tenant, (tx) => findSession(tx, user!)))
        const [environment, region] = tenant.cell.split('-') as [LinkConfig['environment'], LinkConfig['region']]
        return {
          team_id: tenant.team,
          user_id: session.user_id,
          ...(await getBrand(cells, tenant)),
          environment,
          region,
          provider: session.provider as LinkConfig['provider'],
          redirect_url: session.redirect_url,
          filter_on_providers: session.filter_on_providers as LinkConfig['filter_on_providers'],
          on_error: session.redirects_on_error ? 'redirect' : null,
          on_close: session.redirects_on_close ? 'redirect' : null,
        }
      },
    }),
  ]
}
