// A running Drawbridge: database, migrations, HTTP and worker, started in that order and stopped in the reverse.
import type { Server } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { contents } from './contents.ts'
import { describeApi } from './describe-api.ts'
import { abnFormOf } from './modules.ts'
import { checkForm } from '../lab/documents/routes.ts'
import { schemasOf, type Database } from './database.ts'
import { listenError } from './ports.ts'
import { assemble, type AssembledProcess } from './assemble.ts'
import { version } from '../platform/runtime/version.ts'
import type { TeamGuard } from '../tenancy/access/team-guard.ts'
import { storedRetention, storeRetention, type LogRetention } from '../platform/access-log/log-retention.ts'
import { AccessLog } from '../platform/access-log/access-log.ts'
import type { Cells } from '../platform/db/cells.ts'
import { isSandboxCell } from '../settings/cells.ts'
import type { Config } from '../settings/config.ts'
import { NO_TENANT } from '../platform/db/database.ts'
import type { Log } from '../platform/telemetry/log.ts'
import { monitorLoop } from '../platform/telemetry/loop-monitor.ts'
import { createMetrics, type Metrics } from '../platform/telemetry/metrics.ts'
import { openTracing } from '../platform/telemetry/tracing.ts'
import type { Engine } from '../platform/db/distribution.ts'
import { migrate } from '../platform/db/migrate.ts'
import type { Service } from '../platform/module/module.ts'
import { isWithin } from '../platform/net/network.ts'
import {
  addOperatorPages,
  openOperatorPort,
  operatorAnswers,
  type OperatorAnswers,
  type OperatorServer,
} from '../platform/http/operator.ts'
import { unlimitedJobs } from '../platform/queue/outbox.ts'
import { knownHosts, type KnownHosts } from '../platform/net/host-name.ts'
import { registerConsole } from '../platform/http/console-pages.ts'
import { registerSystemPages } from '../platform/http/system-pages.ts'
import { checkDatabases, createReadiness } from '../platform/db/readiness.ts'
import { T } from '../platform/schema/schema.ts'
import { Sockets } from '../platform/http/sockets.ts'
import { sql } from '../platform/db/sql.ts'
import { openVault } from '../platform/crypto/key-file.ts'
import { addGauges } from './gauges.ts'
import { Retention } from '../platform/queue/retention.ts'
import { Worker } from '../platform/queue/worker.ts'
import { TargetPolicy } from '../platform/net/outbound-targets.ts'

export { version }

/** How long connections may take to end; those of the embedded server end with it. */
const CLOSE_MS_MAX = 5_000

/**
 * Applies the migrations that the schemas of this process lack, stores how long the access log is kept and where, and seeds its cells with the reference
 * data of this program: labs, payors and diagnoses and, if the cell has tests to order, their offers, fictional sites and the platform's lab
 * accounts. A cell whose schema is newer than this program keeps the reference data of the newer program. Cells are migrated at the same time;
 * the first error is thrown when all of them have ended. Errors: MigrationError.
 * @param engine `citus` distributes the tables of the cells
 */
