// The promise of durability: what was answered is there after a kill -9, whole, and what was not is there whole or not at all.
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { identifyLabs } from '../support/identified-labs.ts'
import { address, patient, shipping } from '../support/people.ts'
import {
  caller,
  connectionOf,
  demoIn,
  stopAll,
  folder,
  onDatabase,
  postmasterPid,
  serving,
  waitUntil,
  type Caller,
  type Server,
} from '../support/program.ts'

const CONCURRENT = 8
/** Never reached: the server is killed before. */
const REQUESTS_MAX = 1000
const dataDir = folder('data')

interface Order {
  id: string
  passthrough: string
  events: OrderEvent[]
  last_event: OrderEvent
}

interface OrderEvent {
  id: number
  status: string
  status_detail: string | null
}

interface Attempt {
  path: string
  body: Record<string, unknown>
  /** Kit orders have none: that operation takes no key. */
  key: string | undefined
  marker: string
  /** As it was answered; undefined while the caller does not know. */
  order?: Order
}

const attempts: Attempt[] = []

/** Who orders what. */
interface Scene {
  user_id: string
  lab_test_id: string
}

function newAttempt(scene: Scene): Attempt {
  const marker = randomUUID()
  const body = { ...scene, passthrough: marker }
  return attempts.length % 2
    ? { path: '/v3/order', body: { ...body, patient_details: patient, patient_address: address }, key: `key ${marker}`, marker }
    : {
        path: '/v3/order/testkit',
        body: { ...body, shipping_details: shipping },
        key: undefined,
        marker,
      }
}

async function send(api: Caller, { path, body, key }: Attempt): Promise<Order | undefined> {
  const { status, body: reply } = await api.post(path, body, key === undefined ? {} : { 'x-idempotency-key': key })
  // A server that has lost its database says so as long as it lives.
  assert.ok([200, 500, 503].includes(status), `${path} HTTP ${status}: ${JSON.stringify(reply)}`)
  return status === 200 ? (reply.order as Order) : undefined
}

/** Orders until the server is gone; each of the callers is left with one order of which it does not know what became. */
async function load(api: Caller, scene: Scene, onAnswer: () => void): Promise<void> {
  const from = attempts.length
  const caller = async () => {
    while (attempts.length - from < REQUESTS_MAX) {
      const attempt = newAttempt(scene)
      attempts.push(attempt)
      const order = await send(api, attempt).catch((error: unknown) => {
        if (error instanceof assert.AssertionError) throw error
      })
      if (!order) return
      attempt.order = order
      onAnswer()
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, caller))
}

interface Found {
  orders: { id: string; lifecycle: string; document: string }[]
  events: { type: string; object_id: string; body: string }[]
  jobs: { order_id: string }[]
  keys: { key: string; status: number; body: string }[]
}

/** Everything there is, at one instant. */
const contents = (): Promise<Found> =>
  onDatabase(connectionOf(dataDir), async (client) => {
    await client.query('begin isolation level repeatable read')
    const rows = async <R extends pg.QueryResultRow>(text: string) => (await client.query<R>(text)).rows
    return {
      orders: await rows('select id, lifecycle_name as lifecycle, document from production_us.lab_order'),
      events: await rows(`select type, object_id, body from production_us.event where type like 'labtest.order.%' order by id`),
      jobs: await rows(`select payload::json ->> 'order_id' as order_id from production_us.job where name = 'orders.dispatch'`),
      keys: await rows('select key, status, body from production_us.idempotency_key'),
    }
  })

const eventsOf: Record<string, string[]> = {
  registrable_testkit: ['labtest.order.created', 'labtest.order.updated'],
  testkit: ['labtest.order.created'],
}

