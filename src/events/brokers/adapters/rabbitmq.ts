// RabbitMQ: an exchange, the event's type as the routing key, confirmed by the broker. What no queue is bound for has failed.
// Source: events.md 8.2.
import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { RefusedAddress, type Targets } from '../../../platform/net/outbound-targets.ts'
import { rabbitAddress } from '../broker-addresses.ts'
import { Connections } from './connection-pool.ts'
import { lost, packed, reasonOf, refused, taken, within, type Fate, type Line, type Message } from '../broker-message.ts'
import { Refusal } from '../../../platform/schema/read.ts'
import type { Configured } from '../schema.ts'

const CONNECT_MS_MAX = 10_000
const CONFIRM_MS_MAX = 15_000
const HEARTBEAT_S = 30

type Settings = NonNullable<Configured['rabbitmq']>

/** Ways to RabbitMQ brokers from the cells of one environment. */
export class RabbitMq {
  readonly #targets: Targets
  readonly #sandbox: boolean
  readonly #connections: Connections<ChannelModel>

  constructor({ targets, sandbox, connections_max }: { targets: Targets; sandbox: boolean; connections_max: number }) {
    this.#targets = targets
    this.#sandbox = sandbox
    this.#connections = new Connections({ max: connections_max, close: (connection) => connection.close().catch(() => {}) })
  }

  /** A channel of its own on a connection that others may share: what goes wrong with an exchange ends the channel only. */
  async open({ uri, exchange }: Settings): Promise<Line> {
    const { connection, giveBack } = await this.#connections.lend(uri, (ended) => this.#connect(uri, ended))
    let broken = false
    try {
      const channel = await within(CONNECT_MS_MAX, connection.createConfirmChannel())
      const batches = new Batches(channel, exchange)
      return {
        ordered: false,
        send: async (messages) => {
          const fates = await batches.send(messages)
          broken ||= fates.some((fate) => fate.is === 'lost')
          return fates
        },
        close: async () => {
          if (!broken) await within(CONNECT_MS_MAX, channel.close()).catch(() => (broken = true))
          giveBack(broken)
        },
      }
    } catch (error) {
      giveBack(true)
      throw error
    }
  }

  close(): void {
    this.#connections.closeAll()
  }

  async #connect(uri: string, ended: () => void): Promise<ChannelModel> {
    const address = rabbitAddress(uri)
    if (address instanceof Refusal) throw new RefusedAddress('The address cannot be read')
    const { tls, host, port, username, password, vhost } = address
    await this.#targets.addresses(host, this.#sandbox)
    const { connect } = await import('amqplib')
    const where = {
      protocol: tls ? 'amqps' : 'amqp',
      hostname: host,
      port,
      username,
      password,
      vhost,
      heartbeat: HEARTBEAT_S,
    }
    const connection = await connect(where, {
      lookup: this.#targets.lookup(this.#sandbox),
      timeout: CONNECT_MS_MAX,
      noDelay: true,
      clientProperties: { connection_name: 'drawbridge' },
    })
    // A broken connection says so twice; what was in the air learns of it from its channel.
    connection.on('error', ended)
    connection.on('close', ended)
    return connection
  }
}

/** Batches over one channel. */
class Batches {
  readonly #channel: ConfirmChannel
  readonly #exchange: string
  /** Messages that came back, since no queue is bound for them; this is told before they are confirmed. */
  readonly #returned = new Set<unknown>()
  readonly #ended: Promise<Error>

  constructor(channel: ConfirmChannel, exchange: string) {
    this.#channel = channel
    this.#exchange = exchange
    channel.on('return', ({ properties }) => this.#returned.add(properties.messageId))
    this.#ended = new Promise((resolve) => {
      channel.on('error', resolve)
      channel.on('close', () => resolve(new Error('the channel was closed')))
    })
  }

  async send(messages: Message[]): Promise<Fate[]> {
    const bodies = await Promise.all(messages.map((message) => packed(message, 'over')))
    const fates = messages.map((message, i) => this.#publish(message, bodies[i]!))
    const all = Promise.all(fates)
    const over = this.#ended.then((error) => Promise.all(fates.map((fate) => Promise.race([fate, lost(reasonOf(error))]))))
    try {
      return await within(CONFIRM_MS_MAX, Promise.race([all, over]))
    } catch (error) {
      return Promise.all(fates.map((fate) => Promise.race([fate, lost(reasonOf(error))])))
    }
  }

  #publish({ type, idempotency_key }: Message, { bytes, isGzip }: { bytes: Buffer; isGzip: boolean }): Promise<Fate> {
    return new Promise((resolve) => {
      const options = {
        mandatory: true,
        persistent: true,
        messageId: idempotency_key,
        contentType: 'application/json',
        ...(isGzip && { contentEncoding: 'gzip' }),
      }
      const confirmed = (error: unknown) => {
        if (!error) return resolve(this.#returned.delete(idempotency_key) ? refused('unroutable') : taken)
        resolve((error as Error).message === 'message nacked' ? refused('nacked') : lost(reasonOf(error)))
      }
      try {
        this.#channel.publish(this.#exchange, type, bytes, options, confirmed)
      } catch (error) {
        resolve(lost(reasonOf(error)))
      }
    })
  }
}
