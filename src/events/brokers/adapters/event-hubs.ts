// Azure Event Hubs over AMQP 1.0: each event a message to the hub that its type leads to, its user as the partition key; many in the
// air at once, those of one user one after another. What is too large for a hub, or meant for a container, becomes a blob.
// Source: events.md 8.2.
import type { Connection } from 'rhea'
import { RefusedAddress, type Targets } from '../../../platform/net/outbound-targets.ts'
import { Refusal } from '../../../platform/schema/read.ts'
import { hubsAddress } from '../broker-addresses.ts'
import type { BlobStorage } from './blob-storage.ts'
import { Connections } from './connection-pool.ts'
import { HubLink } from './event-hub-sender.ts'
import {
  held,
  lost,
  packed,
  reasonOf,
  refused,
  within,
  type Fate,
  type Line,
  type Message,
  type Packed,
} from '../broker-message.ts'
import { routerOf, type Router } from '../event-routing.ts'
import type { AzureAmqp } from '../schema.ts'

const SEND_MS_MAX = 15_000
const MESSAGE_BYTES_MAX = 1024 * 1024
const IDLE_TIMEOUT_MS = 60_000

/** Ways to Event Hubs from the cells of one environment. */
export class EventHubs {
  readonly #targets: Targets
  readonly #sandbox: boolean
  readonly #blobs: BlobStorage
  readonly #connections: Connections<Connection>

  constructor(options: { targets: Targets; sandbox: boolean; connections_max: number; blobs: BlobStorage }) {
    this.#targets = options.targets
    this.#sandbox = options.sandbox
    this.#blobs = options.blobs
    this.#connections = new Connections({ max: options.connections_max, close: (connection) => connection.close() })
  }

  async open(settings: AzureAmqp): Promise<Line> {
    const router = await routerOf(settings)
    const { connection, giveBack } = await this.#connections.lend(settings.connection_string, (ended) =>
      this.#connect(settings.connection_string, ended),
    )
    const batches = new Batches(connection, settings, router, this.#blobs)
    return {
      ordered: true,
      send: (messages) => batches.send(messages),
      close: async () => {
        batches.close()
        giveBack(batches.broken)
      },
    }
  }

  close(): void {
    this.#connections.closeAll()
  }

  async #connect(text: string, ended: () => void): Promise<Connection> {
    const address = hubsAddress(text)
    if (address instanceof Refusal) throw new RefusedAddress('The address cannot be read')
    const { tls, host, port, policy, key } = address
    await this.#targets.addresses(host, this.#sandbox)
    const { default: rhea } = await import('rhea')
    const options = {
      host,
      hostname: host,
      port,
      username: policy,
      password: key,
      reconnect: false as const,
      idle_time_out: IDLE_TIMEOUT_MS,
      lookup: this.#targets.lookup(this.#sandbox),
      ...(tls ? { transport: 'tls' as const, servername: host } : { transport: 'tcp' as const }),
    }
    return new Promise((resolve, reject) => {
      const connection = rhea.create_container().connect(options as Parameters<typeof rhea.connect>[0])
      connection.setMaxListeners(0)
      const over = (error: unknown) => {
        ended()
        reject(error instanceof Error ? error : Object.assign(new Error('the connection ended'), { code: reasonOf(error) }))
      }
      connection.on('connection_open', () => resolve(connection))
      connection.on('connection_error', () => over(connection.error))
      connection.on('connection_close', () => over(connection.error))
      connection.on('disconnected', ({ error }) => over(error ?? { code: 'disconnected' }))
      connection.on('protocol_error', over)
      connection.on('error', over)
    })
  }
}

/** Batches over one connection, with a link for each hub. */
class Batches {
  broken = false
  readonly #connection: Connection
  readonly #settings: AzureAmqp
  readonly #router: Router
  readonly #blobs: BlobStorage
  readonly #links = new Map<string, HubLink>()

  constructor(connection: Connection, settings: AzureAmqp, router: Router, blobs: BlobStorage) {
    this.#connection = connection
    this.#settings = settings
    this.#router = router
    this.#blobs = blobs
  }

  async send(messages: Message[]): Promise<Fate[]> {
    for (const [hub, link] of this.#links) if (link.isOver) this.#links.delete(hub)
    const fates = new Map<Message, Fate>()
    const users = Map.groupBy(messages, ({ order_key }) => order_key)
    await within(SEND_MS_MAX, Promise.all([...users.values()].map((own) => this.#inOrder(own, fates)))).catch(() => {})
    const found = messages.map((message) => fates.get(message) ?? lost('TIMEOUT'))
    this.broken ||= found.some((fate) => fate.is === 'lost')
    return found
  }

  close(): void {
    for (const link of this.#links.values()) link.close()
  }

  /** Events of one user: what follows one that did not arrive is not sent. */
  async #inOrder(messages: Message[], fates: Map<Message, Fate>): Promise<void> {
    let before: Fate | undefined
    for (const message of messages) {
      before =
        before === undefined || before.is === 'taken'
          ? await this.#sendOne(message).catch((error) => lost(reasonOf(error)))
          : held
      fates.set(message, before)
    }
  }

  async #sendOne(message: Message): Promise<Fate> {
    const { default: rhea } = await import('rhea')
    const body = await packed(message, this.#settings.compression === 'always' ? 'always' : 'from')
    const route = this.#router.route(message.type)
    if ('storage' in route) return this.#blobs.put(route.storage, message, body)
    const encoded = rhea.message.encode({
      durable: true,
      application_properties: propertiesOf(message, body),
      message_annotations: { 'x-opt-partition-key': message.order_key },
      body: rhea.message.data_section(body.bytes),
    })
    if (encoded.length > MESSAGE_BYTES_MAX) {
      const storage = this.#router.overflow(message.type)
      return storage ? this.#blobs.put(storage, message, body) : refused('too large')
    }
    return this.#linkTo(route.hub).send(encoded)
  }

  #linkTo(hub: string): HubLink {
    const link = this.#links.get(hub) ?? new HubLink(this.#connection, hub)
    this.#links.set(hub, link)
    return link
  }
}

const propertiesOf = ({ type, team_id, user_id, idempotency_key }: Message, { isGzip }: Packed): Record<string, string> => ({
  'event-type': type,
  'team-id': team_id,
  ...(user_id !== null && { 'user-id': user_id }),
  'idempotency-key': idempotency_key,
  ...(isGzip && { 'content-encoding': 'gzip' }),
})
