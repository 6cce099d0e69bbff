// Reads the whole access log, from the database and from the files of archived days: exports it, and checks it against its hashes.
// docs/decisions/access-log.md says what the hashes prove and what they cannot prove.
import type { Db } from '../db/database.ts'
import { Nullable, T } from '../schema/schema.ts'
import { sql, type Sql } from '../db/sql.ts'
import type { StoredFiles } from '../stored-files/stored-files.ts'
import { hasMoved, LineChain, listDays, readLines, sha256, userKey, type AccessDay, type Position, type Row } from './log-days.ts'
import { describeFile, listLogFiles, LogFileFault, verifiedRows } from './log-files.ts'

export interface LineFilter {
  /** Days, UTC, both included. */
  firstDay?: string | undefined
  lastDay?: string | undefined
  user?: string | undefined
  team?: string | undefined
}

/**
 * Exports the log as JSON Lines, oldest first, in pieces of text. Each line has its number, its hash, and behind `"line":` the exact text
 * from which the hash is computed. Errors: LogFileFault, `StorageUnavailable`.
 */
export async function* exportLines(db: Db, files: StoredFiles, filter: LineFilter): AsyncGenerator<string> {
  const { firstDay, lastDay } = filter
  for (const each of await listDays(db.queries)) {
    if ((firstDay !== undefined && each.day < firstDay) || (lastDay !== undefined && each.day > lastDay)) continue
    for await (const rows of selectRows(db, files, each, filter))
      yield rows.map(({ seq, hash, line }) => `{"day":"${each.day}","seq":${seq},"hash":"${hash}","line":${line}}\n`).join('')
  }
}

/** The lines of a day about a user and a team. A day that is archived meanwhile continues in its files. */
async function* selectRows(db: Db, files: StoredFiles, { day }: AccessDay, { user, team }: LineFilter): AsyncGenerator<Row[]> {
  const conditions: Sql[] = []
  if (user !== undefined) conditions.push(sql`users @> array[${user}]::uuid[]`)
  if (team !== undefined) conditions.push(sql`team_id = ${team}::uuid`)
  let last = 0
  for await (const rows of readLines(db.queries, day, conditions)) {
    yield rows
    last = rows.at(-1)!.seq
  }
  const isArchived = sql`day = (select day from access_day where day = ${day}::date and archived_at is not null)`
  const isAboutUser = user === undefined ? sql`true` : sql`user_keys @> array[${userKey(user)}]::integer[]`
  for (const file of await listLogFiles(db.queries, sql`${isArchived} and last_seq > ${last} and ${isAboutUser}`))
    for await (const rows of verifiedRows(db.queries, files, file))
      yield rows.filter(
        ({ seq, team_id, users }) =>
          seq > last && (team === undefined || team_id === team) && (user === undefined || users.includes(user)),
      )
}

export interface Verification {
  lines: number
  /** The oldest day that was checked; null if none was. */
  oldestDay: string | null
  head: Position
  /** Describes the first invalid line or file. */
  fault: string | undefined
}

const Count = T.Object({ seq: Nullable(T.Integer()) })

/**
 * Checks every line of the log, in the database and in files: the hash matches the previous hash and the text, the columns match the text, no
 * line and no file is missing, no day was deleted before its retention had ended, and the given positions are in the log. Errors:
 * `StorageUnavailable`: the files could not be checked. Error: a position is of a day that is not checked.
 * @param firstDay earlier days are not checked, except for their order
 */
