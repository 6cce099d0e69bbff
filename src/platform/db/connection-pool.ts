// A pool of connections for transactions, and for single statements that may take long. Each borrower has a connection to itself.
import pg from 'pg'
import { DatabaseConnection, ignoreError, type Setting } from './database-connection.ts'
import { FairQueue, type QueueLimits } from './fair-queue.ts'
import { Unreachable } from './outages.ts'

const IDLE_MS = 60_000

export interface ConnectionPoolOptions {
  config: pg.ClientConfig
  limits: QueueLimits
  lifetime_ms: number
  /** Prepares a new connection before its first statement. */
  onConnect: (connection: DatabaseConnection) => Promise<void>
}

/** A connection for one caller until it is released. After an error of the connection it is not used again. */
export interface Lease {
  connection: DatabaseConnection
  release: (error?: Error) => void
}

export class ConnectionPool {
  readonly pool: pg.Pool
  readonly queue: FairQueue

  constructor({ config, limits, lifetime_ms, onConnect }: ConnectionPoolOptions) {
    this.queue = new FairQueue(limits)
    this.pool = new pg.Pool({
      ...config,
      Client: DatabaseConnection,
      onConnect,
      max: limits.slots,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: lifetime_ms / 1000,
    } as unknown as pg.PoolConfig)
    this.pool.on('error', ignoreError)
  }

  /** Leases a connection; the caller releases it. 503: as `FairQueue.enter`. Errors: Unreachable if no connection can be made. */
  async lend(owner: string): Promise<Lease> {
    await this.queue.enter(owner)
    let client: pg.PoolClient
    try {
      client = await this.pool.connect()
    } catch (error) {
      this.queue.leave(owner)
      throw new Unreachable(error)
    }
    const connection = client as unknown as DatabaseConnection
    connection.isLent = true
    return {
      connection,
      release: (error) => {
        connection.isLent = false
        client.release(error)
        this.queue.leave(owner)
      },
    }
  }

  /** Runs a statement on a leased connection. A statement that fails keeps the connection. Errors: as `lend`, and those of the statement. */
  async query(owner: string, statement: pg.QueryConfig, setting?: Setting): Promise<pg.QueryResult> {
    const { connection, release } = await this.lend(owner)
    try {
      return await connection.send(statement, setting)
    } finally {
      release()
    }
  }
}
