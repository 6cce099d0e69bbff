// The policies, roles and grants of every cell, and what each kind of connection may see.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import pg from 'pg'
import { asOwner, cells, connection, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { schemaOf } from './cells.ts'
import { cellNames } from '../../settings/cells.ts'
import { Db } from './database.ts'
import { NoRowSecurity } from './no-row-security.ts'
import { installationOf } from './row-security.ts'
import { T } from '../schema/schema.ts'
import { sql } from './sql.ts'

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
      assert.match(
        text,
        /team_id = \( SELECT (\w+\.)?current_team\(\) AS current_team\)\) OR \( SELECT \(NOT row_security_active\(/,
        name,
      )
  })

  test('has owner-rights functions only for booked times and for the days of the access log', async () => {
    const { rows } = await asOwner<{ name: string }>(
      `select distinct proname::text as name from pg_proc where pronamespace = any ($1::regnamespace[]) and prosecdef order by 1`,
      [[...schemas, 'control']],
    )
    assert.deepEqual(
      rows.map(({ name }) => name),
      [
        'add_access_log_file',
        'append_access_log',
        'archive_access_log_day',
        'booked_times_of_sites',
        'booked_times_of_staff',
        'drop_access_log_day',
        'forget_access_log_files',
      ],
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

  test('has owner-rights functions that look for temporary tables and types last', async () => {
    const { rows } = await asOwner<{ name: string; schema: string; config: string[] }>(
      `select oid::regprocedure::text as name, pronamespace::regnamespace::text as schema, proconfig as config
       from pg_proc where pronamespace = any ($1::regnamespace[]) and prosecdef`,
      [[...schemas, 'control']],
    )
    for (const { name, schema, config } of rows)
      assert(config.includes(`search_path=${schema}, pg_temp`), `${name} has ${config.join()}`)
  })

  test('grants access to a schema only to its own roles', async () => {
    const { rows } = await asOwner<{ schema: string; what: string; grantee: string; privileges: string }>(
      `select n.nspname as schema, o.what, coalesce(r.rolname, 'public') as grantee, string_agg(distinct lower(a.privilege_type), ' ') as privileges
       from pg_namespace n
       cross join lateral (
         select 'schema' as what, n.nspacl as acl, n.nspowner as owner
         union all select case when relname in ('migration', 'access_log', 'access_day') then relname else relkind::text end, relacl, relowner from pg_class where relnamespace = n.oid and relkind <> 'i') o
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

  test('for teams has no team any more after a statement or a transaction of a team', async () => {
    const { tenant } = await withUser()
    const one = new Db({ connection, schema: 'sandbox_us', connections_max: 1, checkRows: true, installation })
    const users = sql`select count(*) as n from "user"`
    const rest = `select pg_backend_pid() as pid, coalesce(current_setting('drawbridge.team', true), '') as team, (select count(*)::integer from "user") as n`
    try {
      const { pid } = (await one.teamPool.query(rest)).rows[0]
      for (const use of [
        () => one.read(tenant, (tx) => tx.one(Count, users)),
        () => one.tx(tenant, (tx) => tx.one(Count, users)),
        () => one.tx(tenant, (tx) => tx.locking.one(Count, users)),
      ]) {
        assert.deepEqual(await use(), { n: 1 })
        assert.deepEqual((await one.teamPool.query(rest)).rows, [{ pid, team: '', n: 0 }])
      }
    } finally {
      await one.close()
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
  await assert.rejects(failing, ({ stack }: Error) => /at async .*ConnectionPool\.query/.test(stack!))
})
