// Operations on the stored access log: read it in order, check it against its hashes, delete it day by day. docs/decisions/access-log.md
// says what the hashes prove and what they cannot prove.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { appendLines } from './access-log.ts'
import type { Connection, Db } from '../db/database.ts'
import type { Queries } from '../db/transaction.ts'
import { dbNow } from '../db/leases.ts'
import { ageInSeconds, type Cleanup } from '../queue/retention.ts'
import { matchesSchema, Nullable, T, type Static } from '../schema/schema.ts'
import { joinConditions, sql, type Sql } from '../db/sql.ts'

const ROWS = 2000
const CONNECT_MS_MAX = 10_000

const Day = T.Object({
  day: T.String(),
  seq: T.Integer(),
  hash: T.String(),
  dropped_at: Nullable(T.String()),
  /** The day was deleted before the retention of that time had ended. */
  isTooYoung: T.Boolean(),
})
type AccessDay = Static<typeof Day>

/** The days of the log, oldest first. The first entry has no day: the chain begins there. */
const days = (db: Queries): Promise<AccessDay[]> =>
  db.many(
    Day,
    sql`
    select day, seq, encode(hash, 'hex') as hash, dropped_at,
           coalesce((dropped_at at time zone 'UTC')::date - retention_days <= day, false) as "isTooYoung"
    from access_day order by day`,
  )

const Row = T.Object({
  seq: T.Integer(),
  team_id: Nullable(T.String()),
  users: T.Array(T.String()),
  line: T.String(),
  hash: T.String(),
})
type Row = Static<typeof Row>

/** The lines of a day that satisfy all conditions, in order, some thousands per batch. */
async function* readLines(db: Queries, day: string, conditions: Sql[] = []): AsyncGenerator<Row[]> {
  for (let after = 0; ;) {
    const rows = await db.many(
      Row,
      sql`
      select seq, team_id, to_json(users) as users, line, encode(hash, 'hex') as hash from access_log
      where day = ${day}::date and seq > ${after} and ${joinConditions(conditions)} order by seq limit ${ROWS}`,
    )
    if (rows.length) yield rows
    if (rows.length < ROWS) return
    after = rows.at(-1)!.seq
  }
}

export interface LineFilter {
  /** Days, UTC, both included. */
  firstDay?: string | undefined
  lastDay?: string | undefined
  user?: string | undefined
  team?: string | undefined
}

/**
 * Exports the log as JSON Lines, oldest first, in pieces of text. Each line has its number, its hash, and behind `"line":` the exact text
 * from which the hash is computed.
 */
export async function* exportLines(db: Db, { firstDay, lastDay, user, team }: LineFilter): AsyncGenerator<string> {
  const conditions: Sql[] = []
  if (user !== undefined) conditions.push(sql`users @> array[${user}]::uuid[]`)
  if (team !== undefined) conditions.push(sql`team_id = ${team}::uuid`)
  for (const each of await days(db.queries)) {
    if (
      each.dropped_at !== null ||
      (firstDay !== undefined && each.day < firstDay) ||
      (lastDay !== undefined && each.day > lastDay)
    )
      continue
    for await (const rows of readLines(db.queries, each.day, conditions))
      yield rows.map(({ seq, hash, line }) => `{"day":"${each.day}","seq":${seq},"hash":"${hash}","line":${line}}\n`).join('')
  }
}

/** The number and hash of the last line. An operator who stores them elsewhere can show later whether any earlier line was changed. */
export interface Position {
  seq: number
  hash: string
}

export interface Verification {
  lines: number
  /** The oldest day in the log; null if the log is empty. */
  oldestDay: string | null
  head: Position
  /** Describes the first invalid line. */
  fault: string | undefined
}

const Count = T.Object({ seq: Nullable(T.Integer()) })

/**
 * Checks every line of the log: the hash matches the previous hash and the text, the columns match the text, no line is missing, no day was
 * deleted before its retention had ended, and the given positions are in the log.
 */
