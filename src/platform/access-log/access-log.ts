// The access log of a process. A transaction that changes data writes its line itself. Lines of reads are collected here and written
// together within a second, or before the response leaves if the setting is `strict`. Writing appends both kinds to the log in one order,
// with a hash from each line to the next (the function append_access_log). Reasons: docs/decisions/access-log.md.
import { setTimeout as sleep } from 'node:timers/promises'
import { leaveLine, lineOf, type Access, type AccessLogMode, type Line } from './access-line.ts'
import type { Db } from '../db/database.ts'
import type { PlainTx } from '../db/transaction.ts'
import { unavailable } from '../runtime/problem.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { T } from '../schema/schema.ts'
import { sql } from '../db/sql.ts'

/**
 * Lines are written this long after the first buffered line, and at least this long after the previous write, so that few statements write
 * many lines.
 */
const DELAY_MS = 500
/** Pause after a failure. */
const PAUSE_MS = 1000
/** Maximum bytes of lines that are buffered or being written, per cell: about 35,000 reads of one order. */
const BYTES_MAX = 16_000_000
/** How long stopping waits until the remaining lines are written. */
const STOP_MS = 5000
/** How often a process logs the last number and hash, so that its own log can later confirm them. */
const WITNESS_MS = 600_000
/** Maximum bytes of one statement, except for its last line and lines for which responses wait. */
const BATCH_BYTES = 2_000_000

const FULL = 'The access log cannot be written now, try again'

/** The line of a response that waits for it. */
interface AwaitedRow {
  row: string
  resolve: () => void
  reject: (error: unknown) => void
}

/** The buffered lines of one cell. */
interface Batch {
  /** Lines for which no response waits. */
  lines: string[]
  awaitedRows: AwaitedRow[]
  /** Number of lines that are being written. */
  beingWritten: number
  /** Bytes of buffered lines and of those being written. */
  bytes: number
  /** Transactions have left lines since the last write. */
  left: boolean
  /** Called when a transaction has left a line. */
  onCommit: () => void
  timer: NodeJS.Timeout | undefined
  writing: Promise<void> | undefined
  /** When the last number and hash were logged. */
  witnessed_ms: number
}

const Appended = T.Object({ n: T.Integer() })
const Position = T.Object({ seq: T.Integer(), hash: T.String() })

/** One call of `append_access_log` takes this many lines that transactions have left; the function has the same limit. */
const LEFT_MAX = 20_000

/** A line in the form that `append_access_log` reads. */
const formatRow = ({ team_id, users, text }: Line): string => `${team_id ?? ''}\t${users}\t${text}`

/**
 * Appends lines to the log of a cell, with at most 20,000 of the lines that transactions have left. Writes access_line, access_log,
 * access_day.
 * @returns the number of appended lines, and whether transactions may have left more
 */
export const appendLines = (db: Db, lines: readonly Line[] = []): Promise<{ count: number; isMore: boolean }> =>
  appendText(db, lines.map(formatRow).join('\n'), lines.length)

/** As `appendLines`, for `count` lines in the form that the function reads. */
async function appendText(db: Db, text: string, count: number): Promise<{ count: number; isMore: boolean }> {
  const { n } = await db.queries.one(Appended, sql`select append_access_log(${text}::text) as n`)
  return { count: n, isMore: n - count >= LEFT_MAX }
}

export interface AccessLogOptions {
  mode: AccessLogMode
  log: Log
  /** Receives the number of lines that could not be recorded. */
  onLost?: (lines: number) => void
  delay_ms?: number
  bytes_max?: number
  /** How long stopping waits until the remaining lines are written; 5 s by default. */
  stop_ms?: number
}

/** The buffered lines of a process. One per process. */
export class AccessLog {
  readonly #options: AccessLogOptions
  readonly #batches = new Map<Db, Batch>()
  #stopped = false

  constructor(options: AccessLogOptions) {
    this.#options = options
  }

