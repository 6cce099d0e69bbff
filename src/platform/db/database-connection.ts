// A connection to PostgreSQL: a client of `pg`, which pipelines its statements. It counts the responses that it owes, for the watch of
// silent connections, and sends a setting of the transaction together with a statement.
import pg from 'pg'
import { pauseWork, resumeWork } from '../runtime/loop-work.ts'

/**
 * A setting of one transaction. It is sent before a statement, between the same two Syncs: if the setting fails the statement is skipped,
 * and when the transaction ends the setting ends too, so that a connection never remembers a team. A prepared statement without rows.
 */
export interface Setting {
  name: string
  text: string
  values: string[]
}

const TEAM = { name: 'drawbridge team', text: `select where set_config('drawbridge.team', $1, true) is null` }

/** The team whose rows the policies show (docs/decisions/row-security.md). */
export const teamSetting = (team: string): Setting => ({ ...TEAM, values: [team] })

/** The commit does not wait for the disk. */
export const ASYNC_COMMIT: Setting = {
  name: 'drawbridge asynchronous commit',
  text: `select where set_config('synchronous_commit', $1, true) is null`,
  values: ['off'],
}

/** A statement with a setting before it. `pg` returns the results of both. */
class StatementWithSetting extends (pg.Query as unknown as new (
  statement: pg.QueryConfig,
  callback: (error: Error | null, results: pg.QueryResult[]) => void,
) => { submit(connection: pg.Connection): Error | null }) {
  readonly #setting: Setting

  constructor(statement: pg.QueryConfig, setting: Setting, callback: (error: Error | null, results: pg.QueryResult[]) => void) {
    // A simple query would not end the transaction that the setting has begun.
    super({ ...statement, queryMode: 'extended' } as pg.QueryConfig, callback)
    this.#setting = setting
  }

  override submit(connection: pg.Connection): Error | null {
    const { name, values } = this.#setting
    connection.stream.cork()
    try {
      connection.bind({ statement: name, values }, true)
      connection.execute(null, true)
      return super.submit(connection)
    } finally {
      connection.stream.uncork()
    }
  }
}

/** For errors that the operation itself or the end of its connection reports. */
export const ignoreError = () => {}

export class DatabaseConnection extends pg.Client {
  /** The id of its backend. */
  pid = 0
  /** How many responses it owes, and since when the next one. */
  responses_owed = 0
  owed_since_ms = 0
  /** A caller has it between two of its statements. */
  isLent = false

  constructor(config: pg.ClientConfig) {
    super(config)
    // The statement that uses a broken connection reports the break. Without a listener the break would end the process.
    this.on('error', ignoreError)
  }

  /**
   * Sends a statement after the ones that were sent before.
   * @param setting prepared on this connection. A connection that has lost it (`discard all`) may have lost its role too and is destroyed.
   */
  async send(statement: pg.QueryConfig | string, setting?: Setting): Promise<pg.QueryResult> {
    const work = pauseWork()
    if (this.responses_owed++ === 0) this.owed_since_ms = performance.now()
    try {
      return await (setting ? this.#sendWith(setting, statement as pg.QueryConfig) : this.query(statement))
    } catch (error) {
      const { code, message } = error as Error & { code?: string }
      // No other caller may use the connection.
      if (setting && code === '26000' && message.includes(setting.name)) await this.#end()
      throw error
    } finally {
      this.responses_owed--
      this.owed_since_ms = performance.now()
      resumeWork(work)
    }
  }

  destroy(reason?: Error): void {
    this.connection.stream.destroy(reason)
  }

  #sendWith(setting: Setting, statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const answer = new Promise<pg.QueryResult>((resolve, reject) => {
      const query = new StatementWithSetting(statement, setting, (error, results) => {
        if (error) reject(error)
        else resolve(results.at(-1)!)
      })
      this.query(query as unknown as pg.Submittable)
    })
    // The stack of the caller in place of the socket's, as `pg` does it.
    return answer.catch((error: Error) => {
      Error.captureStackTrace(error)
      throw error
    })
  }

  #end(): Promise<void> {
    const ended = new Promise<void>((resolve) => void this.once('end', () => resolve()))
    this.destroy()
    return ended
  }
}
