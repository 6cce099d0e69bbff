// Azure Event Hubs over AMQP 1.0: each event is a message to the hub selected by its type, with its user as the partition key.
// Many are in flight at once, those of one user one after another. An event that is too large for a hub, or routed to a
// container, becomes a blob.
// Source: events.md 8.2.
import type { Connection } from 'rhea'
import { ForbiddenAddressError, type TargetPolicy } from '../../../platform/net/outbound-targets.ts'
import { RuleError } from '../../../platform/schema/request-validation.ts'
import { hubsAddress } from '../broker-addresses.ts'
import type { BlobStorage } from './blob-storage.ts'
import { withTimeout } from '../../../platform/runtime/with-timeout.ts'
import { loadPackage } from '../../../platform/runtime/optional-packages.ts'
import { ConnectionPool } from './broker-connections.ts'
import { HubSender } from './event-hub-sender.ts'
import {
  heldBack,
  unreachable,
  encodeMessage,
  errorCode,
  toRejection,
  type SendOutcome,
  type BrokerSession,
  type Message,
  type EncodedMessage,
} from '../broker-message.ts'
import type { AzureAmqp, Matcher } from '../schema.ts'

const SEND_MS_MAX = 15_000
const MESSAGE_BYTES_MAX = 1024 * 1024
const IDLE_TIMEOUT_MS = 60_000

/** Connections to Event Hubs from the cells of one environment. */
export class EventHubs {
  readonly #targets: TargetPolicy
  readonly #sandbox: boolean
  readonly #blobs: BlobStorage
  readonly #connections: ConnectionPool<Connection>

  constructor(options: { targets: TargetPolicy; sandbox: boolean; connections_max: number; blobs: BlobStorage }) {
    this.#targets = options.targets
    this.#sandbox = options.sandbox
    this.#blobs = options.blobs
    this.#connections = new ConnectionPool({ max: options.connections_max, close: (connection) => connection.close() })
  }

  async open(settings: AzureAmqp): Promise<BrokerSession> {
    const router = await createRouter(settings)
    const { connection, release } = await this.#connections.acquire(settings.connection_string, (isClosed) =>
      this.#connect(settings.connection_string, isClosed),
    )
    const batches = new EventHubSession(connection, settings, router, this.#blobs)
    return {
      send: (messages) => batches.send(messages),
      close: async () => {
        batches.close()
        release(batches.isBroken)
      },
    }
  }

  close(): void {
    this.#connections.closeAll()
  }

  async #connect(text: string, isClosed: () => void): Promise<Connection> {
    const address = hubsAddress(text)
    if (address instanceof RuleError) throw new ForbiddenAddressError('The address is malformed')
    const { tls, host, port, policy, key } = address
    await this.#targets.addresses(host, this.#sandbox)
    const { default: rhea } = await loadPackage('rhea', () => import('rhea'))
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
      const fail = (error: unknown) => {
        isClosed()
        reject(error instanceof Error ? error : Object.assign(new Error('the connection ended'), { code: errorCode(error) }))
      }
      connection.on('connection_open', () => resolve(connection))
      connection.on('connection_error', () => fail(connection.error))
      connection.on('connection_close', () => fail(connection.error))
      connection.on('disconnected', ({ error }) => fail(error ?? { code: 'disconnected' }))
      connection.on('protocol_error', fail)
      connection.on('error', fail)
    })
  }
}

/** Batches over one connection, with a link for each hub. */
class EventHubSession {
  isBroken = false
  readonly #connection: Connection
  readonly #settings: AzureAmqp
  readonly #router: Router
  readonly #blobs: BlobStorage
  readonly #links = new Map<string, HubSender>()

  constructor(connection: Connection, settings: AzureAmqp, router: Router, blobs: BlobStorage) {
    this.#connection = connection
    this.#settings = settings
    this.#router = router
    this.#blobs = blobs
  }

