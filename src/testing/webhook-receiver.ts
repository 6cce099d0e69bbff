// A webhook endpoint for tests: an HTTP server on this machine that verifies the signature of each delivery and keeps what it received.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitForMatch, type EventBody, type WaitOptions } from './event-log.ts'

const BODY_BYTES_MAX = 5_000_000
const DELIVERIES_MAX = 10_000
/** How far the timestamp of a delivery may be from the time of this machine. */
const TOLERANCE_S = 300
const TIMEOUT_MS = 10_000

/** A request of which the signature was verified. */
export interface Delivery {
  /** The header `svix-id`: the same for every attempt of a message. */
  id: string
  type: string
  body: EventBody
  /** Lower-case names. */
  headers: Record<string, string>
  /** The status that was answered. */
  status: number
}

export interface ReceiverOptions {
  /** Types of events to send here. Default: all. */
  types?: string[]
  /** The address to listen on. Default: `127.0.0.1`. */
  host?: string
  /** Default: a free one. */
  port?: number
  /** The URL under which the server reaches this machine, if it is not the host and the port. */
  publicUrl?: string
}

/** Stops sending to the endpoint. */
type Unregister = () => Promise<void>

export class WebhookReceiver {
  readonly url: string
  /** `whsec_…` */
  readonly secret: string
  /** Verified requests, oldest first. */
  readonly deliveries: Delivery[] = []
  /** Number of requests that were answered 401: without a signature, with a wrong one, or too old. */
  rejected = 0
  readonly #server: Server
  #unregister: Unregister | undefined
  readonly #answers: number[] = []
  /** Called at each delivery. */
  readonly #watchers = new Set<() => void>()

  /** Use `team.createReceiver()`. */
  private constructor(server: Server, url: string, secret: string) {
    this.#server = server
    this.url = url
    this.secret = secret
  }

  /** Listens, registers the endpoint and returns it. */
  static async open(
    { host = '127.0.0.1', port = 0, publicUrl }: ReceiverOptions,
    secret: string,
    register: (url: string) => Promise<Unregister>,
  ): Promise<WebhookReceiver> {
    const server = createServer()
    server.listen(port, host)
    await once(server, 'listening')
    // A failed test that does not close it must not keep the process of the tests alive.
    server.unref()
    server.on('connection', (socket) => socket.unref())
    const { port: bound } = server.address() as AddressInfo
    const receiver = new WebhookReceiver(
      server,
      publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
      secret,
    )
    server.on('request', (request, response) => {
      receiver.#receive(request).then(
        (status) => response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end(),
        () => response.destroy(),
      )
    })
    try {
      receiver.#unregister = await register(receiver.url)
    } catch (error) {
      await receiver.#closeServer()
      throw error
    }
    return receiver
  }

  /** Answers the next deliveries with these statuses in place of 204, to see them come again. */
  answerNext(...statuses: number[]): void {
    this.#answers.push(...statuses)
  }

  /** The first delivery that matches and was answered 2xx, also one from before the call. @throws Error after the timeout */
  async waitFor(
    type: string,
    predicate: (delivery: Delivery) => boolean = () => true,
    { timeout = TIMEOUT_MS }: WaitOptions = {},
  ): Promise<Delivery> {
    return waitForMatch(
      () => this.deliveries.find((delivery) => delivery.type === type && delivery.status < 300 && predicate(delivery)),
      (signal) => this.#nextDelivery(signal),
      timeout,
      () => {
        const seen = [...new Set(this.deliveries.map((delivery) => delivery.type))].join(', ') || 'none'
        return `No ${type} that matches was received within ${timeout} ms. Received: ${seen}. Rejected requests: ${this.rejected}.`
      },
    )
  }

  /** Deletes the endpoint and stops listening. */
  async close(): Promise<void> {
    const unregister = this.#unregister
    this.#unregister = undefined
    try {
      await unregister?.()
    } finally {
      await this.#closeServer()
    }
  }

  /** Stops listening: the endpoint goes with its team. */
  async closeWithTeam(): Promise<void> {
    this.#unregister = undefined
    await this.#closeServer()
  }

  async #closeServer(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  #nextDelivery(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#watchers.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#watchers.add(done)
      signal.addEventListener('abort', done)
    })
  }

  /** @returns the status to answer with */
  async #receive(request: IncomingMessage): Promise<number> {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > BODY_BYTES_MAX) return 413
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    if (!isSigned(this.secret, headers, body)) {
      this.rejected++
      return 401
    }
    const event = JSON.parse(body.toString()) as EventBody
    const status = this.#answers.shift() ?? 204
    this.deliveries.push({ id: headers['svix-id']!, type: event.event_type, body: event, headers, status })
    if (this.deliveries.length > DELIVERIES_MAX) this.deliveries.shift()
    for (const watcher of this.#watchers) watcher()
    return status
  }
}

/** Whether one of the signatures is that of the body, made less than five minutes ago. Source: standardwebhooks.com. */
function isSigned(secret: string, headers: Record<string, string>, body: Buffer): boolean {
  const { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signatures } = headers
  if (id === undefined || timestamp === undefined || signatures === undefined) return false
  const age_s = new Date().getTime() / 1000 - Number(timestamp)
  if (!(Math.abs(age_s) <= TOLERANCE_S)) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
