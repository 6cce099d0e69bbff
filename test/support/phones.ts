// A phone: it signs in, refreshes and asks as the published mobile clients do. Source: users-wearables.md 16.2.
import assert from 'node:assert/strict'
import { request } from 'undici'
import { url, type TestTeam } from './server.ts'

export interface Tokens {
  access_token: string
  refresh_token: string
  expires_in: number
}

export interface TokenAnswer {
  status: number
  body: Tokens & { detail?: { error_type?: string } }
}

export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** What a phone reads in the sign-in token that its backend gives it: plain base64 of JSON, and a JWT whose parts are plain base64. */
export function readSignInToken(sign_in_token: string) {
  assert.match(sign_in_token, /^[A-Za-z0-9+/]+={0,2}$/)
  const { public_key, user_token } = JSON.parse(Buffer.from(sign_in_token, 'base64').toString()) as Record<string, string>
  const [header, claims] = user_token!.split('.').map((part, i) => {
    if (i < 2) assert.match(part, /^([A-Za-z0-9+/]{4})+$/)
    return i < 2 ? (JSON.parse(Buffer.from(part, 'base64').toString()) as Record<string, unknown>) : undefined
  })
  return { public_key: public_key!, user_token: user_token!, header: header!, claims: claims! }
}

/** The `user_token` in a new sign-in token of a user. */
export async function createSignInToken(team: TestTeam, user_id: string): Promise<string> {
  const { status, body } = await team.api.post(`/v2/user/${user_id}/sign_in_token`)
  assert.equal(status, 200, JSON.stringify(body))
  return readSignInToken(body.sign_in_token as string).user_token
}

/** Sends a form to the token endpoint. */
export async function askForTokens(form: Record<string, string>, path = '/v1/token', base = url): Promise<TokenAnswer> {
  const { statusCode, body } = await request(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  return { status: statusCode, body: (await body.json()) as TokenAnswer['body'] }
}

export const exchange = (user_token: string, path?: string): Promise<TokenAnswer> =>
  askForTokens({ grant_type: EXCHANGE, subject_token_type: 'urn:junction:sign-in-token', subject_token: user_token }, path)

export const refresh = (refresh_token: string): Promise<TokenAnswer> =>
  askForTokens({ grant_type: 'refresh_token', refresh_token })

/** The tokens of a phone on which a user has signed in. */
export async function signIn(team: TestTeam, user_id: string): Promise<Tokens> {
  const { status, body } = await exchange(await createSignInToken(team, user_id))
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

export const bearer = ({ access_token }: Pick<Tokens, 'access_token'>) => ({ authorization: `Bearer ${access_token}` })
