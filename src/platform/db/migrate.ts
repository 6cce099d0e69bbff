// Applies migrations: numbered SQL files, forward only, each in a transaction of its own, recorded with a checksum. Two processes that
// start together do not both apply one. A migration never makes requests wait long for its locks: it fails soon and is tried again.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Connection } from './database.ts'
import {
  APPLIED,
  compare,
  MigrationError,
  migrationsOf,
  type AppliedMigration,
  type Migration,
  type MigrationKind,
} from './migrations.ts'
import { distributeTables, isDistributed, noCitus, refuseRowSecurity, type Engine } from './distribution.ts'
import { isSecured, makeRoles, missingSecurity, secureSchema, type Protection } from './row-security.ts'
import type { RowSecurityMode } from './no-row-security.ts'
import { inTransaction } from './in-transaction.ts'
import { createQueries } from './statements.ts'

export interface MigrateOptions {
  /** Replaces the migrations of this program. */
  migrations?: Migration[]
  /** How long a statement of a migration waits for a lock, and requests wait behind it. */
  lock_timeout_ms?: number
  /** Time limit of a migration, and of the wait for another process that migrates. */
  wait_ms_max?: number
  /** Called when a migration, or the creation of policies, did not get its locks and will be tried again after a pause. */
  onRetry?: (retry: { migration: string; pause_ms: number }) => void
  /** Replaces the role that the database name gives: see `takeRole`. */
  installation?: string
  row_security?: RowSecurityMode
  /** `citus` distributes the tables of a cell; it is not needed for one whose tables are distributed already. */
  engine?: Engine
}

/** More than `deadlock_timeout`, after which PostgreSQL ends an autovacuum that holds a conflicting lock. */
const LOCK_TIMEOUT_MS = 1500
const WAIT_MS_MAX = 600_000
const PAUSE_MS_MAX = 15_000
const POLL_MS = 200
const CONNECT_MS_MAX = 10_000

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK_DETECTED = '40P01'

/**
 * Applies the migrations that a schema lacks; creates the schema if needed. Also creates missing roles, policies and grants
 * (row-security.ts) if the login may create roles, and distributes the tables of a cell on Citus (distribution.ts). Waits while another
 * process migrates the same schema. A step that does not get a lock within `lock_timeout_ms` is rolled back and tried again after a growing
 * pause, for at most `wait_ms_max`. Writes every table of the schema. Errors: MigrationError if the schema is not compatible with this
 * program, if roles are required and cannot be created, if there is no Citus or row-level security is not off with it, and after
 * `wait_ms_max`; migrations that were applied before stay.
 * @returns the names of the applied migrations, whether the schema is newer than this program, and how the rows of teams are separated
 */
export async function migrate(
  connection: Connection,
  schema: string,
  kind: MigrationKind,
  options: MigrateOptions = {},
): Promise<{ applied: string[]; newer: boolean; protection: Protection }> {
  const known = options.migrations ?? migrationsOf(kind)
  const client = new pg.Client({
    ...connection,
    application_name: 'drawbridge migrate',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
  })
  // The statement that uses a lost connection reports it.
  client.on('error', () => {})
  await client.connect()
  try {
    await lockSchema(client, schema, options)
    const hasCitus = kind === 'cell' && (await prepareCitus(client, schema, options))
    const rows = await prepareSchema(client, schema, options)
    const protection = await prepareProtection(client, schema, options)
    const { pending, newer } = compare(rows, known, schema)
    if (pending[0]?.number === 1 && kind === 'cell') await createExtension(client, 'pg_trgm with schema public')
    const roles = protection.by === 'roles' ? protection.roles : undefined
    // Roles that can access the schema need the policies and grants of new objects when a migration commits. In a new schema it saves time.
    const secured = roles && pending.length && (!rows.length || (await isSecured(client, schema, roles))) ? roles : undefined
    const complete = async () => {
      if (secured) await client.query((await missingSecurity(client, schema, secured)).join(';\n'))
      if (hasCitus) await distributeTables(client, schema)
    }
    for (const migration of pending)
      await retryWhileLocked(client, schema, migration.name, () => apply(client, migration, complete), options)
    if (hasCitus)
      await retryWhileLocked(
        client,
        schema,
        'to Citus',
        () => inTransaction(client, () => distributeTables(client, schema)),
        options,
      )
    if (protection.by === 'roles')
      protection.hidden_from = await retryWhileLocked(
        client,
        schema,
        'of row-level security',
        () => secureSchema(client, schema, protection.roles),
        options,
      )
    return { applied: pending.map(({ name }) => name), newer, protection }
  } finally {
    await client.end()
  }
}

