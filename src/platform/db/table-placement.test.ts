// The rules of Citus for the tables of a cell, read from the catalog of a migrated one. Sources: docs.citusdata.com, develop/reference_ddl
// ("Adding/Removing Constraints"), and what Citus 13.2 refuses in src/backend/distributed/commands/*.c.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asOwner, createTestTeam } from '../../../test/support/server.ts'
import { placementOf, undistributedTables } from './table-placement.ts'

const SCHEMA = 'sandbox_us'

/** Every table of a cell, without partitions, which are where their table is. */
const { rows: tables } = await asOwner<{ oid: number; name: string; has_team: boolean | null }>(
  `select c.oid::int, c.relname as name,
     (select a.attnotnull from pg_attribute a where a.attrelid = c.oid and a.attname = 'team_id' and a.atttypid = 'uuid'::regtype) as has_team
   from pg_class c where c.relnamespace = '${SCHEMA}'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 2`,
)
const distributed = tables.filter(({ name }) => placementOf(name) === 'distributed')
const oids = distributed.map(({ oid }) => oid)

test('every table that is not distributed exists', () => {
  const names = tables.map(({ name }) => name)
  assert.deepEqual(
    undistributedTables.filter((name) => !names.includes(name)),
    [],
  )
  assert.equal(new Set(undistributedTables).size, undistributedTables.length)
  assert(distributed.length > 70, `${distributed.length} tables are distributed`)
})

// "distribution column of distributed table is NULL": commands/table.c.
test('every distributed table has a team in each row', () => {
  assert.deepEqual(
    distributed.filter(({ has_team }) => has_team !== true).map(({ name }) => name),
    [],
  )
})

/** Unique indexes that begin with another column, and why. */
const OTHER_ORDER = ['lab_order__sample_id'] // laboratories name samples without a team

// "Primary keys and uniqueness constraints must include the distribution column": reference_ddl. First, because statements name the team.
test('every primary key, unique index and exclusion constraint of a distributed table begins with the team', async () => {
  const { rows: keys } = await asOwner<{ key: string; first: string | null; has_team: boolean }>(
    `select c.relname as key, a.attname as first,
       exists (select from pg_attribute t where t.attrelid = i.indrelid and t.attname = 'team_id' and t.attnum = any (i.indkey[:i.indnkeyatts - 1])) as has_team
     from pg_index i join pg_class c on c.oid = i.indexrelid left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indrelid = any ($1::oid[]) and (i.indisunique or i.indisexclusion)`,
    [oids],
  )
  assert(keys.length > 70, `${keys.length} keys`)
  assert.deepEqual(
    keys.filter(({ has_team }) => !has_team).map(({ key }) => key),
    [],
  )
  assert.deepEqual(
    keys.filter(({ first }) => first !== 'team_id').map(({ key }) => key),
    OTHER_ORDER,
  )
  const { rows: unkeyed } = await asOwner<{ name: string }>(
    `select relname as name from pg_class c
     where oid = any ($1::oid[]) and not exists (select from pg_index i where i.indrelid = c.oid and i.indisunique)`,
    [oids],
  )
  assert.deepEqual(unkeyed, [])
})

// "Foreign keys must always be declared between either two local tables, two colocated distributed tables, or a distributed table and a
// reference table. […] always include the distribution column in the key": reference_ddl. In the same place on both sides, without SET NULL and
// SET DEFAULT, and none from a reference or local table to a distributed one: commands/foreign_constraint.c.
test('every foreign key stays within a team, or leads to a reference table', async () => {
  const { rows: keys } = await asOwner<ForeignKey>(
    `select c.conname as key, s.relname as source, t.relname as target, c.confdeltype as on_delete, c.confupdtype as on_update,
       array(select a.attname::text from unnest(c.conkey) with ordinality k (n, i) join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.n order by i) as columns,
       array(select a.attname::text from unnest(c.confkey) with ordinality k (n, i) join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.n order by i) as target_columns
     from pg_constraint c join pg_class s on s.oid = c.conrelid join pg_class t on t.oid = c.confrelid
     where c.contype = 'f' and c.connamespace = '${SCHEMA}'::regnamespace and c.conparentid = 0`,
  )
  assert(keys.length > 80, `${keys.length} foreign keys`)
  assert.deepEqual(keys.flatMap(faultsOf), [])
})

test('a row of a team cannot name a user of another team', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  const user_id = await other.user()
  const write = (team_id: string) =>
    asOwner(
      `insert into ${SCHEMA}.patient_message_opt_out (team_id, user_id, channel, created_at) values ($1, $2, 'sms', now())`,
      [team_id, user_id],
    )
  await assert.rejects(write(team.team), { code: '23503' })
  await write(other.team)
})

