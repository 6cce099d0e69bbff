// Link tokens and link codes over HTTP. Source: users-wearables.md 2.1, 2.6, 16.4.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { bearer, exchange, readSignInToken } from '../../../test/support/phones.ts'
import {
  asOwner,
  assembled,
  cells,
  client,
  createTestTeam,
  expire,
  settings,
  url,
  type Reply,
  type TestTeam,
} from '../../../test/support/server.ts'
import { contents } from '../../app/contents.ts'
import { Problem } from '../../platform/runtime/problem.ts'

const anyone = client(undefined)

async function given(body: Record<string, unknown> = {}) {
  const team = await createTestTeam()
  const user_id = await team.user()
  return { team, user_id, token: await tokenOf(team, user_id, body) }
}

async function tokenOf(team: TestTeam, user_id: string, body: Record<string, unknown> = {}): Promise<string> {
  const reply = await team.api.post('/v2/link/token', { user_id, ...body })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body.link_token as string
}

const withToken = (token: string) => ({ 'x-vital-link-token': token })
const configOf = (token: string): Promise<Reply> => anyone.get('/v2/team/link/config', withToken(token))
const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>
const refusal = ({ status, body }: Reply): unknown[] => [status, body.detail?.error_type, body.detail?.link_error_type]
const sessionRows = (team: TestTeam) => asOwner('select * from sandbox_us.link_session where team_id = $1', [team.team])
const age = (team: TestTeam, seconds: number) =>
  asOwner('update sandbox_us.link_session set expires_at = expires_at - make_interval(secs => $2) where team_id = $1', [
    team.team,
    seconds,
  ])

describe('a link token', () => {
  test('is a JWT that names host, session, team and user, and stands in the address of the link page', async () => {
    const { team, user_id } = await given()
    const { body } = await team.api.post('/v2/link/token', { user_id })
    const { aud, sub, team_id, user_id: named, iat, exp } = claimsOf(body.link_token)
    assert.deepEqual([aud, team_id, named, Number(exp) - Number(iat)], [`${url}/v2/link`, team.team, user_id, 3600])
    assert.match(String(sub), /^[0-9a-f-]{36}$/)
    const page = new URL(body.link_web_url)
    assert.equal(page.origin + page.pathname, `${url}/link`)
    assert.deepEqual(Object.fromEntries(page.searchParams), { token: body.link_token, env: 'sandbox', region: 'us' })
  })

  test('is the credential of its operations in both headers, without a key', async () => {
    const { team, user_id, token } = await given({ redirect_url: 'https://clinic.example/back?a=1', on_close: 'redirect' })
    for (const header of ['x-vital-link-token', 'x-service-link-token', 'X-Vital-Link-Token']) {
      const { status, body } = await anyone.get('/v2/team/link/config', { [header]: token })
      assert.equal(status, 200)
      assert.deepEqual(
        [body.team_id, body.user_id, body.name, body.redirect_url, body.on_close, body.on_error],
        [team.team, user_id, 'Test team', 'https://clinic.example/back?a=1', 'redirect', null],
      )
    }
  })

  test('is missed with 400, and a key does not replace it', async () => {
    const { team } = await given()
    for (const reply of [await anyone.get('/v2/team/link/config'), await team.api.get('/v2/team/link/config')])
      assert.deepEqual(refusal(reply), [400, 'MISSING_LINK_TOKEN', undefined])
  })

  test('that was changed, that another key signed, or that is another credential, is not valid', async () => {
    const { team, user_id, token } = await given()
    const [head, , signature] = token.split('.') as [string, string, string]
    const other = Buffer.from(JSON.stringify({ ...claimsOf(token), user_id: await team.user() })).toString('base64url')
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const forged = sign('RSA-SHA256', Buffer.from(`${head}.${other}`), privateKey).toString('base64url')
    const signIn = (await team.api.post(`/v2/user/${user_id}/sign_in_token`)).body.sign_in_token as string
    const { user_token } = readSignInToken(signIn)
    const wrong = [`${head}.${other}.${signature}`, `${head}.${other}.${forged}`, user_token, team.key, 'x', 'x'.repeat(3000)]
    for (const text of wrong) assert.deepEqual(refusal(await configOf(text)), [401, 'INVALID_REQUEST', 'invalid_token'])
    assert.equal((await exchange(token)).status, 401)
    assert.equal((await anyone.get('/v2/user', { authorization: `Bearer ${token}` })).status, 401)
  })

  test('expires after an hour; the session is forgotten a day later', async () => {
    const { team, token } = await given()
    await age(team, 3590)
    assert.equal((await configOf(token)).status, 200)
    await age(team, 10)
    assert.deepEqual(refusal(await configOf(token)), [401, 'INVALID_REQUEST', 'token_expired'])
    await age(team, 86_400)
    const { periodicTasks } = contents.modules.find(({ name }) => name === 'connections/link')!
    await expire(team.db, ...periodicTasks!)
    assert.equal((await sessionRows(team)).rowCount, 0)
    assert.deepEqual(refusal(await configOf(token)), [401, 'INVALID_REQUEST', 'invalid_token'])
  })

  test('ends when its user is deleted, and does not return when the deletion is undone', async () => {
    const { team, user_id, token } = await given()
    await team.api.delete(`/v2/user/${user_id}`)
    assert.deepEqual(refusal(await configOf(token)), [401, 'INVALID_REQUEST', 'invalid_token'])
    assert.equal((await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)).status, 200)
    assert.deepEqual(refusal(await configOf(token)), [401, 'INVALID_REQUEST', 'invalid_token'])
  })

  test('is not issued for an unknown user, an unknown provider, or an address that a browser would run', async () => {
    const { team, user_id } = await given()
    const stranger = await (await createTestTeam()).user()
    for (const id of [randomUUID(), stranger])
      assert.deepEqual(refusal(await team.api.post('/v2/link/token', { user_id: id })), [404, 'INVALID_USER_ID', undefined])
    const invalid = [
      { provider: 'nobody' },
      { filter_on_providers: [] },
      { filter_on_providers: ['nobody'] },
      { on_error: 'show' },
      { on_close: true },
      ...['javascript:alert(1)', 'data:text/html,x', ' javascript:alert(1)', 'JaVaScript:x', '/back', 'https://', 'x'].map(
        (redirect_url) => ({ redirect_url }),
      ),
    ]
    for (const body of invalid)
      assert.equal((await team.api.post('/v2/link/token', { user_id, ...body })).status, 422, JSON.stringify(body))
    for (const redirect_url of ['https://clinic.example', 'clinic-app://linked', 'http://localhost:3000/x'])
      assert.equal((await team.api.post('/v2/link/token', { user_id, redirect_url })).status, 200, redirect_url)
  })

  test('uses up the quota for wrong credentials of its address when it is invalid', async () => {
    const { app } = assembled({ settings: { ...settings, wrong_keys_per_min: 2 }, publicUrl: () => url })
    after(() => app.close())
    const ask = async (text: string) =>
      (await app.inject({ method: 'GET', url: '/v2/team/link/config', headers: withToken(text) })).statusCode
    const { token } = await given()
    assert.deepEqual([await ask('x'), await ask('x'), await ask('x'), await ask(token)], [401, 401, 429, 200])
  })
})

