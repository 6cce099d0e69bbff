// Finds connections to the database that have fallen silent, and destroys them. After a failover, or when a firewall forgets a connection,
// the other side is gone without a word: whatever was sent is never answered, and TCP takes a quarter of an hour to notice.
//
// Once a second every connection is looked at; statements cost nothing more. One that owes an answer and has sent nothing for a few
// seconds either runs a slow statement or is dead. A new connection asks the database what the backend of the other one does: a backend
// that is not there, or has nothing to do, will not answer. Why so: docs/decisions/transactions.md.
import type { Socket } from 'node:net'
import pg from 'pg'
import { ConnectionSilent } from './outages.ts'

export interface Deadlines {
  /** Between two looks at the connections. */
  tick_ms: number
  /** A connection that owes an answer and sends nothing for so long is suspected. */
  suspect_ms: number
  /** How long the new connection that asks about suspects may take, in all. */
  probe_ms: number
  /** Suspects are destroyed when no new connection could be made for so long. */
  unreachable_ms: number
  /** A statement that has not been answered for so long ends with its connection, whatever else is known. */
  statement_ms: number
  /** A statement that waits for a lock fails after so long, by the database's own `lock_timeout`. */
  lock_ms: number
  /** Making a connection. */
  connect_ms: number
  /** Waiting for a free connection. */
  wait_ms: number
}

/** The statement's is longer than the database's own `statement_timeout` of 30 s, which leaves the connection alone. */
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

/** What the watch reads of a client of `pg`, besides its public parts. */
interface Inside {
  processID: number
  readyForQuery: boolean
  connection: { stream: Socket; on: (event: string, listener: () => void) => void }
}

interface Seen {
  client: pg.Client
  inside: Inside
  /** Answers that have come. */
  answered: number
  seen_answered: number
  seen_bytes: number
  /** Since when it has owed its next answer. */
  since_ms: number
  /** When something last came, or when it last had nothing to answer. */
  heard_ms: number
  /** When bytes last came. */
  bytes_ms: number
  /** Its backend was not at work: if nothing has come by the next look it is dead. */
  condemned: boolean
}

/** What the backends of suspects do, by their process ids: `active`, `idle`, null where it is not shown; absent when there is no such backend. */
type States = Map<number, string | null>

export class ConnectionWatch {
  readonly #config: pg.ClientConfig
  readonly #deadlines: Deadlines
  /** Whether somebody holds the connection between two of its statements. */
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

  /** Watch a connection that has been made, until it ends. One that comes after `close` is destroyed: its first answer may never come. */
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

  /** Look no more, and destroy what is still open: nobody waits for a silent connection to say goodbye. */
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
      // A database that refuses is there.
      if ((error as { severity?: string }).severity !== undefined) return void (this.#unreachable_since_ms = undefined)
      this.#unreachable_since_ms ??= now_ms
      if (performance.now() - this.#unreachable_since_ms < this.#deadlines.unreachable_ms) return
      this.#bury(suspects.filter((record, i) => record.answered === owed[i]))
    } finally {
      this.#asking = false
    }
  }

  /** Destroy the dead, and whoever has nothing to do and was not heard of since: it would be found dead by the next one who uses it. */
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

/** Whether a backend will not answer: there is none, or it has nothing to do. */
function isOver(states: States, pid: number): boolean {
  const state = states.get(pid)
  return !states.has(pid) || (typeof state === 'string' && state.startsWith('idle'))
}

const STATES =
  'select pid, state, pg_backend_pid() as own from pg_stat_activity where pid = any ($1::int[]) or pid = pg_backend_pid()'

/**
 * Ask over a new connection what backends do. Rejects when none can be made in time.
 * @returns undefined where a proxy of PostgreSQL's protocol stands between, whose process ids are its own
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