  /** 503: the buffer is full, so a read could not be recorded. */
  assertRoom(db: Db): void {
    if (this.#isFull(db)) throw unavailable(FULL)
  }

  /**
   * Records a read. If it returns a promise, the response must wait for it: the promise rejects with 503 when the line cannot be written. A
   * line that exceeds the buffer: see `assertRoom`.
   */
  addRead(db: Db, access: Access): Promise<void> | undefined {
    if (this.#options.mode === 'strict')
      return new Promise((resolve, reject) =>
        this.#await(db, { row: formatRow(lineOf(access)), resolve, reject: () => reject(unavailable(FULL)) }),
      )
    this.#add(db, access)
    return undefined
  }

  /** Records a rejected call. No response waits for it; if the buffer is full, the line is lost and counted. */
  addRejected(db: Db, access: Access): void {
    if (this.#isFull(db)) this.#options.onLost?.(1)
    else this.#add(db, access)
  }

  /** Records a change in the transaction that makes it. Writes access_line. */
  addChange(db: Db, tx: PlainTx, access: Access): void {
    leaveLine(tx, lineOf(access))
    tx.afterCommit(this.#batchOf(db).onCommit)
  }

  /** Writes the buffered lines now. Rejects if some of them could not be written; those stay in the buffer. */
  async flush(): Promise<void> {
    for (const [db, batch] of this.#batches) {
      await batch.writing?.catch(() => {})
      await this.#write(db, batch)
    }
  }

  /** Writes the buffered lines and stops writing by itself. Lines that are not written in time are lost and counted. */
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
        log.error({ lines }, 'access log lines lost: not written before exit')
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
      lines: [],
      awaitedRows: [],
      beingWritten: 0,
      bytes: 0,
      left: false,
      onCommit: () => {
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
    const row = formatRow(lineOf(access))
    batch.lines.push(row)
    batch.bytes += sizeOf(row)
    this.#later(db, batch, this.#delayMs)
  }

  #await(db: Db, line: AwaitedRow): void {
    const batch = this.#batchOf(db)
    batch.awaitedRows.push(line)
    batch.bytes += sizeOf(line.row)
    this.#later(db, batch, 0)
  }

  /** A timer that is set is only moved forward if a response waits. */
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

  /** Writes the buffered lines. Lines that arrive meanwhile are written later, unless a response waits for one of them. */
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
    if (isWaiting(batch)) this.#later(db, batch, batch.awaitedRows.length ? 0 : pause_ms)
  }

  async #writeAll(db: Db, batch: Batch): Promise<void> {
    let isMore = isWaiting(batch)
    while (isMore) isMore = (await this.#writeSome(db, batch)).isMore || batch.awaitedRows.length > 0
    await this.#witness(db, batch)
  }

  async #writeRest(db: Db, batch: Batch): Promise<void> {
    await batch.writing?.catch(() => {})
    while (isWaiting(batch)) await this.#write(db, batch)
  }

  /** One statement. @returns whether it left lines in the buffer */
  async #writeSome(db: Db, batch: Batch): Promise<{ isMore: boolean }> {
    const lines = takeLines(batch.lines)
    const awaited = batch.awaitedRows.splice(0)
    const rows = [...lines, ...awaited.map(({ row }) => row)]
    const isRest = batch.lines.length > 0
    batch.left = false
    batch.beingWritten = rows.length
    try {
      const { isMore } = await appendText(db, rows.join('\n'), rows.length)
      if (isMore) batch.left = true
      for (const line of lines) batch.bytes -= sizeOf(line)
      for (const line of awaited) line.resolve()
      return { isMore: isMore || isRest }
    } catch (error) {
      batch.left = true
      // Responses that waited are rejected and have shown nothing; the other lines are tried again.
      batch.lines = [...lines, ...batch.lines]
      for (const line of awaited) line.reject(error)
      throw error
    } finally {
      for (const { row } of awaited) batch.bytes -= sizeOf(row)
      batch.beingWritten = 0
    }
  }

  /** Logs the last number and hash of the log of the cell. */
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

/** The bytes of a line with its line feed. */
const sizeOf = (row: string): number => Buffer.byteLength(row) + 1

/** Removes lines from the beginning until they have the bytes of a statement. */
function takeLines(lines: string[]): string[] {
  let bytes = 0
  const last = lines.findIndex((line) => (bytes += sizeOf(line)) >= BATCH_BYTES)
  return lines.splice(0, last < 0 ? lines.length : last + 1)
}

const isWaiting = ({ lines, awaitedRows, left }: Batch): boolean => lines.length > 0 || awaitedRows.length > 0 || left

/** Number of lines that are buffered or being written. */
const linesIn = ({ lines, awaitedRows, beingWritten }: Batch): number => lines.length + awaitedRows.length + beingWritten
