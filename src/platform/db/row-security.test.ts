// The policies, roles and grants; and a statement sees only the rows of its team, whatever its connection ran before.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { asOwner, cells, connection, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { schemaOf } from './cells.ts'
import { cellNames } from './cell-names.ts'
import { Db } from './database.ts'
import type { Tenant } from './transaction.ts'
import { migrate } from './migrate.ts'
import { migrationsOf } from './migrations.ts'
import { NoRowSecurity } from './no-row-security.ts'
import { installationOf } from './row-security.ts'
import { T } from '../schema/schema.ts'
import { sql } from './sql.ts'
import { eventually } from '../../../test/support/eventually.ts'

const schemas = cellNames.map(schemaOf)
const Team = T.Object({ team_id: T.String() })
const Count = T.Object({ n: T.Integer() })

describe('the catalog of every cell', () => {
  test('has policies for every table with a team column, and no direct access to partitions', async () => {
    const { rows } = await asOwner<{ name: string; partition: boolean; enabled: boolean; policies: string[]; open: boolean }>(
      `select c.oid::regclass::text as name, c.relispartition as partition, c.relrowsecurity as enabled,
              array(select p.polname::text from pg_policy p where p.polrelid = c.oid) as policies,
              exists (select from aclexplode(c.relacl) a where a.grantee <> c.relowner) as open
       from pg_class c
       where c.relnamespace = any ($1::regnamespace[]) and c.relkind in ('r', 'p', 'f', 'm')
         and (c.relname = 'team' or exists (
           select from pg_attribute a where a.attrelid = c.oid and a.attname = 'team_id' and not a.attisdropped))`,
      [schemas],
    )
    assert(rows.length >= 4 * 35, `${rows.length} tables`)
    for (const { name, partition, enabled, policies, open } of rows)
      if (partition) assert.equal(open, false, `${name} is a partition, which is reached through its table`)
      else {
        assert.equal(enabled, true, `row-level security of ${name}`)
        assert(policies.includes('of_team') && policies.includes('whole_cell'), `${name} has the policies ${policies.join()}`)
      }
  })

  test('has no view that shows more than the team of the transaction', async () => {
    const { rows } = await asOwner<{ name: string; text: string }>(
      `select c.oid::regclass::text as name, pg_get_viewdef(c.oid) as text from pg_class c
       where c.relnamespace = any ($1::regnamespace[]) and c.relkind = 'v'
         and not coalesce(c.reloptions @> array['security_invoker=true'], false)`,
      [schemas],
    )
    for (const { name, text } of rows)
      assert.match(text, /team_id = (\w+\.)?current_team\(\)\) OR \(NOT row_security_active\(/, name)
  })

  test('has owner-rights functions only for booked times and for the days of the access log', async () => {
    const { rows } = await asOwner<{ name: string }>(
      `select distinct proname::text as name from pg_proc where pronamespace = any ($1::regnamespace[]) and prosecdef order by 1`,
      [[...schemas, 'control']],
    )
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['append_access_log', 'booked_times_of_sites', 'booked_times_of_staff', 'drop_access_log_day'],
    )
    const { rows: executed } = await asOwner<{ name: string }>(
      `select distinct proname::text as name from pg_proc
       where pronamespace = 'sandbox_us'::regnamespace and prosecdef and has_function_privilege($1, oid, 'execute') order by 1`,
      [`drawbridge_${installation}_sandbox_us_team`],
    )
    assert.deepEqual(
      executed.map(({ name }) => name),
      ['booked_times_of_sites', 'booked_times_of_staff'],
    )
  })

  test('grants access to a schema only to its own roles', async () => {
    const { rows } = await asOwner<{ schema: string; what: string; grantee: string; privileges: string }>(
      `select n.nspname as schema, o.what, coalesce(r.rolname, 'public') as grantee, string_agg(distinct lower(a.privilege_type), ' ') as privileges
       from pg_namespace n
       cross join lateral (
         select 'schema' as what, n.nspacl as acl, n.nspowner as owner
         union all select case when relname in ('migration', 'access_log', 'access_day', 'dispatch_batch') then relname else relkind::text end, relacl, relowner from pg_class where relnamespace = n.oid and relkind <> 'i') o
       cross join lateral aclexplode(o.acl) a left join pg_roles r on r.oid = a.grantee
       where n.nspname = any ($1) and a.grantee <> o.owner
       group by 1, 2, 3`,
      [[...schemas, 'control']],
    )
    assert(rows.length > 0)
    const allowed: Record<string, string> = {
      schema: 'usage',
      migration: 'select',
      access_log: 'select',
      access_day: 'select',
      dispatch_batch: 'delete insert select update',
      S: 'usage',
      v: 'select',
      r: 'delete insert select update',
      p: 'delete insert select update',
    }
    for (const { schema, what, grantee, privileges } of rows) {
      const own = `drawbridge_${installation}_${schema}`
      assert(
        [own, ...(schema === 'control' ? [] : [`${own}_team`])].includes(grantee),
        `${grantee} has ${privileges} in ${schema}`,
      )
      assert.equal(privileges, allowed[what], `${grantee} in ${schema}: ${what}`)
      assert(what !== 'dispatch_batch' || grantee === own, 'dispatch_batch has the deliveries in flight of all teams')
    }
  })

  test('has roles that cannot log in, are members of nothing and have no other rights', async () => {
    const { rows } = await asOwner<{ name: string; might: boolean }>(
      `select rolname as name, rolcanlogin or rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication
              or exists (select from pg_auth_members m where m.member = r.oid) as might
       from pg_roles r where rolname = any ($1)`,
      [[...schemas, ...schemas.map((schema) => `${schema}_team`), 'control'].map((name) => `drawbridge_${installation}_${name}`)],
    )
    assert.equal(rows.length, 9)
    for (const { name, might } of rows) assert.equal(might, false, name)
  })
})

