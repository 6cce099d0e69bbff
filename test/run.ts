// The whole suite: one embedded PostgreSQL for all test files; most files in `src/` share processes, each other has one and a database of
// its own. Further arguments are files; `--grep PATTERN` runs the tests whose titles match alone.
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { join, relative, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { openEmbedded } from '../src/platform/embedded-postgres/embedded-postgres.ts'
import { groupFiles } from './groups.ts'
import { removeLater, testDataDir, testSettings } from './setup.ts'
import { bundleProgram, bundleTypebox } from './support/program-bundle.ts'
import { migratedDataDir, prepareTestDataDir } from './support/template.ts'

/** More than there are cores: files that start whole programs wait for them much of their time. */
const CONCURRENCY = 4
/** For each test. */
const TIMEOUT_MS = 300_000
/** For the run: what has not ended then is named, and fails. A run takes up to half an hour on two cores, and longer on busy ones. */
const RUN_MS_MAX = 2_700_000
/** How long processes may take to end once no test runs any more. */
const END_MS_MAX = 60_000
/** What tests leave behind is collected less often, and by one thread, since other processes keep the cores busy. */
const V8_OPTIONS = ['--min-semi-space-size=32', '--max-semi-space-size=64', '--single-threaded-gc']
/** Number of slowest files to print at the end, with their duration. */
const SLOWEST = 25

const { values, positionals } = parseArgs({ options: { grep: { type: 'string' } }, allowPositionals: true })
const pattern = values.grep === undefined ? undefined : new RegExp(values.grep)
// Read by test/support/untracked.ts.
if (pattern) process.env.TEST_GREP = pattern.source
const chosen = positionals.map((file) => relative('.', resolve(file)))
/** Simulations first: they take longest. */
const allFiles = () => [
  ...new Set(
    ['test/simulation/*.test.ts', 'test/**/*.test.ts', 'src/**/*.test.ts'].flatMap((pattern) => globSync(pattern).sort()),
  ),
]
const { groups, consoles, aloneFiles } = groupFiles(chosen.length ? chosen : withPattern(allFiles()))

/** The modules that are written here, one for each process. → the files that it runs */
const processes = new Map<string, string[]>()
const folder = mkdtempSync(join(tmpdir(), 'drawbridge-run-'))
// PostgreSQL's account has to pass.
chmodSync(folder, 0o755)
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const isInTest = (file: string) => file.startsWith('test/')
const startsPrograms = consoles.length > 0 || aloneFiles.some(isInTest)
const typebox = encodeURIComponent(await bundleTypebox())
// A caller who names a folder keeps them.
const statements = process.env.DRAWBRIDGE_STATEMENTS ?? join(folder, 'statements')
mkdirSync(statements, { recursive: true })
process.env.DRAWBRIDGE_STATEMENTS = statements
const hooks = `support/relative-imports.js?typebox=${typebox}&statements=${encodeURIComponent(statements)}`
const [imports, untracked, group] = [hooks, 'support/untracked.ts', 'group.ts'].map((path) =>
  JSON.stringify(new URL(path, import.meta.url).href),
)
const prepare = (name: string, files: string[], call: string) => {
  const entry = join(folder, `${name}.mjs`)
  writeFileSync(
    entry,
    `import ${imports}\nimport ${untracked}\nconst { runAlone, runInConsole, runTogether } = await import(${group})\nawait ${call}\n`,
  )
  processes.set(entry, files)
}
const prepareAlone = (file: string) => prepare(file.replaceAll('/', '+'), [file], `runAlone(${JSON.stringify(file)})`)
// They take long.
for (const { name, files } of consoles) prepare(name, files, `runInConsole(${JSON.stringify(files)})`)
const isProgram = (file: string) => /^test\/(console|e2e)\//.test(file)
for (const file of aloneFiles.filter((file) => isInTest(file) && !isProgram(file))) prepareAlone(file)
// Whole programs, and files whose tests break connections, wait for much of their time. Processes of many files do not: they run between them,
// and after those above, which have made of the sources what Node keeps.
const waiting = [...aloneFiles.filter((file) => !isInTest(file)), ...aloneFiles.filter(isProgram)]
const turns = Math.max(waiting.length, 1)
/** The last one begins well before the end, so that it does not run there alone. */
const groupsBefore = (turn: number) => Math.min(Math.ceil((turn * groups.length) / (turns * 0.8)), groups.length)
for (let turn = 0; turn < turns; turn++) {
  for (const { name, files } of groups.slice(groupsBefore(turn), groupsBefore(turn + 1)))
    prepare(name, files, `runTogether(${JSON.stringify(files)})`)
  const file = waiting[turn]
  if (file !== undefined) prepareAlone(file)
}

/**
 * A run that was killed may have left a server behind; it is taken over and its folder made again. Where it was killed while it removed the
 * folder, no server is left. The folder needs 4 GB at the end.
 */
if (existsSync(testDataDir)) {
  if (existsSync(join(testDataDir, 'postgres', 'PG_VERSION'))) {
    const left = await openEmbedded({ dataDir: testDataDir, ownership: 'required', log: () => {}, settings: testSettings })
    await left.stop()
  }
  removeLater(testDataDir)
}

// Each process loads the program: what one has made of the sources the others need not make again.
process.env.NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/drawbridge', import.meta.url))
// Side by side, since each keeps one core busy where it has not been made before.
const [, migratedFolder] = await Promise.all([prepareTestDataDir(), startsPrograms ? migratedDataDir(runMigrate) : undefined])
const database = await openEmbedded({ dataDir: testDataDir, ownership: 'required', log: () => {}, settings: testSettings })
// Tests of whole programs copy the one and start the other (test/support/program.ts).
if (consoles.length || aloneFiles.some(isProgram) || !existsSync('console/dist/manifest.json'))
  await promisify(execFile)(process.execPath, ['console/build.ts'])
if (migratedFolder !== undefined) {
  process.env.DRAWBRIDGE_MIGRATED = migratedFolder
  process.env.DRAWBRIDGE_PROGRAM = await bundleProgram()
}
const ending = new AbortController()
/** Also when a process of a test, or PostgreSQL, does not end. */
const endWithin = (ms: number, subject: string) =>
  setTimeout(() => {
    process.stdout.write(`${subject}: ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.exit(1)
  }, ms).unref()
const end = () => {
  ending.abort()
  endWithin(END_MS_MAX, 'Tests that were to end have not ended')
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
setTimeout(() => {
  process.stdout.write(`The run has taken ${RUN_MS_MAX / 1000} s, and ends.\n`)
  end()
}, RUN_MS_MAX).unref()
const tests = run({
  files: [...processes.keys()],
  concurrency: CONCURRENCY,
  timeout: TIMEOUT_MS,
  signal: ending.signal,
  execArgv: V8_OPTIONS,
})

const durations_ms = new Map<string, number>()
/** Files that were begun or not, and have not been reported to their end. */
const unfinished = new Set([...processes.values()].flat())
const markDone = (file: string, ms: number) => {
  durations_ms.set(file, ms)
  unfinished.delete(file)
}
interface Ended {
  name: string
  nesting: number
  skip?: unknown
  details: { type?: string; duration_ms: number }
}
let testsRun = 0
/** In a group each file is a suite. A process without tests is reported as one test. */
const countTest = ({ name, nesting, skip, details }: Ended) => {
  if (details.type === 'suite') {
    if (nesting === 0 && unfinished.has(name)) markDone(name, details.duration_ms)
  } else if (skip === undefined && !processes.has(resolve(name))) testsRun++
}
tests.on('test:pass', countTest)
tests.on('test:fail', countTest)
tests.on('test:summary', ({ file, success, duration_ms }) => {
  const files = processes.get(file ?? '')
  if (file === undefined) {
    if (!success) process.exitCode = 1
  } else if (files && aloneFiles.includes(files[0]!)) markDone(files[0]!, duration_ms)
})
/** Before the counts, which end the output. Tests make such remarks too. */
tests.on('test:diagnostic', ({ message }) => {
  if (!/^tests \d+$/.test(message)) return
  const slowest = [...durations_ms].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST)
  const lines = slowest.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}\n`)
  process.stdout.write(`Files that took longest:\n${lines.join('')}`)
})
const said = tests.compose(new spec())
said.pipe(process.stdout)
await finished(said, { writable: false })
endWithin(END_MS_MAX, 'The run does not end')
const { checkStatements } = await import('./statements/check.ts')
const { count, faults } = checkStatements(statements)
process.stdout.write(
  [...faults, `Statements checked against the rules of Citus: ${count}; ${faults.length} violations`, ''].join('\n'),
)
if (faults.length) process.exitCode = 1
if (unfinished.size) {
  process.stdout.write(`Files that have not run to their end:\n${[...unfinished].map((file) => `  ${file}\n`).join('')}`)
  process.exitCode = 1
}
if (pattern && testsRun === 0) {
  process.stdout.write(`No test was run: none has a title that matches /${pattern.source}/, or those are skipped.\n`)
  process.exitCode = 1
}
await database.stop()
removeLater(testDataDir)

/** The files that have the pattern somewhere; all of them where none has, since titles may be put together. */
function withPattern(files: string[]): string[] {
  const having = files.filter((file) => pattern?.test(readFileSync(file, 'utf8')))
  return having.length ? having : files
}

/** Has the program make a data folder with a database that is up to date, and nothing else. */
async function runMigrate(DATA_DIR: string): Promise<void> {
  const { PATH, TMPDIR } = process.env
  const main = fileURLToPath(new URL('../src/cli/entry.js', import.meta.url))
  const env = { PATH, ...(TMPDIR && { TMPDIR }), DATA_DIR, LOG_LEVEL: 'silent' }
  await promisify(execFile)(process.execPath, [main, 'migrate'], { env })
}
