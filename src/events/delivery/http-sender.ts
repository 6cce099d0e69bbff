// One attempt: a signed POST of the stored bytes. Follows no redirect, waits no longer than 15 s in all, and connects to nothing but
// addresses that may be reached. Source: events.md 6.1, 6.2.
import type { Dispatcher } from 'undici'
import { Connections, destroy, RESPONSE_HEADERS_BYTES_MAX, type PooledConnection } from './connection-pool.ts'
import { ForbiddenAddressError, type TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { fixedHeaders } from '../endpoints/custom-headers.ts'

const ATTEMPT_MS_MAX = 15_000
const RESPONSE_BYTES_MAX = 20_000
/** Limit of interim responses, such as `103`, that an attempt waits through: no request asks for any. */
const INFORMATIONAL_MAX = 5

export interface HttpResult {
  /** Null: no response. */
  status: number | null
  body: string
  retry_after: string | undefined
  /** Null: a response came in time, whatever its status. */
  error: string | null
  duration_ms: number
  /** No request began: it was no longer permitted when its connection was ready. */
  withheld: boolean
}

export interface SenderOptions {
  targets: TargetPolicy
  /** Whether loopback may be reached too. */
  sandbox: boolean
  /** Name and version of the program. */
  product: string
  attempt_ms_max?: number
  idle_max?: number
  /** Whether a request to an endpoint may begin: called right before it is written, since making a connection takes time. */
  mayBegin: (endpoint: { id: string; url: string }) => boolean
}

/** Sends attempts of one environment. */
export class Sender {
  readonly #attempt_ms_max: number
  readonly mayBegin: SenderOptions['mayBegin']
  readonly #connections: Connections
  readonly #fixed: string[]
  /** Attempts in flight, in the order of their deadlines. */
  readonly #timed = new Set<HttpExchange>()
  /** Attempts that have ended and whose callback has not been called yet. */
  #finished: HttpExchange[] = []
  #timer: NodeJS.Timeout | undefined

  constructor({ product, attempt_ms_max = ATTEMPT_MS_MAX, mayBegin, ...where }: SenderOptions) {
    this.mayBegin = mayBegin
    this.#attempt_ms_max = attempt_ms_max
    this.#connections = new Connections({ ...where, connect_ms_max: attempt_ms_max })
    this.#fixed = Object.entries(fixedHeaders(product)).flat()
  }

  /**
   * Never throws: an error is an outcome. Uses a callback instead of promises: with a promise at each step an attempt took a
   * tenth longer.
   * @param headers names and values, alternating
   * @param done called once, later
   */
  post(endpoint: { id: string; url: string }, headers: string[], body: Buffer, done: (attempted: HttpResult) => void): void {
    const exchange = new HttpExchange(this, endpoint, headers.concat(this.#fixed), body, done)
    if (this.#connections.isReady) this.#start(exchange)
    else void this.#startWhenConnected(exchange)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#connections.close()
  }

  /** Called by an exchange: it no longer uses its connection, and whether the connection can be reused. */
  ended(exchange: HttpExchange, line: PooledConnection, isLineGood: boolean): void {
    if (isLineGood) this.#connections.release(line)
    else destroy(line)
    if (exchange.retryOnNewConnection) return exchange.begin(this.#connections.acquire(exchange.endpoint, exchange.origin, true))
    this.#finish(exchange)
  }

  async #startWhenConnected(exchange: HttpExchange): Promise<void> {
    try {
      await this.#connections.loadClient()
      this.#start(exchange)
    } catch (error) {
      exchange.fail(error)
      this.#finish(exchange)
    }
  }

  #start(exchange: HttpExchange): void {
    this.#timed.add(exchange)
    this.#timer ??= setTimeout(() => this.#expire(), this.#attempt_ms_max).unref()
    exchange.begin(this.#connections.acquire(exchange.endpoint, exchange.origin, false))
  }

  #finish(exchange: HttpExchange): void {
    this.#timed.delete(exchange)
    if (this.#finished.push(exchange) === 1) queueMicrotask(this.#notifyDone)
  }

  /** Not while the response is being read: the callback sends the next message. */
  readonly #notifyDone = (): void => {
    const over = this.#finished
    this.#finished = []
    for (const exchange of over) exchange.done(exchange.onResult())
  }

  /** One timer for all: attempts end in the order in which they began. */
  #expire(): void {
    this.#timer = undefined
    const now_ms = performance.now()
    for (const exchange of this.#timed) {
      const left_ms = exchange.started_ms + this.#attempt_ms_max - now_ms
      if (left_ms > 0) {
        this.#timer = setTimeout(() => this.#expire(), left_ms).unref()
        return
      }
      this.#timed.delete(exchange)
      exchange.expire()
    }
  }
}

/** The exchange over a connection, or over two if the first broke when it was reused. */
class HttpExchange implements Dispatcher.DispatchHandler {
  readonly started_ms = performance.now()
  readonly endpoint: string
  readonly origin: string
  readonly done: (attempted: HttpResult) => void
  readonly #sender: Sender
  readonly #to: { id: string; url: string }
  readonly #request: Dispatcher.DispatchOptions
  retryOnNewConnection = false
  #withheld = false
  #error: string | null = null
  /** Undefined: the exchange has ended. */
  #line: PooledConnection | undefined
  #status: number | null = null
  #retry_after: string | undefined
  #informational = 0
  #informational_bytes = 0
  #chunks: Buffer[] | undefined
  #size = 0

  constructor(
    sender: Sender,
    to: { id: string; url: string },
    headers: string[],
    body: Buffer,
    done: (attempted: HttpResult) => void,
  ) {
    const { origin, path } = parseUrl(to.url)
    this.#sender = sender
    this.#to = to
    this.endpoint = to.id
    this.origin = origin
    this.done = done
    this.#request = { method: 'POST', path, headers, body }
  }

  begin(line: PooledConnection): void {
    this.retryOnNewConnection = false
    this.#line = line
    line.client.dispatch(this.#request, this)
  }

  /** The request has not begun, and will not. */
  fail(error: unknown): void {
    this.#error = errorText(error)
  }

  /** Ends the exchange when the attempt has timed out. */
  expire(): void {
    this.#error = 'timeout'
    this.#end(false)
  }

  onResult(): HttpResult {
    return {
      status: this.#status,
      body: this.#chunks ? textOf(this.#chunks) : '',
      retry_after: this.#retry_after,
      error: this.#error,
      duration_ms: Math.round(performance.now() - this.started_ms),
      withheld: this.#withheld,
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#sender.mayBegin(this.#to)) return
    this.#withheld = true
    controller.abort(new Error('the request may not begin'))
    this.#end(false)
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (!this.#line) return
    if (status < 200) return this.#wait(headers)
    this.#status = status
    const asked = headers['retry-after']
    this.#retry_after = Array.isArray(asked) ? asked[0] : asked
  }

  /** The final response is still to come. A receiver that never sends it is not read from until the timeout. */
  #wait(headers: Record<string, string | string[] | undefined>): void {
    this.#informational_bytes += Buffer.byteLength(JSON.stringify(headers))
    if (++this.#informational > INFORMATIONAL_MAX) this.#error = 'too many informational answers'
    else if (this.#informational_bytes > RESPONSE_HEADERS_BYTES_MAX) this.#error = HEADER_TOO_LARGE
    if (this.#error !== null) this.#end(false)
  }

  /** The exchange does not wait for content after the first 20,000 bytes. */
  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (!this.#line) return
    if (this.#chunks) this.#chunks.push(chunk)
    else this.#chunks = [chunk]
    this.#size += chunk.length
    if (this.#size >= RESPONSE_BYTES_MAX) this.#end(false)
  }

  onResponseEnd(): void {
    this.#end(true)
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (!this.#line) return
    const text = errorText(error)
    // The receiver closed a kept connection at the moment of reuse: it has rejected nothing.
    this.retryOnNewConnection = this.#line.used && this.#status === null && CONNECTION_RESET_CODES.has(text)
    if (!this.retryOnNewConnection) this.#error = text
    this.#end(false)
  }

  #end(isLineGood: boolean): void {
    const line = this.#line
    this.#line = undefined
    if (line) this.#sender.ended(this, line, isLineGood)
  }
}

const textOf = (chunks: Buffer[]): string =>
  Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX).toString('utf8').replaceAll('\0', '')

const CONNECTION_RESET_CODES = new Set(['ECONNRESET', 'EPIPE'])

const URLS_MAX = 1000
const urls = new Map<string, { origin: string; path: string }>()

/** The host and path of a URL; cached, since endpoints are few and messages many. */
function parseUrl(url: string): { origin: string; path: string } {
  let parts = urls.get(url)
  if (!parts) {
    const { origin, pathname, search } = new URL(url)
    parts = { origin, path: pathname + search }
    if (urls.size >= URLS_MAX) urls.clear()
    urls.set(url, parts)
  }
  return parts
}

const HEADER_TOO_LARGE = 'answer header too large'

/** Codes of the library: the peer closed the connection, the response timed out, or the response is invalid. */
const IN_WORDS: Record<string, string> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: HEADER_TOO_LARGE,
}

/** The reason for a missing response: a few fixed words or a code of the system, never a message, which may name addresses. */
function errorText(error: unknown): string {
  if (error instanceof ForbiddenAddressError) return 'address refused'
  const errors = error instanceof AggregateError ? error.errors : [error]
  const { code, name } = (errors[0] ?? error) as { code?: string; name?: string }
  if (name === 'HTTPParserError') return 'answer is not HTTP'
  return IN_WORDS[code ?? ''] ?? code ?? name ?? 'unknown'
}
