// An access log of earlier days, made as the owner of the tables: the role of the program may not choose a day.
import type pg from 'pg'
import { lineOf } from '../../src/platform/access-log/access-line.ts'
import type { Db } from '../../src/platform/db/database.ts'

const DAY_MS = 86_400_000

export const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

async function asOwnerOfLog(db: Db, text: string, values: unknown[]): Promise<void> {
  const client = await db.pool.connect()
  try {
    await client.query('begin; set local role none')
    await client.query(text, values)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

const EMPTY = `do $$ declare t text; begin
  delete from access_archive; delete from access_archive_lease; delete from stored_file where is_of_cell;
  for t in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'access_log'::regclass loop
    execute 'drop table ' || t;
  end loop;
  delete from access_line; delete from access_day where seq > 0;
end $$`

/** Deletes the log of a cell with all its days, and sets for how many days it is in the database. */
export async function emptyLog(db: Db, { database_days }: { database_days: number }): Promise<void> {
  await asOwnerOfLog(db, EMPTY, [])
  await asOwnerOfLog(db, 'update access_log_retention set days = 1000, database_days = $1', [database_days])
}

/** Appends lines under a day, which must not be before the last one. */
export const appendDay = (db: Db, day: string, rows: string[]): Promise<void> =>
  asOwnerOfLog(db, 'select append_access_log_on($1, $2)', [day, rows.join('\n')])

/** The same in a schema of a database, as the owner of its tables. */
export async function appendDayAsOwner(client: pg.Client, schema: string, day: string, rows: string[]): Promise<void> {
  await client.query(`set search_path to ${schema}`)
  await client.query('select append_access_log_on($1, $2)', [day, rows.join('\n')])
}

/** A line about a user, as the functions of the log read it. */
export function accessRow({
  user,
  team,
  request,
  object,
}: {
  user: string
  team: string
  request: string
  object?: string
}): string {
  const objects = object === undefined ? [] : [object]
  const access = { request, key: team, org: team, team, operation: 'get_user', objects, address: null, outcome: 200 }
  const { team_id, users, text } = lineOf({ ...access, at: new Date(), users: [user] })
  return `${team_id}\t${users}\t${text}`
}
