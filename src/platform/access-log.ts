// The access log of a process. What changes something leaves its line in its own transaction; lines of what was only read are collected
// here and written together, at most a second later, or before the answer leaves where the setting says so. Writing makes both part of
// the log, in one order with a hash from each line to the next (the function access_seal). docs/decisions/access-log.md says why so.
import { setTimeout as sleep } from 'node:timers/promises'
import { leaveLine, lineOf, type Access, type Line } from './access-line.ts'
import { day, machineNow } from './clock.ts'
import type { Db, PlainTx } from './db.ts'
import { busy } from './errors.ts'
import { errorFields, type Log } from './log.ts'
import { T } from './schema.ts'
import { sql } from './sql.ts'

/** `batched`: lines of reads may be lost when the process is killed, of the last second. `strict`: an answer waits for its line. */
export const accessLogModes = ['batched', 'strict'] as const
export type AccessLogMode = (typeof accessLogModes)[number]

/** Lines are written this long after the first that waits. */
const DELAY_MS = 500
/** After a failure. */
const PAUSE_MS = 1000
/** Characters of lines that wait or are being written, per cell: about 50,000 reads of one order. */
const CHARACTERS_MAX = 16_000_000
/** How long stopping waits for what is left to be written. */
const STOP_MS = 5000
/** How often a process logs where the log stands, so that its own log can bear witness later. */
const WITNESS_MS = 600_000
/** Characters of one statement. */
const BATCH_CHARACTERS = 2_000_000

const FULL = 'The access log cannot be written now, try again'

interface Waiting extends Line {
  /** Of whom waits for the line. */
  written: { resolve: () => void; reject: (error: unknown) => void } | undefined
}

/** What waits for one cell. */
interface Batch {
  lines: Waiting[]
  /** How many lines more are being written. */
  beingWritten: number
  /** Of these and of those being written. */
  characters: number
  /** Transactions have left lines since the last time. */
  left: boolean
  /** Called when one has. */
  committed: () => void
  timer: NodeJS.Timeout | undefined
  writing: Promise<void> | undefined
  /** When it was last logged where the log stands. */
  witnessed_ms: number
}

const Sealed = T.Object({ n: T.Integer() })
const Position = T.Object({ seq: T.Integer(), hash: T.String() })

/** A call of `access_seal` takes so many lines that transactions have left, as the function says. */
const LEFT_MAX = 20_000

/** The lines of one call, as `access_seal` reads them. */
const given = (lines: readonly Line[]): string =>
  lines.map(({ team_id, users, text }) => `${team_id ?? ''}\t${users}\t${text}`).join('\n')

/**
 * Make lines part of the log of a cell, with at most 20,000 of those that transactions have left. Writes access_line, access_log,
 * access_day.
 * @returns how many they were, and whether transactions may have left more
 */
export async function seal(db: Db, lines: readonly Line[] = []): Promise<{ sealed: number; more: boolean }> {
  const { n } = await db.queries.one(Sealed, sql`select access_seal(${day(machineNow())}::date, ${given(lines)}::text) as n`)
  return { sealed: n, more: n - lines.length >= LEFT_MAX }
}

export interface AccessLogOptions {
  mode: AccessLogMode
  log: Log
  /** Told of lines that could not be kept. */
  onLost?: (lines: number) => void
  delay_ms?: number
  characters_max?: number
  /** How long stopping waits for what is left to be written; 5 s when not given. */
  stop_ms?: number
}

/** The lines of a process that wait to be written. One per process. */
export class AccessLog {
  readonly #options: AccessLogOptions
  readonly #batches = new Map<Db, Batch>()
  #stopped = false

  constructor(options: AccessLogOptions) {
    this.#options = options
  }

