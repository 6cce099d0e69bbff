// Files in a folder of this machine, or of a file system that the machines of all processes share.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { StorageUnavailable, type FileStorage } from './file-storage.ts'

/** In the name of a file that is being written. */
const UNFINISHED = '.tmp-'

/** A key is a path below the folder: `<id>/<name>`. Files and folders are closed to other accounts. */
export class DiskStorage implements FileStorage {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The file is on the disk when this returns: it survives a loss of power. */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#folder, key)
    const unfinished = `${path}${UNFINISHED}${randomUUID()}`
    await this.#run('written', async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      try {
        const file = await open(unfinished, 'wx', 0o600)
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(unfinished, path)
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {})
        throw error
      }
      await syncFolder(dirname(path))
      await syncFolder(this.#folder)
    })
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.#run('read', () => readFile(join(this.#folder, key)).catch(undefinedIf('ENOENT')))
  }

  /** Deletes what a killed process left of it, too, and the folder of its id with the last file in it. */
  async remove(key: string): Promise<void> {
    const folder = dirname(join(this.#folder, key))
    await this.#run('deleted', async () => {
      const names = (await readdir(folder).catch(undefinedIf('ENOENT'))) ?? []
      for (const name of names)
        if (name === basename(key) || name.startsWith(`${basename(key)}${UNFINISHED}`))
          await rm(join(folder, name), { force: true })
      await rmdir(folder).catch(undefinedIf('ENOENT', 'ENOTEMPTY', 'EEXIST'))
    })
  }

  async close(): Promise<void> {}

  async #run<R>(action: string, work: () => Promise<R>): Promise<R> {
    try {
      return await work()
    } catch (error) {
      throw new StorageUnavailable(`a file could not be ${action} in ${this.#folder} (${codeOf(error)})`)
    }
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'

const undefinedIf =
  (...codes: string[]) =>
  (error: unknown): undefined => {
    if (!codes.includes(codeOf(error))) throw error
  }

/** Writes the names in a folder to the disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