describe('the older steps', () => {
  test('tell whether a token is valid, bind it to a provider, and show its state', async () => {
    const { team, user_id, token } = await given({ redirect_url: 'https://clinic.example/back' })
    const valid = async (text: string) => (await anyone.post('/v2/link/token/isValid', { token: text })).body
    const state = async () => (await anyone.get('/v2/link/state', withToken(token))).body
    assert.deepEqual(await valid(token), { is_valid: true, error_type: null })
    assert.deepEqual(await valid('x'), { is_valid: false, error_type: 'invalid_token' })
    assert.deepEqual([(await state()).state, (await state()).provider], ['created', null])
    const started = await anyone.post('/v2/link/start', { link_token: token, provider: 'oura' })
    assert.deepEqual([started.status, started.body], [200, { success: true, provider: 'oura', auth_type: 'oauth' }])
    const { state: now, provider, user_id: shown, redirect_url } = await state()
    assert.deepEqual([now, provider, shown, redirect_url], ['started', 'oura', user_id, 'https://clinic.example/back'])
    await age(team, 3600)
    assert.deepEqual(await valid(token), { is_valid: false, error_type: 'token_expired' })
    assert.equal((await state()).state, 'expired')
    assert.equal((await anyone.post('/v2/link/start', { link_token: token, provider: 'oura' })).status, 401)
  })

  test('bind a token of one provider to no other', async () => {
    const { token } = await given({ provider: 'strava' })
    const start = (provider: string) => anyone.post('/v2/link/start', { link_token: token, provider })
    assert.deepEqual(refusal(await start('oura')), [400, 'INVALID_PROVIDER', undefined])
    assert.equal((await start('strava')).status, 200)
    assert.deepEqual(refusal(await anyone.post('/v2/link/start', { link_token: 'x', provider: 'oura' })), [
      401,
      'INVALID_REQUEST',
      'invalid_token',
    ])
  })
})

