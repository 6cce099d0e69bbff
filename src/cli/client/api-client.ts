// A client for a running server: over HTTP, with a team's key, like any other client. The address and the key come from the command line,
// else from the environment, else from the `demo.json` that the server wrote.
import { DEFAULT_CELL, UsageError } from '../command-tree.ts'
import { readDemo } from '../demo-file.ts'
import { cellNames, type CellName } from '../../platform/db/cell-names.ts'

/** Options that select the server and the team. */
export interface RemoteValues {
  url?: string
  key?: string
  cell?: string
}

export interface ApiClient {
  url: string
  key: string
  /** The header of the key; default: that of a team key. */
  key_header?: string
}

/**
 * The server and its key, read again at each call: a restarted server may have another address.
 * @throws UsageError for options that contradict each other; Error if the address or the key is found nowhere
 */
export function createApiClient(typed: RemoteValues, env: Record<string, string | undefined>): ApiClient {
  const cell = cellOf(typed, env)
  if (typed.cell !== undefined && typed.key !== undefined) throw new UsageError('--cell cannot be combined with --key.')
  const url = typed.url ?? env.DRAWBRIDGE_URL
  if (url !== undefined && !/^https?:\/\/./.test(url)) throw new UsageError('--url must start with http:// or https://.')
  const key = typed.key ?? (typed.cell === undefined ? env.DRAWBRIDGE_KEY : undefined)
  const demo = url === undefined || key === undefined ? readDemo(env.DATA_DIR?.trim() || './data') : undefined
  const found = { url: url ?? demo?.base_url, key: key ?? demo?.api_keys[cell] }
  if (!found.url || !found.key)
    throw new Error('No demo data found in DATA_DIR. Specify --url and --key, or DRAWBRIDGE_URL and DRAWBRIDGE_KEY.')
  return { url: found.url.replace(/\/+$/, ''), key: found.key }
}

/** The cell of `--cell`, or what takes its place. @throws UsageError for none that there is */
export function cellOf({ cell: typed }: { cell?: string }, env: Record<string, string | undefined>): CellName {
  const word = typed ?? (env.DRAWBRIDGE_CELL?.trim() || DEFAULT_CELL)
  const cell = cellNames.find((name) => name === word)
  if (cell === undefined) throw new UsageError(`--cell must be one of ${cellNames.join(', ')}.`)
  return cell
}

export interface ApiResponse {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
  body: any
  retry_after_s: number
}

/** The server did not respond; the message is a code of the system. */
export class NoResponseError extends Error {}

const RESPONSE_TIMEOUT_MS = 30_000

/** @throws NoResponseError */
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
    /** A body that is no JSON. */
    file?: Uint8Array<ArrayBuffer>
    signal?: AbortSignal
    headers?: Record<string, string>
  } = {},
): Promise<ApiResponse> {
  const limits = [AbortSignal.timeout(RESPONSE_TIMEOUT_MS), ...(signal ? [signal] : [])]
  try {
    const response = await fetch(url + path, {
      method,
      headers: { [key_header]: key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      signal: AbortSignal.any(limits),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(file && { body: file }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      body: isJson ? JSON.parse(text) : undefined,
      retry_after_s: Number(response.headers.get('retry-after')) || 0,
    }
  } catch (error) {
    throw new NoResponseError(networkErrorCode(error))
  }
}

/** The reason why there was no response, in a word. */
export function networkErrorCode(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: unknown }
  if (name === 'TimeoutError') return 'request timed out'
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause
  return (inner as { code?: string } | undefined)?.code ?? (error as { code?: string }).code ?? name ?? 'unknown'
}
