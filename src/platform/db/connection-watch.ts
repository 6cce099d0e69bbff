// Detects silent database connections and destroys them. After a failover, or when a firewall drops a connection, the peer is gone without
// notice: it never responds, and TCP takes a quarter of an hour to notice. The watch checks every connection once a second; statements cost
// nothing more. If a connection owes a response and has sent nothing for a few seconds, it either runs a slow statement or is dead. A new
// connection then asks the database what the backend of the silent connection does: a backend that does not exist, or is idle, will not
// respond. Reasons: docs/decisions/transactions.md.
import type { Socket } from 'node:net'
import pg from 'pg'
import { ConnectionSilent } from './outages.ts'

export interface Deadlines {
  /** Interval between two checks of the connections. */
  tick_ms: number
  /** A connection that owes a response and sends nothing for this long becomes a suspect. */
  suspect_ms: number
  /** Total time limit of the new connection that asks about suspects. */
  probe_ms: number
  /** Suspects are destroyed if no new connection could be made for this long. */
  unreachable_ms: number
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
  probe_ms: 3000,
  unreachable_ms: 5000,
  statement_ms: 32_000,
  lock_ms: 5000,
  connect_ms: 5_000,
  wait_ms: 10_000,
}

/** The private parts of a `pg` client that the watch reads. */
interface Inside {
  processID: number
  readyForQuery: boolean
  connection: { stream: Socket; on: (event: string, listener: () => void) => void }
}

interface Seen {
  client: pg.Client
  inside: Inside
  /** Number of responses received. */
  answered: number
  seen_answered: number
  seen_bytes: number
  /** Since when it has owed its next response. */
  since_ms: number
  /** When data last arrived, or when it last owed no response. */
  heard_ms: number
  /** When bytes last arrived. */
  bytes_ms: number
  /** Its backend was not active: if nothing arrives before the next check, the connection is dead. */
  condemned: boolean
}

/** The states of the suspects' backends, by process id: `active`, `idle`, null if it is not shown; absent if there is no such backend. */
type States = Map<number, string | null>

export class ConnectionWatch {
  readonly #config: pg.ClientConfig
  readonly #deadlines: Deadlines
  /** Whether a caller holds the connection between two of its statements. */
  readonly #isLent: (client: pg.Client) => boolean
  readonly #records = new Map<pg.Client, Seen>()
  readonly #timer: NodeJS.Timeout
  #asking = false
  #closed = false
  #asked_ms = -Infinity
  #unreachable_since_ms: number | undefined

  constructor(config: pg.ClientConfig, deadlines: Deadlines, isLent: (client: pg.Client) => boolean) {
    this.#config = { ...config, connectionTimeoutMillis: deadlines.probe_ms }
    this.#deadlines = deadlines
    this.#isLent = isLent
    this.#timer = setInterval(() => this.#tick(performance.now()), deadlines.tick_ms).unref()
  }

