// Link tokens over HTTP. Source: users-wearables.md 2.1, 2.6, 16.4.
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { eventuallyHolds } from '../../../test/support/eventually.ts'
import { exchange, readSignInToken } from '../../../test/support/phones.ts'
import {
  asOwner,
  assembleProcess,
  client,
  createTestTeam,
  expire,
  newCells,
  settings,
  url,
  type Reply,
  type TestTeam,
} from '../../../test/support/server.ts'
import { contents } from '../../app/contents.ts'
import { withToken } from '../../../test/support/link-pages.ts'

const anyone = client(undefined)

async function createTeamWithToken(body: Record<string, unknown> = {}) {
  const team = await createTestTeam()
  const user_id = await team.user()
  return { team, user_id, token: await createToken(team, user_id, body) }
}

async function createToken(team: TestTeam, user_id: string, body: Record<string, unknown> = {}): Promise<string> {
  const reply = await team.api.post('/v2/link/token', { user_id, ...body })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body.link_token as string
}
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
    const { team, user_id } = await createTeamWithToken()
    const { body } = await team.api.post('/v2/link/token', { user_id })
    const { aud, sub, team_id, user_id: named, iat, exp } = claimsOf(body.link_token)
    assert.deepEqual([aud, team_id, named, Number(exp) - Number(iat)], [`${url}/v2/link`, team.team, user_id, 3600])
    assert.match(String(sub), /^[0-9a-f-]{36}$/)
    const page = new URL(body.link_web_url)
    assert.equal(page.origin + page.pathname, `${url}/link`)
    assert.deepEqual(Object.fromEntries(page.searchParams), { token: body.link_token, env: 'sandbox', region: 'us' })
  })

  test('is the credential of its operations in both headers, without a key', async () => {
    const { team, user_id, token } = await createTeamWithToken({
      redirect_url: 'https://clinic.example/back?a=1',
      on_close: 'redirect',
    })
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
    const { team } = await createTeamWithToken()
    for (const reply of [await anyone.get('/v2/team/link/config'), await team.api.get('/v2/team/link/config')])
      assert.deepEqual(refusal(reply), [400, 'MISSING_LINK_TOKEN', undefined])
  })

  test('that was changed, that another key signed, or that is another credential, is not valid', async () => {
    const { team, user_id, token } = await createTeamWithToken()
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
    const { team, token } = await createTeamWithToken()
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
    const { team, user_id, token } = await createTeamWithToken()
    await team.api.delete(`/v2/user/${user_id}`)
    assert.deepEqual(refusal(await configOf(token)), [401, 'INVALID_REQUEST', 'invalid_token'])
    assert.equal((await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)).status, 200)
    assert.deepEqual(refusal(await configOf(token)), [401, 'INVALID_REQUEST', 'invalid_token'])
  })

  test('is not issued for an unknown user, an unknown provider, or an address that a browser would run', async () => {
    const { team, user_id } = await createTeamWithToken()
    const stranger = await (await createTestTeam()).user()
    for (const id of [randomUUID(), stranger])
      assert.deepEqual(refusal(await team.api.post('/v2/link/token', { user_id: id })), [400, 'INVALID_USER_ID', undefined])
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
    for (const text of [
      'https://clinic.example/a\r\nset-cookie: x=y',
      'https://clinic.example/\t',
      'https://clinic.example/\u007f',
    ])
      assert.equal((await team.api.post('/v2/link/token', { user_id, redirect_url: text })).status, 422, JSON.stringify(text))
    const token = await createToken(team, user_id, { redirect_url: ' https://clinic.example/zurück zu?a=ü#ö ' })
    assert.equal((await configOf(token)).body.redirect_url, 'https://clinic.example/zur%C3%BCck%20zu?a=%C3%BC#%C3%B6')
    assert.equal(
      (await team.api.post('/v2/link/token', { user_id, redirect_url: `https://c.example/${'ü'.repeat(2000)}` })).status,
      422,
    )
    for (const redirect_url of [
      'https://clinic.example',
      'clinic-app://linked',
      'callback://vital',
      'com.clinic.app:/oauth2redirect',
      'tryvital://tryvital',
      'http://localhost:3000/x',
      'https://clinic.example/@name?mail=a@b.example',
    ])
      assert.equal((await team.api.post('/v2/link/token', { user_id, redirect_url })).status, 200, redirect_url)
  })

  test('is not issued for an address that hides its host behind a user name, a backslash, or a scheme of the system', async () => {
    const { team, user_id } = await createTeamWithToken()
    const hostile = [
      'https://clinic.example@evil.example/',
      'https://clinic.example:443@evil.example/',
      'https://:secret@evil.example/',
      'https://@evil.example/',
      'https://clinic.example%40evil.example/',
      'https://clinic.example\\@evil.example/',
      'https://evil.example\\.clinic.example/',
      'https:\\\\evil.example',
      'https:evil.example',
      'https:///evil.example',
      'https://clinic.example/\u2028x',
      'https://clinic.example\u0000.evil.example/',
      '//evil.example/',
      'clinic-app://clinic.example@evil/x',
      'intent://scan/#Intent;scheme=https;S.browser_fallback_url=https%3A%2F%2Fevil.example;end',
      'ms-settings:privacy',
      'ms-word:ofe|u|https://evil.example/x.docx',
      'search-ms:query=x&crumb=location:evil.example',
      'x-apple-reminder://x',
      'mailto:a@evil.example',
      'tel:+15550100',
      'FTP://evil.example/',
      'view-source:https://evil.example',
      'feed:javascript:alert(1)',
      'blob:https://evil.example/1',
      'wss://evil.example/',
      'smb://evil.example/share',
      'x-safari-https://evil.example/',
      'firefox://open-url?url=https%3A%2F%2Fevil.example',
      'shell:startup',
    ]
    for (const redirect_url of hostile)
      assert.equal((await team.api.post('/v2/link/token', { user_id, redirect_url })).status, 422, redirect_url)
  })

  test('returns only to the origins and apps that the team lists, if it lists any', async () => {
    const { team, user_id } = await createTeamWithToken()
    const set = (link_redirect_origins: unknown) =>
      team.manage.patch(`/team/${team.team}`, { sandbox: { link_redirect_origins } })
    const { status, body } = await set(['https://CLINIC.example/', 'Clinic-App:', 'http://localhost:3000'])
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.sandbox.link_redirect_origins, ['https://clinic.example', 'clinic-app:', 'http://localhost:3000'])
    const statusOf = async (redirect_url: string) => (await team.api.post('/v2/link/token', { user_id, redirect_url })).status
    const all = [
      'https://clinic.example/back?x=1',
      'https://clinic.example:443/back',
      'clinic-app://linked',
      'clinic-app:/linked',
      'http://localhost:3000/x',
      'https://clinic.example.evil.example/',
      'https://evil.example/https://clinic.example',
      'https://evil.example?https://clinic.example/',
      'http://clinic.example/',
      'https://clinic.example:8443/',
      'https://www.clinic.example/',
      'clinic-app2://linked',
      'http://localhost:3001/x',
    ]
    const expected = all.map((_, i) => (i < 5 ? 200 : 422))
    await eventuallyHolds(async () => assert.deepEqual(await Promise.all(all.map(statusOf)), expected))
    await set([])
    await eventuallyHolds(async () => assert.equal(await statusOf('https://clinic.example/'), 422))
    assert.equal((await team.api.post('/v2/link/token', { user_id })).status, 200)
    await set(null)
    await eventuallyHolds(async () => assert.equal(await statusOf('https://evil.example/'), 200))
    for (const wrong of [
      'https://a@clinic.example',
      'https://clinic.example/path',
      '*',
      'https://*',
      'javascript:',
      'clinic.example',
      'intent:',
      'https:',
      '',
    ])
      assert.equal((await set([wrong])).status, 422, wrong)
  })

  test('names the providers of its filter only, in every step that takes a provider', async () => {
    const { team, user_id } = await createTeamWithToken()
    const token = await createToken(team, user_id, { filter_on_providers: ['strava', 'peloton'] })
    const start = (provider: string) => anyone.post('/v2/link/start', { link_token: token, provider })
    assert.deepEqual(refusal(await start('oura')), [400, 'INVALID_PROVIDER', undefined])
    assert.equal((await start('strava')).status, 200)
    const password = { username: 'testa@example.com', password: 'fictional' }
    const auth = (provider: string) => anyone.post(`/v2/link/provider/password/${provider}`, password, withToken(token))
    assert.deepEqual(refusal(await auth('zwift')), [400, 'INVALID_PROVIDER', undefined])
    assert.equal((await auth('peloton')).status, 200)
  })

  test('uses up the quota for wrong credentials of its address when it is invalid', async () => {
    const { app } = assembleProcess({ settings: { ...settings, wrong_keys_per_min: 2 }, publicUrl: () => url })
    after(() => app.close())
    const ask = async (text: string) =>
      (await app.inject({ method: 'GET', url: '/v2/team/link/config', headers: withToken(text) })).statusCode
    const { token } = await createTeamWithToken()
    assert.deepEqual([await ask('x'), await ask('x'), await ask('x'), await ask(token)], [401, 401, 429, 200])
  })
})

