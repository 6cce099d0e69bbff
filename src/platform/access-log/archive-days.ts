// Moves closed days of the access log from the database to stored files, one file at a time. A file is written, recorded with its hashes, and,
// when all lines of its day are recorded, read again; only then is the table of the day dropped. A process that is killed in between leaves
// at most a file that nothing refers to, which is deleted after an hour, and any worker continues. The functions of the database accept only
// files that continue the chain, so that workers that do the same at once record each line once.
import { randomUUID } from 'node:crypto'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Cleanup } from '../queue/retention.ts'
import { T, type Static } from '../schema/schema.ts'
import { deleteFilesAfter, keepFiles, type StoredFiles } from '../stored-files/stored-files.ts'
import { LineChain, readLines, sha256, userKey } from './log-days.ts'
import { describeFile, FILE_BYTES, listLogFiles, LogFileFault, packLines, verifyLogFile, type LogFile } from './log-files.ts'

/** How long a worker that has failed, or was killed, keeps others from archiving. One file takes a second or two. */
const LEASE_S = 60
/** A day is archived within this time after it may be, unless something is wrong. */
const DUE_S = 6 * 3600
/** After how long a day whose chain is broken is looked at again. */
const REFUSED_MS = 3_600_000

/** How long files that were read again count as intact, while readers of the log delay dropping the table of their day. */
const VERIFIED_MS = 600_000

/** The chain of a day is broken, so that the day stays in the database. */
class BrokenDay extends Error {
  override name = 'BrokenDay'
}

interface NewLogFile {
  file: LogFile
  /** Those of the users of its lines, each once. */
  user_keys: number[]
  bytes: Buffer
}

interface ArchiverOptions {
  /** Bytes of text after which a file ends. */
  file_bytes?: number
}

/** Archives the days that are older than the retention in the database. */
export class DayArchiver implements Cleanup {
  readonly kind = 'access_log_archive'
  readonly control = false
  readonly #files: StoredFiles
  readonly #file_bytes: number
  /** Days whose chain is broken, by cell and day, and until when they are left alone. */
  readonly #refused = new Map<string, number>()
  /** The files that were read again, by cell and day, and until when that counts. */
  readonly #verified = new Map<string, { set_ids: string[]; until_ms: number }>()

  constructor(files: StoredFiles, { file_bytes = FILE_BYTES }: ArchiverOptions = {}) {
    this.#files = files
    this.#file_bytes = file_bytes
  }

  async overdueFor({ queries }: Db): Promise<number | undefined> {
    const [oldest] = await listArchivable(queries)
    return oldest && Math.max(0, oldest.age_s - DUE_S)
  }

  /** Writes one file of the oldest day, or drops the table of that day. Writes access_archive, access_day, access_log, stored_file. */
  async remove(db: Db, _control: Db, isStopped: () => boolean): Promise<number> {
    const lease = await claimLease(db)
    if (!lease) return 0
    const days = await listArchivable(db.queries)
    const day = days.find((candidate) => (this.#refused.get(formatKey(db, candidate)) ?? 0) < performance.now())
    const done = day ? await this.#continueDay(db, day, lease, isStopped) : 0
    await endLease(db, lease)
    return done
  }

  async #continueDay(db: Db, day: ArchivableDay, lease: ArchiveLease, isStopped: () => boolean): Promise<number> {
    try {
      return day.end_seq < day.seq ? await this.#storeNextFile(db, day) : await this.#dropDay(db, day, lease, isStopped)
    } catch (error) {
      if (error instanceof BrokenDay) this.#refused.set(formatKey(db, day), performance.now() + REFUSED_MS)
      throw error
    }
  }

  async #storeNextFile(db: Db, day: ArchivableDay): Promise<number> {
    const { file, user_keys, bytes } = await this.#packNextLines(db, day)
    const { set_id, name } = file
    await db.plainTx((tx) => this.#files.reserve(tx, set_id, [{ name, bytes }], { isOfCell: true }))
    await this.#files.write(set_id, [{ name, bytes }])
    await db.plainTx(async (tx) => {
      if ((await keepFiles(tx, set_id)) !== 1) throw new Error(`${describeFile(file)} took more than an hour`)
      const { isDone } = await tx.locking.one(
        Done,
        sql`
        select add_access_log_file(row(
          ${file.first_seq}, ${file.last_seq}, ${file.day}, decode(${file.previous_hash}, 'hex'), decode(${file.last_hash}, 'hex'),
          ${set_id}, ${name}, ${bytes.length}, decode(${file.digest}, 'hex'), ${user_keys}::integer[])::access_archive) as "isDone"`,
      )
      if (!isDone) throw new Error(`another worker has archived line ${file.first_seq} of ${file.day}`)
    })
    return 1
  }

  /** The next file of a day. Errors: BrokenDay. */
  async #packNextLines(db: Db, { day, seq, end_seq, end_hash }: ArchivableDay): Promise<NewLogFile> {
    const chain = new LineChain(day, { seq: end_seq, hash: end_hash })
    const lines: string[] = []
    const keys = new Set<number>()
    let text_bytes = 0
    reading: for await (const rows of readLines(db.queries, day, [sql`seq <= ${seq}`], end_seq))
      for (const row of rows) {
        const fault = chain.check(row) ?? (row.line.includes('\n') ? `line ${row.seq} of ${day} has a line break` : undefined)
        if (fault !== undefined) throw new BrokenDay(`the day is not archived: ${fault}`)
        lines.push(row.line)
        for (const user of row.users) keys.add(userKey(user))
        text_bytes += row.line.length
        if (text_bytes >= this.#file_bytes) break reading
      }
    if (lines.length === 0) throw new BrokenDay(`the day is not archived: line ${end_seq + 1} of ${day} is missing`)
    const contents = { day, first_seq: end_seq + 1, last_seq: chain.seq, previous_hash: end_hash, last_hash: chain.hash }
    const bytes = await packLines(contents, lines)
    const name = `access-log-${db.schema.replaceAll('_', '-')}-${day}-${contents.first_seq}.jsonl.gz`
    const file = { ...contents, set_id: randomUUID(), name, digest: sha256(bytes).toString('hex') }
    return { file, user_keys: [...keys], bytes }
  }

  /** Reads all files of a day, and drops its table. */
  async #dropDay(db: Db, day: ArchivableDay, lease: ArchiveLease, isStopped: () => boolean): Promise<number> {
    const key = formatKey(db, day)
    const known = this.#verified.get(key)
    const set_ids =
      known && known.until_ms > performance.now() ? known.set_ids : await this.#verifyFiles(db, day, lease, isStopped)
    if (!set_ids) return 0
    this.#verified.set(key, { set_ids, until_ms: performance.now() + VERIFIED_MS })
    const { isDone } = await db.plainTx((tx) =>
      tx.locking.one(Done, sql`select archive_access_log_day(${day.day}::date, ${set_ids}::uuid[]) as "isDone"`),
    )
    this.#verified.delete(key)
    return isDone ? 1 : 0
  }

