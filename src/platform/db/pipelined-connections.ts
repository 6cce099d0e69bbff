// Connections for single quick statements. Several requests share one, so that the database has received the next statement when it
// completes the previous one: waking a process costs more than most statements.
import type pg from 'pg'
import { DatabaseConnection, ignoreError, type Setting } from './database-connection.ts'
import { FairQueue, IN_FLIGHT } from './fair-queue.ts'
import { Unreachable } from './outages.ts'

/** As many as keep the database busy on a fast disk. */
const PROMPT_MAX = 3
/** A connection that has owed a response for this long waits for a slow disk or a lock: other connections are used as well. */
const SLOW_MS = 3

interface Pipeline {
  connection: DatabaseConnection
  opening: Promise<unknown>
  isOpen: boolean
  opened_ms: number
  in_flight: number
}

export interface PipelinedOptions {
  config: pg.ClientConfig
  connections_max: number
  /** A connection is replaced when it is used after this time. */
  lifetime_ms: number
  /** Prepares a new connection before its first statement. */
  onConnect: (connection: DatabaseConnection) => Promise<void>
}

export class PipelinedConnections {
  readonly #options: PipelinedOptions
  readonly #queue = new FairQueue(IN_FLIGHT)
  #pipelines: Pipeline[] = []

  constructor(options: PipelinedOptions) {
    this.#options = options
  }

  /**
   * Runs a statement that is a transaction of its own. It may wait for statements that were sent before it. 503: too many are in flight, in
   * total or for the owner. Errors: Unreachable if no connection can be made.
   */
  async query(owner: string, statement: pg.QueryConfig, setting?: Setting): Promise<pg.QueryResult> {
    void this.#queue.enter(owner)
    const pipeline = this.#choose()
    pipeline.in_flight++
    try {
      if (!pipeline.isOpen) await pipeline.opening
      return await pipeline.connection.send(statement, setting)
    } finally {
      pipeline.in_flight--
      this.#queue.leave(owner)
    }
  }

  /** How many connections are idle and in use, and how many statements wait for the previous one. */
  get stats(): { idle: number; in_use: number; waiting: number } {
    const inUse = this.#pipelines.filter(({ in_flight }) => in_flight > 0)
    const waiting = inUse.reduce((sum, { in_flight }) => sum + in_flight - 1, 0)
    return { idle: this.#pipelines.length - inUse.length, in_use: inUse.length, waiting }
  }

  /** Destroys the connections with the statements sent on them; the next statement opens a new one. */
  destroy(): void {
    for (const { connection } of this.#pipelines.splice(0)) connection.destroy()
  }

  /** Ends every connection after its statements. */
  async close(): Promise<void> {
    await Promise.all(this.#pipelines.splice(0).map((pipeline) => end(pipeline)))
  }

  #choose(): Pipeline {
    const now_ms = performance.now()
    const { lifetime_ms, connections_max } = this.#options
    const old = this.#pipelines.find(({ opened_ms }) => now_ms - opened_ms > lifetime_ms)
    if (old) {
      this.#remove(old)
      end(old).catch(ignoreError)
    }
    const age_ms = ({ connection: { responses_owed, owed_since_ms } }: Pipeline) => (responses_owed ? now_ms - owed_since_ms : 0)
    const prompt = this.#pipelines.filter((pipeline) => age_ms(pipeline) < SLOW_MS)
    const idle = prompt.find(({ in_flight }) => in_flight === 0)
    if (idle) return idle
    if (prompt.length < PROMPT_MAX && this.#pipelines.length < connections_max) return this.#open(now_ms)
    if (prompt.length) return least(prompt, ({ in_flight }) => in_flight)
    // All are slow, as on a slow disk. A connection that waits for a lock has owed its response the longest and gets no statement.
    return least(this.#pipelines, (pipeline) => pipeline.in_flight * age_ms(pipeline))
  }

  #open(now_ms: number): Pipeline {
    const { config, onConnect } = this.#options
    const connection = new DatabaseConnection(config)
    const connecting = async () => {
      try {
        await connection.connect()
        await onConnect(connection)
        pipeline.isOpen = true
      } catch (error) {
        this.#remove(pipeline)
        connection.end().catch(ignoreError)
        throw new Unreachable(error)
      }
    }
    const pipeline: Pipeline = { connection, opening: connecting(), isOpen: false, opened_ms: now_ms, in_flight: 0 }
    for (const event of ['error', 'end'] as const) connection.on(event as 'end', () => this.#remove(pipeline))
    this.#pipelines.push(pipeline)
    return pipeline
  }

  #remove(pipeline: Pipeline): void {
    this.#pipelines = this.#pipelines.filter((candidate) => candidate !== pipeline)
  }
}

async function end({ connection, opening }: Pipeline): Promise<void> {
  await opening.catch(ignoreError)
  await connection.end()
}

const least = <V>(values: V[], measure: (value: V) => number): V =>
  values.reduce((best, value) => (measure(value) < measure(best) ? value : best))
