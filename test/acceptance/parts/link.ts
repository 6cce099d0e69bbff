// A backend makes link tokens and link codes, through the SDK; a page and an app use them without a key.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRejected, UNKNOWN_ID, type Customer } from '../client.ts'

export const link = ({ sdk, user, base_url }: Customer): void =>
  void describe('links', () => {
    const ask = async (method: string, path: string, init: RequestInit = {}) => {
      const response = await fetch(base_url + path, { method, ...init })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const asJson = { 'content-type': 'application/json' }

    test('a link token is made for a user, and serves the older steps', async () => {
      const { userId } = await user()
      const { linkToken, linkWebUrl } = await sdk.link.token({ userId, redirectUrl: 'https://clinic.example/linked' })
      assert.equal(new URL(linkWebUrl).searchParams.get('token'), linkToken)
      const headers = { 'x-vital-link-token': linkToken }
      assert.equal((await ask('GET', '/v2/team/link/config', { headers })).body.user_id, userId)
      const valid = { headers: asJson, body: JSON.stringify({ token: linkToken }) }
      assert.deepEqual((await ask('POST', '/v2/link/token/isValid', valid)).body, { is_valid: true, error_type: null })
      const start = { headers: asJson, body: JSON.stringify({ link_token: linkToken, provider: 'oura' }) }
      assert.equal((await ask('POST', '/v2/link/start', start)).status, 200)
      assert.equal((await ask('GET', '/v2/link/state', { headers })).body.state, 'started')
      await assertRejected(sdk.link.token({ userId: UNKNOWN_ID }), 404)
    })

    test('a user of a sandbox is connected to a demo provider, whose data is made up', async () => {
      const { userId } = await user()
      const { success, detail } = await sdk.link.connectDemoProvider({ userId, provider: 'freestyle_libre' })
      assert.deepEqual([success, detail], [true, `Connected user ${userId} to provider freestyle_libre`])
      const { providers } = await sdk.user.getConnectedProviders({ userId })
      assert.equal(providers![0]!.slug, 'freestyle_libre')
      await assertRejected(sdk.link.connectDemoProvider({ userId: UNKNOWN_ID, provider: 'fitbit' }), 404)
    })

    test('a link code signs a user in on a phone, once', async () => {
      const { userId } = await user()
      const { code, exchangeUrl, expiresAt } = await sdk.link.codeCreate({ userId })
      assert(exchangeUrl.endsWith(code) && new Date(expiresAt) > new Date())
      const path = `/v2/link/code/exchange?code=${code}&grant_type=sign_in_token`
      assert.equal((await ask('POST', path)).body.user_id, userId)
      assert.equal((await ask('POST', path)).status, 401)
    })
  })
