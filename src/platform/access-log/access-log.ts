// The access log of a process. What changes something leaves its line in its own transaction; lines of what was only read are collected
// here and written together, at most a second later, or before the answer leaves where the setting says so. Writing makes both part of
// the log, in one order with a hash from each line to the next (the function access_seal). docs/decisions/access-log.md says why so.
import { setTimeout as sleep } from 'node:timers/promises'
import { leaveLine, lineOf, type Access, type Line } from './access-line.ts'
import { utcDate, systemNow } from '../runtime/clock.ts'
import type { Db } from '../db/database.ts'
import type { PlainTx } from '../db/transaction.ts'
import { unavailable } from '../runtime/problem.ts'
import { bytesOf, LineBuffer, linesOf, textOf } from './line-buffer.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { T } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'

/** `batched`: lines of reads may be lost when the process is killed, of the last second. `strict`: an answer waits for its line. */
export const accessLogModes = ['batched', 'strict'] as const
export type AccessLogMode = (typeof accessLogModes)[number]

/** Lines are written this long after the first that waits, and as long after the lines before them, so that few calls write many. */
const DELAY_MS = 500
/** After a failure. */
const PAUSE_MS = 1000
/** Bytes of lines that wait or are being written, per cell: about 35,000 reads of one order. */
const BYTES_MAX = 16_000_000
/** How long stopping waits for what is left to be written. */
const STOP_MS = 5000
/** How often a process logs where the log stands, so that its own log can bear witness later. */
const WITNESS_MS = 600_000
/** Bytes of one statement, but for its last block of lines. */
const BATCH_BYTES = 2_000_000

const FULL = 'The access log cannot be written now, try again'

/** The line of an answer that waits for it. */
interface Awaited {
  given: string
  resolve: () => void
  reject: (error: unknown) => void
}

/** What waits for one cell. */
interface Batch {
  /** Lines for which nobody waits. */
  lines: LineBuffer
  awaited: Awaited[]
  /** How many lines more are being written. */
  beingWritten: number
  /** Of the lines that wait and of those being written. */
  bytes: number
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

/** A line as `access_seal` reads it. */
const given = ({ team_id, users, text }: Line): string => `${team_id ?? ''}\t${users}\t${text}`

/**
 * Make lines part of the log of a cell, with at most 20,000 of those that transactions have left. Writes access_line, access_log,
 * access_day.
 * @returns how many they were, and whether transactions may have left more
 */
export const seal = (db: Db, lines: readonly Line[] = []): Promise<{ sealed: number; more: boolean }> =>
  sealText(db, lines.map(given).join('\n'), lines.length)

/** As `seal`, with lines as the function reads them, `count` of them. */
async function sealText(db: Db, text: string | Buffer, count: number): Promise<{ sealed: number; more: boolean }> {
  const { n } = await db.queries.one(Sealed, sql`select access_seal(${utcDate(systemNow())}::date, ${text}::text) as n`)
  return { sealed: n, more: n - count >= LEFT_MAX }
}

export interface AccessLogOptions {
  mode: AccessLogMode
  log: Log
  /** Told of lines that could not be kept. */
  onLost?: (lines: number) => void
  delay_ms?: number
  bytes_max?: number
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
    if (this.#isFull(db)) throw unavailable(FULL)
  }

  /**
   * Write down that something was read. The answer must wait for what is returned, if something is: it rejects with 503 when the line
   * cannot be written. For a line that came too many see `assertRoom`.
   */
  read(db: Db, access: Access): Promise<void> | undefined {
    if (this.#options.mode === 'strict')
      return new Promise((resolve, reject) =>
        this.#await(db, { given: given(lineOf(access)), resolve, reject: () => reject(unavailable(FULL)) }),
      )
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
    for (const [db, batch] of this.#batches) {
      await batch.writing?.catch(() => {})
      await this.#write(db, batch)
    }
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
        const writing = this.#writeRest(db, batch).catch((error: unknown) => this.#failed(batch, error))
        await Promise.race([writing, deadline])
        const lines = linesIn(batch)
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
    return this.#batchOf(db).bytes >= (this.#options.bytes_max ?? BYTES_MAX)
  }

  #batchOf(db: Db): Batch {
    const known = this.#batches.get(db)
    if (known) return known
    const batch: Batch = {
      lines: new LineBuffer(),
      awaited: [],
      beingWritten: 0,
      bytes: 0,
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

  #add(db: Db, access: Access): void {
    const batch = this.#batchOf(db)
    batch.bytes += batch.lines.add(given(lineOf(access)))
    this.#later(db, batch, this.#delayMs)
  }

  #await(db: Db, line: Awaited): void {
    const batch = this.#batchOf(db)
    batch.awaited.push(line)
    batch.bytes += Buffer.byteLength(line.given) + 1
    this.#later(db, batch, 0)
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
    this.#options.log.error({ lines: linesIn(batch), causes: errorFields(error) }, 'writing the access log failed')
  }

  /** Write what waits. Lines that come meanwhile wait for their own turn, unless an answer waits for one of them. */
  #write(db: Db, batch: Batch): Promise<void> {
    const began_ms = performance.now()
    batch.writing ??= this.#writeAll(db, batch).then(
      () => this.#written(db, batch, Math.max(0, began_ms + this.#delayMs - performance.now())),
      (error: unknown) => {
        this.#written(db, batch, PAUSE_MS)
        throw error
      },
    )
    return batch.writing
  }

  #written(db: Db, batch: Batch, pause_ms: number): void {
    batch.writing = undefined
    if (isWaiting(batch)) this.#later(db, batch, batch.awaited.length ? 0 : pause_ms)
  }

  async #writeAll(db: Db, batch: Batch): Promise<void> {
    let isMore = isWaiting(batch)
    while (isMore) isMore = (await this.#writeSome(db, batch)).more || batch.awaited.length > 0
    await this.#witness(db, batch)
  }

  async #writeRest(db: Db, batch: Batch): Promise<void> {
    await batch.writing?.catch(() => {})
    while (isWaiting(batch)) await this.#write(db, batch)
  }

  /** One statement. @returns whether more than it takes had been waiting */
  async #writeSome(db: Db, batch: Batch): Promise<{ more: boolean }> {
    const blocks = batch.lines.take(BATCH_BYTES)
    const awaited = batch.awaited.splice(0)
    const text = textOf(blocks, awaited.map((line) => `${line.given}\n`).join(''))
    const isRest = batch.lines.lines > 0
    batch.left = false
    batch.beingWritten = linesOf(blocks) + awaited.length
    try {
      const { more } = await sealText(db, text.subarray(0, -1), batch.beingWritten)
      if (more) batch.left = true
      batch.bytes -= text.length
      batch.lines.done(blocks)
      for (const line of awaited) line.resolve()
      return { more: more || isRest }
    } catch (error) {
      batch.left = true
      // Those who waited are refused and have shown nothing; the other lines are tried again.
      batch.lines.putBack(blocks)
      batch.bytes -= text.length - bytesOf(blocks)
      for (const line of awaited) line.reject(error)
      throw error
    } finally {
      batch.beingWritten = 0
    }
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

const isWaiting = ({ lines, awaited, left }: Batch): boolean => lines.lines > 0 || awaited.length > 0 || left

/** How many lines wait or are being written. */
const linesIn = ({ lines, awaited, beingWritten }: Batch): number => lines.lines + awaited.length + beingWritten
