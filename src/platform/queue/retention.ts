// Retention: deletes rows of every kind whose retention has ended. The database decides when that is, so that a worker whose
// clock is wrong deletes neither too early nor too late. Each cell and the control plane has its own loop, so that a database
// that does not respond delays no other. The loop looks for overdue rows when the process starts and every 15 s. If it finds
// some, it deletes a batch of each kind in turn until none is left. After each batch it rests for as long as finding and
// deleting the batch took, so that it never uses more than half of one connection's time. Several workers may run the loop at
// once: rows that another one is deleting are skipped, or waited for and then no longer there.
import type { Cells } from '../db/cells.ts'
import type { Db } from '../db/database.ts'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { placementOf } from '../db/table-placement.ts'
import { runWork } from '../runtime/loop-work.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { Nullable, T } from '../schema/schema.ts'
import { raw, sql, type Sql } from '../db/sql.ts'
import type { PlainTx } from '../db/transaction.ts'

const POLL_MS = 15_000
const REST_MS_MIN = 5
/** Rows that one transaction deletes by default. */
export const ROWS_MAX = 1000

/** A kind of rows, and how they are deleted when their retention has ended. */
export interface Cleanup {
  /** The name in logs and metrics. */
  kind: string
  /** Whether the control plane has such rows as well, or alone. */
  control: boolean | 'alone'
  /** How many seconds the oldest row is overdue, by the database's clock; undefined if none is. Changes nothing. */
  overdueFor(db: Db, control: Db): Promise<number | undefined>
  /**
   * Deletes some of the overdue rows, in bounded transactions.
   * @param isStopped called between transactions: whether to leave the rest
   * @returns the number of deleted rows; 0: none could be deleted now
   */
  remove(db: Db, control: Db, isStopped: () => boolean): Promise<number>
}

const Oldest = T.Object({ age_s: Nullable(T.Number()) })
const Bound = T.Object({ bound: T.String() })

interface Retained {
  /** A table of the calling module. `column` must have an index. */
  table: string
  /** An instant of machine time. */
  column: string
  /** How long after that instant a row is kept; 0 when not given. */
  retention_s?: number
  /** Rows that do not meet this condition are kept; the table is `t` here. */
  condition?: Sql
  /** Default: the table. */
  kind?: string
  /** Rows that one transaction deletes, 1,000 by default, and those of the same instant as the last: fewer where others are deleted with each. */
  rows_max?: number
  control?: boolean | 'alone'
}

/**
 * The cleanup of a table's rows by their age; a batch is a transaction of `rows_max` rows. It skips locked rows. In a table whose rows are on
 * several nodes under Citus, which cannot skip them there, it waits for locked rows, and ends at an instant (`upToBound`).
 */
export function cleanup({
  table,
  column,
  retention_s = 0,
  condition = sql`true`,
  kind = table,
  control = false,
  rows_max = ROWS_MAX,
}: Retained): Cleanup {
  const instant = raw(`t.${column}`)
  const overdue = sql`${raw(`from ${table} t where`)} ${instant} < ${dbNowPlus(-retention_s)} and ${condition}`
  return {
    kind,
    control,
    async overdueFor(db) {
      const { age_s } = await db.queries.one(Oldest, sql`select ${ageInSeconds(sql`min(${instant})`)} as age_s ${overdue}`)
      return age_s === null ? undefined : age_s - retention_s
    },
    remove: (db) =>
      db.plainTx(async (tx) =>
        placementOf(table) === 'distributed'
          ? tx.run(sql`delete ${overdue} ${await upToBound(tx, instant, overdue, rows_max)}`)
          : tx.run(sql`
              delete ${raw(`from ${table}`)} where ctid = any (array(
                select t.ctid ${overdue} order by ${instant} limit ${rows_max} for update of t skip locked))`),
      ),
  }
}

/**
 * A condition that restricts a deletion to the first overdue rows: those up to the time of the last of `rows_max`. The place of a row would
 * restrict it exactly, but under Citus rows of several nodes have the same.
 * @param instant a column, as the statement names it
 * @param overdue the statement from `from` on, which ends with a condition
 */
export async function upToBound(tx: PlainTx, instant: Sql, overdue: Sql, rows_max: number): Promise<Sql> {
  const last = await tx.maybe(
    Bound,
    sql`select ${instant} as bound ${overdue} order by ${instant} offset ${rows_max - 1} limit 1`,
  )
  return last ? sql`and ${instant} <= ${last.bound}` : sql``
}

/** An expression: the time since an instant, by the database's clock. */
export const ageInSeconds = (instant: Sql): Sql => sql`extract(epoch from ${dbNow} - ${instant})::float8`

export interface RetentionOptions {
  cells: Cells
  cleanups: readonly Cleanup[]
  log: Log
  metrics: Metrics
  /** Time between two rounds; 15 s by default. */
  poll_ms?: number
}

/** The loops of a process. */
export class Retention {
  readonly #options: RetentionOptions
  readonly #loops: Promise<void>[] = []
  readonly #resting = new Set<() => void>()
  #stopped = false

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  start(): void {
    const { cells, cleanups } = this.#options
    for (const name of ['control', ...cells.names] as const) {
      const ofPlace = cleanups.filter(({ control }) => (name === 'control' ? control : control !== 'alone'))
      this.#loops.push(this.#loop(name, ofPlace))
    }
  }

  /** Begins no further transaction and waits for the running ones. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const wake of this.#resting) wake()
    await Promise.all(this.#loops)
  }

  async #loop(place: string | 'control', cleanups: readonly Cleanup[]): Promise<void> {
    while (!this.#stopped) {
      for (let left = cleanups; left.length && !this.#stopped;) {
        const more: Cleanup[] = []
        for (const cleanup of left) {
          const work = { kind: 'task' as const, name: cleanup.kind }
          if (!this.#stopped && (await runWork(work, () => this.#step(place, cleanup)))) more.push(cleanup)
        }
        left = more
      }
      await this.#rest(this.#options.poll_ms ?? POLL_MS)
    }
  }

  /** @returns whether more rows may be overdue now */
  async #step(place: string | 'control', cleanup: Cleanup): Promise<boolean> {
    const { cells, log, metrics } = this.#options
    const db = place === 'control' ? cells.control : cells.db(place)
    const began = performance.now()
    try {
      const overdue_s = await cleanup.overdueFor(db, cells.control)
      metrics.overdue(place, cleanup.kind, overdue_s)
      if (overdue_s === undefined || this.#stopped) return false
      const removed = await cleanup.remove(db, cells.control, () => this.#stopped)
      metrics.countRemovedRows(place, cleanup.kind, removed)
      await this.#rest(Math.max(REST_MS_MIN, performance.now() - began))
      return removed > 0
    } catch (error) {
      log.error({ cell: place, kind: cleanup.kind, causes: errorFields(error) }, 'deleting expired rows failed; will retry')
      return false
    }
  }

  #rest(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#resting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#resting.add(wake)
    })
  }
}
