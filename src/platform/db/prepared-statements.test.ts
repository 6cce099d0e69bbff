// Which statements are prepared on a connection, and recovery when a prepared statement no longer fits.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import pg from 'pg'
import { asOwner, connection, createTestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { Db } from './database.ts'
import { PreparedNames, prepared } from './prepared-statements.ts'
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
beforeEach(() => prepared.renew())

const preparedThere = async (): Promise<number> =>
  (await db.queries.one(One, sql`select count(*)::int as one from pg_prepared_statements`)).one

test('a list with many filters prepares at most 250 statements on a connection', async () => {
  for (let shape = 0; shape < 600; shape++)
    for (let run = 0; run < 6; run++) await db.queries.one(One, sql`select ${1}::int as one ${raw(`/* shape ${shape} */`)}`)
  const count = await preparedThere()
  assert(count > 100 && count <= 250, `${count} statements`)
})

test('a thousand statement texts are counted at most, and no further one gets a name', () => {
  const names = new PreparedNames()
  for (let i = 0; i < 1000; i++) assert.equal(names.of(`select ${i}`), undefined)
  for (let i = 0; i < 10; i++) assert.equal(names.of('select of one too many'), undefined)
  for (let i = 0; i < 3; i++) assert.equal(names.of('select 0'), undefined)
  assert.equal(typeof names.of('select 0'), 'string')
})

test('frequent statements get a name, unused ones lose it, and connections deallocate it', async () => {
  const names = new PreparedNames()
  const client = new pg.Client({ ...connection, pipeline: true } as pg.ClientConfig)
  await client.connect()
  const run = (text: string) => {
    const name = names.of(text)
    names.tidy(client)
    return client.query(name === undefined ? { text, values: [1] } : { name, text, values: [1] })
  }
  const known = async () =>
    (await client.query<{ statement: string }>(`select statement from pg_prepared_statements order by 1`)).rows.map(
      (row) => row.statement,
    )
  for (let i = 0; i < 20; i++) await run('select $1::int as old')
  await run('select $1::int as rare')
  assert.deepEqual(await known(), ['select $1::int as old'])
  // Counts are halved several times meanwhile.
  for (let i = 0; i < 200_000; i++) names.of('select $1::int as current')
  await run('select $1::int as current')
  assert.deepEqual(await known(), ['select $1::int as current'])
  await run('select $1::int as old')
  await client.end()
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
