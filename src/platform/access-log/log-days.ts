// The days of the access log as the database has them, and the check of their lines against the chain of hashes.
import { createHash } from 'node:crypto'
import type { Queries } from '../db/transaction.ts'
import { matchesSchema, Nullable, T, type Static } from '../schema/schema.ts'
import { joinConditions, sql, type Sql } from '../db/sql.ts'

/** Lines of one batch. */
export const ROWS = 2000

/** The number and hash of the last line. An operator who stores them elsewhere can show later whether any earlier line was changed. */
export interface Position {
  seq: number
  hash: string
}

const Day = T.Object({
  day: T.String(),
  seq: T.Integer(),
  hash: T.String(),
  archived_at: Nullable(T.String()),
  dropped_at: Nullable(T.String()),
  /** The day was deleted before the retention of that time had ended. */
  isTooYoung: T.Boolean(),
})
export type AccessDay = Static<typeof Day>

/** The days of the log, oldest first. The first entry has no day: the chain begins there. */
export const listDays = (db: Queries): Promise<AccessDay[]> =>
  db.many(
    Day,
    sql`
    select day, seq, encode(hash, 'hex') as hash, archived_at, dropped_at,
           coalesce((dropped_at at time zone 'UTC')::date - retention_days <= day, false) as "isTooYoung"
    from access_day order by day`,
  )

const State = T.Object({ archived_at: Nullable(T.String()), dropped_at: Nullable(T.String()) })

/** Whether the lines of a day are now elsewhere than when the day was listed: in files, or gone. */
export async function hasMoved(db: Queries, { day, archived_at, dropped_at }: AccessDay): Promise<boolean> {
  const current = await db.maybe(State, sql`select archived_at, dropped_at from access_day where day = ${day}::date`)
  return current?.archived_at !== archived_at || current.dropped_at !== dropped_at
}

const Row = T.Object({
  seq: T.Integer(),
  team_id: Nullable(T.String()),
  users: T.Array(T.String()),
  line: T.String(),
  hash: T.String(),
})
export type Row = Static<typeof Row>

/** The lines of a day in the database that satisfy all conditions, in order, some thousands per batch. @param start_seq the number of the line before the first one */
export async function* readLines(db: Queries, day: string, conditions: Sql[], start_seq = 0): AsyncGenerator<Row[]> {
  for (let last = start_seq; ;) {
    const rows = await db.many(
      Row,
      sql`
      select seq, team_id, to_json(users) as users, line, encode(hash, 'hex') as hash from access_log
      where day = ${day}::date and seq > ${last} and ${joinConditions(conditions)} order by seq limit ${ROWS}`,
    )
    if (rows.length) yield rows
    if (rows.length < ROWS) return
    last = rows.at(-1)!.seq
  }
}

/** Follows the chain from a position over the lines of one day. */
export class LineChain {
  readonly #day: string
  #hash: Buffer
  /** The number of the last line. */
  seq: number

  constructor(day: string, { seq, hash }: Position) {
    this.#day = day
    this.seq = seq
    this.#hash = Buffer.from(hash, 'hex')
  }

  /** The hash of the last line. */
  get hash(): string {
    return this.#hash.toString('hex')
  }

  /** Adds a line that has no hash of its own. @returns its hash */
  append(line: string): string {
    this.#hash = sha256(this.#hash, line)
    this.seq++
    return this.hash
  }

  /** Adds a line of the database. @returns what is wrong with it */
  check(row: Row): string | undefined {
    const next = this.seq + 1
    if (row.seq !== next)
      return `line ${Math.min(row.seq, next)} of ${this.#day} ${row.seq > next ? 'is missing' : 'is there twice'}`
    if (this.append(row.line) !== row.hash) return `line ${row.seq} of ${this.#day} has been changed: its hash does not fit`
    return hasColumnsOfText(row) ? undefined : `line ${row.seq} of ${this.#day} has been changed: its columns do not fit its text`
  }
}

export const sha256 = (...parts: (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const Subjects = T.Object({ team: Nullable(T.String()), users: T.Array(T.String()) })

/** Whether the text of a line has the team and the users of its columns. A text that is not the JSON of a line has not. */
function hasColumnsOfText({ line, team_id, users }: Row): boolean {
  const subjects = readSubjects(line)
  return subjects !== undefined && subjects.team === team_id && subjects.users.join() === users.join()
}

/** The team and the users of a line, in lower case as in columns; undefined for a text that is not the JSON of a line. */
export function readSubjects(line: string): { team: string | null; users: string[] } | undefined {
  const parsed = parseJson(line)
  return matchesSchema(Subjects, parsed) ? { team: parsed.team, users: parsed.users.map((id) => id.toLowerCase()) } : undefined
}

/** The last 32 bits of an id, as access_archive lists the users of a file. */
export const userKey = (id: string): number => Number.parseInt(id.slice(-8), 16) | 0

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
