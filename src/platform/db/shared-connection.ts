// One connection that many requests read over at once. Reads by key are so short that handing a connection to and fro costs more
// than they do: here they leave together in one write and are answered in turn, each a transaction of its own. What runs on it makes
// those behind it wait, so nothing slow may; where that cannot be known beforehand several are used beside each other (single-statement-writers.ts).
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
  #batching = false

  /** @param onConnect what a new connection does before its first statement */
  constructor(config: pg.ClientConfig, onConnect: (client: pg.Client) => Promise<void> = async () => {}) {
    this.#config = config
    this.#onConnect = onConnect
  }

  /**
   * Run a statement behind those that were sent before. Rejects when the connection breaks; the next call makes a new one.
   * Errors: Unreachable when none can be made.
   * @param team whose rows it sees; absent where it is about no team
   */
  query(statement: pg.QueryConfig, team?: string): Promise<pg.QueryResult> {
    const client = this.#ready
    if (!client) return this.#connect().then((connected) => send(connected, statement, team))
    this.#batch(client)
    prepared.tidy(client)
    return send(client, statement, team)
  }

  /** Give the connection up, and what was sent on it; the next statement makes a new one. */
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
    // A connection that replaced this one, which was lost or given up, stays: the end of this one may be told late, and so may that it
    // was made.
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
    if (this.#batching) return
    this.#batching = true
    const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
    stream.cork()
    setImmediate(() => {
      this.#batching = false
      stream.uncork()
    })
  }
}
