// What tests stand on: a database of their own made from a migrated template, a server that is spoken to over HTTP, and a team for
// each test. Nothing of ours is replaced; the worker's jobs run when a test says so.
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import pg from 'pg'
import { Pool, type Dispatcher } from 'undici'
import { testDataDir, testSettings } from '../setup.ts'
import { installation, prepareTestDataDir, templateDatabase } from './template.ts'
import { assemble, type AssembledProcess, type ProcessOptions } from '../../src/app/assemble.ts'
import type { ModuleSettings } from '../../src/app/process.ts'
import { seedStandardTests } from '../../src/lab/catalog/lab-tests.ts'
import { createOrgKey, createTeamKey } from '../../src/tenancy/keys/keys.ts'
import { createOrg } from '../../src/tenancy/organizations/organizations.ts'
import { createTeam, placeTeam } from '../../src/tenancy/teams/teams.ts'
import { AccessLog } from '../../src/platform/access-log/access-log.ts'
import { Cells } from '../../src/platform/db/cells.ts'
import type { Hooks } from '../../src/platform/db/hooks.ts'
import { cellNames, type CellName } from '../../src/settings/cells.ts'
import { readConfig } from '../../src/settings/config.ts'
import { teamNow, type Connection, type Db } from '../../src/platform/db/database.ts'
import { openEmbedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { createMetrics } from '../../src/platform/telemetry/metrics.ts'
import type { Cleanup } from '../../src/platform/queue/retention.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { Sockets } from '../../src/platform/http/sockets.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { generateVaultKey, Vault } from '../../src/platform/crypto/vault.ts'
import { ClockMoves } from '../../src/sandbox/clock/clock-lease.ts'
import { TargetPolicy } from '../../src/platform/net/outbound-targets.ts'

const log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent')
await prepareTestDataDir()
const embedded = await openEmbedded({ dataDir: testDataDir, ownership: 'if-free', log: () => {}, settings: testSettings })
const server = embedded.connection as Extract<Connection, { host: string }>

/**
 * A migrated database that all files use in place of databases of their own, as one on Citus (CONTRIBUTING.md). Files whose tests look at
 * policies, or at rows of all teams, fail there.
 */
const shared_url = process.env.TEST_DATABASE_URL && new URL(process.env.TEST_DATABASE_URL)
const database = shared_url ? shared_url.pathname.slice(1) : `test_${process.pid}_${randomUUID().slice(0, 8)}`
const admin = new pg.Client(server)
await admin.connect()
if (!shared_url) {
  const template = await templateDatabase(server)
  await admin.query(`create database ${database} template ${template} strategy file_copy`)
}
const shared = shared_url && {
  host: shared_url.hostname,
  port: Number(shared_url.port),
  user: shared_url.username,
  password: shared_url.password,
}

const options = {
  connection: { ...(shared || server), database },
  connections_max: 8,
  checkRows: true,
  installation,
  row_security: shared ? ('off' as const) : ('required' as const),
  // A process that loads another file, or reads a report, answers the database seconds later.
  deadlines: { connect_ms: 60_000 },
}
export const connection = options.connection
/** As another process has them: without hooks. To be closed. @param servedCells the cells that the process serves */
export const newCells = (servedCells: readonly CellName[] = cellNames): Cells =>
  new Cells(options, new Map(servedCells.map((cell) => [cell, options])))
export const cells = newCells()
const owner = new pg.Pool({ ...connection, max: 2 })
owner.on('error', () => {})
/** A statement as the owner of the tables, whom no policy holds back: for catalogs, and for what other connections do. */
export const asOwner = <R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>> =>
  owner.query<R>(text, values)
const vaultKeys = [generateVaultKey()]
export const vault = new Vault(() => vaultKeys)
/** Projects that pipelines may publish to in tests: one for every organization; a test adds its own. */
export const pubsub_projects = new Map([['*', new Set(['fictional-clinic'])]])
/** Data of such a meter is kept for ten years. */
export const provider_retention = new Map([['beurer_ble', 3650]])
/** Files of lab reports, of this file's tests alone. */
const reportFolder = join(testDataDir, `report-files-${database}`)
/** Tests ask fast and give wrong keys on purpose: limits that they need they make themselves. */
export const settings: ModuleSettings = {
  ...readConfig({}),
  requests_per_s: 0,
  requests_burst: 1,
  wrong_keys_per_min: 0,
  invites_per_hour: 0,
  invites_per_address_per_day: 0,
  sandbox_users_max: 50,
  /** In production no laboratory but one has a link, and tests of much else order at others. */
  orders_without_integration: true,
  /** Nobody answers here; tests that ask DNS put a name server of their own in its place. */
  dns_servers: ['127.0.0.1:1'],
  domain_target: 'lab.example.org',
  /** Nobody sends to it, but for tests of the sender, which name a gateway of their own. */
  sms: { url: 'http://127.0.0.1:1', token: undefined, from: 'Fictional' },
  pubsub_projects,
  provider_retention,
  webhook_schedule_s: [0],
  /** None until a test names one. */
  geocoder_url: undefined,
  /** None until a test names one: the program reads them when it is put together. */
  provider_urls: [],
  report_threads: 2,
  report_folder: reportFolder,
  /** Longer than any process of tests takes: one that starts again costs up to 3 s of a processor. */
  thread_idle_ms: 3_600_000,
}
export const metrics = createMetrics(() => cells)
/** How many jobs a move runs here: a quarter of what it runs elsewhere. */
export const MOVE_JOBS_MAX = 500
/** Who moves the clocks of sandbox teams here; as long as it takes on a machine that is busy with other tests. */
export const clocks = new ClockMoves({ wait_ms: 240_000, move_ms: 240_000, jobs_max: MOVE_JOBS_MAX })
/** Names that webhooks may be sent to in tests, and what they resolve to; no name server is asked. */
export const hosts = new Map<string, () => string[]>([['localhost', () => ['127.0.0.1']]])
export const targets = new TargetPolicy({
  loopback: true,
  resolve: async (host) => {
    const found = hosts.get(host)?.()
    if (!found) throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })
    return found
  },
})
/** What tests ask for writes it down by itself; a test that reads the log flushes it first. */
export const access = new AccessLog({ mode: 'batched', log })

