// The request of an attempt: a POST of the stored bytes with its signature. Follows no redirect, waits no longer than 15 s in all, and
// connects to nothing but addresses that may be reached. Source: events.md 6.1, 6.2.
import type { Dispatcher } from 'undici'
import { Connections, destroy, RESPONSE_HEADERS_BYTES_MAX, type PooledConnection } from './endpoint-connections.ts'
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
  readonly #options: SenderOptions
  readonly #connections: Connections
  readonly #fixed: string[]

  constructor(options: SenderOptions) {
    const { product, attempt_ms_max = ATTEMPT_MS_MAX, ...where } = options
    this.#options = options
    this.#connections = new Connections({ ...where, connect_ms_max: attempt_ms_max })
    this.#fixed = Object.entries(fixedHeaders(product)).flat()
  }

  /**
   * Never throws: an error is an outcome.
   * @param headers names and values, alternating
   * @param onDone called once, later
   */
  post(endpoint: { id: string; url: string }, headers: string[], body: Buffer, onDone: (result: HttpResult) => void): void {
    void this.#attempt(endpoint, headers.concat(this.#fixed), body, onDone)
  }

  close(): void {
    this.#connections.close()
  }

  async #attempt(
    endpoint: { id: string; url: string },
    headers: string[],
    body: Buffer,
    onDone: (result: HttpResult) => void,
  ): Promise<void> {
    const { mayBegin, attempt_ms_max = ATTEMPT_MS_MAX } = this.#options
    const { origin, pathname, search } = new URL(endpoint.url)
    const started_ms = performance.now()
    let response: Response
    try {
      await this.#connections.loadClient()
      const exchange = (isFresh: boolean) => {
        const line = this.#connections.acquire(endpoint.id, origin, isFresh)
        const deadline_ms = attempt_ms_max - (performance.now() - started_ms)
        return new Promise<Response>((resolve) => {
          const handler = new ResponseHandler(
            line,
            () => mayBegin(endpoint),
            deadline_ms,
            (response) => {
              if (response.isReusable) this.#connections.release(line)
              else destroy(line)
              resolve(response)
            },
          )
          line.client.dispatch({ method: 'POST', path: pathname + search, headers, body }, handler)
        })
      }
      response = await exchange(false)
      if (response.isStale) response = await exchange(true)
    } catch (error) {
      response = { ...NO_RESPONSE, error: errorText(error) }
    }
    const { isReusable: _, isStale: __, ...result } = response
    onDone({ ...result, duration_ms: Math.round(performance.now() - started_ms) })
  }
}

interface Response extends Omit<HttpResult, 'duration_ms'> {
  /** Whether the connection can be reused. */
  isReusable: boolean
  /** The receiver closed a kept connection at the moment of reuse: it has rejected nothing. */
  isStale: boolean
}

const NO_RESPONSE: Response = {
  status: null,
  body: '',
  retry_after: undefined,
  error: null,
  withheld: false,
  isReusable: false,
  isStale: false,
}

/** Collects the response of one request, within the limits of time and size. */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #line: PooledConnection
  readonly #mayBegin: () => boolean
  readonly #onEnd: (response: Response) => void
  readonly #timer: NodeJS.Timeout
  #response: Response = { ...NO_RESPONSE }
  #hasEnded = false
  #interim = 0
  #interim_bytes = 0
  #chunks: Buffer[] = []
  #size = 0

  constructor(line: PooledConnection, mayBegin: () => boolean, deadline_ms: number, onEnd: (response: Response) => void) {
    this.#line = line
    this.#mayBegin = mayBegin
    this.#onEnd = onEnd
    this.#timer = setTimeout(() => this.#end({ error: 'timeout' }), deadline_ms).unref()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#mayBegin()) return
    this.#end({ withheld: true })
    controller.abort(new Error('the request may not begin'))
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    const retryAfter = headers['retry-after']
    if (status >= 200)
      Object.assign(this.#response, { status, retry_after: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter })
    else this.#countInterim(headers)
  }

  /** The final response is still to come. A receiver that never sends it is not read from until the timeout. */
  #countInterim(headers: Record<string, string | string[] | undefined>): void {
    this.#interim_bytes += Buffer.byteLength(JSON.stringify(headers))
    if (++this.#interim > INFORMATIONAL_MAX) this.#end({ error: 'too many informational answers' })
    else if (this.#interim_bytes > RESPONSE_HEADERS_BYTES_MAX) this.#end({ error: HEADER_TOO_LARGE })
  }

  /** The content after the first 20,000 bytes is not read. */
  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#hasEnded) return
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size >= RESPONSE_BYTES_MAX) this.#end({})
  }

  onResponseEnd(): void {
    this.#end({ isReusable: true })
  }

  onResponseError(_controller: unknown, error: Error): void {
    const text = errorText(error)
    const isStale = this.#line.used && this.#response.status === null && CONNECTION_RESET_CODES.has(text)
    this.#end(isStale ? { isStale } : { error: text })
  }

  #end(changes: Partial<Response>): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#timer)
    this.#onEnd({ ...this.#response, body: readText(this.#chunks), ...changes })
  }
}

const readText = (chunks: Buffer[]): string =>
  Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX).toString('utf8').replaceAll('\0', '')

const CONNECTION_RESET_CODES = new Set(['ECONNRESET', 'EPIPE'])

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
