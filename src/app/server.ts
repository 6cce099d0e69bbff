// A running Drawbridge: database, migrations, HTTP and worker, started in that order and stopped in the reverse.
import type { Server } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { contents } from './contents.ts'
import { describeApi } from './describe-api.ts'
import { abnFormOf } from './modules.ts'
import { checkForm } from '../lab/documents/routes.ts'
import { schemasOf, type Database } from './database.ts'
import { listenError } from './ports.ts'
import { assemble } from './assemble.ts'
import { version } from '../platform/runtime/version.ts'
import type { TeamGuard } from '../tenancy/access/team-guard.ts'
import { storedRetention, storeRetention } from '../platform/access-log/access-archive.ts'
import { AccessLog } from '../platform/access-log/access-log.ts'
import type { Cells } from '../platform/db/cells.ts'
import { isSandboxCell } from '../settings/cells.ts'
import type { Config } from '../settings/config.ts'
import { NO_TENANT } from '../platform/db/database.ts'
import type { Log } from '../platform/telemetry/log.ts'
import { monitorLoop } from '../platform/telemetry/loop-monitor.ts'
import { createMetrics } from '../platform/telemetry/metrics.ts'
import { openTracing } from '../platform/telemetry/tracing.ts'
import { migrate } from '../platform/db/migrate.ts'
import type { Service } from '../platform/module/module.ts'
import { isWithin } from '../platform/net/network.ts'
import { addOperatorPages, openOperatorPort, operatorAnswers } from '../platform/http/operator.ts'
import { unlimitedJobs } from '../platform/queue/outbox.ts'
import { knownHosts } from '../platform/net/host-name.ts'
import { registerSystemPages } from '../platform/http/system-pages.ts'
import { notReady } from '../platform/db/readiness.ts'
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
 * Applies the migrations that the schemas of this process lack, stores how long the access log is kept, and seeds its cells with the reference
 * data of this program: labs, payors and diagnoses and, if the cell has tests to order, their offers, fictional sites and the platform's lab
 * accounts. A cell whose schema is newer than this program keeps the reference data of the newer program. Cells are migrated at the same time;
 * the first error is thrown when all of them have ended. Errors: MigrationError.
 */