interface ForeignKey {
  key: string
  source: string
  target: string
  on_delete: string
  on_update: string
  columns: string[]
  target_columns: string[]
}

function faultsOf({ key, source, target, on_delete, on_update, columns, target_columns }: ForeignKey): string[] {
  const [placement, targetPlacement] = [placementOf(source), placementOf(target)]
  const isWithinTeam = columns[0] === 'team_id' && target_columns[0] === 'team_id'
  const isAllowed = {
    distributed: targetPlacement === 'reference' || (targetPlacement === 'distributed' && isWithinTeam),
    reference: targetPlacement === 'reference',
    local: targetPlacement !== 'distributed',
  }[placement]
  const setsColumns = [on_delete, on_update].some((action) => ['n', 'd'].includes(action))
  const isFaulty = !isAllowed || (placement === 'distributed' && setsColumns)
  return isFaulty ? [`${key}: ${source} (${placement}) to ${target} (${targetPlacement})`] : []
}

// "triggers are not supported on distributed tables", nor on reference tables: commands/trigger.c.
test('no distributed or reference table has a trigger, a rule or a parent', async () => {
  const all = tables.filter(({ name }) => placementOf(name) !== 'local').map(({ oid }) => oid)
  const { rows: found } = await asOwner<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger where tgrelid = any ($1::oid[]) and not tgisinternal
     union all select ev_class::regclass::text from pg_rewrite where ev_class = any ($1::oid[])
     union all select inhrelid::regclass::text from pg_inherits where inhrelid = any ($1::oid[])`,
    [all],
  )
  assert.deepEqual(found, [])
})

// "cannot use logical replication to transfer shards of the relation […] since it doesn't have a REPLICA IDENTITY or PRIMARY KEY":
// operations/shard_transfer.c. The same holds for logical replication from one PostgreSQL.
test('logical replication can name the rows of every table', async () => {
  const { rows: unnamed } = await asOwner<{ name: string }>(
    `select relname as name from pg_class c
     where oid = any ($1::oid[]) and relreplident <> 'f'
       and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
    [tables.map(({ oid }) => oid)],
  )
  assert.deepEqual(unnamed, [])
})

// A default with a sequence of another type becomes `worker_nextval`, which Citus allows on the coordinator alone: commands/table.c. So that each
// node gives numbers of a range of its own, they are bigint.
test('identity columns and sequences of distributed tables are of type bigint', async () => {
  const { rows: columns } = await asOwner<{ column: string; type: string }>(
    `select a.attrelid::regclass::text || '.' || a.attname as "column", a.atttypid::regtype::text as type
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = any ($1::oid[]) and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like '%nextval%')`,
    [oids],
  )
  assert(columns.length >= 3, 'event_outbox, series and feed have numbers')
  assert.deepEqual(
    columns.filter(({ type }) => type !== 'bigint'),
    [],
  )
})

// "could not create distributed plan. Possibly this is caused by the use of parameters in SQL functions": planner/distributed_planner.c.
test('every function that reads a distributed table is in PL/pgSQL', async () => {
  const { rows: functions } = await asOwner<{ name: string; language: string; text: string }>(
    `select p.proname as name, l.lanname as language, p.prosrc as text from pg_proc p join pg_language l on l.oid = p.prolang
     where p.pronamespace = '${SCHEMA}'::regnamespace`,
  )
  const names = distributed.map(({ name }) => name).join('|')
  const reading = functions.filter(({ text }) => new RegExp(`\\b(from|join|into|update)\\s+"?(${names})\\b`).test(text))
  assert.deepEqual(reading.map(({ name, language }) => `${name} ${language}`).sort(), [
    'booked_times_of_sites plpgsql',
    'booked_times_of_staff plpgsql',
  ])
})

// "Subqueries are not supported in policies on distributed tables", nor of reference tables: commands/policy.c.
test('no policy has a subquery', async () => {
  const { rows: policies } = await asOwner<{ policy: string; condition: string }>(
    `select polrelid::regclass::text || ' ' || polname as policy, concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) as condition
     from pg_policy where polrelid = any ($1::oid[])`,
    [tables.map(({ oid }) => oid)],
  )
  assert(policies.length > 70, `${policies.length} policies`)
  assert.deepEqual(
    policies.filter(({ condition }) => /select/i.test(condition)).map(({ policy }) => policy),
    [],
  )
})
