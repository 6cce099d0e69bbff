// Row-level security for a login that may not create roles: an administrator runs the statements that the migration prints.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { asOwner, connection } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { Db } from './database.ts'
import type { Tenant } from './transaction.ts'
import { migrate } from './migrate.ts'
import { migrationsOf } from './migrations.ts'
import { NoRowSecurity } from './no-row-security.ts'
import { installationOf } from './row-security.ts'
import { T } from '../schema/schema.ts'
import { sql } from './sql.ts'

const Team = T.Object({ team_id: T.String() })

describe('without the right to create roles', async () => {
  const name = `plain_${randomUUID().slice(0, 8)}`
  const own = { ...connection, user: name, password: name, database: name }
  const named = installationOf(name)
  await asOwner(`create role ${name} login password '${name}'`)
  await asOwner(`grant ${name} to current_user`)
  await asOwner(`create database ${name} owner ${name}`)
  const options = { connection: own, schema: 'sandbox_us', connections_max: 4, checkRows: true }
  const db = new Db(options)
  const reopened = new Db({ ...options, row_security: 'required' })
  after(async () => {
    await db.close()
    await reopened.close()
    await asOwner(`drop database if exists ${name} with (force)`)
    for (const role of [`drawbridge_${named}_sandbox_us_team`, `drawbridge_${named}_sandbox_us`, name])
      await asOwner(`drop role if exists ${role}`)
  })
  const teams = [randomUUID(), randomUUID()]
  const tenantOf = (team: string): Tenant => ({ team, org: team, cell: 'sandbox-us', clock_offset_s: 0, settings: {} })
  const follow = (team: string) => sql`insert into event_subscribed_team (team_id) values (${team}) on conflict do nothing`
  const followed = sql`select team_id from event_subscribed_team`
  const known = migrationsOf('cell')
  const statements = [
    `create role drawbridge_${named}_sandbox_us`,
    `create role drawbridge_${named}_sandbox_us_team`,
    `grant drawbridge_${named}_sandbox_us, drawbridge_${named}_sandbox_us_team to "${name}"`,
  ]

  test('a migration creates no policies if row-level security is off', async () => {
    const { protection } = await migrate(own, 'sandbox_eu', 'cell', { row_security: 'off' })
    assert.deepEqual(protection, { by: 'program', statements: [] })
    const owner = new pg.Client(own)
    await owner.connect()
    const { rowCount } = await owner.query(
      `select from pg_class where relnamespace = 'sandbox_eu'::regnamespace and relrowsecurity`,
    )
    await owner.end()
    assert.equal(rowCount, 0)
  })

  test('a migration that requires roles changes nothing and prints the statements for an administrator', async () => {
    await assert.rejects(migrate(own, 'sandbox_us', 'cell', { row_security: 'required' }), (error: Error) =>
      statements.every((statement) => error.message.includes(statement)),
    )
    await assert.rejects(db.queries.run(sql`select from team`), { code: '42P01' })
  })

  test('the program works as before, and prints the statements that an administrator can run', async () => {
    const { protection } = await migrate(own, 'sandbox_us', 'cell')
    assert.deepEqual(protection, { by: 'program', statements })
    await db.plainTx(async (tx) => {
      for (const team of teams)
        await tx.run(sql`insert into team (id, org_id, created_at) values (${team}, ${team}, '2020-01-01')`)
    })
    for (const team of teams) await db.tx(tenantOf(team), (tx) => tx.run(follow(team)))
    assert.equal((await db.read(tenantOf(teams[0]!), (tx) => tx.many(Team, followed))).length, 2)
    // What is looked for in the views is found.
    assert.equal(await db.read(tenantOf(teams[0]!), (tx) => tx.run(sql`select from lab_order_of_team`)), 0)
  })

  test('once an administrator has run them, the schema has its roles, and the owner sees the same rows', async () => {
    for (const statement of statements) await asOwner(statement)
    const { protection } = await migrate(own, 'sandbox_us', 'cell', { row_security: 'required' })
    assert.equal(protection.by, 'roles')
    for (const team of teams) {
      assert.deepEqual(await reopened.read(tenantOf(team), (tx) => tx.many(Team, followed)), [{ team_id: team }])
      await reopened.tx(tenantOf(team), async (tx) => {
        await tx.run(follow(team))
        assert.deepEqual(await tx.many(Team, followed), [{ team_id: team }])
        assert.equal(await tx.run(sql`select from booked_times_of_sites('lab', '{}', ${tx.now}, ${tx.now}, null)`), 0)
      })
    }
    assert.equal((await reopened.queries.many(Team, followed)).length, 2)
    assert.equal(
      (await reopened.pool.query<{ role: string }>('select current_user as role')).rows[0]!.role,
      `drawbridge_${named}_sandbox_us`,
    )
    // As the owner, without a role and without a team.
    const client = new pg.Client({ ...own, options: '-c search_path=sandbox_us' })
    await client.connect()
    assert.equal((await client.query('select from team')).rowCount, 2)
    assert.equal((await client.query('update event_subscribed_team set team_id = team_id')).rowCount, 2)
    // Grants to the roles of another installation are taken back: this database is a copy of one.
    await client.query(`grant usage on schema sandbox_us to drawbridge_${installation}_sandbox_us`)
    await client.query(`grant select on team to drawbridge_${installation}_sandbox_us`)
    await client.query(`grant execute on function drop_access_log_day(date) to drawbridge_${installation}_sandbox_us`)
    await migrate(own, 'sandbox_us', 'cell')
    const { rows } = await client.query<{ may: boolean }>(
      `select has_schema_privilege('drawbridge_${installation}_sandbox_us', 'sandbox_us', 'usage')
           or has_table_privilege('drawbridge_${installation}_sandbox_us', 'team', 'select')
           or has_function_privilege('drawbridge_${installation}_sandbox_us', 'drop_access_log_day(date)'::regprocedure, 'execute') as may`,
    )
    assert.equal(rows[0]!.may, false)
    await client.end()
  })

  test('a table that a later migration creates is secured in its transaction', async () => {
    const number = known.at(-1)!.number
    const next = (n: number, text: string) => ({ ...known.at(-1)!, number: number + n, name: `later ${n}`, text })
    const migrations = [...known, next(1, 'create table added (team_id uuid, n integer)'), next(2, 'select 1 / 0')]
    await assert.rejects(migrate(own, 'sandbox_us', 'cell', { migrations }), { code: '22012' })
    const tenant = tenantOf(teams[0]!)
    await reopened.tx(tenant, (tx) => tx.run(sql`insert into added values (${tx.team}, 1)`))
    const adding = sql`insert into added values (${teams[1]!}, 1)`
    await assert.rejects(
      reopened.tx(tenant, (tx) => tx.run(adding)),
      { code: '42501' },
    )
    const owner = new pg.Client(own)
    await owner.connect()
    await owner.query(`drop table sandbox_us.added; delete from sandbox_us.migration where number > ${number}`)
    await owner.end()
  })

  test('a login that neither owns the tables nor takes a role is rejected, because it would find every table empty', async () => {
    const reader = `reader_${randomUUID().slice(0, 8)}`
    await asOwner(`create role ${reader} login password '${reader}'`)
    const owner = new pg.Client(own)
    await owner.connect()
    await owner.query(`grant usage on schema sandbox_us to ${reader}; grant select on sandbox_us.team to ${reader}`)
    await owner.end()
    const { protection } = await migrate(own, 'sandbox_us', 'cell')
    assert(protection.by === 'roles')
    assert.deepEqual(protection.hidden_from, [reader])
    for (const row_security of ['on', 'off', 'required'] as const) {
      const db = new Db({ ...options, connection: { ...own, user: reader, password: reader }, row_security })
      const teams = sql`select id as team_id from team`
      for (const ask of [
        () => db.queries.many(Team, teams),
        () => db.asyncCommit.many(Team, teams),
        () => db.read(tenantOf(randomUUID()), (tx) => tx.many(Team, teams)),
        () => db.tx(tenantOf(randomUUID()), (tx) => tx.many(Team, teams)),
      ])
        await assert.rejects(ask, (error: Error) => error.cause instanceof NoRowSecurity, row_security)
      await db.close()
    }
    await asOwner(`drop database ${name} with (force)`)
    await asOwner(`drop role ${reader}`)
  })
})
