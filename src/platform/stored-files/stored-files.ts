// Files that modules store: which there are, where each is, and when it is deleted. A file belongs to a set, such as the files of one lab
// report. Owns the table stored_file. It knows neither teams nor what files hold: a module encrypts them, keeps the id of the set next to its
// own row of a team, and asks for no other set. Connections for teams do not see files of the whole cell.
//
// A file is reserved in a transaction, written without one, and kept in a further one together with the row that refers to it. One that
// is not kept in time is deleted, so that nothing is left of a process that was killed in between. A file outside the database is deleted before
// its row, so that the row is found again if that fails.
import { dbNow, dbNowPlus } from '../db/leases.ts'
import type { Db } from '../db/database.ts'
import { join, sql } from '../db/sql.ts'
import type { PlainTx } from '../db/transaction.ts'
import { ageInSeconds, type Cleanup } from '../queue/retention.ts'
import { Nullable, T, type Static } from '../schema/schema.ts'
import { StorageUnavailable, type FileStorage, type StorageKind } from './file-storage.ts'

/** How long a file is left that no one has kept. Writing one takes a minute at most. */
const RESERVED_S = 3_600
/** Files that a worker deletes at once, and how long others leave those to it. */
const DELETED_AT_ONCE = 32
const DELETING_S = 600

/** A file with a name of its own within its set: letters, digits, dashes and dots. */
export interface NewFile {
  name: string
  bytes: Uint8Array
}

const StoredFile = T.Object({
  set_id: T.String(),
  name: T.String(),
  storage: T.Unsafe<StorageKind>({ type: 'string' }),
  bytes: Nullable(T.Unsafe<Buffer>({})),
})
/** `bytes` are those of a file in the database. */
export type StoredFile = Static<typeof StoredFile>

const keyOf = ({ set_id, name }: Pick<StoredFile, 'set_id' | 'name'>): string => `${set_id}/${name}`

export interface StoredFilesOptions {
  /** Where new files go. */
  kind: () => StorageKind
  /** Called once, when a storage is first needed. */
  storages: () => Storages
}

type Storages = Partial<Record<StorageKind, FileStorage>>

export class StoredFiles {
  readonly #options: StoredFilesOptions
  #opened: Storages | undefined

  constructor(options: StoredFilesOptions) {
    this.#options = options
  }

  /**
   * Announces files of a set, or files in place of those with the same names. Writes stored_file. `write` and `keep` follow.
   * @param isOfCell whether they have data of several teams
   */
  async reserve(tx: PlainTx, set_id: string, files: readonly NewFile[], { isOfCell = false } = {}): Promise<void> {
    const kind = this.#options.kind()
    const rows = files.map(
      ({ name, bytes }) => sql`
        (${set_id}::uuid, ${name}, ${kind}, ${kind === 'database' ? Buffer.from(bytes) : null}::bytea, ${dbNowPlus(RESERVED_S)}, ${isOfCell}::boolean)`,
    )
    await tx.run(sql`
      insert into stored_file (set_id, name, storage, bytes, delete_at, is_of_cell) values ${join(rows, ', ')}
      on conflict (set_id, name) do update set storage = excluded.storage, bytes = excluded.bytes, delete_at = excluded.delete_at`)
  }

  /** Writes reserved files to their storage. No transaction may be open meanwhile. Errors: `StorageUnavailable`. */
  async write(set_id: string, files: readonly NewFile[]): Promise<void> {
    const kind = this.#options.kind()
    if (kind === 'database') return
    for (const { name, bytes } of files) await this.#storageOf(kind).put(keyOf({ set_id, name }), bytes)
  }

  /** Reads a file. No transaction may be open meanwhile. @returns undefined if its storage has lost it. Errors: `StorageUnavailable`. */
  async read(file: StoredFile): Promise<Buffer | undefined> {
    if (file.bytes) return file.bytes
    return this.#storageOf(file.storage).get(keyOf(file))
  }

