// Groups the incoming messages of a laboratory: those that arrive while others are committed wait, and the next commit takes them together, because
// a commit costs more than a message. Laboratories have commits of their own and take turns.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../platform/db/database.ts'
import { ConcurrencyLimit } from '../../platform/runtime/concurrency-limit.ts'
import type { NewIncoming } from './message-store.ts'
import { prepareIncoming, storePrepared, type IncomingBytes, type StoredIncoming } from './receive-message.ts'

/** Commits at a time: fewer than connections of the database, and one of a laboratory. */
const COMMITS = { running_max: 6, running_max_each: 1, waiting_max: 500, wait_ms: 60_000 }
/** What one commit takes. A message of more bytes has a commit to itself. */
const GROUP = { messages: 32, bytes: 1_048_576 }

interface Waiter {
  message: NewIncoming
  resolve: (receipt: StoredIncoming) => void
  reject: (error: unknown) => void
}

export class MessageGroups {
  readonly #commits = new ConcurrencyLimit(COMMITS)
  /** By laboratory. */
  readonly #waiters = new Map<string, Waiter[]>()

  /**
   * Stores a message as `storeIncoming`, together with others of the same laboratory. Writes lab_message.
   * Errors: those of `storeIncoming`; 503 too many laboratories wait, or for too long.
   */
  async store(db: Db, incoming: IncomingBytes, laboratory: string): Promise<StoredIncoming> {
    const message = prepareIncoming(incoming)
    const key = `${db.schema} ${laboratory}`
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(key) ?? []
      waiters.push({ message, resolve, reject })
      this.#waiters.set(key, waiters)
      if (waiters.length === 1) void this.#commitNext(db, key)
    })
  }

  async #commitNext(db: Db, key: string): Promise<void> {
    try {
      await this.#commits.run(() => this.#commit(db, key), { owner: key })
    } catch (error) {
      for (const { reject } of this.#take(key, Infinity)) reject(error)
    }
  }

  async #commit(db: Db, key: string): Promise<void> {
    // What other connections have received by now comes along.
    await nextTurn()
    const group = this.#take(key, countTogether(this.#waiters.get(key)!))
    if (this.#waiters.has(key)) void this.#commitNext(db, key)
    const outcomes = await storePrepared(
      db,
      group.map(({ message }) => message),
    )
    for (const [i, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[i]!
      if (outcome.status === 'fulfilled') resolve(outcome.value)
      else reject(outcome.reason)
    }
  }

  #take(key: string, count: number): Waiter[] {
    const waiters = this.#waiters.get(key) ?? []
    const taken = waiters.splice(0, count)
    if (waiters.length === 0) this.#waiters.delete(key)
    return taken
  }
}

/** How many of the first messages one commit takes: a message that repeats another, or its control id, must find it stored. */
function countTogether(waiters: readonly Waiter[]): number {
  const known = new Set<string>()
  let bytes = 0
  const end = waiters.findIndex(({ message: { digest, header, bytes: own } }, i) => {
    const names = [digest, ...(header?.control_id ? [`id ${header.control_id}`] : [])]
    if (i > 0 && (i === GROUP.messages || bytes + own.length > GROUP.bytes || names.some((name) => known.has(name)))) return true
    for (const name of names) known.add(name)
    bytes += own.length
    return false
  })
  return end < 0 ? waiters.length : end
}
