// Connections to receivers, kept and reused: each endpoint has its own, so that none waits for another's. The address is
// checked when a connection is made. The HTTP exchange is in `http-sender.ts`.
import { isIP, type Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Client, buildConnector } from 'undici'
import { ForbiddenAddressError, type TargetPolicy } from '../../platform/net/outbound-targets.ts'

/** A shorter keep-alive time stated by the receiver takes precedence. */
const IDLE_MS = 20_000
/** For all endpoints together: as many as attempts may be in flight. */
const IDLE_MAX = 500
export const RESPONSE_HEADERS_BYTES_MAX = 16_384
/** Maximum number of bytes read at a time: the parser continues to the end of its input, even after it has had too much. */
const READ_BYTES_MAX = 4096

/** One connection slot: at most one connection and one request at a time. */
export interface PooledConnection {
  client: Client
  endpoint: string
  origin: string
  /** Whether its connection has carried a request before: the receiver may be closing it. */
  used: boolean
  idle_since_ms: number
}

export interface ConnectionOptions {
  targets: TargetPolicy
  /** Whether loopback may be reached too. */
  sandbox: boolean
  connect_ms_max: number
  idle_max?: number
}

export class Connections {
  readonly #options: ConnectionOptions
  /** By endpoint, and all of them; in both the one that has been idle longest comes first. */
  readonly #free = new Map<string, PooledConnection[]>()
  readonly #idle = new Set<PooledConnection>()
  readonly #cleanupTimer: NodeJS.Timeout
  #undici: typeof import('undici') | undefined
  #connect: buildConnector.connector | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#cleanupTimer = setInterval(() => this.#runPeriodicTasks(), IDLE_MS).unref()
  }

  /** Await it before the first lease: a process that delivers nothing need not have this in memory. */
  async loadClient(): Promise<void> {
    if (this.#undici) return
    this.#undici = await import('undici')
  }

  /** Leases a connection to an endpoint until it is released. `fresh`: one without an earlier request. */
  acquire(endpoint: string, origin: string, fresh: boolean): PooledConnection {
    if (fresh) return this.#open(endpoint, origin)
    for (let line = this.#takeIdle(endpoint, 'pop'); line; line = this.#takeIdle(endpoint, 'pop')) {
      if (line.origin === origin) return line
      destroy(line)
    }
    return this.#open(endpoint, origin)
  }

  /** Releases a connection whose last response has ended. If there are too many, the one that has been idle longest is closed. */
  release(line: PooledConnection): void {
    line.used = true
    line.idle_since_ms = performance.now()
    const free = this.#free.get(line.endpoint)
    if (free) free.push(line)
    else this.#free.set(line.endpoint, [line])
    this.#idle.add(line)
    if (this.#idle.size > (this.#options.idle_max ?? IDLE_MAX)) this.#destroyOldest()
  }

  close(): void {
    clearInterval(this.#cleanupTimer)
    for (const line of this.#idle) destroy(line)
    this.#free.clear()
    this.#idle.clear()
  }

  #open(endpoint: string, origin: string): PooledConnection {
    const { Client } = this.#undici!
    this.#connect ??= this.#connector()
    const client = new Client(origin, {
      connect: this.#connect,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      maxHeaderSize: RESPONSE_HEADERS_BYTES_MAX,
      // An attempt has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const line: PooledConnection = { client, endpoint, origin, used: false, idle_since_ms: 0 }
    client.on('disconnect', () => (line.used = false))
    return line
  }

  #connector(): buildConnector.connector {
    const { targets, sandbox, connect_ms_max } = this.#options
    const build = (secureContext?: SecureContext) =>
      this.#undici!.buildConnector({
        timeout: connect_ms_max,
        allowH2: false,
        lookup: targets.lookup(sandbox),
        ...(secureContext && { secureContext }),
      } as buildConnector.BuildOptions) as (...args: Parameters<buildConnector.connector>) => Socket
    const plain = build()
    // Node would make one for each connection, which takes as long as twenty deliveries.
    let secure: typeof plain | undefined
    return (options, callback) => {
      const connect = options.protocol === 'https:' ? (secure ??= build(createSecureContext())) : plain
      const host = options.hostname
      const connectionError = () => new ForbiddenAddressError('The address is not public (WEBHOOK_ALLOW)')
      // A literal address instead of a name is connected to without a look-up.
      if (isIP(host) && !targets.isConnectionAllowed(host, host, sandbox)) return callback(connectionError(), null)
      // Checks the actual peer address, except for names that the operator allows, before anything is sent.
      const isForbiddenAddress = ({ remoteAddress }: Socket) =>
        remoteAddress !== undefined && !targets.isConnectionAllowed(host, remoteAddress, sandbox)
      const socket = connect(options, (...[error, made]) => {
        if (!made) return callback(error!, null)
        if (!isForbiddenAddress(made)) return callback(null, inSmallPieces(made))
        made.destroy()
        callback(connectionError(), null)
      })
      socket.once('connect', () => {
        if (options.protocol === 'https:' && isForbiddenAddress(socket)) socket.destroy(connectionError())
      })
    }
  }

  #runPeriodicTasks(): void {
    const before_ms = performance.now() - IDLE_MS
    for (const { idle_since_ms } of this.#idle) {
      if (idle_since_ms > before_ms) return
      this.#destroyOldest()
    }
  }

  #destroyOldest(): void {
    const [line] = this.#idle
    if (line) destroy(this.#takeIdle(line.endpoint, 'shift')!)
  }

  /** The idle connection of an endpoint that was released last, or first. */
  #takeIdle(endpoint: string, end: 'pop' | 'shift'): PooledConnection | undefined {
    const free = this.#free.get(endpoint)
    const line = free?.[end]()
    if (line) this.#idle.delete(line)
    if (free?.length === 0) this.#free.delete(endpoint)
    return line
  }
}

/** A socket that passes on received data in small parts, and nothing once it is destroyed. */
function inSmallPieces<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket)
  socket.read = (size?: number) =>
    socket.destroyed ? null : (read(size ?? (Math.min(socket.readableLength, READ_BYTES_MAX) || undefined)) as unknown)
  return socket
}

/** Closes a connection, with any request in progress. */
export const destroy = (line: PooledConnection): void => void line.client.destroy().catch(() => {})
