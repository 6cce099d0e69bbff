// The files of reports and the pictures of their pages, encrypted under a key of each job. Where they are: platform/stored-files.
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { FileKey, newFileKey } from '../../platform/files/file-key.ts'
import { StorageUnavailable } from '../../platform/stored-files/file-storage.ts'
import { findFiles, type NewFile, type StoredFile, type StoredFiles } from '../../platform/stored-files/stored-files.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import type { ReportFile } from '../reading/read-report.ts'

const context = (job_id: string) => `report of parsing job ${job_id}`
export const encryptedKeyColumn: EncryptedColumn = {
  plane: 'cell',
  table: 'parsing_job',
  column: 'file_key',
  of: ['id'],
  context,
}

/** Pictures that are larger are drawn each time. */
const PICTURE_BYTES_MAX = 8 * 1024 * 1024

/** Runs a transaction of the team whose report it is. */
export type RunTx = <R>(execute: (tx: Tx) => Promise<R>) => Promise<R>

/** What identifies the files of a job. */
export interface FilesOfJob {
  id: string
  file_key: string
  file_types: readonly ReportFile['type'][]
}

/** A file of a job is not where it was stored: another process has it on its own disk, or it was deleted. */
export class ReportFileMissing extends Error {
  override name = 'ReportFileMissing'
}

/** Where files were before they had a storage of their own; null without them. */
const Part = T.Object({ file: T.Integer(), start_byte: T.Integer(), bytes: T.Unsafe<Buffer>({}) })
type Part = Static<typeof Part>

/** Files as the database knows them: what a transaction reads, so that none is open while they are fetched. */
export interface FoundFiles {
  storedFiles: StoredFile[]
  /** The bytes of files that earlier programs have stored. */
  parts: Part[]
}

const fileName = (index: number): string => `file-${index}`
const pictureName = (page: number): string => `page-${page}`

export class ReportFiles {
  readonly #vault: Vault
  readonly #files: StoredFiles

  constructor(vault: Vault, files: StoredFiles) {
    this.#vault = vault
    this.#files = files
  }

  #key({ id, file_key }: Pick<FilesOfJob, 'id' | 'file_key'>): FileKey {
    return new FileKey(this.#vault, { file_id: id, context: context(id) }, file_key)
  }

  /**
   * Encrypts the files of a job to be and stores them; they are deleted unless `createJob` keeps them within the hour. Writes stored_file.
   * Errors: 503 their storage cannot be reached.
   */
  async store(run: RunTx, files: readonly ReportFile[]): Promise<FilesOfJob> {
    const { job, encrypted } = await run(async (tx) => {
      const id = tx.uuid()
      const job: FilesOfJob = { id, file_key: newFileKey(this.#vault, context(id)), file_types: files.map(({ type }) => type) }
      const key = this.#key(job)
      const encrypted = files.map(({ bytes }, index) => encryptedFile(key, fileName(index), bytes))
      await this.#files.reserve(tx, id, encrypted)
      return { job, encrypted }
    })
    try {
      await this.#files.write(job.id, encrypted)
    } catch (error) {
      throw error instanceof StorageUnavailable ? unavailable('The file cannot be stored now; try again', 5) : error
    }
    return job
  }

  /** What the database knows of the files of a job of the team: of all, or of one. */
  async find(tx: Tx, { id, file_types }: Pick<FilesOfJob, 'id' | 'file_types'>, only?: number): Promise<FoundFiles> {
    const names = only === undefined ? file_types.map((_, index) => fileName(index)) : [fileName(only)]
    const stored = await findFiles(tx, id, names)
    const parts = stored.length
      ? []
      : await tx.many(
          Part,
          sql`
          select file, start_byte, bytes from parsing_job_part
          where team_id = ${tx.team} and job_id = ${id} and (${only ?? null}::integer is null or file = ${only ?? null})
          order by file, start_byte`,
        )
    return { storedFiles: stored, parts }
  }

  /**
   * The bytes of a file that was found; no transaction may be open. Errors: `ReportFileMissing`, `StorageUnavailable`, VaultError.
   * @param index of the file in its job
   */
  async read(job: FilesOfJob, foundFiles: FoundFiles, index: number): Promise<ReportFile> {
    const key = this.#key(job)
    const type = job.file_types[index]!
    const file = foundFiles.storedFiles.find(({ name }) => name === fileName(index))
    if (file) {
      const bytes = await this.#files.read(file)
      if (!bytes) throw new ReportFileMissing(`its file is not in the storage "${file.storage}" of this process`)
      return { type, bytes: key.decrypt(bytes, file.name) }
    }
    const parts = foundFiles.parts.filter((part) => part.file === index)
    if (!parts.length) throw new ReportFileMissing('its file has been deleted')
    return {
      type,
      bytes: Buffer.concat(parts.map(({ start_byte, bytes }) => key.decrypt(bytes, `${index} ${start_byte}`))),
    }
  }

  /** All files of a job. Errors: those of `read`. */
  async readAll(run: RunTx, job: FilesOfJob): Promise<ReportFile[]> {
    const found = await run((tx) => this.find(tx, job))
    const files: ReportFile[] = []
    for (const index of job.file_types.keys()) files.push(await this.read(job, found, index))
    return files
  }

  /**
   * Stores the picture of a page, unless it is larger than 8 MiB. Writes stored_file. It is deleted with the files of its job once that has
   * ended. Errors: `StorageUnavailable`.
   */
  async storePicture(run: RunTx, job: FilesOfJob, page: number, picture: Uint8Array): Promise<void> {
    if (picture.length > PICTURE_BYTES_MAX) return
    const encrypted = [encryptedFile(this.#key(job), pictureName(page), picture)]
    await run((tx) => this.#files.reserve(tx, job.id, encrypted))
    await this.#files.write(job.id, encrypted)
  }

  /** The stored picture of a page, for `readPicture`. */
  async findPicture(tx: Tx, id: string, page: number): Promise<StoredFile | undefined> {
    return (await findFiles(tx, id, [pictureName(page)]))[0]
  }

  /** A picture that was found; undefined if its storage has lost it. Errors: `StorageUnavailable`, VaultError. */
  async readPicture(job: FilesOfJob, picture: StoredFile): Promise<Uint8Array | undefined> {
    const bytes = await this.#files.read(picture)
    return bytes && this.#key(job).decrypt(bytes, picture.name)
  }
}

const encryptedFile = (key: FileKey, name: string, bytes: Uint8Array): NewFile => ({ name, bytes: key.encrypt(bytes, name) })
