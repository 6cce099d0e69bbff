// Requests to vendors, with limits that suit their answers.
import { HttpClient, HttpError, type HttpClientOptions } from '../../platform/net/http-client.ts'
import { MAIN_THREAD_BYTES_MAX } from '../../platform/net/outside-json.ts'
import { VendorError, type VendorHttp } from './connector.ts'

/** A token is refreshed under a lease of 30 s. */
const REQUEST_MS_MAX = 10_000
/** An answer with a day of heart rates takes about 2 MB. */
export const ANSWER_BYTES_MAX = 20_000_000
/** Connections to one vendor, from all teams: jobs of one team are bounded by their share of the queue. */
const CONNECTIONS_MAX = 64

export type VendorHttpOptions = Pick<HttpClientOptions, 'targets' | 'product'> &
  Partial<Pick<HttpClientOptions, 'request_ms_max' | 'answer_bytes_max'>>

/** An answer has more bytes than who asked can read. */
export class AnswerTooLong extends VendorError {
  constructor() {
    super('unexpected')
  }
}

/** The connections to vendors of one process. */
export class VendorClient {
  readonly #http: HttpClient

  constructor(options: VendorHttpOptions) {
    const limits = { request_ms_max: REQUEST_MS_MAX, answer_bytes_max: ANSWER_BYTES_MAX, connections_max: CONNECTIONS_MAX }
    this.#http = new HttpClient({ ...limits, ...options })
  }

  /**
   * Sends one request. `sandbox`: loopback may be reached if the server listens there. Errors: VendorError `unavailable` for a lost
   * connection, an address that is not allowed or a missed deadline; AnswerTooLong (`unexpected`): 256 kB unless it is
   * read in a thread.
   */
  async send(
    sandbox: boolean,
    { method, url, headers = {}, body }: Parameters<VendorHttp>[0],
    answer_bytes_max = MAIN_THREAD_BYTES_MAX,
  ): ReturnType<VendorHttp> {
    const isForm = typeof body === 'object'
    try {
      return await this.#http.send(sandbox, {
        method,
        url,
        headers: {
          accept: 'application/json',
          ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        answer_bytes_max,
        body: isForm ? new URLSearchParams(body).toString() : (body ?? null),
      })
    } catch (error) {
      throw error instanceof HttpError && error.code === 'answer_too_long' ? new AnswerTooLong() : new VendorError('unavailable')
    }
  }

  close(): Promise<void> {
    return this.#http.close()
  }
}
