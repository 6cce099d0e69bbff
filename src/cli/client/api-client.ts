// A client for a running server: over HTTP, with a team's key, like any other client. The address and the key come from the command line,
// else from the environment, else from the `demo.json` that the server wrote.
import { once } from 'node:events'
import { connect } from 'node:net'
import { DEFAULT_CELL, PROGRAM, UsageError } from '../command-tree.ts'
import { networkErrorCode, reasonOf } from '../network-errors.ts'
import { readDemo } from '../demo-file.ts'
import { cellNames, type KnownCell } from '../../settings/cells.ts'

/** Options that select the server and the team. */
export interface RemoteValues {
  url?: string
  key?: string
  cell?: string
}

export interface ApiClient {
  url: string
  key: string
  /** The key is that of the demo data in DATA_DIR. */
  isDemoKey?: boolean
  /** The header of the key; default: that of a team key. */
  key_header?: string
}

/**
 * The server and its key, read again at each call: a restarted server may have another address.
 * @throws UsageError for options that contradict each other; Error if the address or the key is found nowhere
 */
export function createApiClient(input: RemoteValues, env: Record<string, string | undefined>): ApiClient {
  const cell = requireKnownCell(input, env)
  if (input.cell !== undefined && input.key !== undefined) throw new UsageError('--cell cannot be combined with --key.')
  const url = input.url ?? env.DRAWBRIDGE_URL
  if (url !== undefined && !isHttpUrl(url)) throw new UsageError('--url must start with http:// or https://.')
  const key = input.key ?? (input.cell === undefined ? env.DRAWBRIDGE_KEY : undefined)
  const demo = url === undefined || key === undefined ? readDemo(env.DATA_DIR?.trim() || './data') : undefined
  const found = { url: url ?? demo?.base_url, key: key ?? demo?.api_keys[cell] }
  if (!found.url || !found.key)
    throw new Error('No demo data found in DATA_DIR. Specify --url and --key, or DRAWBRIDGE_URL and DRAWBRIDGE_KEY.')
  return { url: found.url.replace(/\/+$/, ''), key: found.key, isDemoKey: key === undefined }
}

export const isHttpUrl = (text: string): boolean => /^https?:\/\/./.test(text) && URL.canParse(text)

/** The cell of `--cell`, or what takes its place. @throws UsageError for none that there is */
export function requireKnownCell({ cell: input }: { cell?: string }, env: Record<string, string | undefined>): KnownCell {
  const word = input ?? (env.DRAWBRIDGE_CELL?.trim() || DEFAULT_CELL)
  const cell = cellNames.find((name) => name === word)
  if (cell === undefined) throw new UsageError(`--cell must be one of ${cellNames.join(', ')}.`)
  return cell
}

export interface ApiResponse {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
  body: any
  retry_after_s: number
  content_type: string
  bytes: Uint8Array
}

/** The server did not respond. The message says so in words, and what to do. */
export class NoResponseError extends Error {
  readonly reason: string

  constructor(url: string, code: string) {
    super(
      `No server answers at ${url} (${reasonOf(code)}). "${PROGRAM} start" starts one on this machine; --url or DRAWBRIDGE_URL names another.`,
    )
    this.reason = reasonOf(code)
  }
}

const RESPONSE_TIMEOUT_MS = 30_000
/** Milliseconds until a connection attempt fails; the operating system waits longer. */
const CONNECT_TIMEOUT_MS = 3000

/** Addresses to which this process has connected. */
const reached = new Set<string>()

/** Connects once to the address of a server. @throws an error with a code */
async function assertReachable(url: string): Promise<void> {
  const { origin, hostname, port, protocol } = new URL(url)
  if (reached.has(origin)) return
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
  const timer = setTimeout(
    () => socket.destroy(Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' })),
    CONNECT_TIMEOUT_MS,
  )
  try {
    await once(socket, 'connect')
    reached.add(origin)
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

/** @throws NoResponseError, after three seconds at most if there is nothing at the address */
export async function request(
  { url, key, key_header = 'x-service-api-key' }: ApiClient,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  {
    body,
    file,
    signal,
    headers,
  }: {
    body?: unknown
    /** A body that is not JSON. */
    file?: Uint8Array<ArrayBuffer>
    signal?: AbortSignal
    headers?: Record<string, string>
  } = {},
): Promise<ApiResponse> {
  const limits = [AbortSignal.timeout(RESPONSE_TIMEOUT_MS), ...(signal ? [signal] : [])]
  try {
    await assertReachable(url)
    const response = await fetch(url + path, {
      method,
      headers: { [key_header]: key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      signal: AbortSignal.any(limits),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(file && { body: file }),
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const content_type = response.headers.get('content-type') ?? ''
    return {
      status: response.status,
      body: content_type.startsWith('application/json') ? JSON.parse(Buffer.from(bytes).toString()) : undefined,
      content_type,
      bytes,
      retry_after_s: Number(response.headers.get('retry-after')) || 0,
    }
  } catch (error) {
    throw new NoResponseError(url, networkErrorCode(error))
  }
}

/** The server has refused something. */
export const requestError = (subject: string, status: number, body: unknown): Error => {
  const { detail } = (body ?? {}) as { detail?: unknown }
  const faults = Array.isArray(detail) ? (detail as { loc?: string[]; msg?: string }[]) : []
  const listed = faults.map(({ loc = [], msg = '' }) => `${loc.join('.')}: ${msg}`).join('; ')
  return new Error(`The server rejected ${subject}: ${status} ${typeof detail === 'string' ? detail : listed}`.trimEnd())
}

/** The body of a response, in the shape that the API documents. @throws Error unless it is a success @param subject what was asked for */
export function assertOk<B>({ status, body }: ApiResponse, subject: string): B {
  if (status < 200 || status > 299) throw requestError(subject, status, body)
  return body as B
}
