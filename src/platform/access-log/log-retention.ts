// How long the access log is kept: what `migrate` stores in the database, and what workers delete and archive.
import pg from 'pg'
import type { Connection, Db } from '../db/database.ts'
import type { Queries } from '../db/transaction.ts'
import { dbNow } from '../db/leases.ts'
import { ageInSeconds, type Cleanup } from '../queue/retention.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'
import { deleteFilesAfter, type StoredFiles } from '../stored-files/stored-files.ts'
import { appendLines } from './access-log.ts'
import { DayArchiver } from './archive-days.ts'

const CONNECT_MS_MAX = 10_000

const LogRetention = T.Object({
  days: T.Integer(),
  /** Null: all. */
  database_days: Nullable(T.Integer()),
})
/** How many days the access log is kept, and how many of them in the database; the others are in files. */
export type LogRetention = Static<typeof LogRetention>

/** The retention of the access log of a cell. Only `migrate` changes it: see `storeRetention`. */
export const storedRetention = (db: Db): Promise<LogRetention> =>
  db.queries.one(LogRetention, sql`select days, database_days from access_log_retention`)

/** Stores the retention of the access log of a cell. Writes access_log_retention, which only the owner of the schema may. */
export async function storeRetention(connection: Connection, schema: string, retention: LogRetention): Promise<void> {
  const client = new pg.Client({ ...connection, application_name: 'drawbridge migrate', connectionTimeoutMillis: CONNECT_MS_MAX })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(
      `update ${client.escapeIdentifier(schema)}.access_log_retention set days = $1, database_days = $2
       where (days, database_days) is distinct from ($1, $2)`,
      [retention.days, retention.database_days],
    )
  } finally {
    await client.end()
  }
}

const OldDay = T.Object({ day: T.String(), overdue_s: T.Number() })

/** The days of the log that are older than the stored retention by the database clock, oldest first. */
const oldDays = (queries: Queries): Promise<Static<typeof OldDay>[]> =>
  queries.many(
    OldDay,
    sql`
    select day, extract(epoch from ${dbNow} at time zone 'UTC' - (day + r.days + 1))::float8 as overdue_s
    from access_day, access_log_retention r
    where dropped_at is null and day < (${dbNow} at time zone 'UTC')::date - r.days order by day`,
  )

const SetOfFile = T.Object({ set_id: T.String() })

/**
 * Deletes the days of the log that are older than the stored retention, and their files. Writes access_log, access_day, access_archive,
 * stored_file. @returns the number of deleted days
 */
export async function dropOldDays(db: Db): Promise<number> {
  const old = await oldDays(db.queries)
  for (const { day } of old)
    await db.plainTx(async (tx) => {
      const files = await tx.many(SetOfFile, sql`select set_id from access_archive where day = ${day}::date`)
      await tx.locking.run(sql`select drop_access_log_day(${day}::date)`)
      await deleteFilesAfter(
        tx,
        files.map(({ set_id }) => set_id),
        0,
        { isOfCell: true },
      )
    })
  return old.length
}

const Left = T.Object({ age_s: Nullable(T.Number()) })
/** If a line has not been appended to the log for this long, the process that left it has ended. */
const LEFT_S = 5

/**
 * The worker's tasks for the access log: delete expired days, archive those that leave the database, and append the lines that a killed
 * process left. Writes access_log, access_day, access_archive, access_line, stored_file.
 */
export const accessCleanups = (files: StoredFiles): Cleanup[] => [
  new DayArchiver(files),
  {
    kind: 'access_log_day',
    control: false,
    overdueFor: async ({ queries }) => (await oldDays(queries))[0]?.overdue_s,
    remove: dropOldDays,
  },
  {
    kind: 'access_line',
    control: false,
    async overdueFor({ queries }) {
      const oldest = sql`(min(line collate "C")::json ->> 'at')::timestamptz`
      const { age_s } = await queries.one(Left, sql`select ${ageInSeconds(oldest)} as age_s from access_line`)
      return age_s !== null && age_s > LEFT_S ? age_s - LEFT_S : undefined
    },
    remove: async (db) => (await appendLines(db)).count,
  },
]
