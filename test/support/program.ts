// The program as people run it: processes of their own on folders of their own, for tests that stop and kill them. Nothing survives
// the test file, however it ends.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { connectionFor, socketFolder, type Connection } from '../../src/platform/embedded-postgres/cluster.ts'
import { postmasterPid, releases, scratch, removeScratchFolders, waitUntil } from './embedded-postgres.ts'

export { postmasterPid, waitUntil }

/** The project's folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
const wait_ms_max = 60_000
/** Of processes that were started and may not have ended. */
const groups = new Set<number>()

/** A data folder that is not there yet. */
export const folder = (name: string): string => join(scratch, `${name}-${process.pid}`)

export interface ServerProcess {
  child: ChildProcess
  stdout: () => string
  err: () => string
  /** What standard error says to people: its lines without those of the log. */
  sentences: () => string[]
  /** Waits for a match in the standard output; fails when the process ends without one. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** The exit code, or the name of the signal that ended it. */
  exitStatus: Promise<number | NodeJS.Signals>
}

export interface Command {
  program?: string
  args: string[]
  settings?: Record<string, string>
  /** In place of the project's folder. */
  cwd?: string
}

const hooks = new URL('relative-imports.js', import.meta.url)
// Written by a run of everything (`test/run.ts`).
if (process.env.DRAWBRIDGE_PROGRAM) hooks.searchParams.set('program', process.env.DRAWBRIDGE_PROGRAM)
if (process.env.DRAWBRIDGE_STATEMENTS) hooks.searchParams.set('statements', process.env.DRAWBRIDGE_STATEMENTS)
/** For each Node of a program that is started, its threads included. */
const NODE_OPTIONS = `--import=${hooks.href}`