/** Every order has exactly its events and its kept answer, and none of these is without its order. */
function assertWhole({ orders, events, keys }: Found): Map<string, Order> {
  const emitted = Map.groupBy(events, (event) => event.object_id)
  const byMarker = new Map<string, Order>()
  for (const { id, lifecycle, document } of orders) {
    const order = JSON.parse(document) as Order
    const mine = emitted.get(id) ?? []
    assert.deepEqual([id, mine.map(({ type }) => type)], [order.id, eventsOf[lifecycle]])
    const bodies = mine.map(({ body }) => JSON.parse(body) as { data: Order })
    assert.deepEqual(bodies.at(-1)?.data, order)
    assert.ok(bodies.every(({ data }, i) => data.id === id && data.events.length === i + 1))
    byMarker.set(order.passthrough, order)
  }
  assert.equal(emitted.size, orders.length, 'there are events without an order')
  assert.equal(byMarker.size, orders.length, 'an order is there twice')
  const known = new Set(attempts.map(({ marker }) => marker))
  assert.ok([...byMarker.keys()].every((marker) => known.has(marker)))
  const numbers = [...byMarker.values()].flatMap((order) => order.events.map((event) => event.id))
  assert.equal(new Set(numbers).size, numbers.length, 'two events of orders have one id')

  const keyed = attempts.filter(({ key, marker }) => key !== undefined && byMarker.has(marker))
  assert.deepEqual(keys.map(({ key }) => key).sort(), keyed.map(({ key }) => key).sort())
  for (const { key, status, body } of keys) {
    const { marker } = keyed.find((attempt) => attempt.key === key)!
    assert.deepEqual([status, (JSON.parse(body) as { order: Order }).order], [200, byMarker.get(marker)])
  }
  return byMarker
}

/** Without a worker, each order has its job. */
function assertQueued({ orders, jobs }: Found): void {
  assert.deepEqual(jobs.map(({ order_id }) => order_id).sort(), orders.map(({ id }) => id).sort())
}

function assertAnswered(byMarker: Map<string, Order>): void {
  for (const { order, marker } of attempts) if (order) assert.deepEqual(byMarker.get(marker), order)
}

/**
 * These orders cannot be sent to a laboratory: each has one more event that reports it, also if the worker was killed meanwhile.
 * Nothing else has changed.
 */
function assertDispatchedOnce(earlierCounts: Found, now: Found): void {
  assert.deepEqual(now.jobs, [])
  assert.deepEqual(now.keys.toSorted(byKey), earlierCounts.keys.toSorted(byKey))
  const earlier = assertWhole(earlierCounts)
  const emitted = Map.groupBy(now.events, (event) => event.object_id)
  assert.equal(now.orders.length, earlierCounts.orders.length)
  for (const { id, lifecycle, document } of now.orders) {
    const order = JSON.parse(document) as Order
    const { events } = earlier.get(order.passthrough)!
    assert.deepEqual(order.events.slice(0, -1), events)
    assert.deepEqual([order.last_event.status, order.last_event.status_detail], [events.at(-1)!.status, 'fulfillment_error'])
    assert.deepEqual(
      emitted.get(id)!.map(({ type }) => type),
      [...eventsOf[lifecycle]!, 'labtest.order.updated'],
    )
  }
}

const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1)

const kill = (dataDir: string) => process.kill(postmasterPid(dataDir).pid, 'SIGKILL')

/** The load exceeds the rate limit of a key, and its orders wait for a laboratory without an integration. Demo data needs a sandbox. */
const unhurried = { CELLS: 'sandbox-us,production-us', REQUESTS_PER_SECOND: '0', ORDERS_WITHOUT_INTEGRATION: 'on' }

/** Ways to kill the server; each ends when the server is gone. */
const deaths: [string, (server: Server) => Promise<unknown>][] = [
  ['the server is killed', (server) => server.end('SIGKILL')],
  [
    'the server and its database are killed',
    async (server) => {
      server.child.kill('SIGKILL')
      kill(server.dataDir)
      await server.exitStatus
    },
  ],
  [
    'the database is killed, and the server ends',
    async (server) => {
      kill(server.dataDir)
      assert.equal(await server.exitStatus, 1)
      assert.deepEqual(server.sentences(), [`PostgreSQL on ${server.dataDir} has ended unexpectedly.`])
    },
  ],
]

after(stopAll)

