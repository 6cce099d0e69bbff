// Requests to EHR systems: a deadline, a limit of size, no redirect, and only addresses that the target policy allows.
import type { Agent } from 'undici'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'

const REQUEST_MS_MAX = 15_000
/** A server may answer a transaction with all of its resources. */
const ANSWER_BYTES_MAX = 10_000_000
const CONNECTIONS_MAX = 16

/** An EHR system did not take what was sent. Its own texts are not kept: they may hold patient data. */
export class EhrError extends Error {
  readonly code: string
  constructor(code: string) {
    super(`the EHR system: ${code}`)
    this.code = code
  }
}

export interface EhrRequest {
  url: string
  headers: Record<string, string>
  body: string
}

export interface EhrClientOptions {
  targets: TargetPolicy
  /** Name and version of the program. */
  product: string
}

/** The connections to EHR systems of one process; the client is loaded at the first request. */
export class EhrClient {
  readonly #options: EhrClientOptions
  readonly #agents = new Map<boolean, Promise<Agent>>()

  constructor(options: EhrClientOptions) {
    this.#options = options
  }

  #agent(sandbox: boolean): Promise<Agent> {
    const known = this.#agents.get(sandbox)
    if (known) return known
    const connect = { lookup: this.#options.targets.lookup(sandbox), timeout: REQUEST_MS_MAX }
    const agent = import('undici').then((undici) => new undici.Agent({ connections: CONNECTIONS_MAX, pipelining: 1, connect }))
    this.#agents.set(sandbox, agent)
    return agent
  }

  /**
   * Posts a body. Errors: EhrError with the status of an answer other than success, `answer_too_long`, or `unreachable`: no connection, an
   * address that is not allowed, http in production, a missed deadline.
   */
  async post(sandbox: boolean, { url, headers, body }: EhrRequest): Promise<string> {
    try {
      const { hostname, protocol, origin } = new URL(url)
      if (protocol !== 'https:' && !sandbox) throw new EhrError('unreachable')
      // A connection to a literal address makes no lookup.
      await this.#options.targets.addresses(hostname, sandbox)
      const agent = await this.#agent(sandbox)
      const response = await agent.request({
        origin,
        path: new URL(url).href.slice(origin.length) || '/',
        method: 'POST',
        headers: { 'user-agent': this.#options.product, ...headers },
        body,
        signal: AbortSignal.timeout(REQUEST_MS_MAX),
      })
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > ANSWER_BYTES_MAX) throw new EhrError('answer_too_long')
        chunks.push(chunk)
      }
      if (response.statusCode < 200 || response.statusCode > 299) throw new EhrError(`http_${response.statusCode}`)
      return Buffer.concat(chunks).toString('utf8')
    } catch (error) {
      throw error instanceof EhrError ? error : new EhrError('unreachable')
    }
  }

  async close(): Promise<void> {
    for (const agent of this.#agents.values()) await (await agent).destroy()
    this.#agents.clear()
  }
}
