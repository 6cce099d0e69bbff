// Processes of a simulation: each has a clock that may be wrong, can be killed, and loses connections. All run in one real process;
// an AsyncLocalStorage holds the clock of the one that takes a step.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Db } from '../../src/platform/db/database.ts'
import type { Queries } from '../../src/platform/db/transaction.ts'
import { UnknownOutcome } from '../../src/platform/db/outages.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import type { Pause, Scheduler } from './scheduler.ts'

/** Clock skew of the process that takes a step. */
const skewed = new AsyncLocalStorage<{ skew_ms: number }>()
const RealDate = Date
globalThis.Date = class extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length) super(...(args as [number]))
    else super(RealDate.now() + (skewed.getStore()?.skew_ms ?? 0))
  }
  static override now(): number {
    return RealDate.now() + (skewed.getStore()?.skew_ms ?? 0)
  }
} as DateConstructor

class Killed extends Error {}

/** The connections of a process for transactions, so that they can be lost. */
export class Backends {
  readonly db: Db
  /** By process id of a connected backend: a promise that resolves when its connection has ended. */
  readonly #ended = new Map<number, Promise<void>>()

  constructor(db: Db) {
    this.db = db
    for (const pool of new Set([db.pool, db.teamPool]))
      pool.on('connect', (client) => {
        const pid = (client as unknown as { processID: number }).processID
        const ended = new Promise<void>((resolve) => void client.once('end', () => resolve()))
        this.#ended.set(pid, ended)
        void ended.then(() => this.#ended.delete(pid))
      })
  }

  /** Ends the connections, or those with an open transaction, and waits until both sides know. */
  async terminate(admin: Db, choice: 'all' | 'in a transaction'): Promise<void> {
    const open = new Map(this.#ended)
    if (open.size === 0) return
    // The backends are chosen before any is terminated: in one condition the order is the planner's.
    const terminated = await admin.queries.many(
      T.Object({ pid: T.Integer() }),
      sql`
      with chosen as materialized (
        select pid from pg_stat_activity
        where pid = any (${[...open.keys()]}::integer[]) and (${choice === 'all'} or xact_start is not null))
      select pid from chosen where pg_terminate_backend(pid, 5000)`,
    )
    await Promise.all(terminated.map(({ pid }) => open.get(pid)))
  }
}

const connectionLost = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })

export interface Faults {
  scheduler: Scheduler
  /** Probability that a statement loses its connection, in half of the cases after it has run; 0 at the end, without faults. */
  loss: () => number
}

/** A process. After it is killed, it writes nothing, and the database rolls back its transactions. */
export class SimulatedProcess {
  readonly name: string
  /** The database of the process: every statement and every commit can lose its connection. */
  readonly db: Db
  readonly death: Promise<never>
  /** Number of statements and commits that have lost their connections. */
  lossCount = 0
  #dead = false
  readonly #clock: { skew_ms: number }
  readonly #faults: Faults
  readonly #kill: (reason: Error) => void

  constructor(name: string, db: Db, faults: Faults) {
    this.name = name
    this.#faults = faults
    this.#clock = { skew_ms: faults.scheduler.random.pick([0, 0, 60_000, -60_000, 3_600_000]) }
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.death = promise
    this.#kill = reject
    this.db = this.#over(db)
  }

  get isDead(): boolean {
    return this.#dead
  }

  kill(): void {
    this.#dead = true
    this.#kill(new Killed('the process was killed'))
  }

  /** Adds an actor of the process: it uses the clock of the process, and ends when the process is killed. */
  act(name: string, run: (pause: Pause) => Promise<void>): void {
    this.#faults.scheduler.add(name, (pause) =>
      skewed.run(this.#clock, async () => {
        const killable: Pause = async (label) => {
          await Promise.race([pause(label), this.death])
          if (this.#dead) throw new Killed('the process was killed')
        }
        await run(killable).catch((error: unknown) => {
          if (!this.#dead) throw error
        })
      }),
    )
  }

  #over(db: Db): Db {
    return new Proxy(db, {
      get: (target, key) => {
        if (this.#dead) throw new Killed('the process was killed')
        const value: unknown = Reflect.get(target, key, target)
        if (key === 'queries' || key === 'asyncCommit') return this.#losing(value as Queries)
        if (key === 'tx') return this.#committing(target)
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value
      },
    })
  }

  #losing({ run, many, maybe, one }: Queries): Queries {
    const losing =
      <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        const isLost = this.#faults.scheduler.random.chance(this.#faults.loss())
        if (isLost && this.#faults.scheduler.random.chance(0.5)) throw this.#discard('before')
        const answer = await send(...args)
        if (isLost) throw this.#discard('after')
        return answer
      }
    return { run: losing(run), many: losing(many), maybe: losing(maybe), one: losing(one) } as Queries
  }

  #committing(db: Db): Db['tx'] {
    return async (...args) => {
      const result = await db.tx(...args)
      if (!this.#faults.scheduler.random.chance(this.#faults.loss())) return result as never
      throw new UnknownOutcome(this.#discard('after'))
    }
  }

  #discard(when: 'before' | 'after'): Error {
    this.lossCount++
    this.#faults.scheduler.note(`  ${this.name} loses a connection ${when} the statement has run`)
    return connectionLost()
  }
}

/** Handles errors after which a process continues: a lost connection, or any error after it was killed. */
export const tolerateLoss =
  <R>(process: SimulatedProcess, instead: R) =>
  (error: unknown): R => {
    if (process.isDead || (error as { code?: string }).code === 'ECONNRESET') return instead
    throw error
  }