export async function verifyLog(db: Db, knownPositions: readonly Position[] = []): Promise<Verification> {
  const allDays = await days(db.queries)
  const head = allDays.at(-1)!
  const checked: Verification = { lines: 0, oldestDay: null, head: { seq: head.seq, hash: head.hash }, fault: undefined }
  const missed = new Map(knownPositions.map(({ seq, hash }) => [seq, hash]))
  const fail = (fault: string): Verification => ({ ...checked, fault })
  const meet = ({ seq, hash }: Position): string | undefined => {
    const noted = missed.get(seq)
    missed.delete(seq)
    return noted === undefined || noted === hash ? undefined : `line ${seq} has another hash than the one that was noted`
  }
  if (allDays[0]!.seq !== 0 || allDays[0]!.hash !== sha256('').toString('hex'))
    return fail('the beginning of the chain is not the one')
  let before = { seq: 0, hash: allDays[0]!.hash }
  for (const each of allDays.slice(1)) {
    if (each.seq <= before.seq) return fail(`the day ${each.day} has no lines, or ends before it begins`)
    if (each.dropped_at === null) {
      const fault = await verifyDay(db, each, before, meet)
      if (fault && (await isDropped(db, each.day))) return verifyLog(db, knownPositions)
      if (fault) return fail(fault)
      checked.lines += each.seq - before.seq
      checked.oldestDay ??= each.day
    } else {
      if (checked.oldestDay !== null)
        return fail(`line ${before.seq + 1} is missing: the day ${each.day} is gone, though older days are there`)
      if (each.isTooYoung) return fail(`the day ${each.day} was deleted before its retention had ended`)
      for (const seq of missed.keys())
        if (seq > before.seq && seq <= each.seq)
          return fail(`line ${seq} is missing: it was noted, and its day ${each.day} was deleted`)
    }
    before = each
  }
  const foreignLines = await findForeignLines(db, allDays)
  if (foreignLines !== undefined) return fail(foreignLines)
  for (const seq of missed.keys()) return fail(`line ${seq} is missing: it was noted, and the log ends at line ${head.seq}`)
  return checked
}

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Describes what is wrong with the lines of a day. */
async function verifyDay(
  db: Db,
  { day, seq: last, hash: lastHash }: AccessDay,
  previous: Position,
  comparePosition: (position: Position) => string | undefined,
): Promise<string | undefined> {
  let next = previous.seq + 1
  let hash: Buffer = Buffer.from(previous.hash, 'hex')
  for await (const rows of readLines(db.queries, day, [sql`seq <= ${last}`]))
    for (const row of rows) {
      if (row.seq !== next) return `line ${Math.min(row.seq, next)} of ${day} ${row.seq > next ? 'is missing' : 'is there twice'}`
      hash = sha256(hash, row.line)
      if (hash.toString('hex') !== row.hash) return `line ${row.seq} of ${day} has been changed: its hash does not fit`
      if (!saysTheSame(row)) return `line ${row.seq} of ${day} has been changed: its columns do not fit its text`
      const fault = comparePosition(row)
      if (fault) return fault
      next++
    }
  if (next <= last) return `line ${next} of ${day} is missing`
  return hash.toString('hex') === lastHash ? undefined : `line ${last} of ${day} has been changed: the day ends with another hash`
}

const Said = T.Object({ team: Nullable(T.String()), users: T.Array(T.String()) })

/** Whether the text of a line has the team and the users of its columns. A text that is not the JSON of a line has not. */
function saysTheSame({ line, team_id, users }: Row): boolean {
  const said = parseJson(line)
  return matchesSchema(Said, said) && said.team === team_id && said.users.map((id) => id.toLowerCase()).join() === users.join()
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const Dropped = T.Object({ dropped_at: Nullable(T.String()) })

/** Whether a day was deleted while it was being read. */
const isDropped = async (db: Db, day: string): Promise<boolean> =>
  (await db.queries.maybe(Dropped, sql`select dropped_at from access_day where day = ${day}::date`))?.dropped_at != null

const Table = T.Object({ name: T.String() })

/**
 * Finds lines outside the checked ones. For the last day, one statement reads the lines and the row of the day, because lines are added
 * meanwhile.
 */
async function findForeignLines(db: Db, allDays: AccessDay[]): Promise<string | undefined> {
  const tables = await db.queries.many(
    Table,
    sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'access_log'::regclass order by 1`,
  )
  const known = new Set((await days(db.queries)).filter(({ dropped_at }) => dropped_at === null).map(({ day }) => tableOf(day)))
  const unknown = tables.find(({ name }) => !known.has(name))
  if (unknown) return `the table ${unknown.name} has lines of a day that is not one of the chain`
  for (const each of allDays.slice(1).filter(({ dropped_at }) => dropped_at === null)) {
    const { seq } = await db.queries.one(
      Count,
      sql`
      select min(l.seq) as seq from access_day d join access_log l on l.day = d.day and l.seq > d.seq
      where d.day = ${each.day}::date and l.day = ${each.day}::date`,
    )
    if (seq !== null) return `line ${seq} of ${each.day} is not part of the chain`
  }
  return undefined
}

/** The name of the partition of a day, as the database functions build it. */
const tableOf = (day: string): string => `access_log_${day.replaceAll('-', '')}`

const Retention = T.Object({ days: T.Integer() })

/** How many days the access log of a cell is kept. Only `migrate` changes it: see `storeRetention`. */
export const storedRetention = async (db: Db): Promise<number> =>
  (await db.queries.one(Retention, sql`select days from access_log_retention`)).days

/**
 * Stores how many days the access log of a cell is kept, 1 at least. Writes access_log_retention, which only the owner of the schema may.
 */
export async function storeRetention(connection: Connection, schema: string, days: number): Promise<void> {
  const client = new pg.Client({ ...connection, application_name: 'drawbridge migrate', connectionTimeoutMillis: CONNECT_MS_MAX })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(`update ${client.escapeIdentifier(schema)}.access_log_retention set days = $1 where days <> $1`, [days])
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

/**
 * Deletes the days of the log that are older than the stored retention. Writes access_log, access_day. @returns the number of deleted days
 */
export async function dropOldDays(db: Db): Promise<number> {
  const old = await oldDays(db.queries)
  for (const each of old) await db.queries.run(sql`select drop_access_log_day(${each.day}::date)`)
  return old.length
}

const Left = T.Object({ age_s: Nullable(T.Number()) })
/** If a line has not been appended to the log for this long, the process that left it has ended. */
const LEFT_S = 5

/**
 * The worker's tasks for the access log: delete expired days, and append the lines that a killed process left. Writes access_log,
 * access_day, access_line.
 */
export const accessCleanups: Cleanup[] = [
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
