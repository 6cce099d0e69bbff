// Runs a process with its settings: `start`, `serve`, `work` and `migrate`.
import { resolve } from 'node:path'
import { checkServers, openDatabase, requireUsableSchemas } from '../../app/database.ts'
import { apiPageAddress, publishDemo, type Demo } from '../demo-file.ts'
import { requireChoice } from '../command-input.ts'
import { firstSignal } from '../terminal.ts'
import { readConfig, type Config } from '../../settings/config.ts'
import { isSandboxCell, type KnownCell } from '../../settings/cells.ts'
import { buildMissingConsole } from '../../platform/http/console-pages.ts'
import { engines } from '../../platform/db/distribution.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import { assertPortsFree } from '../../app/ports.ts'
import type { RunningServer, ServerRoles } from '../../app/server.ts'
import { version } from '../../platform/runtime/version.ts'

/** Loads the modules of the server, which takes about as long as it takes to create a database. */
export const loadServer = async () => ({
  ...(await import('../../app/server.ts')),
  ...(await import('../demo.ts')),
  ...(await import('../../tenancy/sign-in/one-time-links.ts')),
})

const printNow = (text: string): void => void process.stdout.write(text)

/**
 * `migrate`: migrates the schemas of the settings. Without DATABASE_URL it uses the folder in DATA_DIR and creates the database there if
 * there is none, because `serve` and `work` do not create it. The default folder alone is no reason to create a database: see
 * `openDatabase`.
 * @param engine `citus` distributes the tables of the cells; undefined: as they are
 */
export async function migrateOnly(
  env: Record<string, string | undefined>,
  engine: string | undefined,
  print: (text: string) => Promise<void>,
): Promise<void> {
  const chosen = engine === undefined ? undefined : requireChoice(engines, engine, '--engine')
  const config = readConfig(env)
  const log = createLog(config.log_level, { format: config.log_format })
  const [database, { migrateAll }] = await Promise.all([
    openDatabase(config, log, { ownership: 'if-free', create: Boolean(env.DATA_DIR?.trim()) }),
    loadServer(),
  ])
  try {
    await checkServers(config, database, log)
    await migrateAll(config, database, log, chosen)
    await print('Migrations complete.\n')
  } finally {
    await database.close()
  }
}

/** `start`, `serve` or `work`, until the first signal. `start` creates the embedded database if there is none. */
export async function run(config: Config, roles: ServerRoles): Promise<void> {
  const log = createLog(config.log_level, { format: config.log_format })
  const signal = firstSignal()
  await assertPortsFree(config, roles)
  if (roles.serve) buildMissingConsole(log)
  const [database, server] = await Promise.all([
    openDatabase(config, log, { ownership: roles.serve ? 'required' : 'if-free', create: roles.serve && roles.work }),
    loadServer(),
  ])
  let demo: Demo | undefined
  let running: RunningServer
  try {
    await checkServers(config, database, log)
    // Several processes that only serve or only work start in any order, and may be of several releases: one command migrates the schemas
    // for all.
    if (roles.serve && roles.work) await server.migrateAll(config, database, log)
    else {
      await requireUsableSchemas(config, database)
      await server.warnWithoutRowSecurity(config, database, log)
      await server.warnOfOtherRetention(config, database, log)
    }
    if (config.demo && roles.serve) demo = await server.prepareDemo(database.cells, resolve(config.data_dir), config.demo_keys)
    running = await server.startRoles(config, database.cells, log, roles, demo !== undefined)
    if (demo) publishDemo(resolve(config.data_dir), { ...demo, base_url: running.url })
  } catch (error) {
    await database.close()
    throw error
  }
  const setupToken = demo || !roles.serve ? undefined : await database.cells.control.plainTx(server.createSetupLink)
  const setup_url = setupToken && server.linkAddress(running.url, 'setup', setupToken)
  printNow(
    roles.serve
      ? startupMessage(config, running, { demo, setup_url })
      : ['Worker started.', ...operatorLine(running), ''].join('\n'),
  )

  const lost = database.embeddedServer?.connectionLost.then((reason) => ({ reason, code: 1 })) ?? new Promise<never>(() => {})
  const end = await Promise.race([signal, lost])
  log.info({ reason: end.reason }, 'stopping')
  if (end.code) process.stderr.write(`${end.reason}\n`)
  try {
    await running.stop()
  } finally {
    await database.close()
    log.flush()
  }
  // Exits explicitly: a client that never ends its request would keep the process running.
  process.exit(end.code)
}

const operatorLine = ({ operator_url }: RunningServer): string[] =>
  operator_url === undefined ? [] : [`  Operator     ${operator_url}`]

/** The cell whose demo key is shown. With demo data there is a sandbox. */
const shownCell = ({ cells }: Config): KnownCell => cells.find(isSandboxCell)!

interface FirstSteps {
  demo: Demo | undefined
  /** Where the first administrator signs in. */
  setup_url: string | undefined
}

function startupMessage(config: Config, server: RunningServer, { demo, setup_url }: FirstSteps): string {
  const { url, listening_url = url } = server
  const lines = [
    `Drawbridge ${version} is listening on ${listening_url}`,
    // For browsers: PUBLIC_URL, or loopback in place of every network.
    ...(url === listening_url ? [] : [`  Address      ${url}`]),
    `  Console      ${url}/console`,
    ...(setup_url === undefined ? [] : [`  First admin  ${setup_url} (works once, for a day)`]),
    `  API page     ${demo ? apiPageAddress(url, demo.api_keys[shownCell(config)]) : `${url}/docs`}`,
    ...operatorLine(server),
  ]
  if (demo) {
    const cell = shownCell(config)
    const key = demo.api_keys[cell]
    lines.push(
      `  ${cell.startsWith('sandbox') ? 'Sandbox key' : 'Key        '}  ${key}`,
      `  All keys     ${resolve(config.data_dir, 'demo.json')}`,
      '',
      'Try it:',
      `  curl -s ${url}/v3/lab_tests -H 'x-service-api-key: ${key}'`,
    )
  }
  return `${lines.join('\n')}\n`
}
