// A backend hands a sign-in token to a phone, through the SDK; the phone asks with its own calls.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Customer } from '../client.ts'

export const phoneSignIn = ({ sdk, user, base_url }: Customer): void =>
  void describe('sign-in of phones', () => {
    const ask = async (method: string, path: string, init: RequestInit = {}) => {
      const response = await fetch(base_url + path, { method, ...init })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }

    test('a phone exchanges its sign-in token, refreshes, reads its user only and signs out', async () => {
      const [{ userId }, other] = [await user(), await user()]
      const issued = await sdk.user.getUserSignInToken({ userId })
      assert.equal(issued.userId, userId)
      const { user_token } = JSON.parse(Buffer.from(issued.signInToken, 'base64').toString()) as { user_token: string }
      const exchanged = await ask('POST', '/auth/v1/token', {
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token_type: 'urn:junction:sign-in-token',
          subject_token: user_token,
        }),
      })
      assert.equal(exchanged.status, 200)
      const refreshed = await ask('POST', '/v1/token', {
        body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: String(exchanged.body.refresh_token) }),
      })
      const headers = { authorization: `Bearer ${String(refreshed.body.access_token)}` }
      assert.equal((await ask('GET', `/v2/user/${userId}`, { headers })).body.user_id, userId)
      assert.equal((await ask('GET', `/v2/user/${other.userId}`, { headers })).status, 403)
      assert.equal((await ask('GET', '/v2/user', { headers })).status, 403)
      assert.equal((await ask('POST', `/v2/user/${userId}/revoke_app_api_key`, { headers })).status, 200)
      assert.equal((await ask('GET', `/v2/user/${userId}`, { headers })).status, 401)
    })
  })
