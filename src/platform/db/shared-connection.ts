// One connection on which many requests read at once. Reads by key are so short that leasing a connection costs more than the read: here
// they are sent together in one write and completed in order, each a transaction of its own. A slow statement delays those behind it, so
// none may run here. autocommit-connections.ts uses several connections for statements whose duration is not known beforehand.
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { Client } from './send-statement.ts'
import { Unreachable } from './outages.ts'
import { prepared } from './prepared-statements.ts'
import { send } from './send-statement.ts'

export class SharedReadConnection {
  readonly #config: pg.ClientConfig
  readonly #onConnect: (client: pg.Client) => Promise<void>
  #client: Promise<pg.Client> | undefined
  #ready: pg.Client | undefined
  /** The stream to which the statements of this turn of the event loop are written. */
  #corked: Duplex | undefined
  #isTurnEnding = false
  #atEndOfTurn: (() => void)[] = []

  /** @param onConnect prepares a new connection before its first statement */
  constructor(config: pg.ClientConfig, onConnect: (client: pg.Client) => Promise<void> = async () => {}) {
    this.#config = config
    this.#onConnect = onConnect
  }

  /**
   * Runs a statement behind those that were sent before. Rejects if the connection breaks; the next call opens a new one. Errors:
   * Unreachable if none can be made.
   * @param team the team whose rows it sees; absent for a statement without a team
   */
  query(statement: pg.QueryConfig, team?: string): Promise<pg.QueryResult> {
    const client = this.#ready
    if (!client) return this.#connect().then((connected) => send(connected, statement, team))
    this.#batch(client)
    prepared.tidy(client)
    return send(client, statement, team)
  }

  /**
   * Calls a function at the end of this turn of the event loop. Statements that it sends leave in the same write as those that were sent
   * before. It must not throw.
   */
  atEndOfTurn(call: () => void): void {
    this.#atEndOfTurn.push(call)
    this.#endTurn()
  }

  /** Destroys the connection with the statements sent on it; the next statement opens a new one. */
  abandon(): void {
    const client = this.#client
    this.#client = this.#ready = undefined
    client
      ?.then(({ connection }: pg.Client & { connection?: { stream: Duplex } }) => connection!.stream.destroy())
      .catch(() => {})
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    this.#client = this.#ready = undefined
    await client?.end()
  }

  #connect(): Promise<pg.Client> {
    if (this.#client) return this.#client
    const client = new Client(this.#config)
    const connecting = this.#open(client)
    this.#client = connecting
    // A newer connection that replaced this one stays: the events for the end and the start of a lost connection may arrive late.
    const forget = () => {
      if (this.#client === connecting) this.#client = this.#ready = undefined
    }
    client.on('error', forget)
    client.on('end', forget)
    connecting.then(() => {
      if (this.#client === connecting) this.#ready = client
    }, forget)
    return connecting
  }

  async #open(client: pg.Client): Promise<pg.Client> {
    try {
      await client.connect()
      await this.#onConnect(client)
    } catch (error) {
      client.end().catch(() => {})
      throw new Unreachable(error)
    }
    return client
  }

  #batch(client: pg.Client): void {
    this.#endTurn()
    if (this.#corked) return
    this.#corked = (client as unknown as { connection: { stream: Duplex } }).connection.stream
    this.#corked.cork()
  }

  #endTurn(): void {
    if (this.#isTurnEnding) return
    this.#isTurnEnding = true
    setImmediate(() => {
      const calls = this.#atEndOfTurn
      this.#atEndOfTurn = []
      for (const call of calls) call()
      this.#corked?.uncork()
      this.#corked = undefined
      this.#isTurnEnding = false
    })
  }
}
