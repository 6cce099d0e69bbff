// Connections whose peer may be gone: the system looks after idle ones, and a statement without an answer ends with its connection.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { databaseProxy } from '../../../test/support/faults/database-proxy.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import type { Deadlines } from './connection-watch.ts'
import { Cells } from './cells.ts'
import { Db } from './database.ts'
import { outageOf } from './outages.ts'
import { checkDatabases, createReadiness } from './readiness.ts'
import type { Queries, Tenant } from './transaction.ts'
import { T } from '../schema/schema.ts'
import { sql } from './sql.ts'

/** Three seconds, and what a busy machine takes. */
const READY_MS_MAX = 6000

const One = T.Object({ one: T.Integer() })

const closing: (() => Promise<void>)[] = []
after(async () => {
  for (const close of closing.toReversed()) await close()
})

const overrides = (target: Partial<typeof connection>, deadlines: Partial<Deadlines> = {}) => ({
  connection: { ...connection, ...target },
  connections_max: 4,
  checkRows: true,
  installation,
  deadlines,
})

function openDb(...options: Parameters<typeof overrides>): Db {
  const db = new Db({ ...overrides(...options), schema: 'sandbox_us' })
  closing.push(() => db.close())
  return db
}

/** One statement on each kind of connection that may run a slow one. */
const onEach = (db: Db, tenant: Tenant, statement: (queries: Queries) => Promise<unknown>): Promise<unknown>[] => [
  db.read(tenant, statement),
  db.tx(tenant, statement),
  db.tx(tenant, async (tx) => {
    await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
    await statement(tx)
  }),
  statement(db.queries),
  statement(db.asyncCommit),
]

test('a statement that the database does not answer by the deadline gets 503 and ends with its connection, although the database runs it', async () => {
  const { tenant } = await createTestTeam()
  // It runs for longer than the deadline, and not as long as the limit of the database itself.
  const db = openDb({}, { tick_ms: 50, suspect_ms: 400, statement_ms: 2000 })
  const began_ms = performance.now()
  const asked = onEach(db, tenant, (queries) => queries.one(One, sql`select 1 as one from pg_sleep(${25})`))
  for (const outcome of await Promise.allSettled(asked)) {
    assert(outcome.status === 'rejected')
    assert.equal(outageOf(outcome.reason)?.status, 503, outcome.reason)
  }
  assert(performance.now() - began_ms < 20_000, 'the database has answered')
  // On a busy machine also a quick statement may miss the deadline.
  await eventually(() =>
    Promise.all(onEach(db, tenant, (queries) => queries.one(One, sql`select 1 as one`))).catch(() => undefined),
  )
})

/** For each open connection to a port of this machine: whether the system checks that its peer is alive while nothing is sent. */
async function keptAlive(port: number): Promise<boolean[]> {
  const to = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1)
  // Of each line: its number, the own address, the peer, the state (01: open), the queues, the timer (02: of an idle connection).
  return lines.flatMap((line) => {
    const [, , peer, state, , timer] = line.trim().split(/\s+/)
    return peer === to && state === '01' ? [timer!.startsWith('02:')] : []
  })
}

test('the system checks that the peers of idle connections are alive', { skip: process.platform !== 'linux' }, async () => {
  const { tenant } = await createTestTeam()
  const proxy = await databaseProxy(connection)
  closing.push(() => proxy.close())
  const db = openDb({ host: '127.0.0.1', port: proxy.port })
  const statement = (queries: Queries) => queries.one(One, sql`select 1 as one`)
  await Promise.all([
    ...onEach(db, tenant, statement),
    db.read(tenant, (tx) => tx.lookup(One, sql`select 1 as one`)),
    db.probe(statement, 10_000),
  ])
  await eventually(async () => {
    const checked = await keptAlive(proxy.port)
    return checked.length > 0 && checked.length === proxy.open && checked.every(Boolean)
  }, 'each connection has the timer of an idle one')
})

test('readiness is reported soon although nothing answers, and again when something does', async () => {
  const proxy = await databaseProxy(connection)
  closing.push(() => proxy.close())
  const never = 600_000
  const options = overrides(
    { host: '127.0.0.1', port: proxy.port },
    { suspect_ms: never, statement_ms: never, connect_ms: never },
  )
  const own = new Cells(options, new Map([['sandbox-us', options]]))
  closing.push(() => own.close())
  const notReady = createReadiness(own, { absence_ms: 0 })
  assert.equal(await notReady(), undefined)
  proxy.set('black hole')
  // Once over connections that were open before, and once where none can be made.
  for (const state of ['open', 'new']) {
    const began_ms = performance.now()
    assert.equal(await notReady(), 'The database does not answer')
    const ms = performance.now() - began_ms
    assert(ms < READY_MS_MAX, `over ${state} connections it took ${ms} ms`)
  }
  proxy.set('pass')
  await eventually(async () => (await notReady()) === undefined)
})

test('a process answers callers while one of its cells is away, and during a failover, but not before its databases have answered', async () => {
  const proxy = await databaseProxy(connection)
  closing.push(() => proxy.close())
  const direct = overrides({})
  const throughProxy = overrides({ host: '127.0.0.1', port: proxy.port })
  const cellsOf = (...cells: ConstructorParameters<typeof Cells>): Cells => {
    const own = new Cells(...cells)
    closing.push(() => own.close())
    return own
  }
  const ofOneCell = cellsOf(throughProxy, new Map([['sandbox-us', throughProxy]]))
  const ofTwoCells = cellsOf(
    direct,
    new Map([
      ['sandbox-us', direct],
      ['sandbox-eu', throughProxy],
    ]),
  )
  const within_ms = 1500
  const notReady = createReadiness(ofOneCell, { within_ms })
  await eventually(async () => (await notReady()) === undefined)
  proxy.set('black hole')
  const lateNotReady = createReadiness(ofOneCell, { within_ms })
  assert.deepEqual(await Promise.all([notReady(), lateNotReady()]), [undefined, 'The database does not answer'])
  await eventually(async () => (await createReadiness(ofTwoCells, { within_ms })()) === undefined)
  await eventually(async () => {
    const states = await checkDatabases(ofTwoCells, within_ms)
    return [...states.keys()].filter((name) => states.get(name) !== undefined).join() === 'sandbox-eu'
  })
})
