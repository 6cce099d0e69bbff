// Errors that say what the server answers. Anything else that is thrown is a fault of ours and becomes a 500.

export class Problem extends Error {
  override name = 'Problem'
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Record<string, string>
  constructor(status: number, body: Record<string, unknown>, headers: Record<string, string> = {}) {
    super(`answer ${status}`)
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** 503: there is no room for the call now. @param retry_after_s in whole seconds */
export const unavailable = (detail: string, retry_after_s = 1) =>
  new Problem(503, { detail }, { 'retry-after': String(retry_after_s) })
