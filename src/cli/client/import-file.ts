// `bin/drawbridge import`: sends a file of health data to a running server and prints how its import goes.
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientContext, type Typed, UsageError } from '../command-tree.ts'
import { type ApiClient, type ApiResponse, createApiClient, NoResponseError, type RemoteValues, request } from './api-client.ts'

const PART_BYTES = 4 * 1024 * 1024
const POLL_MS_MIN = 200
const POLL_MS_MAX = 2000
/** How often a request without a response, or with one that may pass, is repeated. */
const REPEATS = 8
const REPEAT_MS_MAX = 10_000

interface Import {
  id: string
  status: 'uploading' | 'queued' | 'importing' | 'completed' | 'partial' | 'failed'
  received_bytes: number
  progress: number
  accepted: number
  created: number
  updated: number
  dropped: number
  skipped: Record<string, Record<string, number>>
  error: { code: string; message: string } | null
}

/**
 * Sends the file and waits for the end of its import. @throws UsageError without a file and a user; Error if the file cannot be read, the
 * server rejects it, or the import does not complete
 */
export async function importFile(
  { args, values }: Typed<RemoteValues & { user?: string; json?: boolean }>,
  { env, printNow, isTerminal }: ClientContext & { isTerminal?: boolean },
  pause: (ms: number) => Promise<void> = sleep,
): Promise<void> {
  const [path, ...more] = args
  if (path === undefined || more.length || !values.user) throw new UsageError('import needs --user and one file.')
  const print = values.json ? () => {} : printNow
  const server = new Server(createApiClient(values, env), values.user, { pause, say: (line) => print(`${line}\n`) })
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The file cannot be read (${error.code ?? error.name}).`)
  })
  try {
    const { size } = await file.stat()
    if (!size) throw new Error('The file is empty.')
    print(`sending ${megabytes(size)}\n`)
    const progress = new Progress({ printNow: print, ...(isTerminal && { isTerminal }) })
    // Without a terminal, the parts of a large file are not news.
    const id = await server.send(file, size, (share) => isTerminal && progress.show('sending', share))
    const state = await server.follow(id, progress).finally(() => progress.end())
    if (values.json) printNow(`${JSON.stringify(state, null, 2)}\n`)
    report(state, print)
  } finally {
    await file.close()
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

class Server {
  readonly #remote: ApiClient
  readonly #path: string
  readonly #pause: (ms: number) => Promise<void>
  readonly #say: (line: string) => void
  #hasConnected = false

  constructor(
    remote: ApiClient,
    user_id: string,
    { pause, say }: { pause: (ms: number) => Promise<void>; say: (line: string) => void },
  ) {
    this.#remote = remote
    this.#say = say
    this.#path = `/v2/user/${encodeURIComponent(user_id)}/file_import`
    this.#pause = pause
  }

  /** @returns the id of the import */
  async send(file: FileHandle, size: number, reportProgress: (share: number) => void): Promise<string> {
    let id: string | undefined
    for (let at = 0; at < size;) {
      const part = new Uint8Array(Math.min(PART_BYTES, size - at))
      const { bytesRead } = await file.read(part, 0, part.length, at)
      if (bytesRead !== part.length) throw new Error('The file has changed while it was sent.')
      const is_last = at + part.length === size
      const path: string =
        id === undefined ? `${this.#path}?is_last=${is_last}` : `${this.#path}/${id}?offset=${at}&is_last=${is_last}`
      id = (await this.#ask(id === undefined ? 'POST' : 'PUT', path, part)).id
      at += part.length
      reportProgress(at / size)
    }
    return id!
  }

  /** Shows how the import goes. @returns its last state */
  async follow(id: string, progress: Progress): Promise<Import> {
    for (let wait_ms = POLL_MS_MIN; ; wait_ms = Math.min(POLL_MS_MAX, wait_ms * 2)) {
      const state = await this.#ask('GET', `${this.#path}/${id}`)
      progress.show(state.status, state.progress, `${state.created} new, ${state.updated} changed`)
      if (['completed', 'partial', 'failed'].includes(state.status)) return state
      await this.#pause(wait_ms)
    }
  }

  /** Repeats what may succeed later, and says so; a part may be sent again. A server that was never there is not waited for. */
  async #ask(method: 'GET' | 'POST' | 'PUT', path: string, file?: Uint8Array<ArrayBuffer>): Promise<Import> {
    for (let repeats = 0; ; repeats++) {
      const answer = await request(this.#remote, method, path, file ? { file } : {}).catch((error: unknown) => {
        if (!(error instanceof NoResponseError)) throw error
        return error
      })
      const isOver = !(answer instanceof NoResponseError) && answer.status !== 429 && answer.status < 500
      if (answer instanceof NoResponseError && !this.#hasConnected) throw answer
      this.#hasConnected = true
      if (isOver || repeats === REPEATS) return resultOf(answer)
      if (!repeats)
        this.#say(
          answer instanceof NoResponseError ? 'server unreachable; retrying' : `server responded ${answer.status}; retrying`,
        )
      await this.#pause(Math.min(REPEAT_MS_MAX, 500 * 2 ** repeats))
    }
  }
}

function resultOf(answer: ApiResponse | NoResponseError): Import {
  if (answer instanceof NoResponseError) throw answer
  if (answer.status === 200 || answer.status === 202) return answer.body as Import
  const { detail } = (answer.body ?? {}) as { detail?: unknown }
  throw new Error(`The server rejected the request: ${answer.status}${typeof detail === 'string' ? ` ${detail}` : ''}`)
}

/** Prints what came of an import. @throws Error unless it has completed */
function report({ accepted, dropped, skipped, error }: Import, printNow: (text: string) => void): void {
  printNow(`${accepted} accepted, ${dropped} out of bounds\n`)
  for (const [reason, kinds] of Object.entries(skipped))
    for (const [kind, count] of Object.entries(kinds)) printNow(`skipped: ${reason} ${kind} ${count}\n`)
  if (error) throw new Error(error.message)
}

const WIDTH = 30

export class Progress {
  readonly #printNow: (text: string) => void
  readonly #isTerminal: boolean
  #shown = ''

  constructor({ printNow, isTerminal }: { printNow: (text: string) => void; isTerminal?: boolean }) {
    this.#printNow = printNow
    this.#isTerminal = isTerminal ?? false
  }

  /** @param share of the work that is done, from 0 to 1 */
  show(label: string, share: number, detail = ''): void {
    const percent = `${Math.floor(share * 100)} %`
    const end = detail && `, ${detail}`
    const full = Math.floor(share * WIDTH)
    const text = this.#isTerminal
      ? `\r\u001b[K${label.padEnd(10)} [${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${percent}${end}`
      : `${label} ${percent}${end}\n`
    if (text !== this.#shown) this.#printNow((this.#shown = text))
  }

  /** What is printed next begins a line. */
  end(): void {
    if (this.#isTerminal && this.#shown) this.#printNow('\n')
    this.#shown = ''
  }
}
