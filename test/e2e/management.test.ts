// The Management API of the program as people run it: limits from the settings, hosts of cells, secrets that stay out of logs, tokens
// that outlive a restart.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { caller, demoIn, stopAll, folder, outcome, serving, type Server } from '../support/program.ts'

after(stopAll)

test('rate limits follow the settings, and responses state how long to wait', async () => {
  const dataDir = folder('limited')
  const settings = {
    CELLS: 'sandbox-us,sandbox-eu',
    REQUESTS_PER_SECOND: '1',
    REQUESTS_BURST: '2',
    WRONG_KEYS_PER_MINUTE: '2',
    TRUSTED_PROXIES: '127.0.0.0/8',
    LOG_LEVEL: 'silent',
  }
  const server = await serving(dataDir, settings)
  const { api_keys } = demoIn(dataDir)
  const ask = async (key: string, forwardedFor = '192.0.2.1') => {
    const headers = { 'x-service-api-key': key, 'x-forwarded-for': forwardedFor }
    const response = await fetch(`${server.url}/v2/user`, { headers })
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

  assert.equal((await ask(api_keys['sandbox-eu']!))[0], 200)
  const wrong = [await ask('sk_us_x'), await ask('sk_us_y'), await ask('sk_us_z')]
  assert.deepEqual(
    wrong.map(([status]) => status),
    [401, 401, 429],
  )
  assert(Number(wrong[2]![1]) >= 1)
  assert.equal((await ask('sk_us_x', '192.0.2.2'))[0], 401)
  // What a caller writes itself stands before what the proxy appends, and counts for nothing.
  assert.equal((await ask('sk_us_x', '192.0.2.9, 192.0.2.1'))[0], 429)
  assert.equal((await ask(api_keys['sandbox-eu']!))[0], 200)
  assert.equal(await server.end('SIGTERM'), 0)
})

/** Asks under the name of a host, which is not that of the address. */
const statusAt = (
  url: string,
  host: string,
  path: string,
  headers: Record<string, string>,
): Promise<[number, string | undefined]> =>
  new Promise((resolve, reject) => {
    const asked = request(url + path, { headers: { ...headers, host } }, (response) => {
      response.resume()
      resolve([response.statusCode!, response.headers['www-authenticate']])
    })
    asked.on('error', reject).end()
  })

describe('a server with hosts of its cells', { concurrency: 1 }, () => {
  const dataDir = folder('hosts')
  const settings = {
    CELL_HOSTS: 'sandbox.us.example=sandbox-us, Production.EU.example=production-eu,::1=sandbox-eu,manage.example=management',
    LOG_LEVEL: 'trace',
    SUPPORT_EMAIL: 'help@clinic.example',
  }
  let server: Server
  before(async () => {
    server = await serving(dataDir, settings)
  })

  test('a bound host accepts only credentials of its cell or of the Management API', async () => {
    const { api_keys, org_id, management_key, teams } = demoIn(dataDir)
    const ask = async (host: string, headers: Record<string, string>) =>
      (await statusAt(server.url, host, '/v2/user', headers))[0]
    const spellings: Record<string, string[]> = {
      'sandbox-us': ['sandbox.us.example', 'SANDBOX.us.example:8080', 'sandbox.us.example.'],
      'production-eu': ['production.eu.example', 'production.eu.example:443'],
      'sandbox-eu': ['[::1]:9', '[::1]'],
      none: ['manage.example', 'manage.example:1'],
    }
    for (const [bound, hosts] of Object.entries(spellings))
      for (const host of hosts)
        for (const [cell, key] of Object.entries(api_keys))
          assert.equal(await ask(host, { 'x-service-api-key': key }), cell === bound ? 200 : 401, `${cell} at ${host}`)
    // A demo server answers for no other names.
    for (const [host, status] of [
      ['elsewhere.example', 421],
      ['us.example', 421],
      ['127.0.0.1', 200],
    ] as const)
      for (const key of Object.values(api_keys)) assert.equal(await ask(host, { 'x-service-api-key': key }), status, host)

    const manager = { 'x-management-key': management_key }
    for (const [host, status] of [
      ['manage.example', 200],
      ['elsewhere.example', 421],
      ['sandbox.us.example', 401],
    ] as const)
      assert.deepEqual(await statusAt(server.url, host, `/v1/org/${org_id}`, manager), [status, undefined], host)

    const path = `/v1/org/${org_id}/team/${teams.us}/create_api_access_token`
    const token = (await caller(server.url).post(path, { env: 'sandbox' }, manager)).body.access_token as string
    const bearer = { authorization: `Bearer ${token}` }
    assert.deepEqual(await statusAt(server.url, 'sandbox.us.example', '/v2/user', bearer), [200, undefined])
    assert.deepEqual(await statusAt(server.url, 'production.eu.example', '/v2/user', bearer), [401, 'Bearer'])
    const both = { ...bearer, 'x-service-api-key': api_keys['sandbox-us']! }
    assert.deepEqual(await statusAt(server.url, 'production.eu.example', '/v2/user', both), [401, undefined])
    assert.equal((await statusAt(server.url, 'production.eu.example', '/healthz', {}))[0], 200)
  })

  test('no log contains a key or token, and a token is valid after a restart', async () => {
    const { org_id, management_key, teams, api_keys } = demoIn(dataDir)
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
    for (const secret of [...Object.values(api_keys), management_key, bound, key, token, 'testa@clinic.example'])
      assert(!(logs + server.err()).includes(secret.slice(6)), 'a secret is in the log')
  })
})

test('an invalid support address stops the start with an error message', async () => {
  const { code, err } = await outcome('start', { DATA_DIR: folder('refused'), SUPPORT_EMAIL: 'nobody' })
  assert.deepEqual([code, err], [1, 'drawbridge: SUPPORT_EMAIL must be an email address, not "nobody".\n'])
})
