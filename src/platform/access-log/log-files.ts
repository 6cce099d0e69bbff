// The stored files of closed days of the access log. A file is gzip of JSON Lines: first an object that says which lines it has and the hash
// before them, then the text of each line, over which the hashes are computed. Any tool can unpack and verify it.
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Queries } from '../db/transaction.ts'
import { sql, type Sql } from '../db/sql.ts'
import { T, type Static } from '../schema/schema.ts'
import { findFiles, type StoredFiles } from '../stored-files/stored-files.ts'
import { LineChain, readSubjects, ROWS, sha256, userKey, type Row } from './log-days.ts'

/** A file ends with the line that exceeds so many bytes of text. */
export const FILE_BYTES = 8_000_000
/** Maximum size of a file when it is unpacked: a longer one is not one of ours. */
const UNPACKED_BYTES_MAX = 64_000_000
const LINE_FEED = '\n'

const LogFile = T.Object({
  day: T.String(),
  first_seq: T.Integer(),
  last_seq: T.Integer(),
  previous_hash: T.String(),
  last_hash: T.String(),
  set_id: T.String(),
  name: T.String(),
  digest: T.String(),
})
/** A row of access_archive, without the keys of its users: there may be tens of thousands. */
export type LogFile = Static<typeof LogFile>

/** The files that satisfy a condition on access_archive. */
export const listLogFiles = (db: Queries, condition: Sql, order: Sql = sql`first_seq`): Promise<LogFile[]> =>
  db.many(
    LogFile,
    sql`
    select day, first_seq, last_seq, encode(previous_hash, 'hex') as previous_hash, encode(last_hash, 'hex') as last_hash, set_id, name,
           encode(digest, 'hex') as digest
    from access_archive where ${condition} order by ${order}`,
  )

/** A file is missing, or is not the one that was written. */
export class LogFileFault extends Error {
  override name = 'LogFileFault'
}

const UserKeys = T.Object({ user_keys: T.Array(T.Integer()) })

type Contents = Pick<LogFile, 'day' | 'first_seq' | 'last_seq' | 'previous_hash'>

const headerOf = ({ day, first_seq, last_seq, previous_hash }: Contents): string =>
  JSON.stringify({ format: 'drawbridge-access-log-1', day, first_seq, last_seq, previous_hash })

/** The bytes of a file. */
export const packLines = (contents: Contents, lines: readonly string[]): Promise<Buffer> =>
  promisify(gzip)([headerOf(contents), ...lines, ''].join(LINE_FEED))

/**
 * The texts of the lines of a file, after its digest was checked; no transaction may be open. Errors: LogFileFault, `StorageUnavailable`.
 */
export async function readLogFile(db: Queries, files: StoredFiles, file: LogFile): Promise<string[]> {
  const [stored] = await findFiles(db, file.set_id, [file.name])
  const bytes = stored && (await files.read(stored))
  if (!bytes) throw new LogFileFault(`${describeFile(file)} is missing`)
  if (sha256(bytes).toString('hex') !== file.digest)
    throw new LogFileFault(`${describeFile(file)} has been changed: its digest does not fit`)
  const text = await promisify(gunzip)(bytes, { maxOutputLength: UNPACKED_BYTES_MAX }).catch(() => undefined)
  const [header, ...lines] = text?.toString().split(LINE_FEED) ?? []
  if (header !== headerOf(file) || lines.pop() !== '' || lines.length !== file.last_seq - file.first_seq + 1)
    throw new LogFileFault(`${describeFile(file)} has been changed: it does not have these lines`)
  return lines
}

/**
 * The lines of a file with their hashes, some thousands per batch. Errors: those of `readLogFile`; LogFileFault, after the last line, if its
 * hash or the users of the file do not fit.
 */
export async function* verifiedRows(db: Queries, files: StoredFiles, file: LogFile): AsyncGenerator<Row[]> {
  const lines = await readLogFile(db, files, file)
  const chain = new LineChain(file.day, { seq: file.first_seq - 1, hash: file.previous_hash })
  const keys = new Set<number>()
  for (let start = 0; start < lines.length; start += ROWS) {
    yield lines.slice(start, start + ROWS).map((line) => {
      const hash = chain.append(line)
      const subjects = readSubjects(line)
      if (!subjects) throw new LogFileFault(`line ${chain.seq} of ${describeFile(file)} is not one of the access log`)
      for (const user of subjects.users) keys.add(userKey(user))
      return { seq: chain.seq, team_id: subjects.team, users: subjects.users, line, hash }
    })
    await turn()
  }
  if (chain.hash !== file.last_hash) throw new LogFileFault(`${describeFile(file)} has been changed: it ends with another hash`)
  const record = await db.maybe(UserKeys, sql`select user_keys from access_archive where first_seq = ${file.first_seq}`)
  if (record?.user_keys.length !== keys.size || record.user_keys.some((key) => !keys.has(key)))
    throw new LogFileFault(`${describeFile(file)} is listed with other users than those of its lines`)
}

/** Reads a file to its end. Errors: those of `verifiedRows`. */
export async function verifyLogFile(db: Queries, files: StoredFiles, file: LogFile): Promise<void> {
  for await (const _ of verifiedRows(db, files, file));
}

/** Names a file as its storage does. */
export const describeFile = ({ day, first_seq, last_seq, set_id, name }: LogFile): string =>
  `the file ${set_id}/${name} with the lines ${first_seq} to ${last_seq} of ${day}`
