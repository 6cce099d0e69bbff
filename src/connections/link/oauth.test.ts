// Consent at a provider, from the address for the browser to the connection, against a peer that speaks OAuth 2.
// Source: users-wearables.md 2.2, 2.3.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { OAuthPeer, PEER_CLIENT } from '../../../test/support/oauth-peer.ts'
import { asOwner, assembleProcess, createTestTeam, settings, type TestTeam } from '../../../test/support/server.ts'
import { withToken } from '../../../test/support/link-pages.ts'

const peer = await new OAuthPeer().start()
let base = ''
const { app } = assembleProcess({
  settings: { ...settings, provider_urls: [`strava=${peer.url}`, `google_health=${peer.url}`] },
  publicUrl: () => base,
})
after(() => app.close())
base = await app.listen({ port: 0, host: '127.0.0.1' })

const BACK = 'https://clinic.example/linked?case=7&empty=#part'

interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  body: any
  location: URL | undefined
}

async function get(address: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(address.startsWith('/') ? base + address : address, { headers, redirect: 'manual' })
  const text = await response.text()
  const location = response.headers.get('location')
  return {
    status: response.status,
    body: response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text,
    location: location === null ? undefined : new URL(location),
  }
}

const credentials = (team: TestTeam, overrides: Record<string, unknown> = {}) =>
  team.manage.post('/team_custom_credentials/sandbox/us', {
    team_id: team.team,
    provider: 'strava',
    ...PEER_CLIENT,
    ...overrides,
  })

async function createTeamWithToken(body: Record<string, unknown> = { redirect_url: BACK }) {
  const team = await createTestTeam()
  assert.equal((await credentials(team)).status, 200)
  const user_id = await team.user()
  return { team, user_id, token: await createToken(team, user_id, body) }
}

const createToken = async (
  team: TestTeam,
  user_id: string,
  body: Record<string, unknown> = { redirect_url: BACK },
): Promise<string> => (await team.api.post('/v2/link/token', { user_id, ...body })).body.link_token

const startOAuth = (token: string, provider = 'strava') => get(`/v2/link/provider/oauth/${provider}`, withToken(token))
const addressOf = async (token: string): Promise<string> => {
  const { status, body } = await startOAuth(token)
  assert.equal(status, 200, JSON.stringify(body))
  return body.oauth_url as string
}
/** What the query of a return says. */
const returnedQuery = ({ location }: Answer): Record<string, string> => Object.fromEntries(location!.searchParams)
const errorOf = (answer: Answer): unknown[] => [answer.status, returnedQuery(answer).state, returnedQuery(answer).error_type]
const listConnections = async (team: TestTeam, user_id: string): Promise<string[][]> =>
  (await team.api.get(`/v2/user/providers/${user_id}`)).body.providers.map((provider: Record<string, string>) => [
    provider.slug,
    provider.status,
    provider.external_user_id,
  ])
const stateOf = async (token: string): Promise<unknown[]> => {
  const { body } = await get('/v2/link/state', withToken(token))
  return [body.state, body.provider, body.error_type]
}
const refusal = ({ status, body }: Answer): unknown[] => [status, body.detail?.error_type, body.detail?.link_error_type]

