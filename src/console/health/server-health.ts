// The health of a server in one cell, for administrators of an organization. Queues are those of the organization's teams. The size of the
// database, its versions and backups are of the whole server and say nothing of other organizations but how large all are together.
import { dbNow } from '../../platform/db/leases.ts'
import { migrationsOf } from '../../platform/db/migrations.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { version } from '../../platform/runtime/version.ts'
import { T } from '../../platform/schema/schema.ts'
import { lastBackup } from './backups.ts'
import { countJobs } from './job-counts.ts'
import { COUNTED_MAX, ServerHealth } from './schema.ts'
import { listSizes } from './database-size.ts'

const TABLES_SHOWN = 10

/** The health of the cell of the transaction. @param control the control plane, which knows of backups */
export async function readServerHealth(tx: PlainTx, control: Queries, org_id: string): Promise<ServerHealth> {
  const schema = await tx.one(
    T.Object({ migration: T.Integer(), applied_at: T.String() }),
    sql`select number as migration, date_trunc('second', applied_at) as applied_at from migration order by number desc limit 1`,
  )
  const database = await tx.one(
    T.Object({ version: T.String(), bytes: T.Integer() }),
    sql`select current_setting('server_version') as version, pg_database_size(current_database()) as bytes`,
  )
  const tables = await tx.many(
    T.Object({ name: T.String(), bytes: T.Integer() }),
    sql`
    select c.relname::text as name, pg_total_relation_size(c.oid) as bytes from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    order by pg_total_relation_size(c.oid) desc, c.relname limit ${TABLES_SHOWN}`,
  )
  const teams = await tx.many(T.Object({ id: T.String() }), teamsOf(org_id))
  return {
    version,
    schema: { ...schema, known_migration: migrationsOf('cell').length },
    database: { ...database, growth: await listSizes(tx), tables },
    last_backup: await lastBackup(control),
    jobs: await countJobs(
      tx,
      teams.map(({ id }) => id),
    ),
    deliveries: await countDeliveries(tx, org_id),
  }
}

const teamsOf = (org_id: string): Sql => sql`select id from team where org_id = ${org_id} and deleted_at is null`

const countDeliveries = (tx: PlainTx, org_id: string) =>
  tx.one(
    ServerHealth.properties.deliveries,
    sql`
    select count(*) as pending, coalesce(extract(epoch from ${dbNow} - min(created_at)), 0)::float8 as oldest_pending_s,
      (select count(*) from (
        select 1 from event_outbox a where a.team_id in (${teamsOf(org_id)}) limit ${COUNTED_MAX}) waiting) as outbox
    from (
      select d.created_at from destination x
      cross join lateral (
        select created_at from delivery where destination_id = x.id and team_id = x.team_id and due_at is not null
        order by due_at limit ${COUNTED_MAX}) d
      where x.team_id in (${teamsOf(org_id)}) limit ${COUNTED_MAX}) pending`,
  )
