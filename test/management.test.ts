// The management interface of the program as people run it: limits from the settings, secrets that stay out of logs, tokens that
// outlive a restart.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { caller, demoIn, endAll, folder, outcome, serving } from './program.ts'

after(endAll)

test('limits come from the settings, and say how long to wait', async () => {
  const dataDir = folder('limited')
  const settings = { REQUESTS_PER_SECOND: '1', REQUESTS_BURST: '2', WRONG_KEYS_PER_MINUTE: '2', LOG_LEVEL: 'silent' }
  const server = await serving(dataDir, settings)
  const { api_keys } = demoIn(dataDir)
  const ask = async (key: string) => {
    const response = await fetch(`${server.url}/v2/user`, { headers: { 'x-service-api-key': key } })
    return [
      response.status,
      response.headers.get('retry-after'),
      ((await response.json()) as { detail?: unknown }).detail,
    ] as const
  }
  const asked = await Promise.all(Array.from({ length: 40 }, () => ask(api_keys['sandbox-us']!)))
  const refused = asked.filter(([status]) => status === 429)
  assert(refused.length > 0 && refused.length <= 38, `${refused.length} of 40 were refused`)
  for (const [, retry_after, detail] of refused) assert.deepEqual([retry_after, typeof detail], ['1', 'string'])

  const wrong = [await ask('sk_us_x'), await ask('sk_us_y'), await ask('sk_us_z')]
  assert.deepEqual(
    wrong.map(([status]) => status),
    [401, 401, 429],
  )
  assert(Number(wrong[2]![1]) >= 1)
  assert.equal((await ask(api_keys['sandbox-eu']!))[0], 200)
  assert.equal(await server.end('SIGTERM'), 0)
})

test('no key or token is in a log, and a token outlives a restart', async () => {
  const dataDir = folder('logged')
  const settings = { LOG_LEVEL: 'trace', SUPPORT_EMAIL: 'help@clinic.example' }
  let server = await serving(dataDir, settings)
  const { org_id, management_key, teams } = demoIn(dataDir)
  const manage = (path: string, body?: unknown) =>
    caller(server.url).post(`/v1/org/${org_id}${path}`, body, { 'x-management-key': management_key })
  const brand = { brand_information: { company_name: 'Fictional Clinic' }, logo_url: 'https://clinic.example/logo.png' }
  const team = (await manage('/team', { name: 'Made', region: 'us', ...brand })).body
  assert.equal(team.sandbox.brand_information.support_email, 'help@clinic.example')
  const bound = (await manage('/management_key', { label: 'x', team_id: teams.us })).body.key
  const key = (await manage('/team_api_keys/sandbox/us', { label: 'x', team_id: teams.us })).body.value
  const token = (await manage(`/team/${teams.us}/create_api_access_token`, { env: 'sandbox' })).body.access_token
  assert.equal((await manage('/invite', { email: 'testa@clinic.example' })).status, 200)
  assert.equal((await caller(server.url, key).get('/v2/user')).status, 200)
  assert.equal(await server.end('SIGTERM'), 0)
  const logs = server.err()
  server = await serving(dataDir, settings)
  assert.equal((await caller(server.url).get('/v2/user', { authorization: `Bearer ${token}` })).status, 200)
  assert.equal(await server.end('SIGTERM'), 0)
  assert.match(logs + server.err(), /create_team_api_access_token/)
  for (const secret of [management_key, bound, key, token, 'testa@clinic.example'])
    assert(!(logs + server.err()).includes(secret.slice(6)), 'a secret is in the log')
})

test('an address of support that is none is refused in a sentence', async () => {
  const { code, err } = await outcome('start', { DATA_DIR: folder('refused'), SUPPORT_EMAIL: 'nobody' })
  assert.deepEqual([code, err], [1, 'drawbridge: SUPPORT_EMAIL must be an address of mail, not "nobody".\n'])
})
