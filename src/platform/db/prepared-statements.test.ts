// Which statements are prepared on a connection, and recovery when a prepared statement no longer fits.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { asOwner, connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { ConnectionPool } from './connection-pool.ts'
import { PipelinedConnections } from './pipelined-connections.ts'
import { Db } from './database.ts'
import { NAMES_LIFETIME_MS, NAMES_MAX, PreparedNames, preparedNames } from './prepared-statements.ts'
import { T } from '../schema/schema.ts'
import { join, raw, sql } from './sql.ts'

const One = T.Object({ one: T.Integer() })
const db = new Db({
  connection,
  schema: 'sandbox_us',
  connections_max: 1,
  checkRows: true,
  installation,
  row_security: 'required',
})
after(() => db.close())
// What one test prepares leaves no name for the statements of the next.
beforeEach(() => preparedNames.renew())

const preparedThere = async (): Promise<number> =>
  (await db.queries.one(One, sql`select count(*)::int as one from pg_prepared_statements`)).one

test('a list with many filters prepares at most 250 statements on a connection', async () => {
  for (let shape = 0; shape < 600; shape++)
    for (let run = 0; run < 6; run++) await db.queries.one(One, sql`select ${1}::int as one ${raw(`/* shape ${shape} */`)}`)
  const count = await preparedThere()
  assert(count > 100 && count <= 250, `${count} statements`)
})

const runs = (names: PreparedNames, text: string, count: number, now_ms?: number): string | undefined => {
  let name: string | undefined
  for (let run = 0; run < count; run++) name = names.nameFor(text, now_ms)
  return name
}

test('a statement gets a name with its fifth run, unless a thousand other texts ran in between', () => {
  const names = new PreparedNames()
  assert.equal(runs(names, 'select 1', 4), undefined)
  assert.equal(typeof runs(names, 'select 1', 1), 'string')
  runs(names, 'select 2', 4)
  for (let i = 0; i < 1000; i++) names.nameFor(`select ${i} as other`)
  assert.equal(runs(names, 'select 2', 4), undefined)
  assert.equal(typeof runs(names, 'select 2', 1), 'string')
})

test('names are chosen again after an hour if all are taken, and no name is used for two statements', () => {
  const names = new PreparedNames()
  const [start_ms, hour_ms] = [performance.now(), NAMES_LIFETIME_MS]
  const first = Array.from({ length: NAMES_MAX }, (_, i) => runs(names, `select ${i}`, 5, start_ms))
  assert.equal(new Set(first).size, NAMES_MAX)
  assert.equal(runs(names, 'select of a later kind', 100, start_ms + hour_ms / 2), undefined)
  const later = runs(names, 'select of a later kind', 5, start_ms + hour_ms + 1000)
  assert.equal(typeof later, 'string')
  const again = runs(names, 'select 0', 5, start_ms + hour_ms + 1000)
  assert(!first.includes(later) && !first.includes(again) && again !== later)
})

test('a connection whose time is over is replaced, together with its prepared statements that are no longer used', async () => {
  const options = { config: { ...connection, pipeline: true }, onConnect: async () => {} }
  const pipelined = new PipelinedConnections({ ...options, connections_max: 1, lifetime_ms: 1 })
  const pool = new ConnectionPool({ ...options, limits: { slots: 1, team_slots: 1, wait_ms: 10_000 }, lifetime_ms: 1 })
  const pid = { text: 'select pg_backend_pid() as pid' }
  for (const connections of [pipelined, pool]) {
    const first = (await connections.query('', pid)).rows[0].pid
    await eventually(async () => (await connections.query('', pid)).rows[0].pid !== first, 'another backend answers')
  }
  await Promise.all([pipelined.close(), pool.pool.end()])
})