describe('the older steps', () => {
  test('tell whether a token is valid, bind it to a provider, and show its state', async () => {
    const { team, user_id, token } = await createTeamWithToken({ redirect_url: 'https://clinic.example/back' })
    const valid = async (text: string) => (await anyone.post('/v2/link/token/isValid', { token: text })).body
    const state = async () => (await anyone.get('/v2/link/state', withToken(token))).body
    assert.deepEqual(await valid(token), { is_valid: true, error_type: null })
    assert.deepEqual(await valid('x'), { is_valid: false, error_type: 'invalid_token' })
    assert.deepEqual([(await state()).state, (await state()).provider], ['created', null])
    const started = await anyone.post('/v2/link/start', { link_token: token, provider: 'oura' })
    assert.deepEqual([started.status, started.body], [200, { success: true, provider: 'oura', auth_type: 'team_oauth' }])
    const { state: now, provider, user_id: shown, redirect_url } = await state()
    assert.deepEqual([now, provider, shown, redirect_url], ['started', 'oura', user_id, 'https://clinic.example/back'])
    await age(team, 3600)
    assert.deepEqual(await valid(token), { is_valid: false, error_type: 'token_expired' })
    assert.equal((await state()).state, 'expired')
    assert.equal((await anyone.post('/v2/link/start', { link_token: token, provider: 'oura' })).status, 401)
  })

  test('start listed providers that can be connected, and providers with passwords, but no others', async () => {
    const { team, token } = await createTeamWithToken()
    const start = (provider: string) => anyone.post('/v2/link/start', { link_token: token, provider })
    const listed = (await team.api.get('/v2/providers')).body as { slug: string; auth_type: string }[]
    for (const { slug, auth_type } of listed) assert.deepEqual([slug, (await start(slug)).body.auth_type], [slug, auth_type])
    for (const [slug, auth_type] of [
      ['peloton', 'password'],
      ['freestyle_libre', 'email'],
    ] as const)
      assert.equal((await start(slug)).body.auth_type, auth_type)
    for (const slug of ['garmin', 'map_my_fitness', 'cronometer'])
      assert.deepEqual(refusal(await start(slug)), [400, 'INVALID_PROVIDER', undefined], slug)
  })

  test('bind a token of one provider to no other', async () => {
    const { token } = await createTeamWithToken({ provider: 'strava' })
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

describe('the older steps, like the operations with the token in a header,', () => {
  const steps = (token: string) =>
    [
      ['/v2/link/token/isValid', { token }],
      ['/v2/link/start', { link_token: token, provider: 'strava' }],
    ] as const
  type Process = ReturnType<typeof assembleProcess>['app']
  const ask = async (app: Process, path: string, payload: object, headers: Record<string, string> = {}) => {
    const { statusCode, json } = await app.inject({ method: 'POST', url: path, payload, headers })
    return [statusCode, json().is_valid ?? json().detail?.link_error_type ?? json().detail] as const
  }

  test('know no token of a cell that the process does not serve', async () => {
    const team = await createTestTeam('sandbox-eu')
    const token = await createToken(team, await team.user())
    const few = newCells(['sandbox-us'])
    const { app } = assembleProcess({ cells: few })
    after(() => app.close().then(() => few.close()))
    const [[isValid, ...validate], [start, ...begin]] = steps(token)
    assert.deepEqual(await ask(app, isValid, ...validate), [200, false])
    assert.deepEqual(await ask(app, start, ...begin), [401, 'invalid_token'])
  })

  test('take no token at the host of another cell', async () => {
    const { token } = await createTeamWithToken()
    const hosts = new Map([['eu.clinic.example', 'sandbox-eu' as const]])
    const { app } = assembleProcess({ settings: { ...settings, hosts } })
    after(() => app.close())
    for (const [path, body] of steps(token))
      assert.deepEqual(
        await ask(app, path, body, { host: 'eu.clinic.example' }),
        [401, 'The credential does not belong to the environment of this host'],
        path,
      )
  })

  test('count as requests of the session', async () => {
    const { token } = await createTeamWithToken()
    for (const step of [0, 1] as const) {
      const { app } = assembleProcess({ settings: { ...settings, requests_per_s: 0.001, requests_burst: 2 } })
      after(() => app.close())
      const statuses: unknown[] = []
      for (let i = 0; i < 3; i++) {
        const [path, body] = steps(token)[step]
        statuses.push((await ask(app, path, body))[0])
      }
      assert.deepEqual(statuses, [200, 200, 429])
    }
  })
})
