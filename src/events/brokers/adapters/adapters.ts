// The kinds of brokers behind a common interface. Their libraries are loaded when the first pipeline needs them.
import type { TargetPolicy } from '../../../platform/net/outbound-targets.ts'
import { BlobStorage } from './blob-storage.ts'
import { EventHubs } from './event-hubs.ts'
import type { BrokerSession } from '../broker-message.ts'
import { PubSub } from './pubsub.ts'
import { RabbitMq } from './rabbitmq.ts'
import type { Broker, Configured } from '../schema.ts'

export interface BrokersOptions {
  targets: TargetPolicy
  /** Whether loopback may be reached too, and without TLS. */
  sandbox: boolean
  /** The adapter of each kind. */
  connections_max: number
  pubsub_emulator_host: string | undefined
}

export class Brokers {
  readonly #rabbit: RabbitMq
  readonly #hubs: EventHubs
  readonly #blobs: BlobStorage
  readonly #pubsub: PubSub

  constructor({ targets, sandbox, connections_max, pubsub_emulator_host }: BrokersOptions) {
    this.#blobs = new BlobStorage({ targets, sandbox })
    this.#rabbit = new RabbitMq({ targets, sandbox, connections_max })
    this.#hubs = new EventHubs({ targets, sandbox, connections_max, blobs: this.#blobs })
    this.#pubsub = new PubSub({ emulator_host: pubsub_emulator_host })
  }

  /** Connects to a broker of a team. Throws if it is unreachable or not configured. */
  async open(destination: Broker, settings: Configured): Promise<BrokerSession> {
    const { rabbitmq, azure_amqp, cloud_pubsub } = settings
    if (destination === 'rabbitmq' && rabbitmq) return this.#rabbit.open(rabbitmq)
    if (destination === 'azure_amqp' && azure_amqp) return this.#hubs.open(azure_amqp)
    if (destination === 'cloud_pubsub' && cloud_pubsub) return this.#pubsub.open(cloud_pubsub)
    throw new Error(`${destination} is enabled but not configured`)
  }

  close(): void {
    this.#rabbit.close()
    this.#hubs.close()
    this.#pubsub.close()
    this.#blobs.close()
  }
}