test('a statement is prepared again after its table has changed, also within a transaction', async () => {
  const { tenant } = await createTestTeam()
  await asOwner(`create table sandbox_us.changing (one integer); insert into sandbox_us.changing values (1);
    grant select on sandbox_us.changing to drawbridge_${installation}_sandbox_us, drawbridge_${installation}_sandbox_us_team`)
  const Row = T.Record(T.String(), T.Integer())
  const all = sql`select * from changing`
  const changes = [
    { read: () => db.queries.one(Row, all), change: 'add column two integer default 2', row: { one: 1, two: 2 } },
    {
      read: () =>
        db.tx(tenant, async (tx) => {
          await tx.locking.run(sql`select id from team where id = ${tx.team} for no key update`)
          return tx.one(Row, all)
        }),
      change: 'add column three integer default 3',
      row: { one: 1, two: 2, three: 3 },
    },
    {
      read: () => db.read(tenant, (tx) => tx.lookup(Row, all)),
      change: 'drop column two',
      row: { one: 1, three: 3 },
    },
  ]
  for (const { read, change, row } of changes) {
    for (let i = 0; i < 8; i++) await read()
    await asOwner(`alter table sandbox_us.changing ${change}`)
    assert.deepEqual(await read(), row)
  }
  await asOwner('drop table sandbox_us.changing')
})

test('a connection that has lost its prepared statements prepares them again', async () => {
  const again = sql`select ${7}::int as one`
  for (let i = 0; i < 8; i++) await db.queries.one(One, again)
  await db.pool.query('deallocate all')
  assert.deepEqual(await db.queries.one(One, again), { one: 7 })
})

test('a statement takes as many values as PostgreSQL does, and one that has more fails alone', async () => {
  const counting = (values: number) =>
    sql`select count(*)::integer as one from unnest(array[${join(Array.from({ length: values }, (_, n) => String(n)))}]::text[])`
  assert.deepEqual(await db.queries.one(One, counting(65_535)), { one: 65_535 })
  await assert.rejects(db.queries.one(One, counting(65_536)))
  assert.deepEqual(await db.queries.one(One, counting(2)), { one: 2 })
})

test('values of any kind and length arrive as they were given', async () => {
  const Echo = T.Object({ text: T.String(), bytes: T.String(), nothing: T.Null(), list: T.Array(T.String()) })
  for (const length of [0, 1, 5_000, 200_000]) {
    const [text, bytes] = ['ü𝄞"\\'.repeat(length), Buffer.alloc(length, 0xff)]
    const echo = sql`select ${text}::text as text, encode(${bytes}::bytea, 'hex') as bytes, ${null}::text as nothing, ${['a', text]}::text[] as list`
    for (let i = 0; i < 7; i++)
      assert.deepEqual(await db.queries.one(Echo, echo), { text, bytes: bytes.toString('hex'), nothing: null, list: ['a', text] })
  }
})

test('a connection for teams that has lost its prepared statements, and possibly its role, is replaced', async () => {
  const { tenant, team } = await createTestTeam()
  const Team = T.Object({ id: T.String() })
  const own = sql`select id from team`
  const uses = [
    () => db.read(tenant, (tx) => tx.many(Team, own)),
    () => db.tx(tenant, (tx) => tx.many(Team, own)),
    () => db.tx(tenant, (tx) => tx.locking.many(Team, sql`select id from team for no key update`)),
    async () => [(await db.read(tenant, (tx) => tx.lookup(Team, own)))!],
  ]
  // Without the role its statements would see this team as well.
  await createTestTeam()
  for (const use of uses) {
    for (let i = 0; i < 8; i++) await use()
    await db.read(tenant, (tx) => tx.run(sql`deallocate all`))
    await db.read(tenant, (tx) => tx.lookup(Team, sql`deallocate all`))
    assert.deepEqual(await use(), [{ id: team }])
    await use()
    const clients = await Promise.all(Array.from({ length: db.teamPool.totalCount }, () => db.teamPool.connect()))
    for (const client of clients) {
      await client.query('discard all')
      const { rows } = await client.query<{ is_login: boolean }>('select current_user = session_user as is_login')
      assert.equal(rows[0]!.is_login, true)
      client.release()
    }
    assert.deepEqual(await use(), [{ id: team }])
  }
})