/** A table with rows of two teams, whatever else there is. */
const users = sql`select distinct team_id from "user"`

async function withUser(): Promise<TestTeam> {
  const team = await createTestTeam()
  await team.user()
  return team
}

describe('a connection', () => {
  const roleOf = async (db: Pick<Db, 'pool'> | pg.Client, text = 'select current_user as role') =>
    ('pool' in db ? await db.pool.query<{ role: string }>(text) : await db.query<{ role: string }>(text)).rows[0]!.role

  test('has the role of its cell in every kind of connection, and cannot access another schema', async () => {
    const own = `drawbridge_${installation}_sandbox_us`
    const { db, tenant } = await createTestTeam()
    const Role = T.Object({ role: T.String() })
    const role = sql`select current_user as role`
    assert.equal(await roleOf(db), own)
    assert.equal((await db.asyncCommit.one(Role, role)).role, own)
    assert.equal((await db.read(tenant, (tx) => tx.one(Role, role))).role, `${own}_team`)
    assert.equal((await db.tx(tenant, (tx) => tx.one(Role, role))).role, `${own}_team`)
    assert.equal((await db.tx(tenant, (tx) => tx.lookup(Role, role)))!.role, `${own}_team`)
    assert.equal(await roleOf(cells.control), `drawbridge_${installation}_control`)
    for (const table of ['control.api_key', 'sandbox_eu."user"', 'production_us.lab_order'])
      for (const queries of [db.queries, db.asyncCommit])
        await assert.rejects(queries.run(sql([`select from ${table}`])), { code: '42501' }, table)
    await assert.rejects(cells.control.queries.run(sql`select from sandbox_us.lab_order`), { code: '42501' })
    await assert.rejects(
      db.tx(tenant, (tx) => tx.run(sql`select from control.api_key`)),
      { code: '42501' },
    )
  })

  test('for teams sees nothing and adds nothing while no team is set', async () => {
    const { team } = await withUser()
    const client = new pg.Client({
      ...connection,
      options: `-c search_path=sandbox_us -c role=drawbridge_${installation}_sandbox_us_team`,
    })
    await client.connect()
    try {
      for (const table of ['team', '"user"', 'event', 'lab_test', 'lab_order'])
        assert.equal((await client.query(`select from ${table}`)).rowCount, 0, table)
      assert.equal((await client.query('update "user" set client_user_id = client_user_id')).rowCount, 0)
      assert.equal((await client.query('delete from event')).rowCount, 0)
      await assert.rejects(client.query('insert into event_subscribed_team (team_id) values ($1)', [team]), { code: '42501' })
      // A setting of a transaction that is over is an empty text.
      await client.query('begin')
      await client.query(`select set_config('drawbridge.team', $1, true)`, [team])
      assert.equal((await client.query('select from "user"')).rowCount, 1)
      await client.query('commit')
      assert.equal((await client.query('select from "user"')).rowCount, 0)
    } finally {
      await client.end()
    }
  })

  test('for teams is rejected if no policy would apply to it', async () => {
    const { tenant } = await createTestTeam()
    const database = `bare_${randomUUID().slice(0, 8)}`
    await asOwner(`create database ${database}`)
    const bare = { ...connection, database }
    try {
      const client = new pg.Client(bare)
      await client.connect()
      await client.query('create schema sandbox_us')
      await client.query('create table sandbox_us.team (id uuid)')
      const options = { connection: bare, schema: 'sandbox_us', connections_max: 2, checkRows: true }
      const one = sql`select 1 as n`
      // A role that may be taken, and no policies.
      const role = `drawbridge_${installationOf(database)}_sandbox_us_team`
      await asOwner(`create role ${role}`)
      await asOwner(`grant ${role} to current_user`)
      // Until it reaches the schema the login goes on without it.
      const before = new Db(options)
      assert.equal((await before.read(tenant, (tx) => tx.one(Count, one))).n, 1)
      await before.close()
      const db = new Db(options)
      await client.query(`grant usage on schema sandbox_us to ${role}`)
      await client.end()
      assert.equal((await db.queries.one(Count, one)).n, 1)
      const refused = ({ cause }: Error) => cause instanceof NoRowSecurity
      await assert.rejects(
        db.read(tenant, (tx) => tx.one(Count, one)),
        refused,
      )
      await assert.rejects(
        db.tx(tenant, (tx) => tx.one(Count, one)),
        refused,
      )
      await assert.rejects(
        db.tx(tenant, async (tx) => tx.defer(one)),
        refused,
      )
      await assert.rejects(
        db.tx(tenant, (tx) => tx.lookup(Count, one)),
        refused,
      )
      await db.close()
      const nobody = { ...options, installation: 'nobody', row_security: 'required' as const }
      const required = new Db(nobody)
      await assert.rejects(required.queries.one(Count, one), refused)
      await assert.rejects(
        required.tx(tenant, (tx) => tx.one(Count, one)),
        refused,
      )
      await required.close()
    } finally {
      await asOwner(`drop database ${database} with (force)`)
      await asOwner(`drop role if exists drawbridge_${installationOf(database)}_sandbox_us_team`)
    }
  })

  test('keeps its login if row-level security is off', async () => {
    const [{ tenant, team }, other] = [await withUser(), await withUser()]
    const db = new Db({
      connection,
      schema: 'sandbox_us',
      connections_max: 2,
      checkRows: true,
      installation,
      row_security: 'off',
    })
    const Role = T.Object({ role: T.String(), login: T.String() })
    const roles = sql`select current_user as role, session_user as login`
    for (const { role, login } of [
      await db.queries.one(Role, roles),
      await db.read(tenant, (tx) => tx.one(Role, roles)),
      await db.tx(tenant, (tx) => tx.one(Role, roles)),
      (await db.read(tenant, (tx) => tx.lookup(Role, roles)))!,
    ])
      assert.equal(role, login)
    const both = await db.read(tenant, (tx) => tx.many(Team, users))
    for (const id of [team, other.team]) assert(both.some(({ team_id }) => team_id === id))
    // The views hold whom the policies hold.
    assert.equal(await db.read(tenant, (tx) => tx.run(sql`select from idempotency_key_of_team limit 0`)), 0)
    await db.close()
  })
})

