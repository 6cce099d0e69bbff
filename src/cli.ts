// The command line and the composition of a process from its settings.
import { resolve } from 'node:path'
import { operations } from './app.ts'
import { bootstrap, UsageError } from './bootstrap.ts'
import { catalogCommand } from './bootstrap-catalog.ts'
import { labTestCommand } from './bootstrap-lab-tests.ts'
import { labAccountCommand } from './bootstrap-labs.ts'
import { prepareDemo, publishDemo, type Demo } from './demo.ts'
import { insuranceCommand } from './insurance-command.ts'
import { jobsCommand } from './jobs-command.ts'
import { mailCommand } from './mail-command.ts'
import type { Cells } from './platform/cells.ts'
import { ConfigError, readConfig, type Config } from './platform/config.ts'
import { DataDirInUse } from './platform/embedded-postgres.ts'
import { createLog, errorFields } from './platform/log.ts'
import { MigrationError } from './platform/migrations.ts'
import { describe, listOperations } from './platform/openapi.ts'
import { resultCommand } from './result-command.ts'
import {
  assertPortsFree,
  migrateAll,
  openDatabase,
  requireUsableSchemas,
  startRoles,
  version,
  type Roles,
  type Running,
} from './server.ts'
import { vaultCommand } from './vault-command.ts'

const HELP = `drawbridge ${version}: self-hosted server for laboratory testing and health data

Usage: drawbridge <command>

  start        run database migrations, then server and worker in one process (this is "npm start")
  serve        the server alone
  work         the worker alone
  migrate      run database migrations and exit

  org create NAME                                   an organization and a key that controls it
  org plan ID launch|grow|scale                     what an organization has paid for; "scale" has everything
  org expire ID DAY|never                           from when on an organization may only read
  team create NAME --org ID --region us|eu          a team, placed in both cells of its region
  team feature TEAM NAME on|off                     switch a feature or an option of a team; features are on until then
  team feature TEAM list                            which features and options there are, and which are on
  key create --team ID --cell CELL [--label TEXT]   a key for a team in one cell, sandbox-us for example
  key create --org ID [--label TEXT]                another key that controls an organization
  key list --team ID                                the keys of a team, without their texts, and when they were last used
  key list --org ID                                 the management keys of an organization, in the same way
  key revoke KEY                                    a key, by its id or by itself

  lab-account create --cell CELL --lab LAB --account NUMBER [--org ID] [...]   an account with a laboratory; without --org the platform's
  lab-account update ID --cell CELL [...]                                      change an account
  lab-account list --cell CELL [--org ID]                                      the accounts of a cell
  lab-account show ID --cell CELL                                              an account, as the interface shows it
      [...]: --account NUMBER, --status active|pending|suspended|ready_to_launch,
      --flow not_delegated|order_delegated|result_delegated|fully_delegated, --name TEXT, --notes TEXT, and any number of
      --unit TEXT, --billing TYPE=all, --billing TYPE=AZ,CA, --team ID; the word "none" takes back all of a kind

  lab-test list --cell CELL                         lab tests that wait for approval, oldest first
  lab-test approve ID --cell CELL                   let a lab test be ordered

  catalog export [--cell CELL]                      labs, analytes and markers of a cell, sandbox-us unless it is said, as a file
  catalog import FILE --cell CELL                   bring such a file into a cell: all of it, or nothing and a line for each fault

  places import FILE [--country XX] [--cell CELL]   postal codes of other countries, as GeoNames offers them
  psc import FILE --lab LAB [--cell CELL]           sites where a lab takes samples, from CSV or GeoJSON; without --cell for production
      --strict                                      nothing, unless every row is sound
  psc list [--lab LAB] [--cell CELL]                how many sites there are, or those of a lab
  psc activate|deactivate CODE... --lab LAB [--cell CELL]   show sites again, or no longer
  psc schedule import FILE --lab LAB [--cell CELL]  when sites take appointments, from CSV or JSON; without --cell for production
      --strict                                      nothing, unless every row is sound
  psc schedule list --lab LAB [--cell CELL]         the sites that take appointments
  psc schedule show|remove CODE... --lab LAB [--cell CELL]  their schedules; take no more appointments there
  psc booking list [--cell CELL]                    bookings that wait for an answer
  psc booking confirm|refuse ID --cell CELL         answer one

  payors import FILE                                payors of a CSV file, added to the directory of every cell
  icd import FILE                                   diagnoses, in place of those there are: CSV, or CMS's icd10cm-order-YYYY.txt

  phlebotomy import FILE [--org ID] [--cell CELL]   who takes blood at home, from JSON; without --org for every team
      --strict                                      nobody, unless all are sound; without --cell in production
  phlebotomy list [--org ID] [--cell CELL]          who they are
  phlebotomy remove REFERENCE... [--org ID] [--cell CELL]   take them away

  result list --cell CELL                           results that came from a laboratory and name no team
  result assign ID --team ID --cell CELL            give one to a team; it is matched there
  result drop ID --cell CELL                        forget one that is nobody's

  jobs list [--retrying] [--cell CELL] [--json]     jobs that are tried no more, or with --retrying those that failed and are tried again
  jobs retry ID... [--cell CELL] [--json]           try jobs again, now, with all their attempts
  jobs retry --all [--name JOB] [--cell CELL] [--json]   every job that is tried no more

  vault status                                      which keys the secrets of this installation depend on
  vault rotate                                      seal every secret with the newest key, while servers run

  access-log export --cell CELL                     who saw and changed which patients' data, as JSON Lines
      --from DAY, --until DAY                       only these days; --user ID, --team ID: only lines about them
  access-log verify [--cell CELL]                   whether the log is whole; ends with 1 and the first line that is not
      --known LINE:HASH                             and whether it still has a line that was noted; any number of them

  mail list                                         the newest mails and how they stand
  mail show ID                                      a mail with its text, unless it was sent

  listen       print a team's events as they happen, of a running server
    --forward-to URL       and send them there, signed
    --events TYPE,TYPE     only these
    --secret whsec_…       sign with this; made anew for each run when not given
  trigger TYPE             bring about an event of this type in a running sandbox
  trigger --list           the types that can be brought about
    --cell CELL            for listen and trigger: another cell than sandbox-us
    --url URL --key KEY    another server than the one of DATA_DIR (DRAWBRIDGE_URL, DRAWBRIDGE_KEY)

  openapi      print the description of the interface
  operations   print one line per operation
  version      print the version
  help         print this text

Settings come from the environment; docs/OPERATING.md lists them.
`