export async function verifyLog(
  db: Db,
  files: StoredFiles,
  knownPositions: readonly Position[] = [],
  firstDay = '',
): Promise<Verification> {
  const allDays = await listDays(db.queries)
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
  let hasDay = false
  for (const each of allDays.slice(1)) {
    if (each.seq <= before.seq) return fail(`the day ${each.day} has no lines, or ends before it begins`)
    const notedInDay = [...missed.keys()].find((seq) => seq > before.seq && seq <= each.seq)
    if (each.dropped_at !== null) {
      if (hasDay) return fail(`line ${before.seq + 1} is missing: the day ${each.day} is gone, though older days are there`)
      if (each.isTooYoung) return fail(`the day ${each.day} was deleted before its retention had ended`)
      if (notedInDay !== undefined)
        return fail(`line ${notedInDay} is missing: it was noted, and its day ${each.day} was deleted`)
    } else if (each.day < firstDay) {
      if (notedInDay !== undefined) throw new Error(`line ${notedInDay} was noted, and its day ${each.day} is not checked`)
      hasDay = true
    } else {
      const fault = await (each.archived_at === null
        ? verifyDay(db, each, before, meet)
        : verifyArchivedDay(db, files, each, before, meet))
      if (fault && (await hasMoved(db.queries, each))) return verifyLog(db, files, knownPositions, firstDay)
      if (fault) return fail(fault)
      checked.lines += each.seq - before.seq
      checked.oldestDay ??= each.day
      hasDay = true
    }
    before = each
  }
  const foreignLines = await findForeignLines(db, allDays)
  if (foreignLines !== undefined) return fail(foreignLines)
  for (const seq of missed.keys()) return fail(`line ${seq} is missing: it was noted, and the log ends at line ${head.seq}`)
  return checked
}

type ComparePosition = (position: Position) => string | undefined

/** Describes what is wrong with the lines of a day that are in the database. */
async function verifyDay(
  db: Db,
  { day, seq: last, hash: lastHash }: AccessDay,
  previous: Position,
  comparePosition: ComparePosition,
): Promise<string | undefined> {
  const chain = new LineChain(day, previous)
  for await (const rows of readLines(db.queries, day, [sql`seq <= ${last}`]))
    for (const row of rows) {
      const fault = chain.check(row) ?? comparePosition(row)
      if (fault) return fault
    }
  if (chain.seq < last) return `line ${chain.seq + 1} of ${day} is missing`
  return chain.hash === lastHash ? undefined : `line ${last} of ${day} has been changed: the day ends with another hash`
}

/** Describes what is wrong with the lines of a day that are in files. */
async function verifyArchivedDay(
  db: Db,
  files: StoredFiles,
  { day, seq: last, hash: lastHash }: AccessDay,
  previous: Position,
  comparePosition: ComparePosition,
): Promise<string | undefined> {
  let end: Position = { seq: previous.seq, hash: previous.hash }
  for (const file of await listLogFiles(db.queries, sql`day = ${day}::date`)) {
    if (file.first_seq !== end.seq + 1 || file.previous_hash !== end.hash)
      return `line ${end.seq + 1} of ${day} is missing: ${describeFile(file)} does not continue the log`
    try {
      for await (const rows of verifiedRows(db.queries, files, file))
        for (const row of rows) {
          const fault = comparePosition(row)
          if (fault) return fault
        }
    } catch (error) {
      if (error instanceof LogFileFault) return error.message
      throw error
    }
    end = { seq: file.last_seq, hash: file.last_hash }
  }
  if (end.seq < last) return `line ${end.seq + 1} of ${day} is missing: no file has it`
  return end.hash === lastHash ? undefined : `line ${last} of ${day} has been changed: the day ends with another hash`
}

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
  // A day may have begun, or its table may have been dropped, since the days were listed.
  const known = new Set([...allDays, ...(await listDays(db.queries))].filter(hasTable).map(({ day }) => tableOf(day)))
  const unknown = tables.find(({ name }) => !known.has(name))
  if (unknown) return `the table ${unknown.name} has lines of a day that is not one of the chain`
  for (const each of allDays.slice(1).filter(hasTable)) {
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

const hasTable = ({ archived_at, dropped_at }: AccessDay): boolean => archived_at === null && dropped_at === null

/** The name of the partition of a day, as the database functions build it. */
const tableOf = (day: string): string => `access_log_${day.replaceAll('-', '')}`
