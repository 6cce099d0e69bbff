// The server under acceptance: one that is started for the run on a folder of its own, or one that is running somewhere and named by
// DRAWBRIDGE_ACCEPTANCE_URL, with its keys in DRAWBRIDGE_ACCEPTANCE_KEY_SANDBOX_US (needed), …_SANDBOX_EU, …_PRODUCTION_US,
// …_PRODUCTION_EU and DRAWBRIDGE_ACCEPTANCE_MANAGEMENT_KEY. Knows the server from outside only.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { identifyLabs } from '../support/identified-labs.ts'

export const cells = ['sandbox-us', 'sandbox-eu', 'production-us', 'production-eu'] as const
export type Cell = (typeof cells)[number]

export interface Server {
  base_url: string
  keys: Partial<Record<Cell, string>>
  management_key: string | undefined
  /** What the server has written to its standard error; undefined for one that was not started here. */
  log: (() => string) | undefined
  /** @returns the exit code of a server that was started here */
  stop(): Promise<number | undefined>
}

const START_MS_MAX = 120_000
const STOP_MS_MAX = 40_000
const VARIABLE = 'DRAWBRIDGE_ACCEPTANCE_'

export const openServer = (): Promise<Server> =>
  process.env[`${VARIABLE}URL`] ? Promise.resolve(connectServer(process.env[`${VARIABLE}URL`]!)) : start()

function connectServer(base_url: string): Server {
  const key = (name: string) => process.env[VARIABLE + name.toUpperCase().replace('-', '_')]
  const given = cells.map((cell) => [cell, key(`key_${cell}`)] as const).filter(([, text]) => text)
  return {
    base_url,
    keys: Object.fromEntries(given) as Server['keys'],
    management_key: key('management_key'),
    log: undefined,
    stop: () => Promise.resolve(undefined),
  }
}

interface Demo {
  base_url: string
  management_key: string
  api_keys: Record<Cell, string>
}

async function start(): Promise<Server> {
  const made = mkdtempSync(join(tmpdir(), 'drawbridge-acceptance-'))
  // PostgreSQL's account has to pass.
  chmodSync(made, 0o755)
  const folder = join(made, 'data')
  // A run of everything has a migrated data folder to copy, and the program in few files (test/support/program.ts).
  const { DRAWBRIDGE_MIGRATED: model, DRAWBRIDGE_PROGRAM: bundle, DRAWBRIDGE_STATEMENTS: statements } = process.env
  if (model) execFileSync('cp', ['-Rp', model, folder])
  const hooks = new URL('../support/relative-imports.js', import.meta.url)
  if (bundle) hooks.searchParams.set('program', bundle)
  if (statements) hooks.searchParams.set('statements', statements)
  const child = spawn(process.execPath, ['src/cli/entry.js', 'start'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      ...inheritedEnvironment(),
      ...(bundle && { NODE_OPTIONS: `--import=${hooks.href}` }),
      PORT: '0',
      DATA_DIR: folder,
      LOG_LEVEL: 'warn',
      DRAWBRIDGE_CHECK: 'on',
      ORDERS_WITHOUT_INTEGRATION: 'on',
      SANDBOX_USERS_MAX: '50',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (bytes: Buffer) => (log += bytes.toString()))
  const stop = () => stopChild(child).finally(() => rmSync(made, { recursive: true, force: true }))
  try {
    const demo = await awaitDemo(folder, child)
    await identifyLabs(
      { ...inheritedEnvironment(), DATA_DIR: folder },
      cells.filter((cell) => cell.startsWith('production')),
    )
    return { base_url: demo.base_url, keys: demo.api_keys, management_key: demo.management_key, log: () => log, stop }
  } catch (error) {
    await stop()
    throw new Error(`the server did not start: ${log}`, { cause: error })
  }
}

/** The environment without settings of a server: those of the caller's are not meant for this one. */
const inheritedEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(DATABASE_|NODE_TEST|HOST$|BASE_PATH$|PUBLIC_URL$|CELLS$|DEMO$|SANDBOX_)/.test(name),
    ),
  )

/** The server's `demo.json`, once it says where it listens. */
async function awaitDemo(folder: string, child: ChildProcess): Promise<Demo> {
  const until = performance.now() + START_MS_MAX
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
    const demo = read(join(folder, 'demo.json'))
    if (demo?.base_url) return demo
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`it took more than ${START_MS_MAX} ms`)
}

function read(path: string): Demo | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Demo
  } catch {
    return undefined
  }
}

/** Ask a server to end, and end it when it does not. */
function stopChild(child: ChildProcess): Promise<number | undefined> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(code ?? undefined)
    })
    child.kill('SIGTERM')
  })
}
