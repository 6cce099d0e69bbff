// One connection that many requests read over at once. Reads by key are so short that handing a connection to and fro costs more
// than they do: here they leave together in one write and are answered in turn, each a transaction of its own. What runs on it makes
// those behind it wait, so nothing slow may; where that cannot be known beforehand several are used beside each other (lone-writers.ts).
import type { Duplex } from 'node:stream'
import pg from 'pg'

export class SharedConnection {
  readonly #config: pg.ClientConfig
  #client: Promise<pg.Client> | undefined
  #ready: pg.Client | undefined
  #gathering = false

  constructor(config: pg.ClientConfig) {
    this.#config = config
  }

  /** Run a statement behind those that were sent before. Rejects when the connection breaks; the next call makes a new one. */
  query(statement: pg.QueryConfig): Promise<pg.QueryResult> {
    const client = this.#ready
    if (!client) return this.#connect().then((connected) => connected.query(statement))
    this.#gather(client)
    return client.query(statement)
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    this.#lose()
    await client?.end()
  }

  #connect(): Promise<pg.Client> {
    this.#client ??= (async () => {
      const client = new pg.Client(this.#config)
      const lose = () => this.#lose()
      client.on('error', lose)
      client.on('end', lose)
      await client.connect()
      return (this.#ready = client)
    })().catch((error: unknown) => {
      this.#lose()
      throw error
    })
    return this.#client
  }

  #lose(): void {
    this.#client = undefined
    this.#ready = undefined
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