/** @returns the migrations that the schema has */
async function prepareSchema(client: pg.Client, schema: string, { lock_timeout_ms = LOCK_TIMEOUT_MS }: MigrateOptions) {
  await client.query(`set lock_timeout = ${lock_timeout_ms}`)
  await client.query(`create schema if not exists ${schema}`)
  // Functions with the rights of the owner take over this path. Temporary tables are last in it, so that no session can replace a table.
  await client.query(`set search_path = ${schema}, pg_temp`)
  await client.query(
    `create table if not exists migration (
       number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null, compatible_from integer not null)`,
  )
  return (await client.query<AppliedMigration>(APPLIED)).rows
}

async function prepareProtection(client: pg.Client, schema: string, options: MigrateOptions): Promise<Protection> {
  const { installation, row_security } = options
  if (row_security === 'off') return { by: 'program', statements: [] }
  const protection = await makeRoles(client, { schema, installation })
  if (protection.by === 'program' && row_security === 'required')
    throw new MigrationError(
      `The login may not create the roles of schema "${schema}", and ROW_SECURITY is "required". As an administrator, run: ${protection.statements.join('; ')}`,
    )
  return protection
}

/** Creates the extension if it is missing. @returns whether the tables of the schema are, or are to be, distributed */
async function prepareCitus(client: pg.Client, schema: string, { engine, row_security }: MigrateOptions): Promise<boolean> {
  const wasDistributed = await isDistributed(
    createQueries((statement) => client.query(statement), false),
    schema,
  )
  if (!wasDistributed && engine !== 'citus') return false
  if (row_security !== 'off') refuseRowSecurity(schema)
  if (!wasDistributed)
    await createExtension(client, 'citus').catch((error: unknown) => {
      throw noCitus(error)
    })
  return true
}

/** Polls: a session that waits inside PostgreSQL would hold a snapshot for as long. */
async function lockSchema(client: pg.Client, schema: string, { wait_ms_max = WAIT_MS_MAX }: MigrateOptions): Promise<void> {
  for (const end = performance.now() + wait_ms_max; ; await sleep(POLL_MS)) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lockKey(schema)])
    if (rows[0]?.locked) return
    if (performance.now() > end)
      throw new MigrationError(`Another process has been migrating schema "${schema}" for ${formatSeconds(wait_ms_max)}.`)
  }
}

/**
 * Cells that are migrated at the same time would otherwise create it twice. An extension that exists stays in its schema.
 * @param definition its name, and what follows it
 */
const createExtension = (client: pg.Client, definition: string): Promise<unknown> =>
  inTransaction(client, async () => {
    await client.query('select pg_advisory_xact_lock($1)', [lockKey('extensions')])
    await client.query(`create extension if not exists ${definition}`)
  })

async function retryWhileLocked<R>(
  client: pg.Client,
  schema: string,
  migration: string,
  work: () => Promise<R>,
  { wait_ms_max = WAIT_MS_MAX, lock_timeout_ms = LOCK_TIMEOUT_MS, onRetry }: MigrateOptions,
): Promise<R> {
  const end = performance.now() + wait_ms_max
  for (let pause_ms = lock_timeout_ms; ; pause_ms = Math.min(2 * pause_ms, PAUSE_MS_MAX)) {
    try {
      return await work()
    } catch (error) {
      const { code } = error as { code?: string }
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK_DETECTED) throw error
      if (performance.now() > end)
        throw new MigrationError(
          `Migration ${migration} of schema "${schema}" did not get its locks within ${formatSeconds(wait_ms_max)}: ` +
            `${await openTransactions(client)}. Migrations before it are applied. End these transactions and run "bin/drawbridge migrate" again.`,
        )
      onRetry?.({ migration, pause_ms })
      await sleep(pause_ms)
    }
  }
}

/** @param complete adds what the migration's new objects need, in its transaction */
function apply(client: pg.Client, migration: Migration, complete: () => Promise<void>): Promise<void> {
  const { number, name, text, checksum, compatible_from } = migration
  return inTransaction(client, async () => {
    await client.query(text)
    await client.query(
      'insert into migration (number, name, checksum, applied_at, compatible_from) values ($1, $2, $3, clock_timestamp(), $4)',
      [number, name, checksum, compatible_from],
    )
    await complete()
  })
}

/** The sessions that may hold the locks, as text. Program names and times only: statements may contain patient data. */
async function openTransactions(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; program: string; open_s: number }>(
    `select pid, application_name as program, extract(epoch from clock_timestamp() - xact_start)::integer as open_s
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start < clock_timestamp() - interval '1 second'
     order by xact_start limit 5`,
  )
  const listed = rows.map(({ pid, program, open_s }) => `process ${pid} ("${program}") for ${open_s} s`).join(', ')
  return `transactions that are open: ${listed || 'none any more'}`
}

const formatSeconds = (ms: number): string => `${Math.round(ms / 1000)} s`

const lockKey = (schema: string): number => createHash('sha256').update(`drawbridge migrate ${schema}`).digest().readInt32BE(0)
