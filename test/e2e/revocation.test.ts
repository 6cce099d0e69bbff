// What ends in one process ends in all of them within five seconds: two servers on one database, as behind a balancer.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { caller, connectionOf, demoIn, stopAll, folder, serving, start } from '../support/program.ts'

after(stopAll)

/** The promise. */
const WITHIN_MS = 5000

/** A request of a page of the console. */
const askConsole = (url: string, path: string, cookie: string, method = 'GET') =>
  fetch(`${url}/console/api/${path}`, {
    method,
    headers: { 'x-drawbridge-console': '1', 'content-type': 'application/json', origin: url, cookie },
    ...(method !== 'GET' && { body: '{}' }),
  })
const readSession = (url: string, cookie: string) => askConsole(url, 'session', cookie)

/** Signs in to the demo. @returns the cookie of the session */
const signIn = async (url: string): Promise<string> =>
  (await askConsole(url, 'sign-in/demo', '', 'POST')).headers.getSetCookie()[0]!.split(';')[0]!

test(
  'keys, tokens and sessions stop working in every process within five seconds of their end',
  { timeout: 120_000 },
  async () => {
    const dataDir = folder('revoking')
    const common = { CELLS: 'sandbox-us,production-us', LOG_LEVEL: 'silent', ENCRYPTION_KEYS: generateVaultKey() }
    const one = await serving(dataDir, common)
    const { host, port, user, password, database } = connectionOf(dataDir)
    const query = `host=${encodeURIComponent(host)}&port=${port}`
    const DATABASE_URL = `postgres://${user}:${password}@/${database}?${query}`
    const two = await serving(folder('revoking-too'), {
      ...common,
      DATABASE_URL,
      REQUESTS_PER_SECOND: '0',
      WRONG_KEYS_PER_MINUTE: '0',
    })
    const servers = [one, two]
    const { org_id, management_key } = demoIn(dataDir)

    const manage = async (method: string, path: string, body?: unknown, key = management_key, server = one) =>
      caller(server.url).call(method, `/v1/org/${org_id}${path}`, body, { 'x-management-key': key })
    const team = (await manage('POST', '/team', { name: 'To be ended', region: 'us' })).body.id as string
    const apart = (await manage('POST', '/team', { name: 'To stay', region: 'us' })).body.id as string
    const keyOf = async (team_id: string) => (await manage('POST', '/team_api_keys/sandbox/us', { label: 'x', team_id })).body
    const [deleted, revoked, ofTeam, kept] = [await keyOf(apart), await keyOf(apart), await keyOf(team), await keyOf(apart)]
    const bindings = (ids: string[]) => ids.map((team_id) => ({ team_id }))
    const manager = async (...ids: string[]) =>
      (await manage('POST', '/management_key', { label: 'x', role: 'team_admin', team_role_bindings: bindings(ids) })).body
    const [removed, unbound] = [await manager(team, apart), await manager(team, apart)]
    const token = (await manage('POST', `/team/${team}/create_api_access_token`, { env: 'sandbox' })).body.access_token as string

    const signedOut = await signIn(one.url)
    const staysSignedIn = await signIn(one.url)

    /** Who asks, and what each of the two servers answers. */
    const questions: Record<string, (server: typeof one) => Promise<{ status: number }>> = {
      'a key deleted over HTTP': ({ url }) => caller(url, deleted.value).get('/v2/user'),
      'a key revoked by command': ({ url }) => caller(url, revoked.value).get('/v2/user'),
      'a key of a deleted team': ({ url }) => caller(url, ofTeam.value).get('/v2/user'),
      'a token of a deleted team': ({ url }) => caller(url).get('/v2/user', { authorization: `Bearer ${token}` }),
      'a management key that was deleted': (server) => manage('GET', '/team', undefined, removed.key, server),
      'a management key that was bound to less': (server) => manage('GET', `/team/${apart}`, undefined, unbound.key, server),
      'a session that was signed out': ({ url }) => readSession(url, signedOut),
      'another session of the member': ({ url }) => readSession(url, staysSignedIn),
      'a key that stays': ({ url }) => caller(url, kept.value).get('/v2/user'),
    }
    const answers = async () => {
      const said: Record<string, number[]> = {}
      for (const [who, ask] of Object.entries(questions))
        said[who] = (await Promise.all(servers.map(ask))).map(({ status }) => status)
      return said
    }
    const allowed = Object.fromEntries(Object.keys(questions).map((person) => [person, [200, 200]]))
    assert.deepEqual(await answers(), allowed)

    const command = start({ args: ['src/cli/entry.js', 'key', 'revoke', revoked.id], settings: { ...common, DATA_DIR: dataDir } })
    assert.equal(await command.exitStatus, 0, command.err())
    assert.deepEqual((await manage('DELETE', `/team_api_keys/sandbox/us?api_key_id=${deleted.id}`)).body.success, [deleted.id])
    assert.equal((await manage('DELETE', `/management_key/${removed.id}`)).status, 200)
    const less = { team_role_bindings: bindings([team]) }
    assert.equal((await manage('PATCH', `/management_key/${unbound.id}`, less)).status, 200)
    assert.equal((await manage('DELETE', `/team/${team}`)).status, 200)
    assert.equal((await askConsole(one.url, 'sign-out', signedOut, 'POST')).status, 200)
    await sleep(WITHIN_MS)
    assert.deepEqual(await answers(), {
      'a key deleted over HTTP': [401, 401],
      'a key revoked by command': [401, 401],
      'a key of a deleted team': [401, 401],
      'a token of a deleted team': [401, 401],
      'a management key that was deleted': [401, 401],
      'a management key that was bound to less': [403, 403],
      'a session that was signed out': [401, 401],
      'another session of the member': [200, 200],
      'a key that stays': [200, 200],
    })

    // Both wrote down at their end when the key was last used.
    assert.equal(await two.end('SIGTERM'), 0)
    const list = start({ args: ['src/cli/entry.js', 'key', 'list', '--team', apart], settings: { ...common, DATA_DIR: dataDir } })
    assert.equal(await list.exitStatus, 0, list.err())
    assert.match(list.stdout(), new RegExp(`^${kept.id} .* used \\S+ from 127\\.0\\.0\\.1 `, 'm'))
    assert.equal(await one.end('SIGTERM'), 0)
  },
)
