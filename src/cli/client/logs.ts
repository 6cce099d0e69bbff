// `bin/drawbridge logs`: the requests of a team to a running sandbox, one line each, as they come.
import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError, type ClientContext } from '../command-tree.ts'
import { createApiClient, NoResponseError, request, type ApiClient, type ApiResponse, type RemoteValues } from './api-client.ts'

const POLL_MS = 500
const EARLIER = 10
const EARLIER_MAX = 200

interface LoggedRequest {
  at: string
  method: string
  path: string
  status: number
  duration_ms: number
  error: string | null
}

type LogsContext = ClientContext & {
  signal: AbortSignal
  /** Errors are shown in color. */
  isTerminal: boolean
}

/**
 * Prints requests until the signal aborts; with `--once` those so far. @throws UsageError; Error for a key of production, and if the server
 * rejects the key or, with `--once`, does not answer
 */
export async function logs(
  values: RemoteValues & { last?: string; once?: boolean; json?: boolean },
  { env, printNow, signal, isTerminal }: LogsContext,
): Promise<void> {
  const last = Number(values.last ?? EARLIER)
  if (!Number.isInteger(last) || last < 0 || last > EARLIER_MAX)
    throw new UsageError(`--last must be a number from 0 to ${EARLIER_MAX}.`)
  const remote = () => createApiClient(values, env)
  const print = (request: LoggedRequest) =>
    printNow(values.json ? `${JSON.stringify(request)}\n` : formatRequest(request, isTerminal && !env.NO_COLOR))
  let cursor: string | undefined
  let isLost = false
  do {
    const answer = await ask(remote(), cursor)
    if (answer instanceof NoResponseError || answer.status >= 500) {
      if (answer instanceof NoResponseError && (values.once || cursor === undefined)) throw answer
      if (values.once) throw new Error(`The server at ${remote().url} responded ${(answer as ApiResponse).status}.`)
      if (!isLost) printNow('Server unreachable; retrying.\n')
      isLost = true
    } else if (answer.status === 404) throw new Error('The key belongs to a production cell. logs works in sandbox cells only.')
    else if (answer.status === 200) {
      const { data, next_cursor } = answer.body as { data: LoggedRequest[]; next_cursor: string }
      for (const one of cursor === undefined ? data.slice(last ? -last : data.length) : data) print(one)
      cursor = next_cursor
      isLost = false
    } else if (answer.status !== 429) throw new Error(`The server at ${remote().url} rejected the key (${answer.status}).`)
    if (!values.once) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  } while (!values.once && !signal.aborted)
}

async function ask(remote: ApiClient, cursor: string | undefined): Promise<ApiResponse | NoResponseError> {
  try {
    return await request(remote, 'GET', `/v1/sandbox/requests${cursor === undefined ? '' : `?next_cursor=${cursor}`}`)
  } catch (error) {
    if (error instanceof NoResponseError) return error
    throw error
  }
}

const RED = 31
const YELLOW = 33
const GREEN = 32

function formatRequest({ at, method, path, status, duration_ms, error }: LoggedRequest, isColored: boolean): string {
  const color = status >= 500 ? RED : status >= 400 ? YELLOW : GREEN
  const shown = isColored ? `\u001b[${color}m${status}\u001b[0m` : String(status)
  const took = `${String(Math.round(duration_ms)).padStart(5)} ms`
  return `${at.slice(11, 19)}  ${shown}  ${took}  ${method.padEnd(6)} ${path}${error === null ? '' : `  ${error}`}\n`
}