/** A call after a commit that throws fails the test in which it happens. */
const failTest = (error: unknown) =>
  queueMicrotask(() => {
    throw error
  })
let listeningHooks: Hooks | undefined
/**
 * A process as the server puts it together, on the database of this file; with other parts when they are given. It does not listen. The
 * databases keep the hooks of the process that listens, which forget what that process has cached.
 */
export function assembleProcess(overrides: Partial<ProcessOptions> = {}): AssembledProcess {
  const process = assemble({
    cells,
    vault,
    log,
    metrics,
    settings,
    targets,
    access,
    clocks,
    product: 'Drawbridge/test',
    publicUrl: () => url,
    base_path: '',
    trusted_proxies: [],
    checkReplies: true,
    isDraining: () => false,
    sockets: new Sockets({ connections_max: 4000, isTrusted: () => true }),
    ...overrides,
  })
  listeningHooks ??= process.hooks
  for (const db of [cells.control, ...cellNames.map((cell) => cells.db(cell))]) {
    db.onError = failTest
    db.hooks = listeningHooks
  }
  return process
}

const { app, guards, heavy, runner, services } = assembleProcess()
export { guards, runner }
export const guard = guards.teams
export const url: string = await app.listen({ port: 0, host: '127.0.0.1' })
/** Not `fetch`, which costs three times as much for each request: as much as many of them cost the server. */
const requests = new Pool(url)

// In a run of many files the database goes with all others at the end: ext4 passes over places that files have just left, one by one, and
// a database is 1,650 files. Dropped at once they made each that follows take a second, not a tenth of one.
after(async () => {
  for (const service of services) service.endRequests?.()
  await app.close()
  await requests.destroy()
  await access.stop()
  await heavy.close()
  await cells.close()
  await owner.end()
  await rm(reportFolder, { recursive: true, force: true })
  if (embedded.owner && !shared) await admin.query(`drop database ${database} with (force)`)
  await admin.end()
  await embedded.stop()
})

export interface Reply {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies of every shape
  body: any
  headers: Headers
}

/** Delete what is overdue, as the worker does. */
export async function expire(db: Db, ...cleanups: Cleanup[]): Promise<void> {
  for (const cleanup of cleanups)
    while ((await cleanup.overdueFor(db, cells.control)) !== undefined)
      if (!(await cleanup.remove(db, cells.control, () => false))) break
}

function headersOf(bare: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(bare)) for (const value of [values].flat()) headers.append(name, value!)
  return headers
}

