// Exchanges sign-in tokens and refresh tokens of phones for access tokens. Source: users-wearables.md 16.2.
import type { Cells } from '../../platform/db/cells.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { missingField } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import type { Access } from '../../tenancy/access/access.ts'
import { EXCHANGE, type TokenReply, type TokenRequest } from './schema.ts'
import { continueSession, openSession, type Continuation } from './phone-sessions.ts'
import type { SigningKey } from './signing-key.ts'
import { generateRefreshToken, readRefreshToken, SignInTokens, type SignIn } from './sign-in-tokens.ts'

/** The lifetime in responses. */
const ACCESS_S = 3600
/** One of the published clients does not refresh when its access token is rejected: the token is valid for longer than the response says. */
const SKEW_S = 900

export interface SignInDependencies {
  cells: Cells
  signingKey: SigningKey
  guards: Pick<Access, 'teams' | 'userTokens' | 'checks'>
}

type TokenError = 'invalid_token' | 'reauthentication_required'

const messages: Record<TokenError, string> = {
  invalid_token: 'The token is not valid or has expired',
  reauthentication_required: 'The session has ended; sign in again',
}
const tokenProblem = (error_type: TokenError) => new Problem(401, { detail: { error_type, error_message: messages[error_type] } })

const errors: Record<Exclude<Continuation, 'continued'>, TokenError> = {
  unknown: 'invalid_token',
  ended: 'invalid_token',
  expired: 'reauthentication_required',
  reused: 'reauthentication_required',
}

type Continue = (tx: Tx, signIn: SignIn, expiredToken: string, refresh_token: string) => Promise<Continuation>

/**
 * Issues an access token and a refresh token for a sign-in token or a refresh token. Writes phone_session.
 * Errors: 401 `invalid_token`; 401 `reauthentication_required` for a session that was not used for 180 days, or a refresh token that was
 * replaced by one in use, which ends its session; 422 a token is missing; 429 too many invalid tokens from the address.
 */
export async function exchangeToken(
  { cells, guards }: SignInDependencies,
  tokens: SignInTokens,
  address: string,
  body: TokenRequest,
): Promise<TokenReply> {
  const isExchange = body.grant_type === EXCHANGE
  const name = isExchange ? 'subject_token' : 'refresh_token'
  const used = body[name]
  if (used == null) throw missingField(['body', name])
  if (isExchange && body.subject_token_type == null) throw missingField(['body', 'subject_token_type'])
  const signIn = isExchange ? await tokens.verify(used) : readRefreshToken(used)
  const invalid = () => tokenProblem('invalid_token')
  if (!signIn || !cells.has(signIn.cell)) throw guards.checks.refusal(address, invalid())
  const refresh_token = generateRefreshToken(signIn)
  const next: Continue = isExchange ? openSession : continueSession
  const lookUp = async () => {
    const tenant = await guards.teams.tenant(signIn.cell, signIn.team)
    return tenant && cells.db(signIn.cell).tx(tenant, (tx) => next(tx, signIn, used, refresh_token))
  }
  const found = await guards.checks.find(address, undefined, lookUp, invalid)
  if (found === 'reused') guards.teams.invalidateSessions(signIn.team, signIn.user_id)
  if (found === 'unknown') throw guards.checks.refusal(address, invalid())
  // A token that was valid once is not a guess: phones with ended sessions must not shut out others behind their address.
  if (found !== 'continued') throw tokenProblem(errors[found])
  const words = [signIn.cell, signIn.team, signIn.user_id, signIn.session_id]
  return {
    access_token: guards.userTokens.sign(words, ACCESS_S + SKEW_S),
    refresh_token,
    expires_in: ACCESS_S,
    token_type: 'Bearer',
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  }
}
