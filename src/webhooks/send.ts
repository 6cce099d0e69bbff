// One attempt: a signed POST of the stored bytes. Follows no redirect, waits no longer than 15 s in all, and connects to nothing but
// addresses that may be reached. Source: events.md 6.1, 6.2.
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { RefusedAddress, type Targets } from './targets.ts'

const ATTEMPT_MS_MAX = 15_000
const RESPONSE_BYTES_MAX = 20_000
const RESPONSE_HEADERS_BYTES_MAX = 16_384
const IDLE_MS = 20_000
/** To one receiver: as many as attempts in the air for several of its endpoints. */
const IDLE_SOCKETS_MAX = 64

export interface Attempted {
  /** Null: no answer. */
  status: number | null
  body: string
  retry_after: string | undefined
  /** Null: answered in time, whatever the answer. */
  error: string | null
  duration_ms: number
}

export interface SenderOptions {
  targets: Targets
  /** Whether loopback may be reached too. */
  sandbox: boolean
  /** Name and version of the program. */
  product: string
  attempt_ms_max?: number
}

/** Headers that every attempt has; nothing of a team's own may replace them. */
export const fixedHeaders = (product: string): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': product,
})

/** Sends attempts of one environment. Connections are kept and used again; an address is looked at when one is made. */
export class Sender {
  readonly #options: SenderOptions
  readonly #plain: PlainAgent
  readonly #tls: TlsAgent
  readonly #fixed: Record<string, string>

  constructor(options: SenderOptions) {
    this.#options = options
    this.#fixed = fixedHeaders(options.product)
    const keeping = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX, timeout: IDLE_MS }
    this.#plain = new PlainAgent(keeping)
    this.#tls = new TlsAgent(keeping)
  }

  /** Never throws: what goes wrong is an outcome. */
  async post(url: string, headers: Record<string, string>, body: Buffer): Promise<Attempted> {
    const started = performance.now()
    const deadline = AbortSignal.timeout(this.#options.attempt_ms_max ?? ATTEMPT_MS_MAX)
    const done = (result: Omit<Attempted, 'duration_ms'>): Attempted => ({
      ...result,
      duration_ms: Math.round(performance.now() - started),
    })
    const failed = (error: unknown, status: number | null = null) =>
      done({ status, body: '', retry_after: undefined, error: deadline.aborted ? 'timeout' : errorText(error) })
    try {
      return done(await this.#try(new URL(url), headers, body, deadline))
    } catch (error) {
      if (!(error instanceof BrokenReuse)) return failed(error)
    }
    try {
      return done(await this.#try(new URL(url), headers, body, deadline))
    } catch (error) {
      return failed(error)
    }
  }

  close(): void {
    this.#plain.destroy()
    this.#tls.destroy()
  }

  async #try(
    url: URL,
    headers: Record<string, string>,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<Omit<Attempted, 'duration_ms'>> {
    const { targets, sandbox } = this.#options
    // An address in the place of a name is connected to without being looked up.
    if (/^[\d.]+$|^\[/.test(url.hostname)) await targets.addresses(url.hostname, sandbox)
    const tls = url.protocol === 'https:'
    return new Promise((resolve, reject) => {
      const request = (tls ? tlsRequest : plainRequest)(url, {
        method: 'POST',
        agent: tls ? this.#tls : this.#plain,
        headers: { ...headers, ...this.#fixed, 'content-length': String(body.length) },
        maxHeaderSize: RESPONSE_HEADERS_BYTES_MAX,
        lookup: targets.lookup(sandbox),
        signal,
      })
      request.on('error', (error) => {
        const { code } = error as NodeJS.ErrnoException
        // The receiver closed a kept connection at the moment it was used again: nothing has been refused.
        const reused = request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')
        reject(reused ? new BrokenReuse() : error)
      })
      request.on('response', (response) => void collect(response, signal).then(resolve, reject))
      request.on('socket', (socket) => {
        const check = () => {
          if (!this.#isReachable(url, socket)) request.destroy(new RefusedAddress('The address is not a public one'))
        }
        if (socket.connecting) socket.once('connect', check)
        else check()
      })
      request.end(body)
    })
  }

  /** A last look at where the connection really goes, names that the operator allows excepted. */
  #isReachable(url: URL, socket: Socket): boolean {
    const address = socket.remoteAddress
    return address === undefined || this.#options.targets.mayConnect(url.hostname, address, this.#options.sandbox)
  }
}

class BrokenReuse extends Error {}

/** The answer, of its body the first 20,000 bytes; what follows is not waited for. */
async function collect(response: IncomingMessage, signal: AbortSignal): Promise<Omit<Attempted, 'duration_ms'>> {
  const status = response.statusCode ?? null
  const retry_after = response.headers['retry-after']
  const chunks: Buffer[] = []
  let size = 0
  let error: string | null = null
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= RESPONSE_BYTES_MAX) break
    }
  } catch (cause) {
    error = signal.aborted ? 'timeout' : errorText(cause)
  }
  const body = Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX).toString('utf8').replaceAll('\0', '')
  return { status, body, retry_after, error }
}

/** Why there was no answer, in a word: codes of the system, never a message, which may name addresses. */
function errorText(error: unknown): string {
  if (error instanceof RefusedAddress) return 'address refused'
  const errors = error instanceof AggregateError ? error.errors : [error]
  const { code, name } = (errors[0] ?? error) as { code?: string; name?: string }
  return code ?? name ?? 'unknown'
}
