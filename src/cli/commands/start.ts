// A process from its settings: `start`, `serve`, `work` and `migrate`.
import { resolve } from 'node:path'
import { openDatabase, requireUsableSchemas } from '../../app/database.ts'
import { prepareDemo, publishDemo, type Demo } from '../demo.ts'
import { print } from '../output.ts'
import { readConfig, type Config } from '../../platform/config/config.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import {
  assertPortsFree,
  migrateAll,
  startRoles,
  version,
  warnWithoutRowSecurity,
  type ServerRoles,
  type RunningServer,
} from '../../app/server.ts'
import { firstSignal } from '../signals.ts'

const out = (text: string): void => void process.stdout.write(text)

/**
 * `migrate`: bring the schemas of the settings up to date. Without DATABASE_URL, in the folder that DATA_DIR names; the database is made
 * there when there is none, since `serve` and `work` do not make it. The default folder is not enough of a wish: see `openDatabase`.
 */
export async function migrateOnly(): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog(config.log_level)
  const database = await openDatabase(config, log, { ownership: 'if-free', create: Boolean(process.env.DATA_DIR?.trim()) })
  try {
    await migrateAll(config, database, log)
    await print('Migrations complete.\n')
  } finally {
    await database.close()
  }
}

/** `start`, `serve` or `work`, until the first signal. `start` makes the embedded database when there is none. */
export async function run(config: Config, roles: ServerRoles): Promise<void> {
  const log = createLog(config.log_level)
  const signal = firstSignal()
  await assertPortsFree(config, roles)
  const database = await openDatabase(config, log, {
    ownership: roles.serve ? 'required' : 'if-free',
    create: roles.serve && roles.work,
  })
  let demo: Demo | undefined
  let running: RunningServer
  try {
    // Several processes that serve or work alone start in any order, of several releases: one command changes the schemas for all.
    if (roles.serve && roles.work) await migrateAll(config, database, log)
    else {
      await requireUsableSchemas(config, database)
      await warnWithoutRowSecurity(config, database, log)
    }
    if (config.demo && roles.serve) demo = await prepareDemo(database.cells, resolve(config.data_dir))
    running = await startRoles(config, database.cells, log, roles)
    if (demo) publishDemo(resolve(config.data_dir), { ...demo, base_url: running.url })
  } catch (error) {
    await database.close()
    throw error
  }
  out(roles.serve ? startupMessage(config, running, demo) : ['Worker started.', ...operatorLine(running), ''].join('\n'))

  const lost = database.embedded?.lost.then((reason) => ({ reason, code: 1 })) ?? new Promise<never>(() => {})
  const end = await Promise.race([signal, lost])
  log.info({ reason: end.reason }, 'stopping')
  if (end.code) process.stderr.write(`${end.reason}\n`)
  try {
    await running.stop()
  } finally {
    await database.close()
    log.flush()
  }
  // Not only its code: a client that never ends its request would keep the process from ending.
  process.exit(end.code)
}

const operatorLine = ({ operator_url }: RunningServer): string[] =>
  operator_url === undefined ? [] : [`  Operator     ${operator_url}`]

function startupMessage(config: Config, running: RunningServer, demo: Demo | undefined): string {
  const { url } = running
  const lines = [`Drawbridge ${version} is listening on ${url}`, `  API page     ${url}/docs`, ...operatorLine(running)]
  if (demo) {
    const cell = config.cells.find((name) => name.startsWith('sandbox')) ?? config.cells[0]!
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
