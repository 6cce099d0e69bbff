// Distributes the tables of a cell over the nodes of Citus, as table-placement.ts says (docs/decisions/citus.md).
import type pg from 'pg'
import { MigrationError } from './migrations.ts'
import { removalOfSecurity } from './row-security.ts'
import { raw, sql } from './sql.ts'
import { placementOf } from './table-placement.ts'
import type { Queries } from './transaction.ts'
import { T } from '../schema/schema.ts'

/** Other than one PostgreSQL. */
export const engines = ['citus'] as const
export type Engine = (typeof engines)[number]

/** An expression: whether the tables of a schema are distributed. Valid on a PostgreSQL without Citus too, which has no catalog of Citus. */
export const isDistributedIn = (schema: string): string => `
  exists (
    select from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where t.tgrelid = to_regclass('${schema}.team') and p.proname = 'citus_truncate_trigger')`

const Distributed = T.Object({ is_distributed: T.Boolean() })

/** Whether the tables of a schema are distributed. */
export const isDistributed = async (queries: Pick<Queries, 'one'>, schema: string): Promise<boolean> =>
  (await queries.one(Distributed, sql`select ${raw(isDistributedIn(schema))} as is_distributed`)).is_distributed

/** Errors: MigrationError. Policies read the setting of the team, which does not reach the nodes. */
export function refuseRowSecurity(schema: string): never {
  throw new MigrationError(
    `The tables of schema "${schema}" are on Citus, where row-level security cannot separate teams. Set ROW_SECURITY to "off".`,
  )
}

/** An extension that is not installed, or whose files are not. */
const MISSING = new Set(['0A000', '58P01', '22023'])
const INSUFFICIENT_PRIVILEGE = '42501'

/** The error to report if `create extension citus` fails. */
export function noCitus(error: unknown): unknown {
  const { code = '', message } = error as Error & { code?: string }
  if (code === INSUFFICIENT_PRIVILEGE)
    return new MigrationError(
      'This login may not create the extension "citus". As a superuser, run in the database: create extension citus',
    )
  if (MISSING.has(code) || message.includes('shared_preload_libraries'))
    return new MigrationError(
      'This PostgreSQL has no Citus: install Citus 13.2 or newer, and set shared_preload_libraries to "citus".',
    )
  return error
}

interface Table {
  /** As statements write it. */
  identifier: string
  name: string
}

interface ForeignKey {
  source: string
  name: string
  definition: string
}

/**
 * Distributes each table that table-placement.ts does not leave on the coordinator and that is not distributed yet, with its rows. Changes
 * nothing if there is none. A foreign key cannot lead from a table that is distributed to one that is not yet, so those of the tables are
 * dropped before and added after, which locks and reads them. Row-level security ends. Must run in a transaction.
 * @param client connected as the owner of the tables, with the schema in its search path
 */
export async function distributeTables(client: pg.Client, schema: string): Promise<void> {
  const tables = await listUndistributed(client, schema)
  if (tables.length === 0) return
  // In parallel, the nodes could not add a key to a table that the same transaction has created.
  await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  await removeSecurity(client, schema)
  const keys = await listForeignKeys(client, schema, tables)
  for (const { source, name } of keys) await client.query(`alter table ${source} drop constraint ${name}`)
  let first = await findDistributed(client, schema)
  for (const { identifier, name } of tables)
    if (placementOf(name) === 'reference') await client.query('select create_reference_table($1)', [identifier])
    else {
      // All divide the teams among the nodes in the same way, so that the rows of a team are together.
      await client.query(`select create_distributed_table($1, 'team_id', colocate_with => $2)`, [identifier, first ?? 'none'])
      first ??= identifier
    }
  for (const { source, name, definition } of keys)
    await client.query(`alter table ${source} add constraint ${name} ${definition}`)
}

/** Its roles may not exist on the workers, whose schema, if there is one, has nothing of them. */
async function removeSecurity(client: pg.Client, schema: string): Promise<void> {
  await client.query(`set local citus.enable_ddl_propagation = off`)
  for (const statement of await removalOfSecurity(client, schema)) await client.query(statement)
  await client.query(`set local citus.enable_ddl_propagation = on`)
}

/** Citus manages a local table by itself when it gets a foreign key to a reference table. */
const PLACED = `select from pg_dist_partition p where p.logicalrelid = c.oid and (p.partmethod <> 'n' or p.repmodel = 't')`

async function listUndistributed(client: pg.Client, schema: string): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.oid::regclass::text as identifier, c.relname::text as name from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and not exists (${PLACED})
     order by 2`,
    [schema],
  )
  return rows.filter(({ name }) => placementOf(name) !== 'local')
}

async function findDistributed(client: pg.Client, schema: string): Promise<string | undefined> {
  const { rows } = await client.query<{ identifier: string }>(
    `select c.oid::regclass::text as identifier from pg_class c join pg_dist_partition p on p.logicalrelid = c.oid
     where c.relnamespace = $1::regnamespace and p.partmethod = 'h' order by 1 limit 1`,
    [schema],
  )
  return rows[0]?.identifier
}

/** Those that begin or end at one of the tables. */
async function listForeignKeys(client: pg.Client, schema: string, tables: Table[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as source, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace = $1::regnamespace
       and (conrelid::regclass::text = any ($2) or confrelid::regclass::text = any ($2))
     order by 1, 2`,
    [schema, tables.map(({ identifier }) => identifier)],
  )
  return rows
}