/** Starts a program in the project's folder, as the head of a process group. It sees the settings given and nothing else of ours. */
export function start({ program = process.execPath, args, settings = {}, cwd = root }: Command): ServerProcess {
  const { PATH = '', TMPDIR, NODE_COMPILE_CACHE } = process.env
  const child = spawn(program, args, {
    cwd,
    // Nothing stands in front of these servers that would have to notice that they stop.
    env: {
      PATH,
      HOME: scratch,
      ...(TMPDIR && { TMPDIR }),
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      npm_config_update_notifier: 'false',
      STOP_DELAY: '0',
      NODE_OPTIONS,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (child.pid !== undefined) groups.add(child.pid)
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  let over = false
  const exitStatus = once(child, 'close')
    .then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals)
    .finally(() => {
      over = true
      if (child.pid !== undefined && !signalGroup(child.pid, 0)) groups.delete(child.pid)
    })
  exitStatus.catch(() => {})
  return {
    child,
    stdout: () => out,
    err: () => err,
    sentences: () => err.split('\n').filter((line) => line && !line.startsWith('{')),
    exitStatus,
    async says(pattern) {
      for (const end = performance.now() + wait_ms_max; ; await sleep(5)) {
        const last = over || performance.now() > end
        const found = pattern.exec(out)
        if (found) return found
        if (last) throw new Error(`${args.join(' ')} never said ${pattern}: ${out}\n${err}`)
      }
    },
  }
}

/** False: no process of the group is left. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/** A command of the program. */
export const runCli = (command: string, settings: Record<string, string> = {}): ServerProcess =>
  start({ args: ['src/cli/entry.js', ...(command ? [command] : [])], settings })

/** How a command that ends by itself ends. */
export async function outcome(command: string, settings?: Record<string, string>, ...words: string[]) {
  const { stdout, err, exitStatus } = start({
    args: ['src/cli/entry.js', ...(command ? [command] : []), ...words],
    ...(settings && { settings }),
  })
  return { code: await exitStatus, stdout: stdout(), err: err() }
}

export interface Server extends ServerProcess {
  url: string
  dataDir: string
  /** Ends it with a signal and waits. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/**
 * A data folder as `migrate` leaves it, where a run of everything has made one to copy (`test/run.ts`): `initdb`, the migrations and the
 * catalogs cost six seconds of a processor. Otherwise, or where there is one with something in it, nothing.
 * @returns the folder
 */
export function migrateDataDir(dataDir: string): string {
  const model = process.env.DRAWBRIDGE_MIGRATED
  // With the accounts and the modes of the files, which PostgreSQL looks at.
  const isEmpty = !existsSync(dataDir) || readdirSync(dataDir).length === 0
  if (model && isEmpty) execFileSync('cp', ['-Rp', `${model}/.`, dataDir])
  return dataDir
}

/** A data folder whose database has the schemas of this program, and which no server has used. @returns the folder */
export async function migratedFolder(dataDir: string, settings: Record<string, string> = {}): Promise<string> {
  if (!existsSync(join(migrateDataDir(dataDir), 'postgres'))) await runMigrate(dataDir, settings)
  return dataDir
}

async function runMigrate(dataDir: string, settings: Record<string, string>): Promise<void> {
  const { code, err } = await outcome('migrate', { DATA_DIR: dataDir, ...settings })
  if (code !== 0) throw new Error(`migrate ended with ${code}: ${err}`)
}

/**
 * A server that has said where it listens. Only `start` runs migrations by itself; before others a new folder is migrated. What `start`
 * makes of nothing is for tests of their own, which do not copy a folder.
 */
export async function serving(dataDir: string, settings: Record<string, string> = {}, command = 'start'): Promise<Server> {
  if (!Object.keys(settings).some((name) => name.startsWith('DATABASE_URL'))) migrateDataDir(dataDir)
  return servingFirst(dataDir, settings, command)
}

/** As `serving`, where a new folder is one that nobody has prepared. */
export async function servingFirst(dataDir: string, settings: Record<string, string> = {}, command = 'start'): Promise<Server> {
  if (command !== 'start' && !existsSync(dataDir)) await runMigrate(dataDir, settings)
  return listening(runCli(command, { DATA_DIR: dataDir, PORT: '0', ...settings }), dataDir)
}

export async function listening(program: ServerProcess, dataDir: string): Promise<Server> {
  const url = (await program.says(/is listening on (\S+)\n/))[1]!
  const end = (signal: NodeJS.Signals) => {
    program.child.kill(signal)
    return program.exitStatus
  }
  return { ...program, url, dataDir, end }
}

export interface Demo {
  base_url: string
  org_id: string
  management_key: string
  teams: Record<string, string>
  api_keys: Record<string, string>
}

export const demoIn = (dataDir: string): Demo => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo

export interface Reply {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies of every shape
  body: any
}

/** Requests with a key. */
export function caller(url: string, key?: string) {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(key !== undefined && { 'x-service-api-key': key }), ...headers },
      signal: AbortSignal.timeout(30_000),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, body: isJson ? JSON.parse(text) : text }
  }
  return {
    call,
    get: (path: string, headers?: Record<string, string>) => call('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Record<string, string>) => call('POST', path, body, headers),
  }
}
export type Caller = ReturnType<typeof caller>

/** How the program itself connects to the bundled PostgreSQL on a folder. */
export const connectionOf = (dataDir: string): Connection => connectionFor(dataDir, socketFolder(dataDir))!

/** Work on a connection of its own. */
export async function onDatabase<R>(connection: pg.ClientConfig, work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The processes that call themselves a PostgreSQL server on this folder. Linux only: elsewhere the one that its pid file names. */
export function postmastersOn(dataDir: string): number[] {
  const { pid, isAlive } = postmasterPid(dataDir)
  if (process.platform !== 'linux') return isAlive() ? [pid] : []
  const mark = ` -D ${join(dataDir, 'postgres')} `
  return readdirSync('/proc')
    .map(Number)
    .filter((id) => id > 0 && commandOf(id).includes(mark))
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** To be called when the tests are over, however they went. */
export async function stopAll(): Promise<void> {
  for (const group of groups) signalGroup(group, 'SIGKILL')
  // Where nobody collects orphans they stay listed after their end; there is nothing to wait for then.
  for (let tries = 0; tries < 200 && [...groups].some((group) => signalGroup(group, 0)); tries++) await sleep(10)
  await removeScratchFolders()
}

// When a signal ends the test process, its hooks do not run. This handler runs, and can wait only by blocking.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
process.once('exit', () => {
  for (const group of groups) signalGroup(group, 'SIGKILL')
  for (const file of globSync('*/postgres/postmaster.pid', { cwd: scratch })) {
    const { pid, isAlive } = postmasterPid(dirname(dirname(join(scratch, file))))
    if (isAlive()) process.kill(pid, 'SIGQUIT')
    for (let tries = 0; tries < 100 && isAlive(); tries++) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }
  for (const release of releases) release()
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})
