// Compatibility of programs and schemas; and a migration that waits for a lock does not block requests.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { connection } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { waitUntil } from '../../../test/support/embedded-postgres.ts'
import { migrate, type MigrateOptions } from './migrate.ts'
import { compare, MigrationError, migrationsOf, readMigration, type AppliedMigration, type Migration } from './migrations.ts'

/** Migrations of cells as a later release has them: those of this program and one for each text. */
function laterMigrations(...texts: string[]): Migration[] {
  const known = migrationsOf('cell')
  return [...known, ...texts.map((text, i) => later(known.length + 1 + i, text))]
}
const later = (number: number, text: string) =>
  readMigration('cell', `${String(number).padStart(4, '0')}_later.sql`, number, text)
const compatibleFrom = (number: number) => `-- compatible with programs from migration ${String(number).padStart(4, '0')} on\n`
const here = migrationsOf('cell').length

async function withClient<R>(schema: string, work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ ...connection, options: `-c search_path=${schema}` })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function migrateCell(schema: string, options?: MigrateOptions) {
  const { applied, newer } = await migrate(connection, schema, 'cell', { installation, ...options })
  return { applied, newer }
}

const listApplied = (schema: string) =>
  withClient(schema, async (client) => {
    const { rows } = await client.query<{ number: number; compatible_from: number }>(
      'select number, compatible_from from migration order by number',
    )
    return rows
  })

test('a program accepts a newer schema that its migrations declare compatible, and applies nothing', async () => {
  const migrations = laterMigrations(
    `${compatibleFrom(here)}create table later_one (id integer);\n`,
    `${compatibleFrom(here)}create table later_two (id integer);\n`,
  )
  await migrateCell('upgrade_newer', { migrations })
  const before = await listApplied('upgrade_newer')
  assert.deepEqual(before.slice(-2), [
    { number: here + 1, compatible_from: here },
    { number: here + 2, compatible_from: here },
  ])
  assert.deepEqual(await migrateCell('upgrade_newer'), { applied: [], newer: true })
  assert.deepEqual(await listApplied('upgrade_newer'), before)
})

test('a program rejects a newer schema if one of the later migrations requires a newer program', async () => {
  const migrations = laterMigrations(
    `${compatibleFrom(here + 1)}create table later_one (id integer);\n`,
    `${compatibleFrom(1)}create table later_two (id integer);\n`,
  )
  await migrateCell('upgrade_incompatible', { migrations })
  await assert.rejects(migrateCell('upgrade_incompatible'), {
    message:
      `The schema "upgrade_incompatible" is newer than this program and not compatible with it: it has migration ${here + 2}, which ` +
      `requires a program with migration ${here + 1}, and this program has ${here}. Run a newer release.`,
  })
})

test('a schema with another history is rejected, also beyond the migrations that this program knows', () => {
  const known = laterMigrations(`${compatibleFrom(here)}create table later (id integer);\n`)
  const changed = known.with(-1, { ...known.at(-1)!, checksum: 'another' })
  const next = { number: known.length + 2, checksum: 'later', compatible_from: 1 }
  for (const [history, number] of [
    [changed, known.length],
    [[...known, next], known.length + 2],
  ] satisfies [AppliedMigration[], number][])
    assert.throws(() => compare(history, known, 'fictional'), {
      message: `Migration ${number} of schema "fictional" is not the one this program knows. Migrations that have run must not be changed.`,
    })
})

test('a schema with another baseline is rejected as that of a development version, and not changed', async () => {
  const schema = 'upgrade_development'
  await withClient(schema, (client) =>
    client.query(`
      create schema ${schema};
      create table ${schema}.migration (
        number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null, compatible_from integer not null);
      insert into ${schema}.migration values (1, '0001_init.sql', 'of a development version', now(), 1)`),
  )
  await assert.rejects(migrateCell(schema), {
    message: `The schema "${schema}" was made by a development version of Drawbridge: create a new data folder, or a new database.`,
  })
  await withClient(schema, async (client) => {
    const { rows } = await client.query('select tablename from pg_tables where schemaname = $1', [schema])
    assert.deepEqual(rows, [{ tablename: 'migration' }])
  })
})

test('a migration without a first line that declares its compatibility is rejected', () => {
  const number = String(here + 1).padStart(4, '0')
  for (const text of [
    'create table later (id integer);\n',
    `\n${compatibleFrom(here)}`,
    '-- compatible with programs from migration 30 on\nselect 1;\n',
    compatibleFrom(0),
    compatibleFrom(here + 2),
  ])
    assert.throws(() => later(here + 1, text), {
      message:
        `migrations/cell/${number}_later.sql: The first line must say from which migration on programs can work with the schema after this ` +
        `one, at most its own number: "-- compatible with programs from migration ${String(here).padStart(4, '0')} on" ` +
        '(CONTRIBUTING.md, "Add a table or a column").',
    })
  assert.equal(later(here + 1, compatibleFrom(here + 1)).compatible_from, here + 1)
})

/** A transaction that has read the users and stays open. */
async function readingUsers(schema: string) {
  const client = new pg.Client({ ...connection, application_name: 'long report', options: `-c search_path=${schema}` })
  await client.connect()
  await client.query('begin')
  await client.query('select 1 from "user"')
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return { pid: rows[0]!.pid, end: () => client.end() }
}