describe('a link code', () => {
  const create = (team: TestTeam, user_id: string, more = '') => team.api.post(`/v2/link/code/create?user_id=${user_id}${more}`)
  const redeem = (code: string) => anyone.post(`/v2/link/code/exchange?code=${code}&grant_type=sign_in_token`)

  test('is exchanged once, without a key, for a sign-in token of its user', async () => {
    const { team, user_id } = await given()
    const { status, body } = await create(team, user_id)
    assert.equal(status, 200)
    assert.match(body.code, /^skus[0-9a-f]{8}$/)
    assert.equal(body.exchange_url, `tryvital://tryvital?code=${body.code}`)
    const ahead_s = (Date.parse(body.expires_at) - Date.now()) / 1000
    assert(ahead_s > 3500 && ahead_s <= 3600, String(ahead_s))
    const given_ = await redeem(body.code)
    assert.equal(given_.status, 200)
    assert.deepEqual([given_.body.user_id, given_.body.team], [user_id, { name: 'Test team', logo_url: null }])
    const phone = await exchange(readSignInToken(given_.body.sign_in_token).user_token)
    assert.equal((await anyone.get(`/v2/user/${user_id}`, bearer(phone.body))).body.user_id, user_id)
    assert.deepEqual(refusal(await redeem(body.code)), [401, 'INVALID_REQUEST', undefined])
  })

  test('is exchanged once by twenty concurrent requests', async () => {
    const { team, user_id } = await given()
    const { app, operations } = assembled()
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_link_code')!
    const { code } = (await create(team, user_id)).body
    const asked = Array.from({ length: 20 }, async (_, i) => {
      const context = { tenant: undefined as never, cells, address: `192.0.2.${i}` }
      return run(context, { query: { code, grant_type: 'sign_in_token' } }).then(
        () => 200,
        (error: unknown) => (error instanceof Problem ? error.status : 500),
      )
    })
    assert.deepEqual((await Promise.all(asked)).toSorted(), [200, ...Array<number>(19).fill(401)])
  })

  test('expires when it says, which is at most a day ahead', async () => {
    const { team, user_id } = await given()
    const at = (seconds: number) => encodeURIComponent(new Date(Date.now() + seconds * 1000).toISOString())
    assert.equal((await create(team, user_id, `&expires_at=${at(-10)}`)).status, 422)
    assert.equal((await create(team, user_id, `&expires_at=${at(86_400 + 60)}`)).status, 422)
    const { body } = await create(team, user_id, `&expires_at=${at(80_000)}`)
    assert.equal(body.expires_at, `${new Date(Date.parse(body.expires_at)).toISOString().slice(0, 19)}+00:00`)
    await asOwner(`update sandbox_us.link_code set expires_at = now() where team_id = $1`, [team.team])
    assert.equal((await redeem(body.code)).status, 401)
  })

  test('of the oldest ends when a user has more than five, and all end when the user is deleted', async () => {
    const { team, user_id } = await given()
    const codes: string[] = []
    for (let i = 0; i < 6; i++) codes.push((await create(team, user_id)).body.code)
    assert.equal((await redeem(codes[0]!)).status, 401)
    assert.equal((await redeem(codes[1]!)).status, 200)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await redeem(codes[5]!)).status, 401)
    assert.deepEqual(refusal(await create(team, user_id)), [404, 'INVALID_USER_ID', undefined])
  })

  test('is stored as a hash only', async () => {
    const { team, user_id } = await given()
    const { code } = (await create(team, user_id)).body
    const { rows } = await asOwner('select c::text as text from sandbox_us.link_code c where team_id = $1', [team.team])
    assert(JSON.stringify(rows).includes(user_id) && !JSON.stringify(rows).includes(code))
  })

  test('cannot be guessed: a network may send ten wrong ones in an hour, whatever else it sends', async () => {
    const { team, user_id } = await given()
    const { app, operations } = assembled()
    after(() => app.close())
    const { run } = operations.find(({ id }) => id === 'exchange_link_code')!
    const statusFor = async (code: string, address: string): Promise<number> => {
      try {
        await run({ tenant: undefined as never, cells, address }, { query: { code, grant_type: 'sign_in_token' } })
      } catch (error) {
        if (error instanceof Problem) return error.status
        throw error
      }
      return 200
    }
    const wrong = Array.from({ length: 12 }, (_, i) => `skus${i.toString(16).padStart(8, '0')}`)
    const statuses = await Promise.all(wrong.map((code) => statusFor(code, '192.0.2.1')))
    assert.deepEqual(statuses.toSorted(), [...Array<number>(10).fill(401), 429, 429])
    const { code } = (await create(team, user_id)).body
    assert.equal(await statusFor(code, '192.0.2.1'), 429)
    assert.equal(await statusFor(code, '192.0.2.2'), 200)
  })

  test('is refused in another form', async () => {
    for (const query of ['', '?code=x&grant_type=sign_in_token', '?code=skus00000000', '?code=skus00000000&grant_type=password'])
      assert.equal((await anyone.post(`/v2/link/code/exchange${query}`)).status, 422, query)
  })
})
