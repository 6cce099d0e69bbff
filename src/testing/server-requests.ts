// Requests to a server, and its refusals as errors.

/** How long one request may take: an advance of the clock runs jobs for up to 30 s. */
const REQUEST_MS_MAX = 60_000

/** A response with a status of 400 or more. `message` has the method, the path without its query, the status and the `detail`. */
export class DrawbridgeError extends Error {
  override readonly name = 'DrawbridgeError'
  readonly status: number
  /** The body of the response: parsed if it is JSON, else text. */
  readonly body: unknown

  constructor(request: string, status: number, body: unknown) {
    super(`${request} was answered with ${status}: ${detailOf(body)}`)
    this.status = status
    this.body = body
  }
}

const detailOf = (body: unknown): string => {
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : body
  return typeof detail === 'string' ? detail : JSON.stringify(detail)
}

export interface CallOptions {
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal
}

/** Sends JSON with the given headers below `url` and returns the parsed body. @throws DrawbridgeError for a status of 400 or more */
export async function call(
  url: string,
  headers: Record<string, string>,
  method: string,
  path: string,
  { body, signal }: CallOptions = {},
): Promise<unknown> {
  const limit = AbortSignal.timeout(REQUEST_MS_MAX)
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const parsed: unknown = isJson ? JSON.parse(text) : text
  if (response.status >= 400) throw new DrawbridgeError(`${method} ${path.split('?', 1)[0]}`, response.status, parsed)
  return parsed
}

/** An organization of a server, with its management key. */
export interface Organization {
  readonly url: string
  readonly orgId: string
  readonly managementKey: string
}

/** A request to the Management API; the path is that below the organization. @throws DrawbridgeError */
export const manage = (
  { url, orgId, managementKey }: Organization,
  method: string,
  path: string,
  options?: CallOptions,
): Promise<unknown> => call(url, { 'x-management-key': managementKey }, method, `/v1/org/${orgId}${path}`, options)