/** Requests with a key; `body` is sent as JSON when given. */
export function client(key: string | undefined, header = 'x-service-api-key', base = '') {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
    const { pathname, search } = new URL(url + base + path)
    const response = await requests.request({
      method: method as Dispatcher.HttpMethod,
      path: pathname + search,
      headers: {
        ...(key !== undefined && { [header]: key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? (body ?? null) : JSON.stringify(body),
    })
    const bytes = Buffer.from(await response.body.arrayBuffer())
    const bare = response.headers
    let read: Headers | undefined
    return {
      status: response.statusCode,
      body: String(bare['content-type']).startsWith('application/json') ? JSON.parse(bytes.toString()) : bytes,
      // Few tests look at them, and making them costs each request 13 µs of a processor.
      get headers() {
        return (read ??= headersOf(bare))
      },
    }
  }
  return {
    call,
    get: (path: string, headers?: Record<string, string>) => call('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Record<string, string>) => call('POST', path, body, headers),
    patch: (path: string, body?: unknown, headers?: Record<string, string>) => call('PATCH', path, body, headers),
    put: (path: string, body?: unknown) => call('PUT', path, body),
    delete: (path: string, body?: unknown) => call('DELETE', path, body),
  }
}

const Typed = T.Object({ type: T.String() })
const Named = T.Object({ name: T.String() })
const Identified = T.Object({ id: T.String() })

const REMINDING = ['messages.remind', 'messages.plan_appointment_reminders', 'messages.remind_appointment']

/** A team of its own for a test, with the four standard lab tests. */
export async function createTestTeam(cell: CellName = 'sandbox-us') {
  const region = cell.endsWith('us') ? 'us' : 'eu'
  const { team, org_id, key, orgKey } = await cells.control.plainTx(async (tx) => {
    const org_id = await createOrg(tx, 'Test organization')
    const team = await createTeam(tx, { org_id, name: 'Test team', region })
    return {
      team,
      org_id,
      key: await createTeamKey(tx, { team_id: team, cell, label: 'test' }),
      orgKey: await createOrgKey(tx, { org_id, label: 'test' }),
    }
  })
  const db = cells.db(cell)
  await db.plainTx((tx) => placeTeam(tx, cell, { id: team, org_id }))
  const tenant = (await guard.tenant(cell, team))!
  await db.tx(tenant, (tx) => seedStandardTests(tx))
  const api = client(key)

  /** Types of the team's events, oldest first; of one object when given. */
  const events = async (object_id?: string): Promise<string[]> =>
    (
      await db.queries.many(
        Typed,
        object_id === undefined
          ? sql`select type from event where team_id = ${team} order by id`
          : sql`select type from event where team_id = ${team} and object_id = ${object_id} order by id`,
      )
    ).map((row) => row.type)

  /** Names of the team's waiting jobs, in order of their instants, without reminders, which most orders leave behind. */
  const jobs = async (): Promise<string[]> =>
    (
      await db.queries.many(
        Named,
        sql`select name from job where team_id = ${team} and name <> all (${REMINDING}::text[]) order by run_at, id`,
      )
    ).map((row) => row.name)

  /** Run the jobs that are due now, and those they queue, until none is due. Throws when one fails. */
  const runPendingJobs = async (): Promise<void> => {
    const now = (await guard.tenant(cell, team))!
    await runner.runUntil(cell, db, team, { start: teamNow(now), end: teamNow(now), jobs_max: 500 }, async () => {})
    const failed = await db.queries.many(
      Named,
      // Not those that another worker is running.
      sql`select name from job where team_id = ${team} and (failed_at is not null or (attempts > 0 and leased_until is null))`,
    )
    if (failed.length) throw new Error(`jobs failed: ${failed.map((row) => row.name).join(', ')}`)
  }

  const user = async (reference: string = randomUUID()): Promise<string> =>
    (await api.post('/v2/user', { client_user_id: reference })).body.user_id
  const standardTests = new Map<string, Promise<string>>()
  const findStandardTest = async (method: string): Promise<string> =>
    (
      await db.queries.one(
        Identified,
        sql`
        select id from lab_test where team_id = ${team} and method = ${method} and not auto_generated
        order by created_at, id limit 1`,
      )
    ).id
  /** The team's standard lab test of a method, which the API lists first. */
  const test = (method = 'testkit'): Promise<string> => {
    const found = standardTests.get(method) ?? findStandardTest(method)
    standardTests.set(method, found)
    return found
  }

  /** Requests with the organization's management key, below `/v1/org/{org_id}`. */
  const manage = client(orgKey, 'x-management-key', `/v1/org/${org_id}`)

  return {
    team,
    org_id,
    key,
    orgKey,
    manage,
    cell,
    db,
    tenant,
    api,
    events,
    jobs,
    settle: runPendingJobs,
    user,
    test,
  }
}

export type TestTeam = Awaited<ReturnType<typeof createTestTeam>>