test('acknowledged requests survive a crash exactly once', async (t) => {
  /** Without a worker, so that the jobs stay queued. */
  let server = await serving(dataDir, unhurried, 'serve')
  await identifyLabs({ DATA_DIR: dataDir, CELLS: 'production-us' }, ['production-us'])
  const key = demoIn(dataDir).api_keys['production-us']!
  let api = caller(server.url, key)
  const scene = {
    user_id: (await api.post('/v2/user', { client_user_id: 'crash' })).body.user_id as string,
    lab_test_id: (await api.get('/v3/lab_tests?collection_method=testkit')).body[0].id as string,
  }
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes'])
    assert.deepEqual(await onDatabase(connectionOf(dataDir), async (client) => (await client.query(`show ${setting}`)).rows[0]), {
      [setting]: 'on',
    })

  for (const [name, die] of deaths)
    await t.test(name, async (t) => {
      const from = attempts.length
      const moment = 60 + randomInt(80)
      let answers = 0
      const due = Promise.withResolvers<void>()
      const loaded = load(api, scene, () => ++answers === moment && due.resolve())
      await Promise.race([
        due.promise,
        loaded.then(() => Promise.reject(new Error('the load ended before the server was killed'))),
      ])
      await sleep(randomInt(10))
      await die(server)
      await loaded

      server = await serving(dataDir, unhurried, 'serve')
      api = caller(server.url, key)
      const found = await contents()
      const byMarker = assertWhole(found)
      assertQueued(found)
      assertAnswered(byMarker)
      const [answered, unanswered] = [
        attempts.slice(from).filter(({ order }) => order),
        attempts.slice(from).filter(({ order }) => !order),
      ]
      for (const { order } of answered) assert.deepEqual((await api.get(`/v3/order/${order!.id}`)).body, order)

      const keyed = answered.filter((attempt) => attempt.key !== undefined)
      for (const attempt of keyed) assert.deepEqual(await send(api, attempt), attempt.order)
      const open = unanswered.filter((attempt) => attempt.key !== undefined)
      const done = unanswered.filter(({ marker }) => byMarker.has(marker))
      for (const attempt of open) {
        const [first, second] = await Promise.all([send(api, attempt), send(api, attempt)])
        assert.ok(first)
        assert.deepEqual(second, first)
        const before = byMarker.get(attempt.marker)
        if (before) assert.deepEqual(first, before)
        attempt.order = first
      }
      const now = await contents()
      assertAnswered(assertWhole(now))
      assertQueued(now)
      assert.equal(now.orders.length, found.orders.length + open.filter(({ marker }) => !byMarker.has(marker)).length)
      t.diagnostic(
        `${answered.length} answered, ${unanswered.length} unanswered (${done.length} of them done), ` +
          `repeated with their keys: ${keyed.length} answered, ${open.length} unanswered; ${now.orders.length} orders in all`,
      )
    })

  await t.test('the jobs that waited are done, also those of a worker that was killed', async (t) => {
    const before = await contents()
    assert.equal(await server.end('SIGTERM'), 0)
    const count = (table: string) =>
      onDatabase(connectionOf(dataDir), async (client) => {
        const { rows } = await client.query<{ n: number }>(`select count(*)::int as n from production_us.job where ${table}`)
        return rows[0]!.n
      })

    server = await serving(dataDir, unhurried)
    await waitUntil(async () => (await count('true')) < before.jobs.length)
    await server.end('SIGKILL')
    const left = await count('true')
    // What the killed one had taken is found again when its lease of a minute is over: that minute is skipped.
    const leased = await onDatabase(connectionOf(dataDir), (client) =>
      client.query('update production_us.job set leased_until = null where leased_until is not null'),
    )
    server = await serving(dataDir, unhurried)
    await waitUntil(async () => (await count('true')) === 0)

    assertDispatchedOnce(before, await contents())
    assert.equal(await server.end('SIGTERM'), 0)
    t.diagnostic(`${before.jobs.length} jobs waited, ${left} when the worker was killed, ${leased.rowCount} in its hands`)
  })
})
