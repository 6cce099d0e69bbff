import { getUser } from '../../people/users/users.ts'
import { Success } from '../../people/users/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { multiTransactionOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { EXCHANGE, SignInToken, TokenReply, TokenRequest, UserParams } from './schema.ts'
import { SignInTokens } from './sign-in-tokens.ts'
import { exchangeToken, type SignInDependencies } from './token-exchange.ts'

/** @param signOut ends the sessions of a user, or one of them */
export function signInRoutes(
  dependencies: SignInDependencies,
  signOut: (tx: Tx, user_id: string, session_id?: string) => Promise<void>,
): Operation[] {
  const tokens = new SignInTokens(dependencies.signingKey)
  return [
    multiTransactionOperation({
      id: 'get_user_sign_in_token',
      logsAccess: true,
      method: 'POST',
      reads: true,
      path: '/v2/user/{user_id}/sign_in_token',
      summary: 'Issue a sign-in token for the phone of a user',
      description: 'The phone exchanges it for tokens that reach only this user. It stores nothing.',
      params: UserParams,
      reply: SignInToken,
      async run({ tenant, cells }, { params }) {
        const { user_id } = await cells.db(tenant.cell).read(tenant, (tx) => getUser(tx, params.user_id))
        const signIn = { cell: tenant.cell, team: tenant.team, user_id, session_id: uuid() }
        return { user_id, sign_in_token: await tokens.issue(signIn) }
      },
    }),
    multiTransactionOperation({
      id: 'exchange_token',
      logsAccess: false,
      auth: 'none',
      method: 'POST',
      path: '/v1/token',
      aliases: ['/auth/v1/token'],
      form: true,
      summary: 'Exchange a sign-in token or a refresh token of a phone',
      description:
        'The access token goes into `Authorization: Bearer` and reaches only its user. A used refresh token stays valid until the one that replaced it is used. Invalid tokens answer 401 with the `error_type` `invalid_token` or `reauthentication_required`.',
      body: TokenRequest,
      reply: TokenReply,
      example: {
        grant_type: EXCHANGE,
        subject_token_type: 'urn:junction:sign-in-token',
        subject_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1aWQiOiJmaWN0aW9uYWwifQ.c2lnbmF0dXJl',
      },
      run: ({ address }, { body }) => exchangeToken(dependencies, tokens, address, body),
    }),
    operation({
      id: 'revoke_app_api_key',
      logsAccess: true,
      method: 'POST',
      path: '/v2/user/{user_id}/revoke_app_api_key',
      userTokens: 'path',
      summary: 'End the session of a phone',
      description: "With a user's access token: its session. With a key of the team: all sessions of the user.",
      params: UserParams,
      reply: Success,
      async run(tx, { params, user }) {
        await getUser(tx, params.user_id)
        await signOut(tx, params.user_id, user?.session_id)
        return { success: true }
      },
    }),
  ]
}