const out = (text: string): void => void process.stdout.write(text)

/** Runs a command. What goes wrong is said on standard error; then the process ends with 1. */
export const main = (words: string[]): Promise<void> => execute(words).catch(fatal)

async function execute(words: string[]): Promise<void> {
  const [command] = words
  switch (command) {
    case 'start':
      return run(readConfig(process.env), { serve: true, work: true })
    case 'serve':
      return run(readConfig(process.env), { serve: true, work: false })
    case 'work':
      return run(readConfig(process.env), { serve: false, work: true })
    case 'migrate':
      return migrateOnly(readConfig(process.env))
    case 'org':
    case 'team':
    case 'key':
      return administer(readConfig(process.env), (cells) => bootstrap(cells, words))
    case 'lab-account':
      return administer(readConfig(process.env), (cells) => labAccountCommand(cells, words))
    case 'catalog':
      return administer(readConfig(process.env), (cells) => catalogCommand(cells, words))
    case 'lab-test':
      return administer(readConfig(process.env), (cells) => labTestCommand(cells, words))
    case 'payors':
    case 'icd':
      return administer(readConfig(process.env), (cells) => insuranceCommand(cells, words))
    case 'vault':
      return administer(readConfig(process.env), (cells, { encryption_keys, data_dir }) =>
        vaultCommand(cells, encryption_keys, resolve(data_dir), words),
      )
    case 'places': {
      const { placesCommand } = await import('./places-command.ts')
      return administer(readConfig(process.env), (cells) => placesCommand(cells, words))
    }
    case 'psc': {
      if (words[1] === 'schedule' || words[1] === 'booking') {
        const { scheduleCommand } = await import('./schedule-command.ts')
        return administer(readConfig(process.env), (cells) => scheduleCommand(cells, words))
      }
      const { pscCommand } = await import('./psc-command.ts')
      return administer(readConfig(process.env), (cells) => pscCommand(cells, words))
    }
    case 'phlebotomy': {
      const { phlebotomyCommand } = await import('./phlebotomy-command.ts')
      return administer(readConfig(process.env), (cells) => phlebotomyCommand(cells, words))
    }
    case 'access-log':
      return accessLog(readConfig(process.env), words)
    case 'jobs':
      return administer(readConfig(process.env), (cells) => jobsCommand(cells, words))
    case 'mail':
      return administer(readConfig(process.env), (cells) => mailCommand(cells, words))
    case 'result':
      return administer(readConfig(process.env), (cells) => resultCommand(cells, words))
    case 'listen':
      return follow(words)
    case 'trigger':
      return (await import('./trigger.ts')).trigger(words, { env: process.env, out })
    case 'openapi':
      return out(`${JSON.stringify(describe(operations, version), null, 2)}\n`)
    case 'operations':
      return out(listOperations(operations))
    case 'version':
    case '--version':
      return out(`${version}\n`)
    case undefined:
    case 'help':
    case '--help':
    case '-h':
      return out(HELP)
    default:
      process.stderr.write(`There is no command "${command}".\n\n${HELP}`)
      process.exitCode = 2
  }
}

