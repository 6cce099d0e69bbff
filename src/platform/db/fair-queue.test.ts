// Waiting work inside the process is limited, and one team leaves room for the others.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { Db } from './database.ts'
import { Problem } from '../runtime/problem.ts'
import { ConnectionPool } from './connection-pool.ts'
import { IdAllocator } from './id-allocator.ts'
import { T } from '../schema/schema.ts'
import { FairQueue, NO_TEAM, OWNER_WAITING_MAX, PROGRAM, WAITING_MAX } from './fair-queue.ts'
import { PipelinedConnections } from './pipelined-connections.ts'
import { sql } from './sql.ts'

const One = T.Object({ one: T.Integer() })
const busy = (error: unknown) => error instanceof Problem && error.status === 503 && Number(error.headers['retry-after']) >= 1

const pools: ConnectionPool[] = []
after(() => Promise.all(pools.map(({ pool }) => pool.end())))
const config = { ...connection, pipeline: true } as pg.ClientConfig
const options = { config, lifetime_ms: 600_000, onConnect: async () => {} }
function openPool(wait_ms = 10_000): ConnectionPool {
  const pool = new ConnectionPool({ ...options, limits: { slots: 4, team_slots: 2, wait_ms } })
  pools.push(pool)
  return pool
}

test('one team with slow requests leaves connections to the others', async () => {
  const [slow, other] = [await createTestTeam(), await createTestTeam()]
  const db = new Db({ connection, schema: 'sandbox_us', connections_max: 4, checkRows: true, installation })
  let isOver = false
  const holding = Promise.allSettled(
    Array.from({ length: 12 }, () =>
      db.read(slow.tenant, (tx) => tx.one(One, sql`select 1 as one from pg_sleep(${20})`)).finally(() => (isOver = true)),
    ),
  )
  for (let i = 0; i < 5; i++) {
    assert.deepEqual(await db.read(other.tenant, (tx) => tx.one(One, sql`select 1 as one`)), { one: 1 })
    await db.tx(other.tenant, (tx) => tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`))
  }
  assert.equal(isOver, false, 'slow ones were done before')
  await db.close()
  await holding
})

test('waiting teams are served in turn, for any number of requests', async () => {
  const pool = openPool()
  const served: string[] = []
  const all = await Promise.all([PROGRAM, PROGRAM, PROGRAM, PROGRAM].map((borrower) => pool.lend(borrower)))
  const waiting = ['a', 'a', 'a', 'b', 'a', 'b', 'c'].map(async (team) => {
    const lease = await pool.lend(team)
    served.push(team)
    await sleep(5)
    lease.release()
  })
  assert.equal(pool.queue.waiting, 7)
  all[0]!.release()
  await Promise.all(waiting)
  assert.deepEqual(served, ['a', 'b', 'c', 'a', 'b', 'a', 'a'])
  for (const lease of all.slice(1)) lease.release()
  assert.equal(pool.queue.waiting, 0)
})

test('a waiting request gets the released connection, not a new one', async () => {
  const pool = openPool()
  const held = [await pool.lend('a'), await pool.lend('a')]
  const waiting = [pool.lend('a'), pool.lend('a')]
  for (const lease of held) lease.release()
  const next = await Promise.all(waiting)
  const opened = pool.pool.totalCount
  for (const lease of next) lease.release()
  assert.equal(opened, 2)
  assert.deepEqual(new Set(next.map((lease) => lease.connection)), new Set(held.map((lease) => lease.connection)))
})

test('work of no team leaves two connections to single statements', async () => {
  const pool = openPool()
  const plain = await Promise.all([pool.lend(NO_TEAM), pool.lend(NO_TEAM)])
  const third = pool.lend(NO_TEAM)
  assert.equal(pool.queue.waiting, 1)
  const free = await Promise.all([pool.lend(PROGRAM), pool.lend(PROGRAM)])
  for (const lease of [...free, ...plain]) lease.release()
  ;(await third).release()
})

test('rejected borrowers leave nothing in memory', async () => {
  const pool = openPool()
  const held = await Promise.all(['a', 'a', 'b', 'b'].map((team) => pool.lend(team)))
  const waiting = ['a', 'b'].flatMap((team) =>
    Array.from({ length: WAITING_MAX / 2 }, async () => (await pool.lend(team)).release()),
  )
  for (let i = 0; i < 100; i++) await assert.rejects(pool.lend(`team ${i}`), busy)
  assert.deepEqual([pool.queue.waiting, pool.queue.owners], [WAITING_MAX, 2])
  for (const lease of held) lease.release()
  await Promise.all(waiting)
  assert.equal(pool.queue.owners, 0)
})

test('a request that waits too long, or behind too many, gets 503', async () => {
  const pool = openPool(100)
  const held = await Promise.all([pool.lend('a'), pool.lend('a')])
  const waiting = Array.from({ length: OWNER_WAITING_MAX }, () => assert.rejects(pool.lend('a'), busy))
  await assert.rejects(pool.lend('a'), busy)
  const other = await pool.lend('b')
  await Promise.all(waiting)
  assert.equal(pool.queue.waiting, 0)
  for (const lease of [...held, other]) lease.release()
  ;(await pool.lend('a')).release()
})

test('statements on pipelined connections are limited, in total and per team', async () => {
  const queue = new FairQueue({ slots: 5, team_slots: 3, wait_ms: 0 })
  for (let i = 0; i < 3; i++) void queue.enter('a')
  assert.throws(() => queue.enter('a'), busy)
  void queue.enter('b')
  void queue.enter('')
  assert.throws(() => queue.enter('c'), busy)
  queue.leave('a')
  void queue.enter('c')
  assert.throws(() => queue.enter('a'), busy)

  const pipelined = new PipelinedConnections({ ...options, connections_max: 1 })
  const lock = new pg.Client(connection)
  await lock.connect()
  await lock.query('select pg_advisory_lock(8215)')
  const take = { text: 'select pg_advisory_xact_lock(8215)' }
  const waiting = Array.from({ length: OWNER_WAITING_MAX }, () => pipelined.query('a', take))
  await assert.rejects(pipelined.query('a', take), busy)
  const other = pipelined.query('b', { text: 'select 1' })
  await lock.end()
  await Promise.all([...waiting, other])
  await pipelined.close()
})

test('requests that wait for numbers are limited', async () => {
  const { db } = await createTestTeam()
  const pending = Promise.withResolvers<void>()
  const numbers = new IdAllocator({ ...db.queries, one: () => pending.promise as never })
  const waiting = Array.from({ length: OWNER_WAITING_MAX }, () => numbers.allocate('order_event_id', 1, 0, 'a'))
  await assert.rejects(numbers.allocate('order_event_id', 1, 0, 'a'), busy)
  pending.reject(new Error('the database is away'))
  assert.equal((await Promise.allSettled(waiting)).filter(({ status }) => status === 'rejected').length, OWNER_WAITING_MAX)
})

test('look-ups are limited', async () => {
  const { db, tenant } = await createTestTeam()
  const lookUp = () => db.read(tenant, (tx) => tx.lookup(One, sql`select 1 as one`))
  const waiting = Array.from({ length: OWNER_WAITING_MAX }, lookUp)
  await assert.rejects(lookUp(), busy)
  assert.deepEqual(await Promise.all(waiting), Array(OWNER_WAITING_MAX).fill({ one: 1 }))
  assert.deepEqual(await lookUp(), { one: 1 })
})
