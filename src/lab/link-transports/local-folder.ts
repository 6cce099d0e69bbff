// Drop folders on this server. All of a link's lie below one folder of its own, which no path and no symbolic link leaves.
import { constants } from 'node:fs'
import { lstat, mkdir, open, opendir, realpath, rename, rm } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { ENTRIES_MAX, FolderError, type FileEntry, type FileStore } from './file-store.ts'

/** Names of folders and files below the link's folder. */
const isPlain = (path: string): boolean =>
  path.length <= 1000 && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/u.test(path)

export class LocalFolder implements FileStore {
  readonly #root: string

  private constructor(root: string) {
    this.#root = root
  }

  /**
   * The folder of a link, `ROOT/NAME`, which is created if it is missing. Errors: FolderError no root is set, or it does not exist.
   * @param root the folder of the settings, `LAB_FOLDER`
   * @param name the id of the link's account
   */
  static async open(root: string | undefined, name: string): Promise<LocalFolder> {
    if (root === undefined) throw new FolderError('LAB_FOLDER is not set, so links cannot use folders')
    const base = await realpath(root).catch(fail('LAB_FOLDER'))
    const folder = join(base, name)
    await mkdir(folder, { mode: 0o770 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') fail('The folder of the link')(error)
    })
    if ((await realpath(folder).catch(fail('The folder of the link'))) !== folder)
      throw new FolderError('The folder of the link is a symbolic link')
    return new LocalFolder(folder)
  }

  async list(folder: string): Promise<FileEntry[]> {
    const path = await this.#folder(folder)
    const entries: FileEntry[] = []
    try {
      for await (const { name } of await opendir(path)) {
        const stats = await lstat(join(path, name)).catch(() => undefined)
        if (stats?.isFile()) entries.push({ name, bytes: stats.size, modified_ms: stats.mtimeMs })
        if (entries.length >= ENTRIES_MAX) break
      }
    } catch (error) {
      fail('The folder')(error as NodeJS.ErrnoException)
    }
    return entries
  }

  async read(path: string, bytes_max: number): Promise<Buffer> {
    const file = await open(await this.#file(path), constants.O_RDONLY | constants.O_NOFOLLOW).catch(fail('The file'))
    try {
      const { size } = await file.stat()
      const bytes = Buffer.allocUnsafe(Math.min(size, bytes_max) + 1)
      let length = 0
      for (;;) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
        length += bytesRead
        if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length)
      }
    } catch (error) {
      return fail('The file')(error as NodeJS.ErrnoException)
    } finally {
      await file.close()
    }
  }

  async stat(path: string): Promise<Omit<FileEntry, 'name'> | undefined> {
    const stats = await lstat(await this.#file(path)).catch(() => undefined)
    return stats?.isFile() ? { bytes: stats.size, modified_ms: stats.mtimeMs } : undefined
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
    const file = await open(await this.#file(path), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o660).catch(fail('The file'))
    try {
      await file.writeFile(bytes)
      await file.datasync()
    } catch (error) {
      fail('The file')(error as NodeJS.ErrnoException)
    } finally {
      await file.close()
    }
  }

  async rename(path: string, newPath: string): Promise<void> {
    await rename(await this.#file(path), await this.#file(newPath)).catch(fail('The file'))
  }

  async remove(path: string): Promise<void> {
    await rm(await this.#file(path), { force: true }).catch(fail('The file'))
  }

  async createFolder(folder: string): Promise<void> {
    await mkdir(this.#path(folder), { recursive: true, mode: 0o770 }).catch(fail('The folder'))
    await this.#folder(folder)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #path(path: string): string {
    if (!isPlain(path)) throw new FolderError('The folder must be a path below the folder of the link, without ..')
    return join(this.#root, path)
  }

  /** The path of a folder. Errors: FolderError it is missing, or a symbolic link leads elsewhere. */
  async #folder(folder: string): Promise<string> {
    const path = this.#path(folder)
    const real = await realpath(path).catch(fail('The folder'))
    if (real !== path && !real.startsWith(`${this.#root}${sep}`))
      throw new FolderError('The folder leads out of the folder of the link')
    return real
  }

  async #file(path: string): Promise<string> {
    const cut = path.lastIndexOf('/')
    if (!isPlain(path) || cut < 0) throw new FolderError('The path of the file is not allowed')
    return join(await this.#folder(path.slice(0, cut)), path.slice(cut + 1))
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'is missing',
  EACCES: 'may not be used by the account of the server',
  EPERM: 'may not be used by the account of the server',
  EROFS: 'is on a disk that cannot be written',
  ENOSPC: 'is on a full disk',
  EDQUOT: 'has reached its quota',
  ELOOP: 'is a symbolic link',
  ENOTDIR: 'is not a folder',
}

const fail =
  (subject: string) =>
  (error: NodeJS.ErrnoException): never => {
    throw new FolderError(`${subject} ${REASONS[error.code ?? ''] ?? `cannot be used (${error.code ?? error.name})`}`)
  }
