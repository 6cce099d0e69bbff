// The files of reports and the pictures of their pages, encrypted under a key of each job. Where they are: platform/stored-files.
import type { EncryptedColumn } from '../../platform/crypto/encrypted-columns.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { FileKey, newFileKey } from '../../platform/files/file-key.ts'
import { StorageUnavailable } from '../../platform/stored-files/file-storage.ts'
import { findFiles, type NewFile, type StoredFile, type StoredFiles } from '../../platform/stored-files/stored-files.ts'
import { unavailable } from '../../platform/runtime/problem.ts'
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

  /** The files of a job, or one of them, as a transaction finds them, so that none is open while they are read. */
  find(tx: Tx, { id, file_types }: Pick<FilesOfJob, 'id' | 'file_types'>, fileIndex?: number): Promise<StoredFile[]> {
    return findFiles(tx, id, fileIndex === undefined ? file_types.map((_, index) => fileName(index)) : [fileName(fileIndex)])
  }

  /**
   * The bytes of a file that was found; no transaction may be open. Errors: `ReportFileMissing`, `StorageUnavailable`, VaultError.
   * @param index of the file in its job
   */
  async read(job: FilesOfJob, storedFiles: StoredFile[], index: number): Promise<ReportFile> {
    const file = storedFiles.find(({ name }) => name === fileName(index))
    if (!file) throw new ReportFileMissing('its file has been deleted')
    const bytes = await this.#files.read(file)
    if (!bytes) throw new ReportFileMissing(`its file is not in the storage "${file.storage}" of this process`)
    return { type: job.file_types[index]!, bytes: this.#key(job).decrypt(bytes, file.name) }
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
