// Connections to brokers: opened on demand, shared by users of the same broker, kept for a while, and limited in number.
import { TimeoutError, withTimeout } from '../../../platform/runtime/with-timeout.ts'

const IDLE_MS = 60_000
const OPEN_MS_MAX = 10_000

interface Entry<C> {
  connection: Promise<C>
  users: number
  used_ms: number
  timer: NodeJS.Timeout | undefined
}

/** A leased connection; it is released once. */
export interface ConnectionLease<C> {
  connection: C
  /** @param broken the connection must not be reused */
  release(broken?: boolean): void
}

/** Connections of one kind, by their target. */
export class ConnectionPool<C> {
  readonly #entries = new Map<string, Entry<C>>()
  readonly #max: number
  readonly #close: (connection: C) => unknown

  /** @param close must neither throw nor wait long */
  constructor({ max, close }: { max: number; close: (connection: C) => unknown }) {
    this.#max = max
    this.#close = close
  }

  /**
   * The connection kept under a key, or a new one; throws Timeout after 10 s.
   * @param open opens a connection; it calls `ended` when the connection has ended on either side
   */
  async acquire(key: string, open: (isClosed: () => void) => Promise<C>): Promise<ConnectionLease<C>> {
    const entry = this.#entries.get(key) ?? this.#add(key, open)
    entry.users++
    clearTimeout(entry.timer)
    const release = (isBroken = false) => {
      entry.users--
      entry.used_ms = performance.now()
      if (isBroken) this.#remove(key, entry)
      if (entry.users > 0) return
      if (this.#entries.get(key) !== entry) return void this.#closeEntry(entry)
      entry.timer = setTimeout(() => this.#discard(key, entry), IDLE_MS)
      entry.timer.unref()
    }
    try {
      return { connection: await entry.connection, release }
    } catch (error) {
      release(true)
      throw error
    }
  }

  /** Closes idle connections; leased ones are closed when they are released. */
  closeAll(): void {
    for (const [key, entry] of this.#entries) {
      clearTimeout(entry.timer)
      if (entry.users > 0) this.#remove(key, entry)
      else this.#discard(key, entry)
    }
  }

  #add(key: string, open: (isClosed: () => void) => Promise<C>): Entry<C> {
    this.#evictIdle()
    const opening = open(() => this.#remove(key, entry))
    const connection = withTimeout(OPEN_MS_MAX, opening).catch((error: unknown) => {
      // A connection that opens too late is closed.
      if (error instanceof TimeoutError) opening.then((late) => this.#close(late)).catch(() => {})
      throw error
    })
    connection.catch(() => {})
    const entry: Entry<C> = { connection, users: 0, used_ms: 0, timer: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  /** Closes the connection that has been idle longest. Leased connections are limited by their users. */
  #evictIdle(): void {
    if (this.#entries.size < this.#max) return
    const [oldest] = [...this.#entries].filter(([, { users }]) => users === 0).sort(([, a], [, b]) => a.used_ms - b.used_ms)
    if (oldest) this.#discard(...oldest)
  }

  #discard(key: string, entry: Entry<C>): void {
    clearTimeout(entry.timer)
    this.#remove(key, entry)
    this.#closeEntry(entry)
  }

  #remove(key: string, entry: Entry<C>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
  }

  #closeEntry(entry: Entry<C>): void {
    entry.connection.then(
      (connection) => this.#close(connection),
      () => {},
    )
  }
}
