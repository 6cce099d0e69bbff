// The worst that a caller can send, against the program in a process of its own. Each case prints one line, with the longest turn of the
// server's event loop and the peak of its memory, and fails above the limits that the documentation promises (docs/SECURITY.md).
//
// A turn is measured in the server, by its own monitor (src/platform/telemetry/loop-monitor.ts), which logs turns above 20 ms at the level
// `debug`. Its processor time counts, not its duration: other programs on the machine make a turn longer, and nobody can mend that here.
// They share the caches and the memory too, so that the better of two runs counts.
//
// Memory is that of the whole process tree, at the moment at which it is most; what processes share counts once (process-memory.ts).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  caller,
  demoIn,
  folder,
  listening,
  migrateDataDir,
  start,
  stopAll,
  waitUntil,
  type Caller,
  type Server,
} from '../support/program.ts'
import { bodyOf, type PhoneBody } from './phone-bodies.ts'
import { MemoryWatch } from './process-memory.ts'

/** No request may keep the event loop for longer. */
const BLOCK_MS_MAX = 100
/** No request may make the processes take more. */
const MEMORY_MB_MAX = 1000

export interface HostileCase {
  /** Requests with the key of a sandbox team. */
  api: Caller
  url: string
  key: string
  /** A user without data. */
  user(): Promise<string>
  server: Server
}

interface Measured {
  /** Processor time of the main thread in the longest turn; 0: none took 20 ms. */
  block_ms: number
  /** What computed longest in that turn. */
  work: string
  peak_mb: number
  /** What of it is PostgreSQL's. */
  postgres_mb: number
}

interface LogLine {
  msg: string
  processor_ms?: number
  operation?: string
  job?: string
  task?: string
  'request.id'?: string
}

let server: Server
let api: Caller
let key: string

/** Starts the server before the tests of a file, and ends it after them. @param settings beside one sandbox cell */
export function serveForCases(settings: Record<string, string> = {}): void {
  before(async () => {
    const dataDir = migrateDataDir(folder('hostile'))
    // As `npm start` starts it.
    const args = ['--max-semi-space-size=8', '--v8-pool-size=1', 'src/cli/entry.js', 'start']
    const means = {
      CELLS: 'sandbox-us',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      MALLOC_ARENA_MAX: '1',
      PORT: '0',
      DATA_DIR: dataDir,
    }
    server = await listening(start({ args, settings: { ...means, ...settings } }), dataDir)
    key = demoIn(server.dataDir).api_keys['sandbox-us']!
    api = caller(server.url, key)
    // What Node compiles when code runs for the first time is no part of a case.
    for (let i = 0; i < 20; i++) await api.get(`/v2/user/${await user()}`)
  })
  after(stopAll)
}

let users = 0

async function user(): Promise<string> {
  const { status, body } = await api.post('/v2/user', { client_user_id: `hostile ${++users}` })
  assert.equal(status, 200, JSON.stringify(body))
  return body.user_id as string
}

/** What cases work with, once the server runs. */
const createCase = (): HostileCase => ({ api, url: server.url, key, user, server })

/**
 * A case: what it does is measured, its line printed, and it fails above the limits.
 * @param prepare what is not measured: bodies, rows that are there before
 * @param run sends the requests, checks their status and waits for the work that they cause
 */
export function hostile<P>(
  name: string,
  prepare: (means: HostileCase) => P | Promise<P>,
  run: (means: HostileCase, preparation: P) => Promise<void>,
): void {
  test(name, async (t) => {
    const means = createCase()
    const measureOnce = async () => {
      const prepared = await prepare(means)
      return measure(() => run(means, prepared))
    }
    let measured = await measureOnce()
    if (measured.block_ms > BLOCK_MS_MAX) measured = await measureOnce()
    const { block_ms, work, peak_mb, postgres_mb } = measured
    t.diagnostic(
      `hostile: ${name}: longest block ${block_ms} ms${work && ` (${work})`}, peak ${peak_mb} MB (${postgres_mb} of PostgreSQL)`,
    )
    assert.ok(block_ms <= BLOCK_MS_MAX, `${name}: the event loop was blocked for ${block_ms} ms by ${work}`)
    assert.ok(peak_mb <= MEMORY_MB_MAX, `${name}: the processes took ${peak_mb} MB`)
  })
}

/** The case of a post of a phone. */
export const hostilePost = (post: PhoneBody): void =>
  hostile(
    post.name,
    async ({ user }) => ({ path: `/v2/${post.path.replace('{user_id}', await user())}`, body: bodyOf(post) }),
    async (means, { path, body }) => {
      const reply = await means.api.post(path, body)
      assert.equal(reply.status, post.status, JSON.stringify(reply.body).slice(0, 500))
    },
  )

/** Measures the server while something runs. */
async function measure(run: () => Promise<void>): Promise<Measured> {
  const from = await flushLog()
  const memory = new MemoryWatch(server.child.pid!, server.dataDir)
  try {
    await run()
  } finally {
    memory.stop()
  }
  const turns = linesBetween(from, await flushLog()).filter(({ processor_ms }) => processor_ms !== undefined)
  const longest = turns.reduce<LogLine | undefined>((a, b) => (a && a.processor_ms! >= b.processor_ms! ? a : b), undefined)
  const { processor_ms = 0, operation, job, task } = longest ?? {}
  return {
    block_ms: processor_ms,
    work: operation ?? job ?? task ?? '',
    peak_mb: memory.peak_mb,
    postgres_mb: memory.postgres_mb,
  }
}

/** Waits until the server has written what it has logged so far. @returns how much that is */
async function flushLog(): Promise<number> {
  const response = await fetch(`${server.url}/v2/user/resolve/nobody`, { headers: { 'x-service-api-key': key } })
  const id = response.headers.get('x-request-id')!
  await response.arrayBuffer()
  await waitUntil(() => server.err().includes(`"request.id":"${id}"`))
  return server.err().length
}

const linesBetween = (start: number, end: number): LogLine[] =>
  server
    .err()
    .slice(start, end)
    .split('\n')
    .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line) as LogLine] : []))
