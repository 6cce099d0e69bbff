// Connections to brokers: made when they are needed, shared by those who speak to the same broker, kept for a while, and few.
import { Timeout, within } from '../broker-message.ts'

const IDLE_MS = 60_000
const OPEN_MS_MAX = 10_000

interface Entry<C> {
  connection: Promise<C>
  users: number
  used_ms: number
  timer: NodeJS.Timeout | undefined
}

/** A connection that somebody uses; it is given back once. */
export interface Loan<C> {
  connection: C
  /** @param broken nobody else is to get it */
  giveBack(broken?: boolean): void
}

/** Connections of one kind, by what they lead to. */
export class Connections<C> {
  readonly #entries = new Map<string, Entry<C>>()
  readonly #max: number
  readonly #close: (connection: C) => unknown

  /** @param close must not throw, nor wait long */
  constructor({ max, close }: { max: number; close: (connection: C) => unknown }) {
    this.#max = max
    this.#close = close
  }

  /**
   * The connection kept under a key, or a new one; throws Timeout after 10 s.
   * @param open makes one; it calls `ended` when the connection is over, whoever ended it
   */
  async lend(key: string, open: (ended: () => void) => Promise<C>): Promise<Loan<C>> {
    const entry = this.#entries.get(key) ?? this.#add(key, open)
    entry.users++
    clearTimeout(entry.timer)
    const giveBack = (broken = false) => {
      entry.users--
      entry.used_ms = performance.now()
      if (broken) this.#forget(key, entry)
      if (entry.users > 0) return
      if (this.#entries.get(key) !== entry) return void this.#end(entry)
      entry.timer = setTimeout(() => this.#drop(key, entry), IDLE_MS)
      entry.timer.unref()
    }
    try {
      return { connection: await entry.connection, giveBack }
    } catch (error) {
      giveBack(true)
      throw error
    }
  }

  /** Close what nobody uses; what is in use is closed when it is given back. */
  closeAll(): void {
    for (const [key, entry] of this.#entries) {
      clearTimeout(entry.timer)
      if (entry.users > 0) this.#forget(key, entry)
      else this.#drop(key, entry)
    }
  }

  #add(key: string, open: (ended: () => void) => Promise<C>): Entry<C> {
    this.#makeRoom()
    const opening = open(() => this.#forget(key, entry))
    const connection = within(OPEN_MS_MAX, opening).catch((error: unknown) => {
      // One that comes too late is not left open.
      if (error instanceof Timeout) opening.then((late) => this.#close(late)).catch(() => {})
      throw error
    })
    connection.catch(() => {})
    const entry: Entry<C> = { connection, users: 0, used_ms: 0, timer: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  /** The one that has been idle for longest goes. Those in use are as few as those who use them. */
  #makeRoom(): void {
    if (this.#entries.size < this.#max) return
    const [oldest] = [...this.#entries].filter(([, { users }]) => users === 0).sort(([, a], [, b]) => a.used_ms - b.used_ms)
    if (oldest) this.#drop(...oldest)
  }

  #drop(key: string, entry: Entry<C>): void {
    clearTimeout(entry.timer)
    this.#forget(key, entry)
    this.#end(entry)
  }

  #forget(key: string, entry: Entry<C>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
  }

  #end(entry: Entry<C>): void {
    entry.connection.then(
      (connection) => this.#close(connection),
      () => {},
    )
  }
}