  /** Watches a connection until it ends. A connection that is added after `close` is destroyed: its first response may never arrive. */
  add(client: pg.ClientBase): void {
    const watched = client as pg.Client
    const inside = insideOf(watched)
    if (this.#closed) return void inside.connection.stream.destroy()
    const now_ms = performance.now()
    const record: Seen = {
      client: watched,
      inside,
      answered: 0,
      seen_answered: 0,
      seen_bytes: 0,
      since_ms: now_ms,
      heard_ms: now_ms,
      bytes_ms: now_ms,
      condemned: false,
    }
    inside.connection.on('readyForQuery', () => record.answered++)
    watched.once('end', () => this.#records.delete(watched))
    this.#records.set(watched, record)
  }

  /** Stops the checks and destroys the connections that are still open. */
  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    for (const { inside } of this.#records.values()) inside.connection.stream.destroy()
  }

  #tick(now_ms: number): void {
    const { suspect_ms, statement_ms, probe_ms } = this.#deadlines
    const suspects: Seen[] = []
    const dead: Seen[] = []
    for (const record of this.#records.values()) {
      look(record, now_ms)
      if (now_ms - record.since_ms >= statement_ms) dead.push(record)
      else if (now_ms - record.heard_ms >= suspect_ms) (record.condemned ? dead : suspects).push(record)
    }
    if (dead.length) this.#bury(dead)
    if (suspects.length && !this.#asking && now_ms - this.#asked_ms >= Math.min(probe_ms, suspect_ms))
      void this.#ask(suspects, now_ms)
    if (suspects.length === 0) this.#unreachable_since_ms = undefined
  }

  async #ask(suspects: Seen[], now_ms: number): Promise<void> {
    this.#asking = true
    this.#asked_ms = now_ms
    const owed = suspects.map(({ answered }) => answered)
    try {
      const states = await statesOf(
        this.#config,
        this.#deadlines.probe_ms,
        suspects.map(({ inside }) => inside.processID),
      )
      this.#unreachable_since_ms = undefined
      if (!states) return
      for (const [i, record] of suspects.entries())
        if (record.answered === owed[i] && isOver(states, record.inside.processID)) record.condemned = true
    } catch (error) {
      // A database that refuses connections is reachable.
      if ((error as { severity?: string }).severity !== undefined) return void (this.#unreachable_since_ms = undefined)
      this.#unreachable_since_ms ??= now_ms
      if (performance.now() - this.#unreachable_since_ms < this.#deadlines.unreachable_ms) return
      this.#bury(suspects.filter((record, i) => record.answered === owed[i]))
    } finally {
      this.#asking = false
    }
  }

  /** Destroys dead connections, and idle ones without a sign of life since: their next user would find them dead. */
  #bury(dead: Seen[]): void {
    const since_ms = Math.max(...dead.map((record) => record.since_ms)) + this.#deadlines.tick_ms
    for (const record of dead) destroy(record, 'the connection owed an answer for too long')
    for (const record of this.#records.values())
      if (record.inside.readyForQuery && record.bytes_ms <= since_ms && !this.#isLent(record.client))
        destroy(record, 'another connection to the database fell silent')
  }
}

function look(record: Seen, now_ms: number): void {
  const { inside } = record
  const bytes = inside.connection.stream.bytesRead
  if (bytes !== record.seen_bytes) {
    record.seen_bytes = bytes
    record.heard_ms = record.bytes_ms = now_ms
    record.condemned = false
  }
  if (inside.readyForQuery) {
    record.since_ms = record.heard_ms = now_ms
    record.condemned = false
  } else if (record.answered !== record.seen_answered) record.since_ms = now_ms
  record.seen_answered = record.answered
}

const insideOf = (client: pg.Client): Inside => client as unknown as Inside

const destroy = ({ inside }: Seen, why: string): unknown => inside.connection.stream.destroy(new ConnectionSilent(why))

/** Whether a backend will not respond: it does not exist, or is idle. */
function isOver(states: States, pid: number): boolean {
  const state = states.get(pid)
  return !states.has(pid) || (typeof state === 'string' && state.startsWith('idle'))
}

const STATES =
  'select pid, state, pg_backend_pid() as own from pg_stat_activity where pid = any ($1::int[]) or pid = pg_backend_pid()'

/**
 * Asks over a new connection what backends do. Rejects if no connection can be made in time.
 * @returns undefined behind a proxy of PostgreSQL's protocol, whose process ids are its own
 */
async function statesOf(config: pg.ClientConfig, within_ms: number, pids: number[]): Promise<States | undefined> {
  const client = new pg.Client(config)
  const inside = insideOf(client)
  client.on('error', () => {})
  const timer = setTimeout(
    () => inside.connection.stream.destroy(new ConnectionSilent('the database did not answer in time')),
    within_ms,
  )
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number; state: string | null; own: number }>(STATES, [pids])
    if (rows[0]?.own !== inside.processID) return undefined
    return new Map(rows.map(({ pid, state }) => [pid, state]))
  } finally {
    clearTimeout(timer)
    client.end().catch(() => {})
    setTimeout(() => inside.connection.stream.destroy(), within_ms).unref()
  }
}
