// Google Cloud Pub/Sub: one topic, with the credentials of the process. Source: events.md 8.2.
import type { v1 } from '@google-cloud/pubsub'
import { loadPackage } from '../../../platform/runtime/optional-packages.ts'
import { ConnectionPool } from './broker-connections.ts'
import {
  unreachable,
  encodeMessage,
  errorCode,
  toRejection,
  ACKNOWLEDGED,
  type SendOutcome,
  type BrokerSession,
  type Message,
} from '../broker-message.ts'
import type { Configured } from '../schema.ts'

const PUBLISH_MS_MAX = 15_000
/** Maximum size of a request; the service accepts 10 MB including the envelope. */
const REQUEST_BYTES_MAX = 9_000_000

type Settings = NonNullable<Configured['cloud_pubsub']>
type Client = InstanceType<typeof v1.PublisherClient>

/** Connections to Pub/Sub of one process and environment. All topics share one connection. */
export class PubSub {
  readonly #emulator_host: string | undefined
  readonly #connections: ConnectionPool<Client>

  constructor({ emulator_host }: { emulator_host: string | undefined }) {
    this.#emulator_host = emulator_host
    this.#connections = new ConnectionPool({ max: 1, close: (client) => client.close().catch(() => {}) })
  }

  async open(settings: Settings): Promise<BrokerSession> {
    const { connection, release } = await this.#connections.acquire('', () => this.#connect())
    return {
      send: (messages) => publish(connection, settings, messages),
      close: async () => release(),
    }
  }

  close(): void {
    this.#connections.closeAll()
  }

  async #connect(): Promise<Client> {
    const { PubSub: Settings, v1 } = await loadPackage('@google-cloud/pubsub', () => import('@google-cloud/pubsub'))
    const emulator = this.#emulator_host === undefined ? {} : { apiEndpoint: this.#emulator_host, emulatorMode: true }
    // A project is named in every request; without one here the library would look for it.
    const config = await new Settings({ projectId: 'unused', ...emulator }).getClientConfig()
    return new v1.PublisherClient(config as ConstructorParameters<typeof v1.PublisherClient>[0])
  }
}

/** Requests go one after another, so that order is kept; each arrives completely or not at all. */
async function publish(
  client: Client,
  { project, topic, message_ordering }: Settings,
  messages: Message[],
): Promise<SendOutcome[]> {
  const outcomes: SendOutcome[] = []
  const encoded = await Promise.all(messages.map((message) => encode(message, message_ordering)))
  for (let i = 0; i < encoded.length;) {
    let [count, bytes] = [0, 0]
    while (i + count < encoded.length && (count === 0 || bytes + encoded[i + count]!.data.length <= REQUEST_BYTES_MAX))
      bytes += encoded[i + count++]!.data.length
    const outcome = bytes > REQUEST_BYTES_MAX ? toRejection('too large') : await request(encoded.slice(i, i + count))
    outcomes.push(...Array<SendOutcome>(count).fill(outcome))
    i += count
    if (outcome.status === 'unreachable') break
  }
  return messages.map((_, i) => outcomes[i] ?? unreachable('not sent'))

  async function request(batch: Awaited<ReturnType<typeof encode>>[]): Promise<SendOutcome> {
    try {
      const name = `projects/${project}/topics/${topic}`
      await client.publish({ topic: name, messages: batch }, { timeout: PUBLISH_MS_MAX, retry: null })
      return ACKNOWLEDGED
    } catch (error) {
      return unreachable(`grpc ${errorCode(error)}`)
    }
  }
}

async function encode(message: Message, ordered: boolean) {
  const { bytes, isGzip } = await encodeMessage(message, 'over')
  return {
    data: bytes,
    attributes: {
      'event-type': message.type,
      'idempotency-key': message.idempotency_key,
      'blob-type': 'json',
      ...(isGzip && { 'blob-codec': 'gzip' }),
    },
    ...(ordered && { orderingKey: message.order_key }),
  }
}
