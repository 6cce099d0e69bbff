// Folders on the SFTP server of a laboratory. The server is the one whose key the profile names: without its fingerprint there is no connection.
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { loadPackage, MissingPackageError } from '../../platform/runtime/optional-packages.ts'
import { withTimeout } from '../../platform/runtime/with-timeout.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { ENTRIES_MAX, FolderError, type FileEntry, type FileStore } from './file-store.ts'

type SftpOptions = LinkProfile['transport']['sftp']

/** What is used of `ssh2-sftp-client`, which has no types. */
interface SftpClient {
  connect(options: Record<string, unknown>): Promise<unknown>
  list(path: string): Promise<{ type: string; name: string; size: number; modifyTime: number }[]>
  get(path: string, target: undefined, options: { readStreamOptions: { start: number; end: number } }): Promise<Buffer>
  put(bytes: Buffer, path: string): Promise<unknown>
  stat(path: string): Promise<{ size: number; modifyTime: number; isFile: boolean }>
  rename(path: string, newPath: string): Promise<unknown>
  posixRename(path: string, newPath: string): Promise<unknown>
  delete(path: string, isMissingAllowed: boolean): Promise<unknown>
  mkdir(path: string, isRecursive: boolean): Promise<unknown>
  end(): Promise<unknown>
}

const READY_MS_MAX = 20_000
const REQUEST_MS_MAX = 120_000
const CLOSE_MS_MAX = 2000
const KEEP_ALIVE_MS = 10_000

/** `SHA256:…`, as `ssh-keygen -l` prints it. */
const keyFingerprint = (key: Buffer): string => `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

export class SftpStore implements FileStore {
  readonly #client: SftpClient
  readonly #socket: Socket

  private constructor(client: SftpClient, socket: Socket) {
    this.#client = client
    this.#socket = socket
  }

  /**
   * Logs in. Errors: FolderError the package is missing, the server has another key, or refuses the login.
   * @param socket a connection to the server
   */
  static async open(options: SftpOptions, connect: () => Promise<Socket>): Promise<SftpStore> {
    const { user, password, private_key, passphrase, host_key } = options
    if (!host_key) throw new FolderError('The fingerprint of the key of the SFTP server is not set')
    const { default: Client } = await loadClient()
    // Errors after the login end the request in progress; the package would print them.
    const ignore = () => undefined
    const client = new Client('drawbridge', { error: ignore, end: ignore, close: ignore })
    const sock = await connect().catch((error: unknown) => {
      throw new FolderError('The SFTP server cannot be reached', { cause: error })
    })
    let shownKey: string | undefined
    try {
      await client.connect({
        sock,
        username: user,
        ...(password && { password }),
        ...(private_key && { privateKey: private_key }),
        ...(passphrase && { passphrase }),
        hostVerifier: (key: Buffer) => (shownKey = keyFingerprint(key)) === host_key.trim(),
        readyTimeout: READY_MS_MAX,
        keepaliveInterval: KEEP_ALIVE_MS,
      })
    } catch (error) {
      sock.destroy()
      if (shownKey !== undefined && shownKey !== host_key.trim())
        throw new FolderError(`The SFTP server has another key: ${shownKey}`)
      throw new FolderError(reasonOf(error), { cause: error })
    }
    return new SftpStore(client, sock)
  }

  async list(folder: string): Promise<FileEntry[]> {
    const entries = await this.#try(this.#client.list(folder), 'The folder')
    return entries
      .filter(({ type, name }) => type === '-' && isPlainName(name))
      .slice(0, ENTRIES_MAX)
      .map(({ name, size, modifyTime }) => ({ name, bytes: size, modified_ms: modifyTime }))
  }

  async read(path: string, bytes_max: number): Promise<Buffer> {
    // An empty file has no range.
    if ((await this.stat(path))?.bytes === 0) return Buffer.alloc(0)
    return this.#try(this.#client.get(path, undefined, { readStreamOptions: { start: 0, end: bytes_max } }), 'The file')
  }

  async stat(path: string): Promise<Omit<FileEntry, 'name'> | undefined> {
    const stats = await this.#try(this.#client.stat(path), 'The file').catch((error: Error) => {
      if (isMissing(error.cause)) return undefined
      throw error
    })
    return stats && { bytes: stats.size, modified_ms: stats.modifyTime }
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#try(this.#client.put(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), path), 'The file')
  }

  /** A server with the extension of OpenSSH replaces a file; others refuse to. */
  async rename(path: string, newPath: string): Promise<void> {
    await this.#try(this.#client.posixRename(path, newPath), 'The file').catch(() =>
      this.#try(this.#client.rename(path, newPath), 'The file'),
    )
  }

  async remove(path: string): Promise<void> {
    await this.#try(this.#client.delete(path, true), 'The file')
  }

  async createFolder(folder: string): Promise<void> {
    if (!(await this.stat(folder))) await this.#try(this.#client.mkdir(folder, false), 'The folder')
  }

  async close(): Promise<void> {
    await awaitInTime(CLOSE_MS_MAX, this.#client.end()).catch(() => undefined)
    this.#socket.destroy()
  }

  /** The outcome of a request. A server that does not answer is disconnected. Errors: FolderError with the cause. */
  async #try<V>(work: Promise<V>, subject: string): Promise<V> {
    try {
      return await awaitInTime(REQUEST_MS_MAX, work)
    } catch (error) {
      if (codeOf(error) === 'ETIMEDOUT') this.#socket.destroy()
      const what = isMissing(error) ? 'is missing' : `cannot be used (${codeOf(error)})`
      throw new FolderError(`${subject} ${what} on the SFTP server`, { cause: error })
    }
  }
}

/** The outcome of work. The package leaves some requests of a connection that has ended without an outcome. */
const awaitInTime = <V>(ms: number, work: Promise<V>): Promise<V> =>
  withTimeout(ms, work, () => Object.assign(new Error('No answer in time'), { code: 'ETIMEDOUT' }))

/** The package names its own; that it has a default export is not in types either. */
async function loadClient(): Promise<{
  default: new (name: string, listeners: Record<'error' | 'end' | 'close', () => void>) => SftpClient
}> {
  const name = 'ssh2-sftp-client'
  try {
    return (await loadPackage(name, () => import(name))) as {
      default: new (name: string, listeners: Record<'error' | 'end' | 'close', () => void>) => SftpClient
    }
  } catch (error) {
    if (error instanceof MissingPackageError) throw new FolderError(`The package ${name} is not installed`, { cause: error })
    throw error
  }
}

/** A server might send any name. */
const isPlainName = (name: string): boolean => name !== '.' && name !== '..' && !/[/\\\0]/u.test(name)

const codeOf = (error: unknown): string => {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^\w{1,40}$/u.test(code) ? code : 'error'
}

const isMissing = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return code === 'ENOENT' || code === 2 || /no such file/iu.test(message)
}

function reasonOf(error: unknown): string {
  const { message = '', level = '' } = error as { message?: string; level?: string }
  if (level === 'client-authentication' || /authentication/iu.test(message)) return 'The SFTP server refuses the login'
  return `No connection to the SFTP server (${codeOf(error)})`
}
