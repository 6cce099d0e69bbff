// The program whose database falls silent: old connections stay open and are never answered, new ones work, as after a failover.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEmbedded, type Embedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { address, patient, shipping } from '../support/people.ts'
import {
  caller,
  demoIn,
  stopAll,
  folder,
  migrateDataDir,
  onDatabase,
  serving,
  waitUntil,
  type Caller,
  type Reply,
  type Server,
} from '../support/program.ts'
import { databaseProxy, type DatabaseProxy } from '../support/faults/database-proxy.ts'

/**
 * Promised, on a machine with room: nothing waits longer than 35 s, new requests are answered again within 20 s, `/readyz` within 5 s. Here
 * there is patience for a machine without; none of them came at all where nobody looks for silence.
 */
const WAIT_MS_MAX = 60_000
const AGAIN_MS_MAX = 60_000
const READY_MS_MAX = 20_000

let database: Embedded
let proxy: DatabaseProxy
let server: Server
let settings: Record<string, string>

before(async () => {
  database = await openEmbedded({
    dataDir: migrateDataDir(folder('external')),
    ownership: 'required',
    log: () => {},
    settings: { fsync: 'off', max_connections: '200' },
  })
  const { host, port, user, password, database: name } = database.connection
  proxy = await databaseProxy({ host, port })
  settings = {
    DATABASE_URL: `postgres://${user}:${password}@127.0.0.1:${proxy.port}/${name}`,
    CELLS: 'sandbox-us',
    DEMO: 'on',
    SANDBOX_USERS_MAX: '0',
    ENCRYPTION_KEYS: generateVaultKey(),
  }
  server = await serving(folder('data'), settings)
})

after(async () => {
  await proxy?.close()
  await database?.stop()
  await stopAll()
})

const measureReply = async (work: Promise<Reply>): Promise<Reply & { ms: number }> => {
  const began = performance.now()
  const reply = await work
  return { ...reply, ms: performance.now() - began }
}

let users = 0
const create = (api: Caller) => measureReply(api.post('/v2/user', { client_user_id: `user ${++users}` }))

/** Requests of every kind that are under way when the database falls silent. */
const load = (api: Caller) =>
  Promise.all(
    Array.from({ length: 8 }, () => [create(api), measureReply(api.get('/v2/user')), measureReply(api.get('/v3/orders'))]).flat(),
  )

test('requests are answered again soon after open connections to the database have fallen silent', async () => {
  const api = caller(server.url, demoIn(server.dataDir).api_keys['sandbox-us'])
  for (const { status } of await load(api)) assert.equal(status, 200)

  proxy.set('silent')
  const began = performance.now()
  const [waiting, ready] = await Promise.all([load(api), measureReply(caller(server.url).get('/readyz'))])
  for (const { status, ms } of waiting) {
    assert.ok(status === 200 || status === 503, `HTTP ${status}`)
    assert.ok(ms < WAIT_MS_MAX)
  }
  assert.ok(ready.ms < READY_MS_MAX, `/readyz took ${ready.ms} ms`)
  await waitUntil(async () => (await create(api)).status === 200)
  assert.ok(performance.now() - began < AGAIN_MS_MAX)
  for (const { status } of await load(api)) assert.equal(status, 200)
  await waitUntil(async () => (await caller(server.url).get('/readyz')).status === 200)
})

/** The body of a request that creates something, with a text that nothing else has, and how the list of what is there says it. */
const creations: Record<string, (ids: { user_id: string; lab_test_id: string }, mark: string) => Record<string, unknown>> = {
  '/v3/order': (ids, mark) => ({ ...ids, passthrough: mark, patient_details: patient, patient_address: address }),
  '/v3/order/testkit': (ids, mark) => ({
    ...ids,
    passthrough: mark,
    shipping_details: shipping,
  }),
  '/v2/user': (_ids, mark) => ({ client_user_id: mark }),
}

for (const [path, bodyOf] of Object.entries(creations))
  test(`POST ${path} reports an unknown outcome if the connection is lost during the commit, and a retry with the same key creates no duplicate`, async () => {
    const api = caller(server.url, demoIn(server.dataDir).api_keys['sandbox-us'])
    const user_id = (await create(api)).body.user_id as string
    const lab_test_id = (await api.get('/v3/lab_tests?collection_method=testkit')).body[0].id as string
    const mark = `mark-${randomUUID()}`
    const body = bodyOf({ user_id, lab_test_id }, mark)
    const key = { 'x-idempotency-key': randomUUID() }
    const made = () =>
      onDatabase(database.connection, async (client) => {
        const { rows } = await client.query<{ id: string }>(
          `select id::text from sandbox_us.lab_order where document like $1
           union all select id::text from sandbox_us."user" where client_user_id = $2`,
          [`%${mark}%`, mark],
        )
        return rows.map(({ id }) => id)
      })
    proxy.set('cut before the answer of COMMIT')
    const unknown = await api.post(path, body, key)
    proxy.set('pass')
    assert.deepEqual([unknown.status, unknown.body.detail.slice(0, 22)], [503, 'The outcome is unknown'])
    // The answer of the statement before may have been cut, while the database is still busy with the commit.
    await waitUntil(async () => (await made()).length > 0)
    const first = await made()
    assert.equal(first.length, 1)
    const again = await api.post(path, body, key)
    assert.equal(again.status, 200, JSON.stringify(again.body))
    assert.equal(again.body.order?.id ?? again.body.user_id, first[0])
    assert.deepEqual((await api.post(path, body, key)).body, again.body)
    assert.deepEqual(await made(), first)
  })

/** It ends in order within its bound, which is 45 s on a machine with room. */
async function assertStops(stopping: Server): Promise<void> {
  const patience = new AbortController()
  const late = sleep(WAIT_MS_MAX, 'late', { signal: patience.signal }).catch(() => 'late')
  assert.equal(await Promise.race([stopping.end('SIGTERM'), late]), 0)
  patience.abort()
}

test('a server that is stopped just after its database connections have fallen silent answers pending requests, and ends', async () => {
  const second = await serving(folder('second'), { ...settings, DEMO: 'off', STOP_DELAY: '2' })
  const api = caller(second.url, demoIn(server.dataDir).api_keys['sandbox-us'])
  for (const { status } of await load(api)) assert.equal(status, 200)
  proxy.set('silent')
  const waiting = load(api)
  await assertStops(second)
  for (const { status } of await waiting) assert.ok(status === 200 || status === 503, `HTTP ${status}`)
})

test('a server whose database does not respond reports it, stays ready to answer 503, and stops after a signal', async () => {
  const api = caller(server.url, demoIn(server.dataDir).api_keys['sandbox-us'])
  proxy.set('black hole')
  const waiting = load(api).catch(() => [])
  // An answer that is at most a second old may be given again.
  await waitUntil(async () => {
    const states = await measureReply(caller(server.url).get('/databases'))
    assert.ok(states.ms < READY_MS_MAX, `/databases took ${states.ms} ms`)
    return states.status === 503
  })
  assert.equal((await caller(server.url).get('/readyz')).status, 200)
  await assertStops(server)
  await waiting
})