test("an error of a team's statement has the caller's stack", async () => {
  const { db, tenant } = await createTestTeam()
  const failing = async (): Promise<unknown> => db.read(tenant, (tx) => tx.one(Count, sql`select 1 / 0 as n`))
  await assert.rejects(failing, ({ stack }: Error) => /at async .*Lending\.query/.test(stack!))
})

describe('statements without a team condition see one team', () => {
  const seen = (rows: { team_id: string }[]) => rows.map(({ team_id }) => team_id)

  test('in every kind of transaction', async () => {
    const [one, other] = [await withUser(), await withUser()]
    for (const { db, tenant, team } of [one, other, one]) {
      assert.deepEqual(seen(await db.read(tenant, (tx) => tx.many(Team, users))), [team])
      assert.equal((await db.read(tenant, (tx) => tx.lookup(Team, users)))!.team_id, team)
      assert.deepEqual(seen(await db.tx(tenant, (tx) => tx.many(Team, users))), [team])
      assert.equal((await db.tx(tenant, (tx) => tx.lookup(Team, users)))!.team_id, team)
      await db.tx(tenant, async (tx) => {
        await tx.run(sql`update "user" set client_user_id = 'renamed'`)
        assert.deepEqual(seen(await tx.many(Team, users)), [team])
        tx.defer(sql`update "user" set client_user_id = 'deferred'`)
      })
      await db.tx(tenant, async (tx) => tx.defer(sql`update "user" set client_user_id = ${team}`))
    }
    const Named = T.Object({ client_user_id: T.String() })
    for (const { db, team } of [one, other])
      assert.deepEqual(await db.queries.many(Named, sql`select client_user_id from "user" where team_id = ${team}`), [
        { client_user_id: team },
      ])
  })

  test('and the whole cell if the transaction declares it', async () => {
    const [one, other] = [await withUser(), await withUser()]
    const both = (rows: { team_id: string }[]) => [one, other].every(({ team }) => seen(rows).includes(team))
    assert(both(await one.db.queries.many(Team, users)))
    assert(both(await one.db.asyncCommit.many(Team, users)))
    assert(both(await one.db.plainTx((tx) => tx.many(Team, users))))
    assert(both(await one.db.asyncCommitTx((tx) => tx.many(Team, users))))
    assert(both(await one.db.txOnWholeCell(one.tenant, (tx) => tx.many(Team, users))))
    const lookUp = sql`select team_id from "user" where team_id = ${other.team}`
    assert.equal((await one.db.txOnWholeCell(one.tenant, (tx) => tx.lookup(Team, lookUp)))!.team_id, other.team)
  })

  test('and cannot assign a row to another one', async () => {
    const [{ db, tenant }, other] = [await withUser(), await withUser()]
    const refused = { code: '42501' }
    const adding = sql`insert into event_subscribed_team (team_id) values (${other.team})`
    await assert.rejects(
      db.tx(tenant, (tx) => tx.run(adding)),
      refused,
    )
    await assert.rejects(
      db.tx(tenant, async (tx) => tx.defer(adding)),
      refused,
    )
    await assert.rejects(
      db.tx(tenant, (tx) => tx.run(sql`update "user" set team_id = ${other.team}`)),
      refused,
    )
  })

  test('however many teams share the connections, and whatever fails at the same time', async () => {
    const teams = await Promise.all(Array.from({ length: 6 }, withUser))
    const failing = sql`select 1 / 0 as n`
    const kinds: ((team: TestTeam) => Promise<unknown>)[] = [
      async ({ db, tenant, team }) => assert.deepEqual(seen(await db.read(tenant, (tx) => tx.many(Team, users))), [team]),
      async ({ db, tenant, team }) => assert.equal((await db.read(tenant, (tx) => tx.lookup(Team, users)))!.team_id, team),
      async ({ db, tenant, team }) =>
        assert.deepEqual(
          await db.tx(tenant, async (tx) => {
            const before = await tx.many(Team, users)
            await tx.run(sql`update "user" set client_user_id = ${randomUUID()}`)
            return [...seen(before), ...seen(await tx.many(Team, users))]
          }),
          [team, team],
        ),
      ({ db, tenant }) => db.tx(tenant, async (tx) => tx.defer(sql`update "user" set client_user_id = ${randomUUID()}`)),
      ({ db, tenant }) => assert.rejects(db.tx(tenant, (tx) => tx.lookup(Count, failing))),
      ({ db, tenant }) => assert.rejects(db.read(tenant, (tx) => tx.one(Count, failing))),
      ({ db, tenant }) => assert.rejects(db.tx(tenant, async (tx) => tx.defer(failing))),
      ({ db, tenant }) =>
        assert.rejects(
          db.tx(tenant, async (tx) => {
            await tx.run(sql`update "user" set client_user_id = ${randomUUID()}`)
            await tx.one(Count, failing)
          }),
        ),
      ({ db, tenant }) =>
        assert.rejects(
          db.tx(tenant, async (tx) => {
            await tx.run(sql`update "user" set client_user_id = ${randomUUID()}`)
            throw new Error('abandoned')
          }),
        ),
    ]
    const before = new Map(teams.map((team) => [team, team.db]))
    assert.equal(new Set(before.values()).size, 1)
    for (let round = 0; round < 5; round++) await Promise.all(kinds.flatMap((kind) => teams.map((team) => kind(team))))
    // Connections that are cut off take their teams along.
    await asOwner(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'drawbridge'`,
    )
    for (let round = 0; round < 3; round++)
      await Promise.all(
        teams.map(async ({ db, tenant, team }) => {
          for (const read of [
            () => db.read(tenant, (tx) => tx.many(Team, users)),
            () => db.tx(tenant, async (tx) => [(await tx.lookup(Team, users))!]),
          ])
            // Those that were cut off fail once; what is read is of the own team from the first time on.
            assert.deepEqual(seen(await eventually(() => read().catch(() => undefined), 'the database is asked again')), [team])
        }),
      )
  })
})

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

  test('once an administrator has run them, the schema has its roles, and programs of before see what they saw', async () => {
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
    // As programs of before connect: as the owner, without a role and without a team.
    const client = new pg.Client({ ...own, options: '-c search_path=sandbox_us' })
    await client.connect()
    assert.equal((await client.query('select from team')).rowCount, 2)
    assert.equal((await client.query('update event_subscribed_team set team_id = team_id')).rowCount, 2)
    // Grants to the roles of another installation are taken back: this database is a copy of one.
    await client.query(`grant usage on schema sandbox_us to drawbridge_${installation}_sandbox_us`)
    await client.query(`grant select on team to drawbridge_${installation}_sandbox_us`)
    await client.query(`grant execute on function drop_access_log_day to drawbridge_${installation}_sandbox_us`)
    await migrate(own, 'sandbox_us', 'cell')
    const { rows } = await client.query<{ may: boolean }>(
      `select has_schema_privilege('drawbridge_${installation}_sandbox_us', 'sandbox_us', 'usage')
           or has_table_privilege('drawbridge_${installation}_sandbox_us', 'team', 'select')
           or has_function_privilege('drawbridge_${installation}_sandbox_us', 'drop_access_log_day'::regproc, 'execute') as may`,
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
