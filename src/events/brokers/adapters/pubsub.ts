// Google Cloud Pub/Sub: one topic, with the credentials of the process. Source: events.md 8.2.
import type { v1 } from '@google-cloud/pubsub'
import { Connections } from './connection-pool.ts'
import { lost, packed, reasonOf, refused, taken, type Fate, type Line, type Message } from '../broker-message.ts'
import type { Configured } from '../schema.ts'

const PUBLISH_MS_MAX = 15_000
/** Of a request; the service takes 10 MB with what is around the data. */
const REQUEST_BYTES_MAX = 9_000_000

type Settings = NonNullable<Configured['cloud_pubsub']>
type Client = InstanceType<typeof v1.PublisherClient>

/** Ways to Pub/Sub of one process and environment. All topics are reached over one connection. */
export class PubSub {
  readonly #emulator_host: string | undefined
  readonly #connections: Connections<Client>

  constructor({ emulator_host }: { emulator_host: string | undefined }) {
    this.#emulator_host = emulator_host
    this.#connections = new Connections({ max: 1, close: (client) => client.close().catch(() => {}) })
  }

  async open(settings: Settings): Promise<Line> {
    const { connection, giveBack } = await this.#connections.lend('', () => this.#connect())
    return {
      ordered: settings.message_ordering,
      send: (messages) => publish(connection, settings, messages),
      close: async () => giveBack(),
    }
  }

  close(): void {
    this.#connections.closeAll()
  }

  async #connect(): Promise<Client> {
    const { PubSub: Settings, v1 } = await import('@google-cloud/pubsub')
    const emulator = this.#emulator_host === undefined ? {} : { apiEndpoint: this.#emulator_host, emulatorMode: true }
    // A project is named in every request; without one here the library would look for it.
    const config = await new Settings({ projectId: 'unused', ...emulator }).getClientConfig()
    return new v1.PublisherClient(config as ConstructorParameters<typeof v1.PublisherClient>[0])
  }
}

/** Requests one after another, so that order is kept; each arrives whole or not at all. */
async function publish(client: Client, { project, topic, message_ordering }: Settings, messages: Message[]): Promise<Fate[]> {
  const fates: Fate[] = []
  const encoded = await Promise.all(messages.map((message) => encode(message, message_ordering)))
  for (let i = 0; i < encoded.length;) {
    let [count, bytes] = [0, 0]
    while (i + count < encoded.length && (count === 0 || bytes + encoded[i + count]!.data.length <= REQUEST_BYTES_MAX))
      bytes += encoded[i + count++]!.data.length
    const fate = bytes > REQUEST_BYTES_MAX ? refused('too large') : await request(encoded.slice(i, i + count))
    fates.push(...Array<Fate>(count).fill(fate))
    i += count
    if (fate.is === 'lost') break
  }
  return messages.map((_, i) => fates[i] ?? lost('not sent'))

  async function request(batch: Awaited<ReturnType<typeof encode>>[]): Promise<Fate> {
    try {
      const name = `projects/${project}/topics/${topic}`
      await client.publish({ topic: name, messages: batch }, { timeout: PUBLISH_MS_MAX, retry: null })
      return taken
    } catch (error) {
      return lost(`grpc ${reasonOf(error)}`)
    }
  }
}

async function encode(message: Message, ordered: boolean) {
  const { bytes, isGzip } = await packed(message, 'over')
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