describe('consent', () => {
  test('connects the user, and the browser returns with the result behind the query of the team', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    const address = new URL(await addressOf(token))
    assert.equal(address.origin, peer.url)
    assert.equal(address.searchParams.get('redirect_uri'), `${base}/v2/link/connect/strava`)
    assert.deepEqual(await stateOf(token), ['started', null, null])
    const returned = await get(await peer.decide(address.href))
    assert.equal(returned.status, 307)
    assert.equal(returned.location!.href, 'https://clinic.example/linked?case=7&empty=&state=success#part')
    assert.deepEqual(await listConnections(team, user_id), [['strava', 'connected', String(peer.account)]])
    assert((await team.events()).includes('provider.connection.created'))
    assert.deepEqual(await stateOf(token), ['success', 'strava', null])
  })

  test('uses its token up: no further address, no further connection', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    const [first, second] = [await addressOf(token), await addressOf(token)]
    assert.equal((await get(await peer.decide(first))).status, 401, 'the first address was replaced')
    assert.equal(returnedQuery(await get(await peer.decide(second))).state, 'success')
    assert.deepEqual(refusal(await startOAuth(token)), [401, 'INVALID_REQUEST', 'token_consumed'])
    assert.equal((await listConnections(team, user_id)).length, 1)
    const other = await createToken(team, user_id)
    const again = await peer.decide(await addressOf(other))
    assert.equal(returnedQuery(await get(again)).state, 'success')
    assert.equal((await listConnections(team, user_id)).length, 1)
  })

  test('returns once, also when the browser returns twenty times at once', async () => {
    const { team, token } = await createTeamWithToken()
    const back = await peer.decide(await addressOf(token))
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(back)))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [307, ...Array<number>(19).fill(401)])
    assert.equal((await team.events()).filter((type) => type === 'provider.connection.created').length, 1)
  })

  test('creates no connection after a refusal, an unknown error or a missing code; the token can be used again', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    assert.deepEqual(errorOf(await get(await peer.decide(await addressOf(token), 'refuse'))), [307, 'error', 'user_cancelled'])
    assert.deepEqual(await stateOf(token), ['error', null, 'user_cancelled'])
    const stateIn = async () => new URL(await addressOf(token)).searchParams.get('state')!
    for (const query of ['error=temporarily_unavailable', '', 'code=', 'code=%00', `code=${'x'.repeat(5000)}`])
      assert.deepEqual(
        errorOf(await get(`/v2/link/connect/strava?state=${await stateIn()}&${query}`)),
        [307, 'error', 'provider_api_error'],
        query.slice(0, 30),
      )
    assert.deepEqual(errorOf(await get(`/v2/link/connect/strava?state=${await stateIn()}&code=another`)), [
      307,
      'error',
      'provider_credential_error',
    ])
    assert.deepEqual(await listConnections(team, user_id), [])
    assert.equal(returnedQuery(await get(await peer.decide(await addressOf(token)))).state, 'success')
  })

  test('fails with provider_api_error while the provider is down, or when the team has removed its credentials', async () => {
    const { team, token } = await createTeamWithToken()
    const back = await peer.decide(await addressOf(token))
    peer.isDown = true
    const answer = await get(back)
    peer.isDown = false
    assert.deepEqual(errorOf(answer), [307, 'error', 'provider_api_error'])
    const later = await peer.decide(await addressOf(token))
    const { credentials: found } = (await team.manage.get('/team_custom_credentials/sandbox/us')).body
    await team.manage.delete(`/team_custom_credentials/sandbox/us?credential_id=${found[0].id}`)
    assert.deepEqual(errorOf(await get(later)), [307, 'error', 'provider_api_error'])
  })

  test('creates no connection if the token has expired', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    const back = await peer.decide(await addressOf(token))
    await asOwner('update sandbox_us.link_session set expires_at = now() where team_id = $1', [team.team])
    assert.deepEqual(errorOf(await get(back)), [307, 'error', 'token_expired'])
    assert.deepEqual(refusal(await startOAuth(token)), [401, 'INVALID_REQUEST', 'token_expired'])
    assert.deepEqual(await listConnections(team, user_id), [])
  })

  test('creates no connection for a user who was deleted meanwhile', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    const back = await peer.decide(await addressOf(token))
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await get(back)).status, 401)
    await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
    assert.deepEqual(await listConnections(team, user_id), [])
  })

  test('is proved by a verifier where the provider supports it, so that the code of another session is of no use', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    await credentials(team, { provider: 'google_health' })
    const addressAt = async (token: string) => (await startOAuth(token, 'google_health')).body.oauth_url as string
    const address = new URL(await addressAt(token))
    assert.equal(address.searchParams.get('code_challenge_method'), 'S256')
    assert.match(address.searchParams.get('code_challenge')!, /^[\w-]{43}$/)
    const stolen = new URL(await peer.decide(address.href)).searchParams.get('code')!
    const other = await team.user()
    const theirs = await createToken(team, other)
    const state = new URL(await addressAt(theirs)).searchParams.get('state')!
    assert.deepEqual(errorOf(await get(`/v2/link/connect/google_health?state=${state}&code=${stolen}`)), [
      307,
      'error',
      'provider_credential_error',
    ])
    assert.deepEqual(await listConnections(team, other), [])
    const done = await get(await peer.decide(await addressAt(token)))
    assert.equal(returnedQuery(done).state, 'success')
    assert.match(peer.exchanges.at(-1)!.get('code_verifier')!, /^[\w-]{43}$/)
    assert.deepEqual(await listConnections(team, user_id), [['google_health', 'connected', String(peer.account)]])
  })

  test('creates no connection without the scopes that the team requires, and returns the grant', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    peer.account += 1
    const path = `/team/${team.team}/scope_requirements`
    const set = await team.manage.post(path, { strava: { user_must_grant: ['activity:read_all'], user_may_grant: [] } })
    assert.equal(set.status, 200, JSON.stringify(set.body))
    const address = await addressOf(token)
    assert(new URL(address).searchParams.get('scope')!.split(',').includes('activity:read_all'))
    peer.grantedScopes = ['read', 'activity:read']
    const before = peer.revokedCount
    const answer = await get(await peer.decide(address))
    peer.grantedScopes = undefined
    assert.deepEqual(errorOf(answer), [307, 'error', 'required_scopes_not_granted'])
    assert.equal(peer.revokedCount, before + 1)
    assert.deepEqual(await listConnections(team, user_id), [])
    assert.equal(returnedQuery(await get(await peer.decide(await addressOf(token)))).state, 'success')
  })

  test('of a user with demo connections is refused, also when they begin before the browser returns', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    const back = await peer.decide(await addressOf(token))
    assert.equal((await team.api.post('/v2/link/connect/demo', { user_id, provider: 'oura' })).status, 200)
    assert.deepEqual(errorOf(await get(back)), [307, 'error', 'provider_api_error'])
    assert.equal((await startOAuth(token)).status, 400)
    assert.deepEqual(
      (await listConnections(team, user_id)).map(([slug]) => slug),
      ['oura'],
    )
  })

  test('to an account of another user is a duplicate if the team rejects them, and the other connection stays', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    peer.account += 1
    assert.equal(returnedQuery(await get(await peer.decide(await addressOf(token)))).state, 'success')
    const other = await team.user()
    const set = await team.manage.patch(`/team/${team.team}`, { sandbox: { reject_duplicate_connection: true } })
    assert.equal(set.status, 200, JSON.stringify(set.body))
    const before = peer.revokedCount
    const again = await get(await peer.decide(await addressOf(await createToken(team, other))))
    assert.deepEqual(errorOf(again), [307, 'error', 'duplicate_connection'])
    assert.deepEqual([await listConnections(team, other), peer.revokedCount], [[], before])
    assert.equal((await listConnections(team, user_id))[0]![1], 'connected')
    const own = await get(await peer.decide(await addressOf(await createToken(team, user_id))))
    assert.equal(returnedQuery(own).state, 'success')
    await team.manage.patch(`/team/${team.team}`, { sandbox: { reject_duplicate_connection: false } })
    const allowed = await get(await peer.decide(await addressOf(await createToken(team, other))))
    assert.equal(returnedQuery(allowed).state, 'success')
  })

  test('goes to the redirect address of the team, if it has one, which forwards the query', async () => {
    const { team, token } = await createTeamWithToken()
    await credentials(team, { redirect_url_override: 'https://login.clinic.example/strava' })
    const back = await peer.decide(await addressOf(token))
    assert(back.startsWith('https://login.clinic.example/strava?'))
    assert.equal(returnedQuery(await get(`/v2/link/connect/strava${new URL(back).search}`)).state, 'success')
    assert.equal(peer.exchanges.at(-1)!.get('code'), new URL(back).searchParams.get('code'))
  })

  test('is answered with JSON for a client that follows no redirect', async () => {
    const { token } = await createTeamWithToken()
    const plain = { 'x-vital-sdk-no-redirect': '1' }
    const refused = await get(await peer.decide(await addressOf(token), 'refuse'), plain)
    assert.deepEqual([refused.status, refused.body.state, refused.body.error_type], [200, 'error', 'user_cancelled'])
    const { status, body } = await get(await peer.decide(await addressOf(token)), plain)
    assert.deepEqual([status, body.state, body.connected, body.redirect_url], [200, 'success', true, BACK])
    const unknown = await get('/v2/link/connect/strava?state=x&code=y', plain)
    assert.deepEqual(refusal(unknown), [401, 'INVALID_REQUEST', 'invalid_token'])
  })

  test('shows a page if the token has no address to return to', async () => {
    const { token } = await createTeamWithToken({})
    const refused = await get(await peer.decide(await addressOf(token), 'refuse'))
    assert.deepEqual([refused.status, refused.location], [400, undefined])
    assert.match(refused.body, /You did not agree/)
    const done = await get(await peer.decide(await addressOf(token)))
    assert.equal(done.status, 200)
    assert.match(done.body, /Strava is connected/)
  })
})

