/**
 * For tests of the bundled PostgreSQL: a scratch folder, and processes that open data folders in it. Nothing survives: neither
 * what this process started, nor what an earlier one left that was killed before it could tidy up.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Connection } from '../../src/platform/embedded-postgres/cluster.ts'
import type { EmbeddedOptions } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import type { FixtureMessage } from './embedded-postgres-process.ts'
import { readPidFile, stopPostmaster } from '../../src/platform/embedded-postgres/postmaster.ts'
import { terminateOrphans, processExists, isServerFor } from '../../src/platform/embedded-postgres/processes.ts'
import { placeFoldersApart } from '../setup.ts'

type MessageKind<Is> = Extract<FixtureMessage, { is: Is }>

export interface FixtureProcess {
  child: ChildProcess
  /** the first message of one of these kinds, which may have come already */
  waitForMessage<Is extends FixtureMessage['is']>(...is: Is[]): Promise<MessageKind<Is>>
  /** lets it stop in order */
  stop(): Promise<void>
  kill(): Promise<void>
}

export type Opened = FixtureProcess & MessageKind<'ready'>

export interface PeerOptions {
  ownership?: EmbeddedOptions['ownership']
  settings?: Record<string, string>
  platform?: string
  env?: Record<string, string>
  uid?: number
  gid?: number
  script?: string
}

const prefix = 'drawbridge-embedded-'
const wait_ms_max = 30_000
/** live ones, with the data folder of each */
const peers = new Map<ChildProcess, string>()

for (const folder of fs.globSync(`${prefix}*`, { cwd: tmpdir() })) {
  const maker = Number(folder.slice(prefix.length).split('-')[0])
  // Another test file may be tidying the same.
  if (maker > 0 && !processExists(maker)) await tidy(join(tmpdir(), folder)).catch(() => {})
}

/** Open to all accounts, unlike what mkdtemp makes: PostgreSQL's has to pass. */
export const scratch = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`)))
fs.chmodSync(scratch, 0o755)
placeFoldersApart(scratch)

/** Called when nothing works in the scratch folder any more, before it is removed: what is mounted there is let go. */
export const releases: (() => void)[] = []

/** To be called when the tests are over, however they went. */
export async function removeScratchFolders(): Promise<void> {
  for (const [child] of peers) await awaitExit(child)
  await tidy(scratch)
}

/** Ends what works on a data folder, so that a test that failed does not fail the next one on the same folder. */
export async function stopAllOn(dataDir: string): Promise<void> {
  for (const [child, folder] of peers) if (folder === dataDir) await awaitExit(child)
  if (fs.existsSync(join(dataDir, 'postgres'))) await endServer(dataDir)
}

async function awaitExit(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  if (child.kill('SIGKILL')) await closed
}

async function tidy(folder: string): Promise<void> {
  for (const file of fs.globSync('{*,*/*}/postgres/postmaster.pid', { cwd: folder })) {
    await endServer(dirname(dirname(join(folder, file))))
  }
  if (folder === scratch) for (const release of releases) release()
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function endServer(dataDir: string): Promise<void> {
  await stopPostmaster(postmasterPid(dataDir), 100)
  await terminateOrphans(join(dataDir, 'postgres'))
}

/** The server that the data folder's files speak of. */
export function postmasterPid(dataDir: string): { pid: number; isAlive: () => boolean } {
  const cluster = join(dataDir, 'postgres')
  const pid = readPidFile(cluster)?.pid ?? 0
  return { pid, isAlive: () => isServerFor(pid, cluster) }
}

/** A process that opens the data folder; durability is off unless asked for. */
export function peer(dataDir: string, circumstances: PeerOptions = {}): FixtureProcess {
  const { ownership = 'required', settings = { fsync: 'off' }, platform, env, script, ...account } = circumstances
  const fixture = script ?? fileURLToPath(new URL('./embedded-postgres-process.ts', import.meta.url))
  const child = spawn(process.execPath, [fixture, JSON.stringify({ dataDir, ownership, settings, platform })], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...account,
  })
  peers.set(child, dataDir)
  child.once('close', () => peers.delete(child))
  const closed = once(child, 'close')
  const said: FixtureMessage[] = []
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) =>
    said.push(JSON.parse(line) as FixtureMessage),
  )

  async function waitForMessage<Is extends FixtureMessage['is']>(...is: Is[]): Promise<MessageKind<Is>> {
    for (const until = performance.now() + wait_ms_max; ; await sleep(5)) {
      const over = !peers.has(child) || performance.now() > until
      const found = said.find((message): message is MessageKind<Is> => is.some((kind) => kind === message.is))
      if (found) return found
      if (over) throw new Error(`never said ${is.join(' or ')}, only ${JSON.stringify(said)}`)
    }
  }
  const end = async (options: () => unknown) => {
    options()
    await closed
  }
  return { child, waitForMessage, stop: () => end(() => child.stdin?.end()), kill: () => end(() => child.kill('SIGKILL')) }
}

export async function openPostgres(dataDir: string, circumstances?: PeerOptions): Promise<Opened> {
  const started = peer(dataDir, circumstances)
  return { ...started, ...(await started.waitForMessage('ready')) }
}

/** How an attempt to open the data folder fails: the class and the sentence. */
export async function failure(dataDir: string, circumstances?: PeerOptions): Promise<{ name: string; message: string }> {
  const { name, message } = await peer(dataDir, circumstances).waitForMessage('failed')
  return { name, message }
}

/** The first row of a statement on a connection of its own. */
export async function queryOnce(connection: Connection, statement: string, values?: unknown[]): Promise<Record<string, unknown>> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement, values)
    return rows[0] ?? {}
  } finally {
    await client.end().catch(() => {})
  }
}

export async function waitUntil(condition: () => unknown, ms_max = wait_ms_max): Promise<void> {
  for (const end = performance.now() + ms_max; !(await condition()); await sleep(5)) {
    if (performance.now() > end) throw new Error(`not so after ${ms_max} ms: ${condition}`)
  }
}
