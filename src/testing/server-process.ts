// A server of its own for tests: the program of `@drawbridge-server/drawbridge` on an embedded database, with demo data.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Organization } from './server-requests.ts'

const SERVER_PACKAGE = '@drawbridge-server/drawbridge'
const READY_MS_MAX = 120_000
const STOP_MS_MAX = 30_000
/** Maximum characters of the program's output in an error of this helper. */
const OUTPUT_CHARACTERS_MAX = 4000

export interface StartOptions {
  /** The folder of the database, kept for the next start, which is then faster. Default: a temporary folder, removed by `stop()`. */
  dataDir?: string
  /** Default: a free one. */
  port?: number
  /** Further settings of the server (docs/operating/settings.md). Variables of this process are not settings of the server. */
  settings?: Record<string, string>
  /** Milliseconds until the server must be ready. Default: 120,000; a first start creates the database. */
  timeout?: number
}

export interface ServerProcess extends Organization {
  stop(): Promise<void>
}

/**
 * Starts the program and waits until it is ready.
 * @throws Error with its output if it ends before, or is not ready in time; Error if the server is not installed
 */
export async function startServer(options: StartOptions): Promise<ServerProcess> {
  const program = findProgram()
  const temporary = options.dataDir === undefined ? mkdtempSync(join(tmpdir(), 'drawbridge-testing-')) : undefined
  // Started by root, PostgreSQL runs as another user, who has to pass.
  if (temporary !== undefined) chmodSync(temporary, 0o711)
  const dataDir = resolve(options.dataDir ?? join(temporary!, 'data'))
  const child = spawn(process.execPath, [program, 'start'], {
    env: environment(options, dataDir),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => void child.kill('SIGTERM')
  process.once('exit', end)
  const stop = async () => {
    process.removeListener('exit', end)
    await endProcess(child)
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const url = await readiness(child, options.timeout ?? READY_MS_MAX)
    // A test process that forgets `stop()` ends nevertheless, and this process with it.
    for (const each of [child, child.stdout, child.stderr]) (each as { unref?: () => void }).unref?.()
    return { ...readDemo(dataDir), url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The program of the server: of this checkout, or of the package that is installed in the folder of the tests or next to this one. */
function findProgram(): string {
  const ofCheckout = fileURLToPath(new URL('../../bin/drawbridge.mjs', import.meta.url))
  if (existsSync(ofCheckout)) return ofCheckout
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      return join(dirname(createRequire(from).resolve(`${SERVER_PACKAGE}/package.json`)), 'bin/drawbridge.mjs')
    } catch {
      // It may be installed next to the other one.
    }
  }
  throw new Error(
    `Drawbridge.start needs the package ${SERVER_PACKAGE}, which is not installed. Install it, or use Drawbridge.connect with a server that runs.`,
  )
}

/** The settings of the server. Nothing of this process: its DATABASE_URL may be the database of the program under test. */
function environment({ port = 0, settings }: StartOptions, dataDir: string): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env
  return {
    PATH,
    HOME,
    ...(TMPDIR !== undefined && { TMPDIR }),
    ...(LANG !== undefined && { LANG }),
    DATA_DIR: dataDir,
    PORT: String(port),
    CELLS: 'sandbox-us,production-us',
    LOG_LEVEL: 'error',
    STOP_DELAY: '0',
    ...settings,
  }
}

async function readiness(child: ChildProcess, timeout: number): Promise<string> {
  let output = ''
  const url = new Promise<string>((resolve, fail) => {
    const add = (text: string) => {
      output = (output + text).slice(-OUTPUT_CHARACTERS_MAX)
      const match = /is listening on (\S+)\n/.exec(output)
      if (match) resolve(match[1]!)
    }
    child.stdout!.setEncoding('utf8').on('data', add)
    child.stderr!.setEncoding('utf8').on('data', add)
    child.once('error', fail)
    child.once('exit', (code) => fail(new Error(`Drawbridge ended with ${code} before it was ready.\n${output}`)))
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`Drawbridge was not ready after ${timeout} ms.\n${output}`)), timeout)
  })
  try {
    return await Promise.race([url, late])
  } finally {
    clearTimeout(timer)
  }
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  child.ref()
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await ended
  clearTimeout(timer)
}

/** The organization and the management key of the demo data in a folder. @throws Error if no server has made any there */
export function readDemo(dataDir: string): Organization {
  const path = resolve(dataDir, 'demo.json')
  if (!existsSync(path)) throw new Error(`${path} is not there: no server with demo data has been started in this folder.`)
  const demo = JSON.parse(readFileSync(path, 'utf8')) as { base_url: string; org_id: string; management_key: string }
  return { url: demo.base_url, orgId: demo.org_id, managementKey: demo.management_key }
}
