// Requests to servers of others: a deadline, a limit of size, no redirect, and only addresses that the target policy allows.
import type { Agent, Dispatcher } from 'undici'
import { decodeUtf8 } from '../runtime/utf8.ts'
import type { TargetPolicy } from './outbound-targets.ts'

/** No whole answer came. The server's own texts are not kept: they may hold patient data or secrets. */
export class HttpError extends Error {
  /** `unreachable`: no connection, an address that is not allowed, http in production, a missed deadline. */
  readonly code: 'unreachable' | 'answer_too_long'
  constructor(code: HttpError['code']) {
    super(`the server: ${code}`)
    this.code = code
  }
}

export interface HttpRequest {
  method: string
  url: string
  headers?: Record<string, string>
  body?: string | null
  /** A smaller limit of its answer than the client has. */
  answer_bytes_max?: number
}

/** Any status, redirects included. */
export interface HttpAnswer {
  status: number
  headers: Headers
  /** As `decodeUtf8` reads it: what is not UTF-8 is refused by checks of texts. */
  text: string
}

export interface HttpClientOptions {
  targets: TargetPolicy
  /** Name and version of the program. */
  product: string
  /** The longest time of one request, with the resolution of the name. */
  request_ms_max: number
  answer_bytes_max: number
  /** Connections to one origin. */
  connections_max: number
}

/** The connections of one process to servers of one kind; the library is loaded at the first request. */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #agents = new Map<boolean, Promise<Agent>>()

  constructor(options: HttpClientOptions) {
    this.#options = options
  }

  #agent(sandbox: boolean): Promise<Agent> {
    let agent = this.#agents.get(sandbox)
    if (!agent) {
      const load = async () => {
        const { Agent: Pool } = await import('undici')
        const { targets, request_ms_max, connections_max } = this.#options
        return new Pool({
          connections: connections_max,
          pipelining: 1,
          connect: { lookup: targets.lookup(sandbox), timeout: request_ms_max },
        })
      }
      this.#agents.set(sandbox, (agent = load()))
    }
    return agent
  }

  /** Sends one request. `sandbox`: http is allowed, and loopback may be reached if the server listens there. Errors: HttpError. */
  async send(sandbox: boolean, { method, url, headers = {}, body = null, ...own }: HttpRequest): Promise<HttpAnswer> {
    const { targets, product, request_ms_max } = this.#options
    const answer_bytes_max = Math.min(own.answer_bytes_max ?? Infinity, this.#options.answer_bytes_max)
    const signal = AbortSignal.timeout(request_ms_max)
    try {
      const { hostname, protocol, origin, pathname, search } = new URL(url)
      if (protocol !== 'https:' && !sandbox) throw new HttpError('unreachable')
      // A connection to a literal address makes no lookup.
      await beforeAbort(signal, targets.addresses(hostname, sandbox))
      const agent = await this.#agent(sandbox)
      const response = await agent.request({
        origin,
        path: pathname + search,
        method: method as Dispatcher.HttpMethod,
        headers: { 'user-agent': product, ...headers },
        body,
        signal,
      })
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > answer_bytes_max) throw new HttpError('answer_too_long')
        chunks.push(chunk)
      }
      return { status: response.statusCode, headers: headersOf(response.headers), text: decodeUtf8(Buffer.concat(chunks)) }
    } catch (error) {
      throw error instanceof HttpError ? error : new HttpError('unreachable')
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) await (await agent).destroy()
    this.#agents.clear()
  }
}

/** The value of a promise, unless the signal aborts before: then its reason is thrown. */
async function beforeAbort<V>(signal: AbortSignal, value: Promise<V>): Promise<V> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([value, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function headersOf(sentHeaders: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(sentHeaders)) for (const value of [values ?? []].flat()) headers.append(name, value)
  return headers
}