  async send(messages: Message[]): Promise<SendOutcome[]> {
    for (const [hub, link] of this.#links) if (link.isClosed) this.#links.delete(hub)
    const outcomes = new Map<Message, SendOutcome>()
    const users = Map.groupBy(messages, ({ order_key }) => order_key)
    await withTimeout(
      SEND_MS_MAX,
      Promise.all([...users.values()].map((userMessages) => this.#sendSequentially(userMessages, outcomes))),
    ).catch(() => {})
    const found = messages.map((message) => outcomes.get(message) ?? unreachable('TIMEOUT'))
    this.isBroken ||= found.some((outcome) => outcome.status === 'unreachable')
    return found
  }

  close(): void {
    for (const link of this.#links.values()) link.close()
  }

  /** Events of one user: those after one that did not arrive are not sent. */
  async #sendSequentially(messages: Message[], outcomes: Map<Message, SendOutcome>): Promise<void> {
    let before: SendOutcome | undefined
    for (const message of messages) {
      before =
        before === undefined || before.status === 'acknowledged'
          ? await this.#sendOne(message).catch((error) => unreachable(errorCode(error)))
          : heldBack
      outcomes.set(message, before)
    }
  }

  async #sendOne(message: Message): Promise<SendOutcome> {
    const { default: rhea } = await loadPackage('rhea', () => import('rhea'))
    const body = await encodeMessage(message, this.#settings.compression === 'always' ? 'always' : 'from')
    const route = this.#router.route(message.type)
    if ('storage' in route) return this.#blobs.put(route.storage, message, body)
    const encoded = rhea.message.encode({
      durable: true,
      application_properties: messageProperties(message, body),
      message_annotations: { 'x-opt-partition-key': message.order_key },
      body: rhea.message.data_section(body.bytes),
    })
    if (encoded.length > MESSAGE_BYTES_MAX) {
      const storage = this.#router.overflowStorage(message.type)
      return storage ? this.#blobs.put(storage, message, body) : toRejection('too large')
    }
    return this.#getSender(route.hub).send(encoded)
  }

  #getSender(hub: string): HubSender {
    const link = this.#links.get(hub) ?? new HubSender(this.#connection, hub)
    this.#links.set(hub, link)
    return link
  }
}

const messageProperties = (
  { type, team_id, user_id, idempotency_key }: Message,
  { isGzip }: EncodedMessage,
): Record<string, string> => ({
  'event-type': type,
  'team-id': team_id,
  ...(user_id !== null && { 'user-id': user_id }),
  'idempotency-key': idempotency_key,
  ...(isGzip && { 'content-encoding': 'gzip' }),
})

type Storage = NonNullable<Matcher['blob_storage']>

interface Router {
  /** A hub, or the container that a matcher names. */
  route(type: string): { hub: string } | { storage: Storage }
  /** The destination of an event that is too large for a hub: the first container among the matching matchers. */
  overflowStorage(type: string): Storage | undefined
}

/** Routes are computed once for each type. */
async function createRouter(azure: Pick<AzureAmqp, 'default_event_hub' | 'event_hub_matchers'>): Promise<Router> {
  const { RE2JS } = await import('re2js')
  const rules = azure.event_hub_matchers.map((matcher) => {
    const { event_type_prefix: prefix, event_type_regex } = matcher
    if (event_type_regex === null) return { matcher, matches: (type: string) => type.startsWith(prefix ?? '') }
    const pattern = RE2JS.compile(event_type_regex)
    return { matcher, matches: (type: string) => pattern.matcher(type).find() }
  })
  const known = new Map<string, Matcher[]>()
  const matching = (type: string): Matcher[] => {
    const found = known.get(type) ?? rules.filter(({ matches }) => matches(type)).map(({ matcher }) => matcher)
    known.set(type, found)
    return found
  }
  return {
    route(type) {
      const [first] = matching(type)
      if (first?.blob_storage) return { storage: first.blob_storage }
      return { hub: first?.event_hub ?? azure.default_event_hub }
    },
    overflowStorage: (type) => matching(type).find(({ blob_storage }) => blob_storage)?.blob_storage ?? undefined,
  }
}