export async function migrateAll(config: Config, database: Database, log: Log): Promise<void> {
  const [control, ...cells] = schemasOf(config)
  await migrateOne(config, database, log, control!)
  const outcomes = await Promise.allSettled(cells.map((cell) => migrateOne(config, database, log, cell)))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

async function migrateOne(
  config: Config,
  database: Database,
  log: Log,
  { name, schema, kind }: ReturnType<typeof schemasOf>[number],
): Promise<void> {
  const { row_security } = config
  const { applied, newer, protection } = await migrate(database.connectionOf(name), schema, kind, {
    row_security,
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
      'these roles have rights on tables of teams and find them empty: give BYPASSRLS to those that make backups or reports',
    )
  if (name === 'control' || newer) return
  await storeRetention(database.connectionOf(name), schema, config.access_log_days)
  await contents.loadReferenceData(database.cells.db(name), config.demo || name.startsWith('sandbox'))
}

const Held = T.Object({ held: T.Boolean() })

/** Warns of cells whose access log is kept for other than the days of the settings, since `migrate` has not run with them. */
export async function warnOfOtherRetention(
  { cells: names, access_log_days }: Config,
  { cells }: Database,
  log: Log,
): Promise<void> {
  for (const name of names) {
    const days = await storedRetention(cells.db(name))
    if (days !== access_log_days)
      log.warn(
        { cell: name, days, access_log_days },
        'the access log is kept for other than ACCESS_LOG_DAYS until "bin/drawbridge migrate" runs with this setting',
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
  /** The URL of health, readiness and metrics if they have a port of their own. */
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
  let url = config.public_url ?? ''
  let listening_url: string | undefined
  let isDraining = false
  const tracing = config.otlp_endpoint === undefined ? undefined : await openTracing(config.otlp_endpoint, log)
  const metrics = createMetrics(() => cells, tracing)
  const access = new AccessLog({ mode: config.access_log, log, onLost: metrics.accessLost })
  const sockets = new Sockets({ connections_max: config.http_connections_max, isTrusted: isWithin(config.trusted_proxies) })
  if (roles.serve) metrics.connections(() => sockets.use)
  const isKnownHost = isDemo ? knownHosts(config) : undefined
  const assembled = assemble({
    cells,
    log,
    metrics,
    access,
    sockets,
    vault: openVault(config.encryption_keys, resolve(config.data_dir)),
    settings: config,
    targets: new TargetPolicy({ allow: config.webhook_allow, loopback: config.loopback }),
    product: `Drawbridge/${version}`,
    publicUrl: () => url,
    base_path: config.base_path,
    trusted_proxies: config.trusted_proxies,
    checkReplies: config.check,
    isDraining: () => isDraining,
    ...(isKnownHost && { isKnownHost }),
  })
  const { app, guards, handlers, heavy, services } = assembled
  const form = abnFormOf(config)
  if (roles.serve && form) await checkForm(heavy, form)
  const tenantOf = guards.teams.tenant
  addGauges(metrics.registry, cells, {
    unlimited: unlimitedJobs(handlers),
    mail: config.smtp !== undefined,
    sms: config.sms !== undefined,
  })
  const workers: Service[] = roles.work
    ? [
        new Worker({ cells, handlers, tenantOf, log, metrics }),
        new Retention({ cells, cleanups: assembled.periodicTasks, log, metrics }),
        ...assembled.workers.map((make) => make()),
      ]
    : []
  const answers = operatorAnswers({ metrics, notReady: () => notReady(cells), isDraining: () => isDraining })
  const { operator_port } = config
  if (operator_port === undefined) addOperatorPages(app, answers)
  registerSystemPages(app, {
    description: () => describeApi(assembled, version),
    version,
    base_path: config.base_path,
    demo_cell: isDemo ? config.cells.find(isSandboxCell) : undefined,
    hasOperatorPort: operator_port !== undefined,
  })
  if (roles.serve) {
    const address = await app.listen({ port: config.port, host: config.host }).catch((error: unknown) => {
      throw listenError('PORT', config.port, config.host, error)
    })
    url ||= `${address}${config.base_path}`
    listening_url = listeningUrl(app.server.address(), config.base_path)
  }
  const operator =
    operator_port === undefined
      ? undefined
      : await openOperatorPort(answers, { port: operator_port, host: config.host }, isKnownHost).catch(async (error: unknown) => {
          await app.close()
          throw listenError('OPERATOR_PORT', operator_port, config.host, error)
        })
  for (const service of [...services, ...workers]) service.start()
  const endMonitor = monitorLoop(log, metrics)
  /** Clients get the advice to open another connection before this server stops to serve. */
  const closeApp = async () => {
    if (roles.serve) await sleep(config.stop_delay_s * 1000)
    for (const service of services) service.endRequests?.()
    if (roles.serve) await sockets.close()
    await app.close()
  }
  return {
    url,
    listening_url,
    operator_url: operator?.url,
    cells,
    guard: guards.teams,
    async stop() {
      isDraining = true
      const drain_ms_max = DRAIN_MS_MAX + (roles.serve ? config.stop_delay_s * 1000 : 0)
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, drain_ms_max).unref())
      await Promise.race([Promise.all([closeApp(), ...workers.map((worker) => worker.stop())]), deadline])
      await access.stop()
      // If the database does not respond, the buffered records are lost.
      const stopped = Promise.all(services.map((service) => service.stop()))
      await Promise.race([stopped, sleep(CLOSE_MS_MAX, undefined, { ref: false })])
      endMonitor()
      await heavy.close()
      await operator?.close()
      await tracing?.stop()
    },
  }
}

function listeningUrl(address: ReturnType<Server['address']>, base_path: string): string | undefined {
  if (address === null || typeof address === 'string') return undefined
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}${base_path}`
}