const addColumn = laterMigrations(`${compatibleFrom(here)}alter table "user" add column later integer;\n`)

test('a migration behind a long transaction lets requests through and is applied when the transaction ends', async () => {
  await migrateCell('upgrade_waiting')
  const report = await readingUsers('upgrade_waiting')
  const retries: string[] = []
  const migrated = migrateCell('upgrade_waiting', {
    migrations: addColumn,
    lock_timeout_ms: 200,
    onRetry: ({ migration }) => retries.push(migration),
  })
  await withClient('upgrade_waiting', async (client) => {
    await waitUntil(async () => {
      const { rowCount } = await client.query(
        `select from pg_locks where not granted and relation = '"user"'::regclass and mode = 'AccessExclusiveLock'`,
      )
      return rowCount
    })
    // A read that queued behind the migration until the report ends would not end, since the report outlives it.
    await client.query('set statement_timeout = 20000')
    await client.query('select count(*) from "user"')
  })
  await waitUntil(() => retries.length >= 2)
  await report.end()
  assert.deepEqual(await migrated, { applied: [addColumn.at(-1)!.name], newer: false })
  assert.equal(retries[0], addColumn.at(-1)!.name)
})

test('a migration that never gets its locks fails with an error that names the blocking sessions, and changes nothing', async () => {
  await migrateCell('upgrade_given_up')
  const report = await readingUsers('upgrade_given_up')
  await assert.rejects(
    migrateCell('upgrade_given_up', { migrations: addColumn, lock_timeout_ms: 100, wait_ms_max: 1000 }),
    ({ message }: Error) =>
      message.startsWith(
        `Migration ${addColumn.at(-1)!.name} of schema "upgrade_given_up" did not get its locks within 1 s: transactions that are open: `,
      ) && message.includes(`process ${report.pid} ("long report") for `),
  )
  await report.end()
  assert.equal((await listApplied('upgrade_given_up')).length, here)
})

test('a migration that a deadlock ends is tried again and applied', async () => {
  const schema = 'upgrade_deadlock'
  await migrateCell(schema)
  // Not rolled back with the migration: the first time it ends as the session that PostgreSQL chooses to end a deadlock does.
  await withClient(schema, (client) => client.query('create sequence later_attempt'))
  const ended = `do $$ begin if nextval('later_attempt') = 1 then raise exception using errcode = 'deadlock_detected'; end if; end $$;\n`
  const migrations = laterMigrations(`${compatibleFrom(here)}alter table "user" add column later integer;\n${ended}`)
  const retries: string[] = []
  const onRetry: MigrateOptions['onRetry'] = ({ migration }) => retries.push(migration)
  const { name } = migrations.at(-1)!
  assert.deepEqual(await migrateCell(schema, { migrations, lock_timeout_ms: 100, onRetry }), { applied: [name], newer: false })
  assert.deepEqual(retries, [name])
})

test('a process waits while another migrates the same schema, and then finds nothing to do', async () => {
  const results = await Promise.all(['upgrade_twice', 'upgrade_twice', 'upgrade_twice'].map((schema) => migrateCell(schema)))
  assert.deepEqual(results.map((result) => result.applied.length).sort(), [0, 0, here])
})

test('npm run check finds a number that two migrations have', () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-migrations-'))
  const check = () => {
    const script = fileURLToPath(new URL('../../../test/check-migrations.ts', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
    return { status, stderr }
  }
  for (const kind of ['cell', 'control']) {
    mkdirSync(join(folder, kind))
    for (const name of ['0001_first.sql', '0002_second.sql']) writeFileSync(join(folder, kind, name), compatibleFrom(1))
  }
  assert.deepEqual(check(), { status: 0, stderr: '' })
  writeFileSync(join(folder, 'control', '0002_other.sql'), compatibleFrom(1))
  const said = 'migrations/control/0002_second.sql: The number is that of 0002_other.sql; the next free one is 0003.\n'
  assert.deepEqual(check(), { status: 1, stderr: said })
  rmSync(folder, { recursive: true })
  const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    scripts: { check: string }
  }
  assert.match(scripts.check, /(^|&& )node test\/check-migrations\.ts && /)
})

test('a PostgreSQL without Citus, and row-level security with it, are refused before the schema is made', async () => {
  const refuse = (options: MigrateOptions, message: RegExp) =>
    assert.rejects(migrateCell('without_citus', { engine: 'citus', ...options }), (error: Error) => {
      assert(error instanceof MigrationError)
      assert.match(error.message, message)
      return true
    })
  await refuse({}, /^The tables of schema "without_citus" are on Citus, .* Set ROW_SECURITY to "off"\.$/)
  await refuse(
    { row_security: 'off' },
    /^This PostgreSQL has no Citus: install Citus 13\.2 or newer, and set shared_preload_libraries to "citus"\.$/,
  )
  await withClient('public', async (client) => {
    const { rows } = await client.query<{ schema: string | null }>(`select to_regnamespace('without_citus')::text as schema`)
    assert.equal(rows[0]!.schema, null)
  })
})
