// Detects silent database connections and destroys them. After a failover, or when a firewall drops a connection, the peer is gone without
// notice: it never responds, and TCP takes a quarter of an hour to notice. Once a second the watch looks for connections that owe a response
// and have sent nothing for a few seconds. Each either runs a slow statement or is dead, so a new connection asks the database what their
// backends do: a backend that does not exist, or is idle, will not respond.
import pg from 'pg'
import type { DatabaseConnection } from './database-connection.ts'
import { ConnectionSilent } from './outages.ts'

export interface Deadlines {
  /** Interval between two checks of the connections. */
  tick_ms: number
  /** A connection that owes a response and sends nothing for this long becomes a suspect. */
  suspect_ms: number
  /** Total time limit of the new connection that asks about suspects. If it fails for another reason than an error of the database, they are destroyed. */
  probe_ms: number
  /** A statement without a response for this long ends with its connection, whatever else is known. */
  statement_ms: number
  /** A statement that waits for a lock fails after this time, by the database's own `lock_timeout`. */
  lock_ms: number
  /** Time limit for a new connection. */
  connect_ms: number
  /** Time limit of the wait for a free connection. */
  wait_ms: number
}

/** The limit of a statement is longer than the database's own `statement_timeout` of 30 s, which keeps the connection. */
export const DEADLINES: Deadlines = {
  tick_ms: 1000,
  suspect_ms: 3000,
  probe_ms: 5000,
  statement_ms: 32_000,
  lock_ms: 5000,
  connect_ms: 5000,
  wait_ms: 10_000,
}

interface Watched {
  connection: DatabaseConnection
  bytes: number
  /** When bytes last arrived. */
  heard_ms: number
  /** Its backend is not at work: if nothing arrives before the next check, the connection is dead. */
  isCondemned: boolean
}

const STATES = `select pid, state from pg_stat_activity where pid = any ($1::int[])`

export class ConnectionWatch {
  readonly #config: pg.ClientConfig
  readonly #deadlines: Deadlines
  readonly #watched = new Map<DatabaseConnection, Watched>()
  readonly #timer: NodeJS.Timeout
  #isClosed = false
  #isAsking = false
  #next_ask_ms = 0

  constructor(config: pg.ClientConfig, deadlines: Deadlines) {
    this.#config = { ...config, connectionTimeoutMillis: deadlines.probe_ms }
    this.#deadlines = deadlines
    this.#timer = setInterval(() => this.#check(performance.now()), deadlines.tick_ms).unref()
  }

  /** Watches a connection until it ends. A connection that is added after `close` is destroyed: its first response may never arrive. */
  add(connection: DatabaseConnection): void {
    if (this.#isClosed) return connection.destroy()
    this.#watched.set(connection, { connection, bytes: 0, heard_ms: performance.now(), isCondemned: false })
    connection.once('end', () => this.#watched.delete(connection))
  }

  /** Stops the checks and destroys the connections that are still open. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const connection of this.#watched.keys()) connection.destroy()
  }

  #check(now_ms: number): void {
    const { suspect_ms, statement_ms } = this.#deadlines
    const suspects: Watched[] = []
    const dead: Watched[] = []
    for (const watched of this.#watched.values()) {
      hear(watched, now_ms)
      const { responses_owed, owed_since_ms } = watched.connection
      if (responses_owed === 0) continue
      if (now_ms - owed_since_ms >= statement_ms) dead.push(watched)
      else if (now_ms - Math.max(owed_since_ms, watched.heard_ms) >= suspect_ms)
        (watched.isCondemned ? dead : suspects).push(watched)
    }
    if (dead.length) this.#destroy(dead)
    if (suspects.length && !this.#isAsking && now_ms >= this.#next_ask_ms) void this.#ask(suspects)
  }

  async #ask(suspects: Watched[]): Promise<void> {
    this.#isAsking = true
    this.#next_ask_ms = performance.now() + this.#deadlines.suspect_ms
    const isSilent = ({ connection, heard_ms }: Watched, since_ms: number) =>
      connection.responses_owed > 0 && connection.owed_since_ms <= since_ms && heard_ms <= since_ms
    const asked_ms = performance.now()
    try {
      const states = await this.#backendStates(suspects.map(({ connection }) => connection.pid))
      for (const suspect of suspects) {
        const { pid } = suspect.connection
        const isOver = !states.has(pid) || states.get(pid)?.startsWith('idle') === true
        if (isOver && isSilent(suspect, asked_ms)) suspect.isCondemned = true
      }
    } catch (error) {
      // A database that refuses connections is reachable.
      if ((error as { severity?: string }).severity !== undefined) return
      for (const suspect of suspects) hear(suspect, performance.now())
      this.#destroy(suspects.filter((suspect) => isSilent(suspect, asked_ms)))
    } finally {
      this.#isAsking = false
    }
  }

  /** The states of backends by process id: `active`, `idle`, null if the login may not see it; absent if there is no such backend. */
  async #backendStates(pids: number[]): Promise<Map<number, string | null>> {
    const { probe_ms } = this.#deadlines
    const client = new pg.Client(this.#config)
    client.on('error', () => {})
    const late = setTimeout(
      () => client.connection.stream.destroy(new ConnectionSilent('the database did not answer in time')),
      probe_ms,
    )
    try {
      await client.connect()
      const { rows } = await client.query<{ pid: number; state: string | null }>(STATES, [pids])
      return new Map(rows.map(({ pid, state }) => [pid, state]))
    } finally {
      clearTimeout(late)
      client.end().catch(() => {})
      setTimeout(() => client.connection.stream.destroy(), probe_ms).unref()
    }
  }

  /** Destroys dead connections, and idle ones without a sign of life since then: their next user would find them dead. */
  #destroy(dead: Watched[]): void {
    const since_ms = Math.max(...dead.map(({ connection }) => connection.owed_since_ms)) + this.#deadlines.suspect_ms / 2
    for (const { connection } of dead) connection.destroy(new ConnectionSilent('the connection owed an answer for too long'))
    for (const { connection, heard_ms } of this.#watched.values())
      if (connection.responses_owed === 0 && heard_ms <= since_ms && !connection.isLent)
        connection.destroy(new ConnectionSilent('another connection to the database fell silent'))
  }
}

function hear(record: Watched, now_ms: number): void {
  // A TLS socket counts its own bytes in the same way.
  const { bytesRead } = record.connection.connection.stream as unknown as { bytesRead: number }
  if (bytesRead === record.bytes) return
  record.bytes = bytesRead
  record.heard_ms = now_ms
  record.isCondemned = false
}
