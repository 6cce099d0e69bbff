// Statements when the database or the network fails: a proxy simulates the failures of networks and failovers.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../../test/support/eventually.ts'
import { databaseProxy, type DatabaseProxy, type ProxyOptions } from '../../../test/support/faults/database-proxy.ts'
import { asOwner, cells, connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import type { Access } from '../access-log/access-line.ts'
import { AccessLog } from '../access-log/access-log.ts'
import { Db } from './database.ts'
import type { Tenant } from './transaction.ts'
import { createLog } from '../telemetry/log.ts'
import { outageOf, UnknownOutcome } from './outages.ts'
import { checkDatabases, createReadiness } from './readiness.ts'
import { T } from '../schema/schema.ts'
import { PipelinedConnections } from './pipelined-connections.ts'
import { sql } from './sql.ts'

const One = T.Object({ one: T.Integer() })
const deadlines = {
  tick_ms: 50,
  suspect_ms: 400,
  probe_ms: 1000,
  statement_ms: 20_000,
  connect_ms: 1000,
  wait_ms: 1000,
}
/** Much longer than the deadlines, much shorter than waiting for ever. */
const PATIENCE_MS = 15_000

const closing: (() => Promise<void>)[] = []
after(async () => {
  for (const close of closing.toReversed()) await close()
})

async function startProxy(options?: ProxyOptions): Promise<DatabaseProxy> {
  const proxy = await databaseProxy(connection, options)
  closing.push(() => proxy.close())
  return proxy
}

async function openThroughProxy(options?: ProxyOptions, limits = deadlines): Promise<{ proxy: DatabaseProxy; db: Db }> {
  const proxy = await startProxy(options)
  const db = new Db({
    connection: { ...connection, host: '127.0.0.1', port: proxy.port },
    schema: 'sandbox_us',
    connections_max: 4,
    checkRows: true,
    installation,
    deadlines: limits,
  })
  closing.push(() => db.close())
  return { proxy, db }
}

/** Fails when it takes longer than anything should. */
async function soon<R>(work: Promise<R>): Promise<R> {
  const patience = new AbortController()
  const late = sleep(PATIENCE_MS, 'late' as const, { signal: patience.signal }).catch(() => 'late' as const)
  const first = await Promise.race([work, late])
  patience.abort()
  assert.notEqual(first, 'late', 'it still waits')
  return first as R
}

const statusOf = async (work: Promise<unknown>): Promise<number | 'done'> =>
  work.then(
    () => 'done' as const,
    (error: unknown) => outageOf(error)?.status ?? (error as { status?: number }).status ?? assert.fail(error as Error),
  )

const write = (db: Db, tenant: Tenant) =>
  db.tx(tenant, async (tx) => tx.defer(sql`update team set clock_offset_s = clock_offset_s + 1 where id = ${tx.team}`))
const read = (db: Db, tenant: Tenant) => db.read(tenant, (tx) => tx.one(One, sql`select 1 as one`))
const lookUp = (db: Db, tenant: Tenant) => db.read(tenant, (tx) => tx.lookup(One, sql`select 1 as one`))
const transaction = (db: Db, tenant: Tenant) =>
  db.tx(tenant, async (tx) => {
    await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
    await tx.run(sql`update team set clock_offset_s = clock_offset_s + 1 where id = ${tx.team}`)
  })
const every = [write, read, lookUp, transaction, (db: Db) => db.asyncCommit.one(One, sql`select 1 as one`)]

const seen: Access = {
  at: new Date(),
  request: 'fictional-1',
  key: 'fictional',
  org: null,
  team: null,
  operation: 'get_order',
  objects: [],
  users: [],
  address: '192.0.2.1',
  outcome: 200,
}

const offsetOf = async ({ team }: Tenant): Promise<number> =>
  (await cells.db('sandbox-us').queries.one(One, sql`select clock_offset_s as one from team where id = ${team}`)).one

describe('silent connections that stay open', () => {
  test('are destroyed within seconds, and later requests use new ones', async () => {
    const { tenant } = await createTestTeam()
    const { proxy, db } = await openThroughProxy()
    // Several of each kind are open.
    await Promise.all([...every, ...every].map((use) => use(db, tenant)))
    proxy.set('silent')
    const waiting = await soon(Promise.all(every.map((use) => statusOf(use(db, tenant)))))
    assert.deepEqual(
      waiting,
      every.map(() => 503),
    )
    // None of those that were idle then is met again.
    assert.deepEqual(
      await soon(Promise.all(every.map((use) => statusOf(use(db, tenant))))),
      every.map(() => 'done'),
    )
  })

  test('are distinguished from connections with a slow statement, which completes', async () => {
    const { tenant } = await createTestTeam()
    const { db } = await openThroughProxy()
    const slow = (tx: { one: Db['queries']['one'] }) => tx.one(One, sql`select 1 as one from pg_sleep(${2})`)
    assert.deepEqual(await Promise.all([db.read(tenant, slow), slow(db.queries), db.tx(tenant, slow)]), [
      { one: 1 },
      { one: 1 },
      { one: 1 },
    ])
  })

  test('fail their statements even if no new connection can be made, and the database is used again later', async () => {
    const { tenant } = await createTestTeam()
    const { proxy, db } = await openThroughProxy()
    await Promise.all(every.map((use) => use(db, tenant)))
    proxy.set('black hole')
    const waiting = await soon(Promise.all([...every, ...every].map((use) => statusOf(use(db, tenant)))))
    assert.deepEqual(new Set(waiting), new Set([503]))
    proxy.set('pass')
    assert.deepEqual(await soon(statusOf(write(db, tenant))), 'done')
  })

  test('do not keep the access log from stopping: unwritten lines are counted as lost', async () => {
    const never = { ...deadlines, suspect_ms: 600_000, statement_ms: 600_000, connect_ms: 600_000 }
    const { proxy, db } = await openThroughProxy({}, never)
    let lost = 0
    const log = new AccessLog({
      mode: 'batched',
      log: createLog('silent'),
      stop_ms: 100,
      delay_ms: 600_000,
      onLost: (lines) => (lost += lines),
    })
    // The log has its connection by then: making one is bounded by another deadline.
    await db.queries.one(One, sql`select 1 as one`)
    proxy.set('black hole')
    for (let i = 0; i < 3; i++) log.addRead(db, seen)
    await soon(log.stop())
    assert.equal(lost, 3)
    await soon(db.close())
    closing.pop()
  })

  test('do not keep the process from closing its connections', async () => {
    const { tenant } = await createTestTeam()
    const { proxy, db } = await openThroughProxy()
    await Promise.all(every.map((use) => use(db, tenant)))
    proxy.set('black hole')
    const waiting = every.map((use) => statusOf(use(db, tenant)))
    await soon(db.close())
    await soon(Promise.all(waiting))
    closing.pop()
  })
})

describe('a connection that is lost while a transaction commits', () => {
  test('leaves the outcome unknown: the response says so, and nothing runs twice', async () => {
    const { tenant } = await createTestTeam()
    const { proxy, db } = await openThroughProxy()
    let runs = 0
    proxy.set('cut before the answer of COMMIT')
    const lost = await soon(
      db
        .tx(tenant, async (tx) => {
          runs++
          await tx.run(sql`update team set clock_offset_s = clock_offset_s + 1 where id = ${tx.team}`)
        })
        .then(
          () => assert.fail('it was answered'),
          (error: unknown) => error,
        ),
    )
    assert(lost instanceof UnknownOutcome)
    assert.equal(lost.status, 503)
    assert.match(String(lost.body.detail), /^The outcome is unknown.*same X-Idempotency-Key is safe/)
    assert.equal(lost.headers['retry-after'], undefined)
    assert.deepEqual([runs, await offsetOf(tenant)], [1, tenant.clock_offset_s + 1])
  })

  test('leaves it unknown also if one statement is the transaction', async () => {
    const { tenant } = await createTestTeam()
    const { proxy, db } = await openThroughProxy()
    proxy.set('cut before the answer of COMMIT', /update team/)
    await assert.rejects(soon(write(db, tenant)), UnknownOutcome)
    assert.equal(await offsetOf(tenant), tenant.clock_offset_s + 1)
  })

  test('is distinguished from a connection that was lost earlier, when nothing can have been committed', async () => {
    const { tenant } = await createTestTeam()
    const { proxy, db } = await openThroughProxy()
    const failure = await soon(
      db
        .tx(tenant, async (tx) => {
          await tx.run(sql`update team set clock_offset_s = clock_offset_s + 1 where id = ${tx.team}`)
          proxy.set('reset')
          await tx.run(sql`update team set clock_offset_s = clock_offset_s + 1 where id = ${tx.team}`)
        })
        .then(
          () => assert.fail('it was answered'),
          (error: unknown) => error,
        ),
    )
    assert.equal(failure instanceof UnknownOutcome, false)
    assert.equal(outageOf(failure)?.headers['retry-after'], '1')
    assert.equal(await statusOf(write(db, tenant)), 503)
    assert.equal(await offsetOf(tenant), tenant.clock_offset_s)
  })
})

/** One connection through a proxy, and the process id of the backend that answers on it. */
function openPipelined(proxy: DatabaseProxy): { connections: PipelinedConnections; pid: () => Promise<number> } {
  const connections = new PipelinedConnections({
    config: { ...connection, host: '127.0.0.1', port: proxy.port, pipeline: true },
    connections_max: 1,
    lifetime_ms: 600_000,
    onConnect: async () => {},
  })
  closing.push(() => connections.close())
  const pid = async () => (await connections.query('', { text: 'select pg_backend_pid() as pid' })).rows[0].pid as number
  return { connections, pid }
}

test('a pipelined connection that replaced a lost one stays when the end of the lost one is reported late', async () => {
  const proxy = await startProxy({ linger_ms: 500 })
  const { pid } = openPipelined(proxy)
  const lost = await pid()
  await asOwner('select pg_terminate_backend($1, 5000)', [lost])
  // Its end is reported while it waits for nothing.
  await sleep(50)
  const next = await soon(pid())
  assert.notEqual(next, lost)
  assert.equal(proxy.open, 2)
  // The proxy closes the lost one in the meantime.
  await eventually(() => proxy.open <= 1, 'the lost connection is closed', PATIENCE_MS)
  await sleep(50)
  assert.equal(await pid(), next)
  assert.equal(proxy.acceptedCount, 2)
})

test('a pipelined connection that was destroyed while connecting does not replace the next one', async () => {
  const proxy = await startProxy({ slow_ms: 1000 })
  const { connections, pid } = openPipelined(proxy)
  proxy.set('slow')
  const late = assert.rejects(pid())
  await eventually(() => proxy.acceptedCount >= 1, 'a connection is made', PATIENCE_MS)
  // What the program sends to begin is on its way.
  await sleep(50)
  connections.destroy()
  proxy.set('pass')
  const next = await soon(pid())
  await late
  await eventually(() => proxy.open <= 1, 'the lost connection is closed', PATIENCE_MS)
  assert.equal(await pid(), next)
  assert.equal(proxy.acceptedCount, 2)
  await connections.close()
  await eventually(() => proxy.open === 0, 'every connection is closed', PATIENCE_MS)
})

test('a statement that fails leaves its connection open', async () => {
  const { proxy, db } = await openThroughProxy()
  await db.queries.one(One, sql`select 1 as one`)
  for (let i = 0; i < 5; i++) await assert.rejects(db.queries.one(One, sql`select 1 / ${0}::int as one`), { code: '22012' })
  assert.equal(proxy.acceptedCount, 1)
})

describe('a database that cannot store anything', () => {
  test('is answered 503 with Retry-After', async () => {
    const { api, team } = await createTestTeam()
    const before = await api.post('/v2/user', { client_user_id: 'before' })
    assert.equal(before.status, 200)
    await asOwner(`
      create function sandbox_us.disk_full_${team.replaceAll('-', '')}() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create trigger disk_full before insert on sandbox_us."user" for each row
      when (new.team_id = '${team}') execute function sandbox_us.disk_full_${team.replaceAll('-', '')}()`)
    const refused = await api.post('/v2/user', { client_user_id: 'refused' })
    await asOwner('drop trigger disk_full on sandbox_us."user"')
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '10'])
    assert.match(refused.body.detail, /out of disk space/)
    assert.equal((await api.post('/v2/user', { client_user_id: 'after' })).status, 200)
  })

  test('is the state of its cell alone, and the process still answers callers', async () => {
    await asOwner(`
      create function production_eu.disk_full() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create trigger disk_full before update on production_eu.readiness for each row execute function production_eu.disk_full()`)
    const states = await checkDatabases(cells)
    await asOwner('drop trigger disk_full on production_eu.readiness')
    assert.deepEqual(
      [...states].filter(([, reason]) => reason !== undefined),
      [['production-eu', 'The database is out of disk space, memory or connections']],
    )
    assert.equal(await createReadiness(cells)(), undefined)
    assert.deepEqual([...(await checkDatabases(cells)).values()].filter(Boolean), [])
  })
})

test('only errors that mean that the database is unavailable get 503', () => {
  const error = (fields: object) => Object.assign(new Error('a message'), fields)
  for (const away of [
    error({ code: '53100', severity: 'ERROR' }),
    error({ code: '57P01', severity: 'FATAL' }),
    error({ code: '08006', severity: 'FATAL' }),
    error({ code: '25006', severity: 'ERROR' }),
    error({ code: 'ETIMEDOUT' }),
    new Error('timeout expired'),
    new Error('Connection terminated unexpectedly'),
    new Error('Connection terminated due to connection timeout'),
    new Error('Client has encountered a connection error and is not queryable'),
  ])
    assert.ok(Number(outageOf(away)?.headers['retry-after']) >= 1, away.message)
  for (const other of [
    error({ code: '42601', severity: 'ERROR' }),
    error({ code: '23502', severity: 'ERROR' }),
    new Error('other'),
  ])
    assert.equal(outageOf(other), undefined)
})
