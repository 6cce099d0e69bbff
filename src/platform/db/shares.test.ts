// Waiting work inside the process is limited, and one team leaves room for the others.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { Db } from './database.ts'
import { Problem } from '../runtime/problem.ts'
import { AutocommitConnections } from './autocommit-connections.ts'
import { IdAllocator } from './id-allocator.ts'
import { T } from '../schema/schema.ts'
import { Bound, Lending, PLAIN, PROGRAM, TEAM_WAITING_MAX, WAITING_MAX } from './shares.ts'
import { sql } from './sql.ts'

const One = T.Object({ one: T.Integer() })
const busy = (error: unknown) => error instanceof Problem && error.status === 503 && Number(error.headers['retry-after']) >= 1

const pool = new pg.Pool({ ...connection, max: 4 })
// The database goes with the file, and may go first.
pool.on('error', () => {})
after(() => pool.end())
const lendingOf = (wait_ms = 10_000) => new Lending(pool, { connections_max: 4, team_connections_max: 2, wait_ms })

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

test('waiting teams are served in turn, whatever their number of requests', async () => {
  const lending = lendingOf()
  const served: string[] = []
  const all = await Promise.all([PROGRAM, PROGRAM, PROGRAM, PROGRAM].map((borrower) => lending.connect(borrower)))
  const waiting = ['a', 'a', 'a', 'b', 'a', 'b', 'c'].map(async (team) => {
    const client = await lending.connect(team)
    served.push(team)
    await sleep(5)
    client.release()
  })
  assert.equal(lending.waiting, 7)
  all[0]!.release()
  await Promise.all(waiting)
  assert.deepEqual(served, ['a', 'b', 'c', 'a', 'b', 'a', 'a'])
  for (const client of all.slice(1)) client.release()
  assert.equal(lending.waiting, 0)
})

test('a waiting request gets the released connection, not a new one', async () => {
  const few = new pg.Pool({ ...connection, max: 4 })
  few.on('error', () => {})
  try {
    const lending = new Lending(few, { connections_max: 4, team_connections_max: 2, wait_ms: 10_000 })
    const held = [await lending.connect('a'), await lending.connect('a')]
    const waiting = [lending.connect('a'), lending.connect('a')]
    for (const client of held) client.release()
    const next = await Promise.all(waiting)
    const made = few.totalCount
    for (const client of next) client.release()
    assert.equal(made, 2)
    assert.deepEqual(new Set(next), new Set(held))
  } finally {
    await few.end()
  }
})

test('work of no team leaves two connections to single statements', async () => {
  const lending = lendingOf()
  const plain = await Promise.all([lending.connect(PLAIN), lending.connect(PLAIN)])
  const third = lending.connect(PLAIN)
  assert.equal(lending.waiting, 1)
  const free = await Promise.all([lending.connect(PROGRAM), lending.connect(PROGRAM)])
  for (const client of [...free, ...plain]) client.release()
  ;(await third).release()
})

test('rejected borrowers leave nothing in memory', async () => {
  const lending = lendingOf()
  const held = await Promise.all(['a', 'a', 'b', 'b'].map((team) => lending.connect(team)))
  const waiting = ['a', 'b'].flatMap((team) =>
    Array.from({ length: WAITING_MAX / 2 }, async () => (await lending.connect(team)).release()),
  )
  for (let i = 0; i < 100; i++) await assert.rejects(lending.connect(`team ${i}`), busy)
  assert.deepEqual([lending.waiting, lending.borrowers], [WAITING_MAX, 2])
  for (const client of held) client.release()
  await Promise.all(waiting)
  assert.equal(lending.borrowers, 0)
})

test('a request that waits too long, or behind too many, gets 503', async () => {
  const lending = lendingOf(100)
  const held = await Promise.all([lending.connect('a'), lending.connect('a')])
  const waiting = Array.from({ length: TEAM_WAITING_MAX }, () => assert.rejects(lending.connect('a'), busy))
  await assert.rejects(lending.connect('a'), busy)
  const other = await lending.connect('b')
  await Promise.all(waiting)
  assert.equal(lending.waiting, 0)
  for (const client of [...held, other]) client.release()
  ;(await lending.connect('a')).release()
})

test('statements on shared connections are limited, in total and per team', async () => {
  const bound = new Bound(5, 3)
  for (let i = 0; i < 3; i++) bound.enter('a')
  assert.throws(() => bound.enter('a'), busy)
  bound.enter('b')
  bound.enter('')
  assert.throws(() => bound.enter('c'), busy)
  bound.leave('a')
  bound.enter('c')
  assert.throws(() => bound.enter('a'), busy)

  const writers = new AutocommitConnections({ ...connection, pipeline: true } as pg.ClientConfig, 1)
  const lock = new pg.Client(connection)
  await lock.connect()
  await lock.query('select pg_advisory_lock(8215)')
  const take = { text: 'select pg_advisory_xact_lock(8215)' }
  const waiting = Array.from({ length: TEAM_WAITING_MAX }, () => writers.query(take, 'a'))
  await assert.rejects(writers.query(take, 'a'), busy)
  const other = writers.query({ text: 'select 1' }, 'b')
  await lock.end()
  await Promise.all([...waiting, other])
  await writers.close()
})

test('requests that wait for numbers are limited', async () => {
  const { db } = await createTestTeam()
  const pending = Promise.withResolvers<void>()
  const numbers = new IdAllocator(() => ({ ...db.queries, one: () => pending.promise as never }))
  const waiting = Array.from({ length: TEAM_WAITING_MAX }, () => numbers.allocate('order_event_id', 1, 0, 'a'))
  await assert.rejects(numbers.allocate('order_event_id', 1, 0, 'a'), busy)
  pending.reject(new Error('the database is away'))
  assert.equal((await Promise.allSettled(waiting)).filter(({ status }) => status === 'rejected').length, TEAM_WAITING_MAX)
})

test('look-ups that share a statement with no other are limited', async () => {
  const { db, tenant } = await createTestTeam()
  const lookUp = () => db.read(tenant, (tx) => tx.lookup(One, sql`select 1 as one`))
  const waiting = Array.from({ length: TEAM_WAITING_MAX }, lookUp)
  await assert.rejects(lookUp(), busy)
  assert.deepEqual(await Promise.all(waiting), Array(TEAM_WAITING_MAX).fill({ one: 1 }))
  assert.deepEqual(await lookUp(), { one: 1 })
})
