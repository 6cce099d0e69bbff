// RabbitMQ: publishes to an exchange, with the event's type as the routing key and confirmation by the broker. A message
// without a bound queue has failed. Source: events.md 8.2.
import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { ForbiddenAddressError, type TargetPolicy } from '../../../platform/net/outbound-targets.ts'
import { rabbitAddress } from '../broker-addresses.ts'
import { withTimeout } from '../../../platform/runtime/with-timeout.ts'
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
import { RuleError } from '../../../platform/schema/request-validation.ts'
import type { Configured } from '../schema.ts'

const CONNECT_MS_MAX = 10_000
const CONFIRM_MS_MAX = 15_000
const HEARTBEAT_S = 30

type Settings = NonNullable<Configured['rabbitmq']>

/** Connections to RabbitMQ brokers from the cells of one environment. */
export class RabbitMq {
  readonly #targets: TargetPolicy
  readonly #sandbox: boolean
  readonly #connections: ConnectionPool<ChannelModel>

  constructor({ targets, sandbox, connections_max }: { targets: TargetPolicy; sandbox: boolean; connections_max: number }) {
    this.#targets = targets
    this.#sandbox = sandbox
    this.#connections = new ConnectionPool({ max: connections_max, close: (connection) => connection.close().catch(() => {}) })
  }

  /** Opens a channel on a connection that others may share: an error of an exchange ends only the channel. */
  async open({ uri, exchange }: Settings): Promise<BrokerSession> {
    const { connection, release } = await this.#connections.acquire(uri, (isClosed) => this.#connect(uri, isClosed))
    let broken = false
    try {
      const channel = await withTimeout(CONNECT_MS_MAX, connection.createConfirmChannel())
      const batches = new RabbitMqSession(channel, exchange)
      return {
        send: async (messages) => {
          const outcomes = await batches.send(messages)
          broken ||= outcomes.some((outcome) => outcome.status === 'unreachable')
          return outcomes
        },
        close: async () => {
          if (!broken) await withTimeout(CONNECT_MS_MAX, channel.close()).catch(() => (broken = true))
          release(broken)
        },
      }
    } catch (error) {
      release(true)
      throw error
    }
  }

  close(): void {
    this.#connections.closeAll()
  }

  async #connect(uri: string, isClosed: () => void): Promise<ChannelModel> {
    const address = rabbitAddress(uri)
    if (address instanceof RuleError) throw new ForbiddenAddressError('The address is malformed')
    const { tls, host, port, username, password, vhost } = address
    await this.#targets.addresses(host, this.#sandbox)
    const { connect } = await loadPackage('amqplib', () => import('amqplib'))
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
    // A broken connection reports that twice; messages in flight are notified by their channel.
    connection.on('error', isClosed)
    connection.on('close', isClosed)
    return connection
  }
}

/** Batches over one channel. */
class RabbitMqSession {
  readonly #channel: ConfirmChannel
  readonly #exchange: string
  /** Messages returned because no queue is bound for them; the broker returns them before it confirms them. */
  readonly #unroutable = new Set<unknown>()
  readonly #closed: Promise<Error>

  constructor(channel: ConfirmChannel, exchange: string) {
    this.#channel = channel
    this.#exchange = exchange
    channel.on('return', ({ properties }) => this.#unroutable.add(properties.messageId))
    this.#closed = new Promise((resolve) => {
      channel.on('error', resolve)
      channel.on('close', () => resolve(new Error('the channel was closed')))
    })
  }

  async send(messages: Message[]): Promise<SendOutcome[]> {
    const bodies = await Promise.all(messages.map((message) => encodeMessage(message, 'over')))
    const outcomes = messages.map((message, i) => this.#publish(message, bodies[i]!))
    const all = Promise.all(outcomes)
    const over = this.#closed.then((error) =>
      Promise.all(outcomes.map((outcome) => Promise.race([outcome, unreachable(errorCode(error))]))),
    )
    try {
      return await withTimeout(CONFIRM_MS_MAX, Promise.race([all, over]))
    } catch (error) {
      return Promise.all(outcomes.map((outcome) => Promise.race([outcome, unreachable(errorCode(error))])))
    }
  }

  #publish({ type, idempotency_key }: Message, { bytes, isGzip }: { bytes: Buffer; isGzip: boolean }): Promise<SendOutcome> {
    return new Promise((resolve) => {
      const options = {
        mandatory: true,
        persistent: true,
        messageId: idempotency_key,
        contentType: 'application/json',
        ...(isGzip && { contentEncoding: 'gzip' }),
      }
      const awaitConfirms = (error: unknown) => {
        if (!error) return resolve(this.#unroutable.delete(idempotency_key) ? toRejection('unroutable') : ACKNOWLEDGED)
        resolve((error as Error).message === 'message nacked' ? toRejection('nacked') : unreachable(errorCode(error)))
      }
      try {
        this.#channel.publish(this.#exchange, type, bytes, options, awaitConfirms)
      } catch (error) {
        resolve(unreachable(errorCode(error)))
      }
    })
  }
}
