// The connections of HTTP servers and their limits: how many are open, how many requests of one are held in memory, how long a peer may
// take to read its response, and how they end when the server stops. Requests of one connection are served one after another, as in most
// servers; requests that a peer pipelines wait.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { maskAddress } from '../net/network.ts'

export interface SocketLimits {
  connections_max: number
  /** Whether an address may use all connections; others may use at most half of them. */
  isTrusted: (address: string) => boolean
  /** Maximum number of pipelined requests that wait on one connection. With more it is closed. */
  pipelined_max?: number
  /** How long a peer may read nothing of a ready response. */
  write_ms_max?: number
  /** How long a peer may take to read a whole response. */
  answer_ms_max?: number
  /** How often connections are checked. */
  watch_ms?: number
  /** A port closes after this long without a new connection, and after at most the second value if new ones keep arriving. */
  quiet_ms?: number
  quiet_ms_max?: number
  /** How long a connection that has not sent anything is kept while the server stops. */
  untouched_ms?: number
  /** How long unfinished requests and responses are kept while the server stops. */
  unfinished_ms?: number
}

// An import statement reads every export of the module, one of which loads Node's HTTP client: 50 ms at each start.
const http = process.getBuiltinModule('node:http')

const PIPELINED_MAX = 16
const WRITE_MS_MAX = 30_000
const ANSWER_MS_MAX = 300_000
const WATCH_MS = 5000
const QUIET_MS = 50
const QUIET_MS_MAX = 1000
const UNTOUCHED_MS = 500
const UNFINISHED_MS = 10_000

const REQUEST_MS_MAX = 60_000
const KEEP_ALIVE_MS = 75_000
/** How often Node looks for requests that take too long to arrive. */
const CHECK_MS = 5000
/** How often a closing server checks whether responses are still being sent. */
const SENDING_CHECK_MS = 20

const TWO_HOSTS = '{"detail":"The request has more than one Host header"}'

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  handler: RequestListener
}

interface State {
  sockets: Sockets
  network: string
  /** The request in progress. */
  response: ServerResponse | undefined
  queue: Exchange[]
  /** The response that was ready and not sent at the last check of the connections, and when that was first so. */
  sending: ServerResponse | undefined
  sending_since_ms: number
}

const STATE = Symbol('state of a connection')
type Connection = Socket & { [STATE]?: State; parser?: { onIncoming: () => number } | null }

/**
 * Closes a connection, and ends the parsing of what has been read from it. Node parses a block of 64 kB to its end even if the
 * connection is closed, and keeps a response for each of its 1,500 requests until then.
 */
function close(socket: Connection): void {
  if (socket.parser) socket.parser.onIncoming = () => -1
  socket.destroy()
}

/**
 * Node treats a connection as idle if its response is ready but not sent, and cuts the response off when the server closes. Here idle
 * connections are closed when no response is being sent any more; until then they are served.
 */
class WaitingServer extends http.Server {
  readonly #isSending: () => boolean

  constructor(isSending: () => boolean, listener: RequestListener) {
    super({ connectionsCheckingInterval: CHECK_MS }, listener)
    this.#isSending = isSending
  }

  override closeIdleConnections(): void {
    if (this.#isSending()) setTimeout(() => this.closeIdleConnections(), SENDING_CHECK_MS).unref()
    else super.closeIdleConnections()
  }
}

/** Creates HTTP servers that share one set of limits. One for each port and process. */
export class Sockets {
  readonly #limits: Required<SocketLimits>
  readonly #connections = new Set<Connection>()
  readonly #ofNetwork = new Map<string, number>()
  readonly #servers: Server[] = []
  /** Requests that arrived while the ports close, to be served afterwards; undefined at other times. */
  #held: Exchange[] | undefined
  /** Counts of new connections, held requests and sent responses: signs that clients may connect again. */
  #moves = 0
  #refused = 0
  #watching: NodeJS.Timeout | undefined

  constructor(limits: SocketLimits) {
    this.#limits = {
      pipelined_max: PIPELINED_MAX,
      write_ms_max: WRITE_MS_MAX,
      answer_ms_max: ANSWER_MS_MAX,
      watch_ms: WATCH_MS,
      quiet_ms: QUIET_MS,
      quiet_ms_max: QUIET_MS_MAX,
      untouched_ms: UNTOUCHED_MS,
      unfinished_ms: UNFINISHED_MS,
      ...limits,
    }
  }