describe('a state', () => {
  test('belongs to its provider, its session and its cell; another text is refused', async () => {
    const { token } = await createTeamWithToken()
    const address = new URL(await addressOf(token))
    const state = address.searchParams.get('state')!
    assert.match(state, /^ls_sandbox-us_/)
    const wrong = [
      '',
      'x',
      state.slice(0, -1),
      `${state}x`,
      `${state.slice(0, -4)}AAAA`,
      state.replace('sandbox-us', 'sandbox-eu'),
      state.replace('sandbox-us', 'moon-us'),
      '%00',
      `${state}&state=x`,
      'x'.repeat(8000),
    ]
    for (const text of wrong)
      assert.equal((await get(`/v2/link/connect/strava?code=x&state=${text}`)).status, 401, text.slice(0, 300))
    for (const provider of ['withings', 'garmin', 'nobody', '%00', '__proto__'])
      assert.equal((await get(`/v2/link/connect/${provider}?code=x&state=${state}`)).status, 401, provider)
    assert.equal(returnedQuery(await get(await peer.decide(address.href))).state, 'success')
  })

  test('is stored as a hash, and no stored row contains it or a code', async () => {
    const { team, token } = await createTeamWithToken()
    const address = new URL(await addressOf(token))
    const { rows } = await asOwner('select s::text as text from sandbox_us.link_session s where team_id = $1', [team.team])
    assert(!JSON.stringify(rows).includes(address.searchParams.get('state')!.slice(-43)))
  })
})

describe('the address for the browser', () => {
  test('is given for providers with a connector and credentials of the team, and for that of the token', async () => {
    const { team, user_id, token } = await createTeamWithToken()
    const { body } = await startOAuth(token)
    assert.deepEqual(
      [body.slug, body.name, body.auth_type, body.logo, body.is_active],
      ['strava', 'Strava', 'team_oauth', '', true],
    )
    const offered = (await get('/v2/link/providers', withToken(token))).body as { slug: string; auth_type: string }[]
    assert.deepEqual(
      offered.map(({ slug, auth_type }) => [slug, auth_type]),
      [['strava', 'team_oauth']],
    )
    for (const provider of ['withings', 'garmin'])
      assert.deepEqual(refusal(await startOAuth(token, provider)), [400, 'INVALID_PROVIDER', undefined], provider)
    assert.equal((await startOAuth(token, 'nobody')).status, 422)
    const bound = await createToken(team, user_id, { provider: 'withings' })
    assert.deepEqual(refusal(await startOAuth(bound)), [400, 'INVALID_PROVIDER', undefined])
  })
})