export async function migrateAll(config: Config, database: Database, log: Log, engine?: Engine): Promise<void> {
  const [control, ...cells] = schemasOf(config)
  await migrateOne(config, database, log, control!)
  const outcomes = await Promise.allSettled(cells.map((cell) => migrateOne(config, database, log, cell, engine)))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

async function migrateOne(
  config: Config,
  database: Database,
  log: Log,
  { name, schema, kind }: ReturnType<typeof schemasOf>[number],
  engine?: Engine,
): Promise<void> {
  const { row_security } = config
  const { applied, newer, protection } = await migrate(database.connectionOf(name), schema, kind, {
    row_security,
    ...(engine && { engine }),
    onRetry: (retry) => log.warn({ schema, ...retry }, 'migration did not get its locks; will retry'),
  })
  if (applied.length) log.info({ schema, migrations: applied.length, first: applied[0], last: applied.at(-1) }, 'migrated')
  if (protection.by === 'program' && row_security !== 'off')
    log.warn(
      { schema, statements: protection.statements },
      'this login may not create roles: row-level security is not in force until an administrator runs these statements and "bin/drawbridge migrate" is run again',
    )
  if (protection.by === 'roles' && protection.hidden_from.length)
    log.warn(
      { schema, roles: protection.hidden_from },
      'these roles have rights on tables of teams and find them empty: give BYPASSRLS to the roles for backups and reports',
    )
  if (name === 'control' || newer) return
  await storeRetention(database.connectionOf(name), schema, retentionOf(config))
  await contents.loadReferenceData(database.cells.db(name), config.demo || name.startsWith('sandbox'))
}

const Held = T.Object({ held: T.Boolean() })

const retentionOf = (config: Pick<Config, 'access_log_days' | 'access_log_database_days'>): LogRetention => ({
  days: config.access_log_days,
  database_days: config.access_log_database_days || null,
})

/** Warns of cells whose access log is kept for other than the days of the settings, since `migrate` has not run with them. */
export async function warnOfOtherRetention(config: Config, { cells }: Database, log: Log): Promise<void> {
  const { access_log_days, access_log_database_days } = config
  const wanted = retentionOf(config)
  for (const name of config.cells) {
    const { days, database_days } = await storedRetention(cells.db(name))
    if (days !== wanted.days)
      log.warn(
        { cell: name, days, access_log_days },
        'ACCESS_LOG_DAYS is not applied; run "bin/drawbridge migrate" with this setting',
      )
    if (database_days !== wanted.database_days)
      log.warn(
        { cell: name, days: database_days ?? 0, access_log_database_days },
        'ACCESS_LOG_DATABASE_DAYS is not applied; run "bin/drawbridge migrate" with this setting',
      )
  }
}

/** Warns of cells in which only the program separates teams, although row-level security is on. */
export async function warnWithoutRowSecurity(config: Config, { cells }: Database, log: Log): Promise<void> {
  if (config.row_security === 'off') return
  for (const name of config.cells) {
    const { held } = await cells.db(name).read(NO_TENANT, (tx) => tx.one(Held, sql`select row_security_active('team') as held`))
    if (!held) log.warn({ cell: name }, 'row-level security is not in force: this login may not take the roles of the cell')
  }
}

export interface RunningServer {
  /** The base URL, without a final slash. */
  url: string
  /** The address and port that the server listens on, as a URL, which may be that of every network; undefined if it does not serve. */
  listening_url: string | undefined
  /** The URL of health, readiness, databases and metrics if they have a port of their own. */
  operator_url: string | undefined
  cells: Cells
  guard: TeamGuard
  stop(): Promise<void>
}

export interface ServerRoles {
  serve: boolean
  work: boolean
}

const DRAIN_MS_MAX = 30_000

/**
 * Starts the roles of this process on an open, migrated database. `stop` waits until requests and jobs in flight have ended.
 * @param isDemo whether the server has demo data: its pages say where the keys are, and it answers only for hosts that it knows
 */
export async function startRoles(
  config: Config,
  cells: Cells,
  log: Log,
  roles: ServerRoles,
  isDemo = false,
): Promise<RunningServer> {
  const state: ServerState = { url: config.public_url ?? '', isDraining: false }
  const tracing = config.otlp_endpoint === undefined ? undefined : await openTracing(config.otlp_endpoint, log)
  const metrics = createMetrics(() => cells, tracing)
  const access = new AccessLog({ mode: config.access_log, log, onLost: metrics.accessLost })
  const sockets = new Sockets({ connections_max: config.http_connections_max, isTrusted: isWithin(config.trusted_proxies) })
  if (roles.serve) metrics.connections(() => sockets.use)
  const isKnownHost = isDemo ? knownHosts(config) : undefined
  const assembly = assemble({
    cells,
    log,
    metrics,
    access,
    sockets,
    vault: openVault(config.encryption_keys, resolve(config.data_dir)),
    settings: config,
    targets: new TargetPolicy({ allow: config.webhook_allow, loopback: config.loopback }),
    product: `Drawbridge/${version}`,
    publicUrl: () => state.url,
    base_path: config.base_path,
    trusted_proxies: config.trusted_proxies,
    checkReplies: config.check,
    isDraining: () => state.isDraining,
    ...(isKnownHost && { isKnownHost }),
  })
  const { app, guards, services } = assembly
  const form = abnFormOf(config)
  if (roles.serve && form) await checkForm(assembly.heavy, form)
  const workers = roles.work ? createWorkers(assembly, { cells, log, metrics }) : []
  addGauges(metrics.registry, cells, {
    unlimited: unlimitedJobs(assembly.handlers),
    mail: config.smtp !== undefined,
    sms: config.sms !== undefined,
  })
  const answers = operatorAnswers({
    metrics,
    notReady: createReadiness(cells),
    checkDatabases: () => checkDatabases(cells),
    isDraining: () => state.isDraining,
  })
  registerPages(assembly, config, answers, isDemo)
  const listening_url = roles.serve ? await listen(app, config, state) : undefined
  const operator = await openOperator(app, config, answers, isKnownHost)
  for (const service of [...services, ...workers]) service.start()
  const endMonitor = monitorLoop(log, metrics)
  return {
    url: state.url,
    listening_url,
    operator_url: operator?.url,
    cells,
    guard: guards.teams,
    async stop() {
      state.isDraining = true
      await stopWork({ assembly, workers, sockets, access }, roles, config.stop_delay_s)
      endMonitor()
      await assembly.heavy.close()
      await operator?.close()
      await tracing?.stop()
    },
  }
}

/** What changes while a server runs. */
interface ServerState {
  /** The base URL; empty until the port is known, unless PUBLIC_URL has it. */
  url: string
  isDraining: boolean
}

function createWorkers(
  { handlers, guards, periodicTasks, workers }: AssembledProcess,
  { cells, log, metrics }: { cells: Cells; log: Log; metrics: Metrics },
): Service[] {
  return [
    new Worker({ cells, handlers, tenantOf: guards.teams.tenant, log, metrics }),
    new Retention({ cells, cleanups: periodicTasks, log, metrics }),
    ...workers.map((create) => create()),
  ]
}

/** The pages without authentication; those for operators too, unless they have a port of their own. */
function registerPages(assembly: AssembledProcess, config: Config, answers: OperatorAnswers, isDemo: boolean): void {
  const { app } = assembly
  const hasOperatorPort = config.operator_port !== undefined
  if (!hasOperatorPort) addOperatorPages(app, answers)
  registerSystemPages(app, {
    description: () => describeApi(assembly, version),
    version,
    base_path: config.base_path,
    demo_cell: isDemo ? config.cells.find(isSandboxCell) : undefined,
    hasOperatorPort,
  })
  registerConsole(app, config.base_path)
}

/** Opens the port of the API. Sets the base URL if PUBLIC_URL does not. Returns the URL of the address. Errors: as of `listenError`. */
async function listen(app: FastifyInstance, config: Config, state: ServerState): Promise<string | undefined> {
  const { port, host, base_path } = config
  const address = await app.listen({ port, host }).catch((error: unknown) => {
    throw listenError('PORT', port, host, error)
  })
  state.url ||= `${address}${base_path}`
  return listeningUrl(app.server.address(), base_path)
}

function listeningUrl(address: ReturnType<Server['address']>, base_path: string): string | undefined {
  if (address === null || typeof address === 'string') return undefined
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}${base_path}`
}

/** Opens the port for operators, if the settings have one. Closes `app` if it cannot be opened. Errors: as `listen`. */
async function openOperator(
  app: FastifyInstance,
  { operator_port: port, host }: Config,
  answers: OperatorAnswers,
  isKnownHost: KnownHosts | undefined,
): Promise<OperatorServer | undefined> {
  if (port === undefined) return undefined
  return openOperatorPort(answers, { port, host }, isKnownHost).catch(async (error: unknown) => {
    await app.close()
    throw listenError('OPERATOR_PORT', port, host, error)
  })
}

interface RunningParts {
  assembly: AssembledProcess
  workers: Service[]
  sockets: Sockets
  access: AccessLog
}

/** Ends requests, jobs and services. What has not ended at its deadline is left. */
async function stopWork(parts: RunningParts, roles: ServerRoles, stop_delay_s: number): Promise<void> {
  const { assembly, workers, access } = parts
  const stop_delay_ms = roles.serve ? stop_delay_s * 1000 : 0
  const deadline = new Promise<void>((resolve) => setTimeout(resolve, DRAIN_MS_MAX + stop_delay_ms).unref())
  const closing = closeApp(parts, roles, stop_delay_ms)
  await Promise.race([Promise.all([closing, ...workers.map((worker) => worker.stop())]), deadline])
  await access.stop()
  // If the database does not respond, the buffered records are lost.
  const stopped = Promise.all(assembly.services.map((service) => service.stop()))
  await Promise.race([stopped, sleep(CLOSE_MS_MAX, undefined, { ref: false })])
}

/** Closes the HTTP server. Clients get the advice to open another connection before it stops to serve. */
async function closeApp({ assembly, sockets }: RunningParts, roles: ServerRoles, stop_delay_ms: number): Promise<void> {
  if (roles.serve) await sleep(stop_delay_ms)
  for (const service of assembly.services) service.endRequests?.()
  if (roles.serve) await sockets.close()
  await assembly.app.close()
}