/** Run a command on a database that has the schemas of this program, or newer ones that are compatible. It returns what to print. */
async function administer(config: Config, command: (cells: Cells, config: Config) => Promise<string>): Promise<void> {
  const database = await openDatabase(config, createLog('silent'), 'if-free')
  try {
    await requireUsableSchemas(config, database)
    out(await command(database.cells, config))
  } finally {
    await database.close()
  }
}

/** What is printed waits for whoever reads it: the log may be larger than the memory. */
async function accessLog(config: Config, words: string[]): Promise<void> {
  const { accessLogCommand } = await import('./access-log-command.ts')
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))
  await administer(config, async (cells) => {
    await accessLogCommand(cells, words, write)
    return ''
  })
}

/** Ends with the first signal, and well. */
async function follow(words: string[]): Promise<void> {
  const stopping = new AbortController()
  void firstSignal().then(() => stopping.abort())
  const { listen } = await import('./listen.ts')
  await listen(words, { env: process.env, out, signal: stopping.signal })
}

async function migrateOnly(config: Config): Promise<void> {
  const log = createLog(config.log_level)
  const database = await openDatabase(config, log, 'if-free')
  try {
    await migrateAll(config, database, log)
    out('The database is up to date.\n')
  } finally {
    await database.close()
  }
}

async function run(config: Config, roles: Roles): Promise<void> {
  const log = createLog(config.log_level)
  const signal = firstSignal()
  await assertPortsFree(config, roles)
  const database = await openDatabase(config, log, roles.serve ? 'required' : 'if-free')
  let demo: Demo | undefined
  let running: Running
  try {
    // Several processes that serve or work alone start in any order, of several releases: one command changes the schemas for all.
    if (roles.serve && roles.work) await migrateAll(config, database, log)
    else await requireUsableSchemas(config, database)
    if (config.demo && roles.serve) demo = await prepareDemo(database.cells, resolve(config.data_dir))
    running = await startRoles(config, database.cells, log, roles)
    if (demo) publishDemo(resolve(config.data_dir), { ...demo, base_url: running.url })
  } catch (error) {
    await database.close()
    throw error
  }
  out(roles.serve ? greeting(config, running, demo) : ['The worker is running.', ...operatorLine(running), ''].join('\n'))

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

/** Ctrl-C reaches us from the terminal and again through npm or our own launcher: what comes so soon is the same request. */
const SAME_REQUEST_MS = 1000

/** The first request to stop; a closed terminal is one too. Another one, later, ends the process at once. */
function firstSignal(): Promise<{ reason: string; code: number }> {
  return new Promise((resolve) => {
    let first_ms: number | undefined
    const stop = (reason: string) => {
      const now_ms = performance.now()
      first_ms ??= now_ms
      if (now_ms - first_ms > SAME_REQUEST_MS) process.exit(1)
      resolve({ reason, code: 0 })
    }
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, stop)
  })
}

const operatorLine = ({ operator_url }: Running): string[] =>
  operator_url === undefined ? [] : [`  Operator     ${operator_url}`]

function greeting(config: Config, running: Running, demo: Demo | undefined): string {
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

/** Codes of Node and PostgreSQL for a database that is not there, or not for us. */
const UNREACHABLE = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|28000|28P01|3D000|57P03)$/

/** What went wrong, as a sentence where it is one that people can act on. */
function explain(error: unknown): string {
  const { code = '', message, syscall } = error as { code?: string; message?: string; syscall?: string }
  if (error instanceof ConfigError || error instanceof DataDirInUse || error instanceof MigrationError) return error.message
  if (UNREACHABLE.test(code) || syscall === 'connect') return `The database cannot be reached (${code}). Check DATABASE_URL.`
  if (code === 'EACCES') return `No permission: ${message}`
  return message || `unknown error ${code}`
}

function fatal(error: unknown): void {
  process.stderr.write(`drawbridge: ${explain(error)}\n`)
  if (error instanceof UsageError) process.exit(2)
  if (process.env.LOG_LEVEL === 'debug') process.stderr.write(`${JSON.stringify(errorFields(error), null, 2)}\n`)
  process.exit(1)
}

/** Nobody foresaw this error, so its message may quote anybody's data: it is not said. */
function unforeseen(error: unknown): void {
  process.stderr.write(`drawbridge: An unexpected error ended the process. ${JSON.stringify(errorFields(error))}\n`)
  process.exit(1)
}
process.on('uncaughtException', unforeseen)
process.on('unhandledRejection', unforeseen)
// Whoever read our output has enough of it, or the terminal is closed.
process.stdout.on('error', () => {})
