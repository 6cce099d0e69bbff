// Connections for transactions that are one statement. Several requests share one, so that the database has received the next statement
// when it completes the previous one. Waking a process costs more than most statements (docs/decisions/transactions.md).
import type pg from 'pg'
import { SharedReadConnection } from './shared-connection.ts'
import { Bound } from './shares.ts'

/** As many as keep the database busy on a fast disk. */
const CONNECTIONS_INITIAL = 3
/** A connection that has owed a response for this long waits for a slow disk or a lock: other connections are used as well. */
const SLOW_MS = 3
const IDLE_MS = 60_000

const ignore = () => {}

interface PooledWriter {
  connection: SharedReadConnection
  inFlight: number
  /** Since when it has owed its next response. */
  since_ms: number
}

export class AutocommitConnections {
  readonly #config: pg.ClientConfig
  readonly #max: number
  readonly #onConnect: ((client: pg.Client) => Promise<void>) | undefined
  readonly #writers: PooledWriter[] = []
  readonly #bound = new Bound()
  #pruning: NodeJS.Timeout | undefined

  /**
   * @param max maximum number of connections; at least one
   * @param onConnect prepares a new connection before its first statement
   */
  constructor(config: pg.ClientConfig, max: number, onConnect?: (client: pg.Client) => Promise<void>) {
    this.#config = config
    this.#onConnect = onConnect
    this.#max = Math.max(1, max)
  }

  /**
   * Runs a statement that is a transaction of its own. It may wait for statements that were sent before it. 503: too many are in flight, in
   * total or for the team; `''` is no team. Errors: Unreachable if no connection can be made.
   * @param sees the team whose rows it sees; absent for a statement without a team
   */
  async query(statement: pg.QueryConfig, team = '', sees?: string): Promise<pg.QueryResult> {
    this.#bound.enter(team)
    const writer = this.#leastBusy()
    if (writer.inFlight++ === 0) writer.since_ms = performance.now()
    try {
      return await writer.connection.query(statement, sees)
    } finally {
      this.#bound.leave(team)
      writer.inFlight--
      writer.since_ms = performance.now()
    }
  }

  /** How many connections are idle and in use, and how many statements wait for the previous one. */
  get stats(): { idle: number; in_use: number; waiting: number } {
    const inUse = this.#writers.filter(({ inFlight }) => inFlight > 0)
    const waiting = inUse.reduce((sum, { inFlight }) => sum + inFlight - 1, 0)
    return { idle: this.#writers.length - inUse.length, in_use: inUse.length, waiting }
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning)
    await Promise.all(this.#writers.map(({ connection }) => connection.close()))
  }

  #leastBusy(): PooledWriter {
    const now_ms = performance.now()
    const isSlow = (writer: PooledWriter) => now_ms - writer.since_ms >= SLOW_MS
    // If all are slow, as on a slow disk, the connection that waits for a lock has owed its response the longest: no statement is added to
    // that one.
    const wait = (writer: PooledWriter) => writer.inFlight * (isSlow(writer) ? now_ms - writer.since_ms : 1)
    let best: PooledWriter | undefined
    let prompt = 0
    for (const writer of this.#writers) {
      if (writer.inFlight === 0) return writer
      if (!isSlow(writer)) prompt++
      if (!best || (isSlow(best) && !isSlow(writer)) || (isSlow(best) === isSlow(writer) && wait(writer) < wait(best)))
        best = writer
    }
    if (best && (prompt >= CONNECTIONS_INITIAL || this.#writers.length === this.#max)) return best
    return this.#open(now_ms)
  }

  #open(now_ms: number): PooledWriter {
    const writer = { connection: new SharedReadConnection(this.#config, this.#onConnect), inFlight: 0, since_ms: now_ms }
    this.#writers.push(writer)
    this.#pruning ??= setInterval(() => this.#closeIdle(), IDLE_MS).unref()
    return writer
  }

  #closeIdle(): void {
    const now_ms = performance.now()
    for (const writer of this.#writers.filter(({ inFlight, since_ms }) => inFlight === 0 && now_ms - since_ms >= IDLE_MS)) {
      this.#writers.splice(this.#writers.indexOf(writer), 1)
      writer.connection.close().catch(ignore)
    }
  }
}
