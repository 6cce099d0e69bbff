// Requests to vendors: a deadline, a limit of size, no redirect, and only addresses that the target policy allows.
import type { Agent, Dispatcher } from 'undici'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { VendorError, type VendorHttp } from './connector.ts'

/** The longest time of one request, with the resolution of the name. A token is refreshed under a lease of 30 s. */
const REQUEST_MS_MAX = 10_000
/** An answer with a day of heart rates takes about 2 MB. */
const ANSWER_BYTES_MAX = 20_000_000
/** Connections to one vendor, from all teams: jobs of one team are bounded by their share of the queue. */
const CONNECTIONS_MAX = 64

export interface VendorHttpOptions {
  targets: TargetPolicy
  /** Name and version of the program. */
  product: string
  request_ms_max?: number
  answer_bytes_max?: number
}

/** The connections to vendors of one process; the client is loaded at the first request. */
export class VendorClient {
  readonly #options: Required<VendorHttpOptions>
  readonly #agents = new Map<boolean, Promise<Agent>>()

  constructor(options: VendorHttpOptions) {
    this.#options = { request_ms_max: REQUEST_MS_MAX, answer_bytes_max: ANSWER_BYTES_MAX, ...options }
  }

  #agent(sandbox: boolean): Promise<Agent> {
    let agent = this.#agents.get(sandbox)
    if (!agent) {
      const load = async () => {
        const { Agent: Pool } = await import('undici')
        const { targets, request_ms_max } = this.#options
        return new Pool({
          connections: CONNECTIONS_MAX,
          pipelining: 1,
          connect: { lookup: targets.lookup(sandbox), timeout: request_ms_max },
        })
      }
      this.#agents.set(sandbox, (agent = load()))
    }
    return agent
  }

  /**
   * Sends one request. `sandbox`: loopback may be reached if the server listens there. Errors: VendorError `unavailable` for a lost
   * connection, an address that is not allowed or a missed deadline; `unexpected` for an answer that is too long.
   */
  async send(sandbox: boolean, { method, url, headers = {}, body }: Parameters<VendorHttp>[0]): ReturnType<VendorHttp> {
    const { targets, product, request_ms_max, answer_bytes_max } = this.#options
    const signal = AbortSignal.timeout(request_ms_max)
    const isForm = typeof body === 'object'
    try {
      const { hostname, protocol, origin, pathname, search } = new URL(url)
      if (protocol !== 'https:' && !sandbox) throw new VendorError('unavailable')
      // A connection to a literal address makes no lookup.
      await beforeAbort(signal, targets.addresses(hostname, sandbox))
      const agent = await this.#agent(sandbox)
      const response = await agent.request({
        origin,
        path: pathname + search,
        method: method as Dispatcher.HttpMethod,
        headers: {
          accept: 'application/json',
          'user-agent': product,
          ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        body: isForm ? new URLSearchParams(body).toString() : (body ?? null),
        signal,
      })
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > answer_bytes_max) throw new VendorError('unexpected')
        chunks.push(chunk)
      }
      return { status: response.statusCode, headers: headersOf(response.headers), text: Buffer.concat(chunks).toString('utf8') }
    } catch (error) {
      throw error instanceof VendorError ? error : new VendorError('unavailable')
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) await (await agent).destroy()
    this.#agents.clear()
  }
}

/** The value of a promise, unless the signal aborts before: then its reason is thrown. */
function beforeAbort<V>(signal: AbortSignal, value: Promise<V>): Promise<V> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  return Promise.race([value, aborted])
}

function headersOf(given: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(given)) for (const value of [values ?? []].flat()) headers.append(name, value)
  return headers
}
