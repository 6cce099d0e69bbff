// Requests to EHR systems, with limits that suit transactions of FHIR.
import { HttpClient, HttpError, type HttpClientOptions } from '../../platform/net/http-client.ts'

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
  answer_bytes_max?: number
}

export type EhrClientOptions = Pick<HttpClientOptions, 'targets' | 'product'> &
  Partial<Pick<HttpClientOptions, 'request_ms_max' | 'answer_bytes_max'>>

/** The connections to EHR systems of one process. */
export class EhrClient {
  readonly #http: HttpClient

  constructor(options: EhrClientOptions) {
    const limits = { request_ms_max: REQUEST_MS_MAX, answer_bytes_max: ANSWER_BYTES_MAX, connections_max: CONNECTIONS_MAX }
    this.#http = new HttpClient({ ...limits, ...options })
  }

  /** Posts a body. Errors: EhrError with the status of an answer other than success, or the code of an HttpError. */
  async post(sandbox: boolean, request: EhrRequest): Promise<string> {
    const { status, text } = await this.#http.send(sandbox, { method: 'POST', ...request }).catch((error: unknown) => {
      throw new EhrError(error instanceof HttpError ? error.code : 'unreachable')
    })
    if (status < 200 || status > 299) throw new EhrError(`http_${status}`)
    return text
  }

  close(): Promise<void> {
    return this.#http.close()
  }
}