  /** Open connections, and how many were rejected since the start. */
  get use(): { open: number; rejections: number } {
    return { open: this.#connections.size, rejections: this.#refused }
  }

  /** An HTTP server that passes its requests to `handler`. Two `Host` headers: 400, and the connection is closed. */
  server(handler: RequestListener): Server {
    const server = new WaitingServer(
      () => this.#isSending(),
      (request, response) => this.#receive({ request, response, handler }),
    )
    server.keepAliveTimeout = KEEP_ALIVE_MS
    server.requestTimeout = REQUEST_MS_MAX
    server.headersTimeout = REQUEST_MS_MAX
    server.prependListener('connection', (socket: Connection) => this.#admit(socket))
    this.#servers.push(server)
    return server
  }

  #admit(socket: Connection): void {
    this.#moves += 1
    const address = socket.remoteAddress ?? ''
    const network = maskAddress(address)
    const { connections_max, isTrusted, watch_ms } = this.#limits
    const ofNetwork = this.#ofNetwork.get(network) ?? 0
    if (
      this.#connections.size >= connections_max ||
      (ofNetwork >= Math.ceil(connections_max / 2) && !isTrusted(address.replace(/^::ffff:/i, '')))
    ) {
      this.#refused += 1
      socket.destroy()
      return
    }
    socket[STATE] = { sockets: this, network, response: undefined, queue: [], sending: undefined, sending_since_ms: 0 }
    this.#connections.add(socket)
    this.#ofNetwork.set(network, ofNetwork + 1)
    socket.once('close', () => this.#forget(socket, network))
    this.#watching ??= setInterval(() => this.#watch(), watch_ms).unref()
  }

  #forget(socket: Connection, network: string): void {
    this.#connections.delete(socket)
    socket[STATE]!.queue = []
    const left = this.#ofNetwork.get(network)! - 1
    if (left) this.#ofNetwork.set(network, left)
    else this.#ofNetwork.delete(network)
    if (this.#connections.size) return
    clearInterval(this.#watching)
    this.#watching = undefined
  }

  #receive(exchange: Exchange): void {
    const socket = exchange.request.socket as Connection
    const state = socket[STATE]
    // A rejected connection may have sent data already.
    if (!state || socket.destroyed) return close(socket)
    if (state.response === undefined) return this.#start(state, exchange)
    if (state.queue.length >= this.#limits.pipelined_max) return close(socket)
    state.queue.push(exchange)
    // Unsent data stays in the buffers of the system, and then with the peer.
    socket.pause()
  }

  #start(state: State, exchange: Exchange): void {
    state.response = exchange.response
    exchange.response.on('close', Sockets.#onAnswered)
    if (this.#held === undefined) return answer(exchange)
    this.#moves += 1
    this.#held.push(exchange)
  }

  /** One function for all responses. */
  static #onAnswered(this: ServerResponse): void {
    const socket = this.req.socket as Connection
    const state = socket[STATE]!
    state.response = undefined
    state.sockets.#moves += 1
    if (socket.destroyed || !socket.writable) state.queue = []
    const next = state.queue.shift()
    if (next) state.sockets.#start(state, next)
    if (state.queue.length === 0 && socket.isPaused()) socket.resume()
  }

  /** Sets a deadline for ready responses that the peer has not read. Node restarts it whenever the peer has read something. */
  #watch(): void {
    const now_ms = performance.now()
    for (const socket of this.#connections) {
      const state = socket[STATE]!
      const { response } = state
      if (!response?.writableEnded) continue
      if (state.sending !== response) {
        state.sending = response
        state.sending_since_ms = now_ms
        socket.setTimeout(this.#limits.write_ms_max)
      } else if (now_ms - state.sending_since_ms > this.#limits.answer_ms_max) socket.destroy()
    }
  }

  /**
   * Closes the ports of the servers; returns when they are closed. Connections that do not end by themselves are ended a while later.
   * Callers that have not yet received the advice to open another connection may find theirs reset. When a port closes, the system resets
   * its connections that no process has accepted, and clients that just got the advice connect again at once. So requests are held for a
   * moment: clients that wait for a response do not connect again. When no new connection has arrived for a while, the port closes and the
   * held requests are served.
   */
  async close(): Promise<void> {
    this.#held = []
    await this.#quiet()
    for (const server of this.#servers) server.close()
    const waitingExchanges = this.#held
    this.#held = undefined
    for (const exchange of waitingExchanges) if (!exchange.request.socket.destroyed) answer(exchange)
    this.#end()
  }

  /**
   * Waits until no new connection has arrived for `quiet_ms`, or, after `quiet_ms_max`, for a turn without a new connection. The event loop
   * accepts one connection of a port per turn, so a turn without any means that none is pending. The code that runs next runs in this turn.
   */
  async #quiet(): Promise<void> {
    const { quiet_ms, quiet_ms_max } = this.#limits
    const began_ms = performance.now()
    for (let moves = -1, since_ms = began_ms; ;) {
      const now_ms = performance.now()
      if (this.#moves !== moves) since_ms = now_ms
      moves = this.#moves
      const isOver = now_ms - since_ms >= quiet_ms || now_ms - began_ms >= quiet_ms_max
      if (!isOver) await sleep(quiet_ms / 5)
      await turn()
      if (isOver && (this.#moves === moves || now_ms - began_ms >= 2 * quiet_ms_max)) return
    }
  }

  #isSending(): boolean {
    for (const socket of this.#connections) if (socket[STATE]!.response?.writableEnded) return true
    return false
  }

  #end(): void {
    const { untouched_ms, unfinished_ms } = this.#limits
    const close = (isMeant: (socket: Connection) => boolean) => () => {
      for (const socket of this.#connections) if (isMeant(socket)) socket.destroy()
    }
    setTimeout(
      close((socket) => socket.bytesRead === 0),
      untouched_ms,
    ).unref()
    setTimeout(
      close(() => true),
      unfinished_ms,
    ).unref()
  }
}

function answer({ request, response, handler }: Exchange): void {
  if (hasTwoHosts(request.rawHeaders)) return refuse(response)
  handler(request, response)
}

/**
 * Names and values, alternating. Servers that choose another of two Host headers would disagree with us about the target of the request.
 */
function hasTwoHosts(raw: readonly string[]): boolean {
  let hosts = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

function refuse(response: ServerResponse): void {
  const headers = { 'content-type': 'application/json', 'content-length': TWO_HOSTS.length, connection: 'close' }
  response.writeHead(400, headers).end(TWO_HOSTS)
}