  /** 503: so many lines wait that a read could not be written down. */
  assertRoom(db: Db): void {
    if (this.#isFull(db)) throw busy(FULL)
  }

  /**
   * Write down that something was read. The answer must wait for what is returned, if something is: it rejects with 503 when the line
   * cannot be written. For a line that came too many see `assertRoom`.
   */
  read(db: Db, access: Access): Promise<void> | undefined {
    if (this.#options.mode === 'strict')
      return new Promise((resolve, reject) => this.#add(db, access, { resolve, reject: () => reject(busy(FULL)) }))
    this.#add(db, access)
    return undefined
  }

  /** Write down a call that was refused. Nobody waits for it; when too many wait it is lost, and counted. */
  refused(db: Db, access: Access): void {
    if (this.#isFull(db)) this.#options.onLost?.(1)
    else this.#add(db, access)
  }

  /** Write down what a transaction changes, in that transaction. Writes access_line. */
  changed(db: Db, tx: PlainTx, access: Access): void {
    leaveLine(tx, lineOf(access))
    tx.afterCommit(this.#batchOf(db).committed)
  }

  /** Write what waits now. Rejects when a part of it could not be written; that waits on. */
  async flush(): Promise<void> {
    for (const [db, batch] of this.#batches) await this.#write(db, batch)
  }

  /** Write what waits, and nothing by itself any more. What is not written in time is lost, and counted. */
  async stop(): Promise<void> {
    this.#stopped = true
    const { log, onLost, stop_ms = STOP_MS } = this.#options
    const late = new AbortController()
    const deadline = sleep(stop_ms, undefined, { signal: late.signal }).catch(() => {})
    await Promise.all(
      [...this.#batches].map(async ([db, batch]) => {
        clearTimeout(batch.timer)
        const writing = this.#write(db, batch).catch((error: unknown) => this.#failed(batch, error))
        await Promise.race([writing, deadline])
        const lines = batch.lines.length + batch.beingWritten
        if (lines === 0) return
        log.error({ lines }, 'lines of the access log were lost: they could not be written before the end')
        onLost?.(lines)
      }),
    )
    late.abort()
  }

  get #delayMs(): number {
    return this.#options.delay_ms ?? DELAY_MS
  }

  #isFull(db: Db): boolean {
    return this.#batchOf(db).characters >= (this.#options.characters_max ?? CHARACTERS_MAX)
  }

  #batchOf(db: Db): Batch {
    const known = this.#batches.get(db)
    if (known) return known
    const batch: Batch = {
      lines: [],
      beingWritten: 0,
      characters: 0,
      left: false,
      committed: () => {
        batch.left = true
        this.#later(db, batch, this.#delayMs)
      },
      timer: undefined,
      writing: undefined,
      witnessed_ms: -Infinity,
    }
    this.#batches.set(db, batch)
    return batch
  }

  #add(db: Db, access: Access, written?: Waiting['written']): void {
    const batch = this.#batchOf(db)
    const { team_id, users, text } = lineOf(access)
    batch.lines.push({ team_id, users, text, written })
    batch.characters += text.length
    this.#later(db, batch, written ? 0 : this.#delayMs)
  }

  /** A timer that has been set is not set anew, but for somebody who waits. */
  #later(db: Db, batch: Batch, delay_ms: number): void {
    if (this.#stopped || batch.writing || (batch.timer && delay_ms > 0)) return
    clearTimeout(batch.timer)
    batch.timer = setTimeout(() => {
      batch.timer = undefined
      this.#write(db, batch).catch((error: unknown) => this.#failed(batch, error))
    }, delay_ms)
  }

  #failed(batch: Batch, error: unknown): void {
    this.#options.log.error({ lines: batch.lines.length, causes: errorFields(error) }, 'writing the access log failed')
  }

  /** One statement after the other until nothing waits; whoever comes while it goes on joins it. */
  #write(db: Db, batch: Batch): Promise<void> {
    batch.writing ??= this.#writeAll(db, batch).finally(() => {
      batch.writing = undefined
      if (batch.lines.length || batch.left) this.#later(db, batch, batch.lines.some((line) => line.written) ? 0 : PAUSE_MS)
    })
    return batch.writing
  }

  async #writeAll(db: Db, batch: Batch): Promise<void> {
    while (batch.lines.length || batch.left) {
      const lines = take(batch.lines)
      const characters = lines.reduce((sum, line) => sum + line.text.length, 0)
      batch.left = false
      batch.beingWritten = lines.length
      try {
        const { more } = await seal(db, lines)
        if (more) batch.left = true
      } catch (error) {
        batch.left = true
        // Those who waited are refused and have shown nothing; the others are tried again.
        const kept = lines.filter((line) => !line.written)
        batch.lines.unshift(...kept)
        batch.characters -= characters - kept.reduce((sum, line) => sum + line.text.length, 0)
        for (const line of lines) line.written?.reject(error)
        throw error
      } finally {
        batch.beingWritten = 0
      }
      batch.characters -= characters
      for (const line of lines) line.written?.resolve()
    }
    await this.#witness(db, batch)
  }

  /** Log where the log of the cell stands. */
  async #witness(db: Db, batch: Batch): Promise<void> {
    const now_ms = performance.now()
    if (now_ms - batch.witnessed_ms < WITNESS_MS) return
    batch.witnessed_ms = now_ms
    const { seq, hash } = await db.queries.one(
      Position,
      sql`select seq, encode(hash, 'hex') as hash from access_day order by day desc limit 1`,
    )
    this.#options.log.info({ schema: db.schema, line: seq, hash }, 'access log')
  }
}

/** Takes lines for one statement off the beginning. */
function take(lines: Waiting[]): Waiting[] {
  let characters = 0
  let count = 0
  while (count < lines.length && characters < BATCH_CHARACTERS) characters += lines[count++]!.text.length
  return lines.splice(0, count)
}
