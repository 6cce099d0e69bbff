// The server that is measured, with its demo team and its database.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { socketFolder, superuserConnection } from '../src/platform/embedded-postgres/cluster.ts'
import { freePort } from '../test/support/free-ports.ts'
import { openEmbedded } from '../src/platform/embedded-postgres/embedded-postgres.ts'
import type { Connection } from '../src/platform/db/database.ts'

export interface Demo {
  org_id: string
  management_key: string
  teams: Record<string, string>
  api_keys: Record<string, string>
}

/** Sends a request. Errors: an answer that is no success. */
export type Api = (method: string, path: string, body?: unknown) => Promise<any> // oxlint-disable-line typescript/no-explicit-any -- a script reads replies of every shape

export interface Bench {
  url: string
  pid: number
  demo: Demo
  /** The demo team, in sandbox-us. */
  team: string
  /** With the key of the demo team. */
  headers: Record<string, string>
  /** With the key of the demo team. */
  api: Api
  connection: Connection
  /** On the schema of sandbox-us. */
  db: pg.Client
  /** Where laboratories connect, and the folder with those of their accounts. */
  lab_port: number
  lab_folder: string
  user_id: string
  /** What a kit order of that user is created with. */
  kit: Record<string, unknown>
  /** An order of a kit. */
  order_id: string
  runAsSuperuser: (statement: string) => Promise<void>
  createEndpoint: (url: string, disabled?: boolean) => Promise<string>
  deleteEndpoint: (id: string) => Promise<void>
}

/** Requests with these headers, which name a key and the type of the body. */
export const apiWith =
  (url: string, headers: Record<string, string>): Api =>
  async (method, path, body) => {
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

const children: ChildProcess[] = []

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of children) child.kill(signal)
    process.exit(1)
  })

/** Starts a script and waits for the first line it prints that looks like an address. */
export function start(
  script: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ['--max-semi-space-size=8', '--v8-pool-size=1', script, ...args], {
    // As `npm start` has it.
    env: { ...process.env, MALLOC_ARENA_MAX: '1', ...env },
    // Log lines are made and written, and nobody reads them: on the disk of the database they would delay its commits.
    stdio: ['ignore', 'pipe', 'ignore'],
    // A session of its own, as a service has: Linux divides the processors among sessions, and the load is not part of the server.
    detached: true,
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      text += String(chunk)
      const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0]
      if (url) resolve({ url, child })
    })
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
  })
}

/** Starts the server in a folder of its own, runs `measure`, and removes everything. */
export async function withServer(measure: (bench: Bench) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'drawbridge-bench-'))
  const lab_port = await freePort()
  const lab_folder = join(dataDir, 'laboratories')
  mkdirSync(lab_folder)
  try {
    const { url, child } = await start('src/cli/entry.js', ['start'], {
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'info',
      DATABASE_URL: '',
      SANDBOX_USERS_MAX: '0',
      REQUESTS_PER_SECOND: '0',
      LAB_LISTEN: `127.0.0.1:${lab_port}`,
      LAB_FOLDER: lab_folder,
      WEBHOOK_ALLOW: '127.0.0.1/32',
    })
    const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo
    const attached = await openEmbedded({ dataDir, ownership: 'if-free', log: () => {} })
    const db = new pg.Client({ ...attached.connection, options: '-c search_path=sandbox_us' })
    await db.connect()
    // What fails a measurement is reported; that the database ends afterwards is not.
    db.on('error', () => {})
    await fillWriteAheadLog(dataDir)
    const runAsSuperuser = (statement: string) =>
      withSuperuser(dataDir, async (superuser) => void (await superuser.query(statement)))
    const program = { url, pid: child.pid!, demo, connection: attached.connection, db, lab_port, lab_folder, runAsSuperuser }
    await measure(await fillBench(program))
    await db.end()
    await attached.stop()
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(
      children.map((child) => child.exitCode ?? child.signalCode ?? new Promise((resolve) => child.on('exit', resolve))),
    )
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Checkpoints keep about as many files of the write-ahead log as were written since the last one. */
const LOG_MB = 640

/**
 * Writes to the write-ahead log until PostgreSQL has files that it reuses, as a server has that has run for some minutes. A new cluster
 * creates each file and fills it with zeros first, and orders wait for that.
 */
const fillWriteAheadLog = (dataDir: string): Promise<void> =>
  withSuperuser(dataDir, async (db) => {
    for (let mb = 0; mb < LOG_MB; mb++) await db.query("select pg_logical_emit_message(false, 'bench', repeat('x', 1000000))")
    await db.query('checkpoint')
  })

async function withSuperuser(dataDir: string, work: (db: pg.Client) => Promise<void>): Promise<void> {
  const db = new pg.Client(superuserConnection(dataDir, socketFolder(dataDir))!)
  await db.connect()
  await work(db)
  await db.end()
}

async function fillBench(
  program: Pick<Bench, 'url' | 'pid' | 'demo' | 'connection' | 'db' | 'lab_port' | 'lab_folder' | 'runAsSuperuser'>,
): Promise<Bench> {
  const { url, demo } = program
  const headers = { 'x-service-api-key': demo.api_keys['sandbox-us']!, 'content-type': 'application/json' }
  const api = apiWith(url, headers)
  const team = demo.teams.us!
  const { user_id } = await api('POST', '/v2/user', { client_user_id: 'bench' })
  const [test] = await api('GET', '/v3/lab_tests?collection_method=testkit')
  const shipping_details = { ...address, receiver_name: 'Bench Receiver', phone_number: '+15550100199' }
  const kit = { user_id, lab_test_id: test.id, shipping_details }
  const { order } = await api('POST', '/v3/order/testkit', kit)

  const webhooks = `${url}/v1/org/${demo.org_id}/team/${team}/sandbox/webhook`
  const managing = { 'x-management-key': demo.management_key, 'content-type': 'application/json' }
  const createEndpoint = async (receiver: string, disabled = false): Promise<string> => {
    const response = await fetch(webhooks, {
      method: 'POST',
      headers: managing,
      body: JSON.stringify({ url: receiver, disabled }),
    })
    return ((await response.json()) as { id: string }).id
  }
  const deleteEndpoint = async (id: string) => void (await fetch(`${webhooks}/${id}`, { method: 'DELETE', headers: managing }))
  // The team had a webhook, so that each order inserts an outbox entry, as for the limit; no events are sent now.
  await createEndpoint('http://127.0.0.1:9/', true)
  return { ...program, team, headers, api, user_id, kit, order_id: order.id, createEndpoint, deleteEndpoint }
}

export const address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

/** Waits until there is no job of a name, or of any name but that of the limit. */
export async function waitForJobs(db: pg.Client, name?: string): Promise<void> {
  const condition = name === undefined ? `name <> 'bench.none'` : 'name = $1'
  for (let waiting = 1; waiting;) {
    const { rows } = await db.query(`select count(*)::int as n from job where ${condition}`, name === undefined ? [] : [name])
    waiting = rows[0].n
    await sleep(200)
  }
}
