// Credentials of users for providers: the documented shapes, and nothing is stored. Source: users-wearables.md 2.2, 2.6, 19 D4.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asOwner, client, createTestTeam } from '../../../test/support/server.ts'
import { withToken } from '../../../test/support/link-pages.ts'

const anyone = client(undefined)
const BACK = 'https://clinic.example/linked?case=7'

async function createTeamWithToken() {
  const team = await createTestTeam()
  const { body } = await team.api.post('/v2/link/token', { user_id: await team.user(), redirect_url: BACK })
  return { team, token: body.link_token as string }
}

describe('a password', () => {
  const SECRET = 'fictional-password-that-nothing-keeps'

  test('is refused with status 200, as an e-mail address is, and not stored', async () => {
    const { team, token } = await createTeamWithToken()
    const headers = { ...withToken(token), 'x-idempotency-key': 'the-same' }
    const link = await anyone.post('/v2/link/provider/password/peloton', { username: 'testa', password: SECRET }, headers)
    assert.deepEqual(
      [link.status, link.body.state, link.body.error_type, link.body.provider, link.body.connected, link.body.provider_id],
      [200, 'error', 'provider_api_error', 'peloton', false, null],
    )
    assert.equal(link.body.redirect_url, BACK)
    const mfa = await anyone.post('/v2/link/provider/password/peloton/complete_mfa', { mfa_code: SECRET }, headers)
    const email = await anyone.post(
      '/v2/link/provider/email/freestyle_libre',
      { email: 'testa@example.com', region: 'gb' },
      headers,
    )
    for (const { status, body } of [mfa, email]) assert.deepEqual([status, body.error_type], [200, 'provider_api_error'])
    const { rows } = await asOwner(
      `select s::text as text from sandbox_us.link_session s where team_id = $1
       union all select i::text from sandbox_us.idempotency_key i where team_id = $1`,
      [team.team],
    )
    assert(!JSON.stringify(rows).includes(SECRET))
    const invalid = await anyone.post('/v2/link/provider/password/peloton', { username: SECRET, password: 7 }, headers)
    assert.equal(invalid.status, 422)
    assert(!JSON.stringify(invalid.body).includes(SECRET))
  })

  test('of the older steps needs the start step', async () => {
    const { token } = await createTeamWithToken()
    const link = () =>
      anyone.post('/v2/link/auth', { username: 'testa', password: SECRET, provider: 'peloton' }, withToken(token))
    assert.equal((await link()).body.error_type, 'token_not_validated')
    await anyone.post('/v2/link/start', { link_token: token, provider: 'peloton' }, {})
    assert.equal((await link()).body.error_type, 'provider_api_error')
    const email = await anyone.post(
      '/v2/link/auth/email',
      { email: 'testa@example.com', provider: 'freestyle_libre' },
      withToken(token),
    )
    assert.deepEqual([email.status, email.body.error_type], [200, 'token_not_validated'])
  })

  test('learns why a token cannot be used, with status 200', async () => {
    const { team, token } = await createTeamWithToken()
    await asOwner('update sandbox_us.link_session set expires_at = now() where team_id = $1', [team.team])
    const { status, body } = await anyone.post(
      '/v2/link/provider/password/peloton',
      { username: 'x', password: SECRET },
      withToken(token),
    )
    assert.deepEqual([status, body.error_type], [200, 'token_expired'])
  })
})