  #storageOf(kind: StorageKind): FileStorage {
    this.#opened ??= this.#options.storages()
    const storage = this.#opened[kind]
    if (!storage) throw new StorageUnavailable(`a file is in the storage "${kind}", which this process has no settings of`)
    return storage
  }

  /** Deletes the files whose time has come, those outside the database from their storage first. */
  readonly cleanup: Cleanup = {
    kind: 'stored_file',
    control: false,
    async overdueFor(db) {
      const { age_s } = await db.queries.one(
        Oldest,
        sql`select ${ageInSeconds(sql`min(delete_at)`)} as age_s from stored_file where delete_at < ${dbNow}`,
      )
      return age_s ?? undefined
    },
    remove: (db) => this.#removeDue(db),
  }

  async #removeDue(db: Db): Promise<number> {
    const due = await db.plainTx((tx) =>
      tx.many(
        Due,
        sql`
        update stored_file f set delete_at = ${dbNowPlus(DELETING_S)}
        from (select set_id, name from stored_file where delete_at < ${dbNow} order by delete_at limit ${DELETED_AT_ONCE}
              for update skip locked) due
        where f.set_id = due.set_id and f.name = due.name
        returning f.set_id, f.name, f.storage`,
      ),
    )
    const ends = await Promise.allSettled(due.map((file) => this.#remove(file)))
    const removed = due.filter((_, index) => ends[index]!.status === 'fulfilled')
    const gone = removed.map(({ set_id, name }) => sql`(${set_id}::uuid, ${name}::text)`)
    // One that was reserved again meanwhile stays.
    if (gone.length)
      await db.plainTx((tx) =>
        tx.run(sql`
          delete from stored_file where (set_id, name) in (values ${join(gone, ', ')}) and delete_at < ${dbNowPlus(DELETING_S)}`),
      )
    const failure = ends.find(({ status }) => status === 'rejected')
    if (failure) throw (failure as PromiseRejectedResult).reason
    return removed.length
  }

  async #remove({ storage, ...file }: Static<typeof Due>): Promise<void> {
    if (storage !== 'database') await this.#storageOf(storage).remove(keyOf(file))
  }

  async close(): Promise<void> {
    for (const storage of Object.values(this.#opened ?? {})) await storage.close()
  }
}

const Oldest = T.Object({ age_s: Nullable(T.Number()) })
const Due = T.Object({ set_id: T.String(), name: T.String(), storage: T.Unsafe<StorageKind>({ type: 'string' }) })

/**
 * Keeps the files of a set until their time is set, except those that a worker may be deleting. Writes stored_file. @returns how many are kept
 */
export const keepFiles = (tx: PlainTx, set_id: string): Promise<number> =>
  tx.run(sql`
    update stored_file set delete_at = null
    where set_id = ${set_id} and (delete_at is null or delete_at > ${dbNowPlus(DELETING_S)})`)

/**
 * Sets when the files of sets are deleted: so many seconds from now. Writes stored_file.
 * @param isOfCell as it was for `reserve`: others are kept, so that no eraser of a team's files deletes those of the cell
 */
export async function deleteFilesAfter(
  tx: PlainTx,
  set_ids: readonly string[],
  seconds: number,
  { isOfCell = false } = {},
): Promise<void> {
  if (set_ids.length)
    await tx.run(sql`
      update stored_file set delete_at = ${dbNowPlus(seconds)}
      where set_id = any (${[...set_ids]}::uuid[]) and is_of_cell = ${isOfCell}::boolean`)
}

/** The files of a set with these names, for `read`; missing ones are omitted. */
export const findFiles = (tx: Pick<PlainTx, 'many'>, set_id: string, names: readonly string[]): Promise<StoredFile[]> =>
  tx.many(
    StoredFile,
    sql`select set_id, name, storage, bytes from stored_file where set_id = ${set_id} and name = any (${[...names]}::text[])`,
  )
