// One connection that many requests read over at once. Reads by key are so short that handing a connection to and fro costs more
// than they do: here they leave together in one write and are answered in turn, each a transaction of its own. What runs on it makes
// those behind it wait, so nothing slow may; where that cannot be known beforehand several are used beside each other (lone-writers.ts).
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { Unreachable } from './outages.ts'
import { prepared } from './prepared.ts'

export class SharedConnection {
  readonly #config: pg.ClientConfig
  readonly #onConnect: (client: pg.Client) => void
  #client: Promise<pg.Client> | undefined
  #ready: pg.Client | undefined
  #gathering = false

  /** @param onConnect called with each connection that was made */
  constructor(config: pg.ClientConfig, onConnect: (client: pg.Client) => void = () => {}) {
    this.#config = config
    this.#onConnect = onConnect
  }

  /**
   * Run a statement behind those that were sent before. Rejects when the connection breaks; the next call makes a new one.
   * Errors: Unreachable when none can be made.
   */
  query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const client = this.#ready
    if (!client) return this.#connect().then((connected) => connected.query(statement))
    this.#gather(client)
    prepared.tidy(client)
    return client.query(statement)
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
    const connecting = (this.#client ??= this.#open())
    // A connection that replaced this one is not forgotten when the end of this one is told late.
    connecting.catch(() => this.#forget(connecting))
    return connecting
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client(this.#config)
    const forget = () => {
      if (this.#ready === client) this.#client = this.#ready = undefined
    }
    client.on('error', forget)
    client.on('end', forget)
    try {
      await client.connect()
    } catch (error) {
      throw new Unreachable(error)
    }
    this.#onConnect(client)
    return (this.#ready = client)
  }

  #forget(connecting: Promise<pg.Client>): void {
    if (this.#client === connecting) this.#client = undefined
  }

  #gather(client: pg.Client): void {
    if (this.#gathering) return
    this.#gathering = true
    const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
    stream.cork()
    setImmediate(() => {
      this.#gathering = false
      stream.uncork()
    })
  }
}