  /**
   * Reads all files of a day. One that is not as it was written is written again.
   * @returns their sets, in order; undefined: the rest is left to later
   */
  async #verifyFiles(
    db: Db,
    { day }: ArchivableDay,
    lease: ArchiveLease,
    isStopped: () => boolean,
  ): Promise<string[] | undefined> {
    const files = await listLogFiles(db.queries, sql`day = ${day}::date`)
    for (const file of files) {
      if (isStopped() || !(await extendLease(db, lease))) return undefined
      try {
        await verifyLogFile(db.queries, this.#files, file)
      } catch (error) {
        if (error instanceof LogFileFault) await forgetFiles(db, file)
        throw error
      }
    }
    return files.map(({ set_id }) => set_id)
  }
}

const formatKey = (db: Db, { day }: ArchivableDay): string => `${db.schema} ${day}`

const Done = T.Object({ isDone: T.Boolean() })

const ArchivableDay = T.Object({
  day: T.String(),
  seq: T.Integer(),
  /** The last line that a file has. */
  end_seq: T.Integer(),
  end_hash: T.String(),
  age_s: T.Number(),
})
type ArchivableDay = Static<typeof ArchivableDay>

/** The days that can be archived, oldest first, and for how long. */
const listArchivable = (queries: Db['queries']): Promise<ArchivableDay[]> =>
  queries.many(
    ArchivableDay,
    sql`
    select d.day, d.seq, e.seq as end_seq, encode(e.hash, 'hex') as end_hash,
           extract(epoch from ${dbNow} at time zone 'UTC' - (d.day + r.database_days + 1))::float8 as age_s
    from access_log_retention r, access_day d, access_archive_end(d.day) e
    where d.archived_at is null and d.dropped_at is null and is_archivable(d.day) order by d.day`,
  )

/** The lease has ended, or is of a time at which the clock of the database was ahead. */
const isFree = sql`access_archive_lease.leased_until not between ${dbNow} and ${dbNowPlus(LEASE_S)}`

/** The lease of the archive of a cell. Its end identifies it: a process that was stopped for longer neither extends nor ends the lease of another. */
interface ArchiveLease {
  end: string
}

const Leased = T.Object({ leased_until: T.String() })

/** @returns undefined: another process has the lease */
async function claimLease({ queries }: Db): Promise<ArchiveLease | undefined> {
  const row = await queries.maybe(
    Leased,
    sql`
    insert into access_archive_lease (leased_until) values (${dbNowPlus(LEASE_S)})
    on conflict (id) do update set leased_until = excluded.leased_until where ${isFree} returning leased_until`,
  )
  return row && { end: row.leased_until }
}

/** @returns whether this process still has the lease */
async function extendLease({ queries }: Db, lease: ArchiveLease): Promise<boolean> {
  const row = await queries.maybe(
    Leased,
    sql`
    update access_archive_lease set leased_until = ${dbNowPlus(LEASE_S)} where leased_until = ${lease.end}
    returning leased_until`,
  )
  if (row) lease.end = row.leased_until
  return row !== undefined
}

const endLease = ({ queries }: Db, { end }: ArchiveLease): Promise<number> =>
  queries.run(sql`update access_archive_lease set leased_until = ${dbNow} where leased_until = ${end}`)

/** Deletes a file and those after it, whose lines are still in the database. Writes access_archive, stored_file. */
async function forgetFiles(db: Db, { day, first_seq }: LogFile): Promise<void> {
  const files = await listLogFiles(db.queries, sql`day = ${day}::date and first_seq >= ${first_seq}`)
  await db.plainTx(async (tx) => {
    await tx.locking.run(sql`select forget_access_log_files(${day}::date, ${first_seq})`)
    await deleteFilesAfter(
      tx,
      files.map(({ set_id }) => set_id),
      0,
      { isOfCell: true },
    )
  })
}
