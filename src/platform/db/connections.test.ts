// The numbers of connections by purpose, and the role that readiness checks use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { asOwner, cells, connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { T } from '../schema/schema.ts'
import { Db } from './database.ts'
import { outageOf } from './outages.ts'
import { checkDatabases } from './readiness.ts'
import { sql } from './sql.ts'

const Count = T.Object({ n: T.Integer() })
const one = sql`select 1 as n`

for (const connections_max of [1, 2, 3])
  test(`${connections_max} connections for teams run a transaction of no team, one of a team on the whole cell and a statement at once`, async () => {
    const { tenant } = await createTestTeam()
    const deadlines = { wait_ms: 5000 }
    const db = new Db({ connection, schema: 'sandbox_us', connections_max, checkRows: true, installation, deadlines })
    try {
      await db.plainTx(async (outer) => {
        assert.equal((await outer.one(Count, one)).n, 1)
        await db.txOnWholeCell(tenant, async (inner) => {
          assert.equal((await inner.one(Count, one)).n, 1)
          assert.equal((await db.queries.one(Count, one)).n, 1)
        })
      })
    } finally {
      await db.close()
    }
  })

test('a database cannot serve while the role of teams lacks a right that the check needs, even if the role of the cell has it', async () => {
  /** Long enough for a machine that is busy with other tests. */
  const within_ms = 60_000
  const role = `drawbridge_${installation}_sandbox_us_team`
  const stateOf = async () => (await checkDatabases(cells, within_ms)).get('sandbox-us')
  assert.equal(await stateOf(), undefined)
  await asOwner(`revoke update on sandbox_us.readiness from ${role}`)
  try {
    assert.equal(await stateOf(), 'The database does not answer')
  } finally {
    await asOwner(`grant update on sandbox_us.readiness to ${role}`)
  }
  assert.equal(await stateOf(), undefined)
})

test('the database ends slow work on each kind of connection: statements, waits for locks, transactions without a statement', async () => {
  const { db, tenant } = await createTestTeam()
  const Limits = T.Object({ statement: T.String(), lock: T.String(), idle: T.String() })
  const limits = sql`
    select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`
  for (const found of [
    db.read(tenant, (tx) => tx.one(Limits, limits)),
    db.read(tenant, (tx) => tx.lookup(Limits, limits)),
    db.tx(tenant, (tx) => tx.locking.one(Limits, limits)),
    db.plainTx((tx) => tx.one(Limits, limits)),
    db.queries.one(Limits, limits),
    db.asyncCommit.one(Limits, limits),
    db.probe((queries) => queries.one(Limits, limits), 60_000),
    cells.control.queries.one(Limits, limits),
  ])
    assert.deepEqual(await found, { statement: '30s', lock: '5s', idle: '30s' })
})

test('a statement that waits for the lock of another transaction gets 503 with Retry-After in time, and keeps its connection', async () => {
  const { tenant, team } = await createTestTeam()
  const deadlines = { lock_ms: 200 }
  const db = new Db({ connection, schema: 'sandbox_us', connections_max: 1, checkRows: true, installation, deadlines })
  const holder = new pg.Client(connection)
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select from sandbox_us.team where id = $1 for update', [team])
    const lock = () => db.tx(tenant, (tx) => tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`))
    const pid = () => db.read(tenant, (tx) => tx.one(Count, sql`select pg_backend_pid() as n`))
    const before = await pid()
    await assert.rejects(lock(), (error) => {
      const outage = outageOf(error)
      return outage?.status === 503 && outage.headers['retry-after'] === '1'
    })
    assert.deepEqual(await pid(), before)
    await holder.query('commit')
    assert.equal(await lock(), 1)
  } finally {
    await holder.end()
    await db.close()
  }
})
