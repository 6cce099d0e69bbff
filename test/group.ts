// What a test process of a run runs: a file, or several that share its program, its server and its database, each a suite of its own.
import { AsyncResource } from 'node:async_hooks'
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { after, before, describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { closeWhatIsOpen, skipUnlessSomeMatch, untrack } from './support/untracked.ts'

/** For the tests of a file together, and for loading it. */
const FILE_MS_MAX = 300_000
/** How long a process may live on whose tests are over. */
const END_MS_MAX = 60_000

const load = (file: string): Promise<unknown> => import(pathToFileURL(resolve(file)).href)

const hasHooks = (file: string): boolean => readFileSync(file, 'utf8').includes("from 'node:test'")

/**
 * Run the tests of these files one after another; the name of each file is the name of the suite with its tests. A file that cannot be
 * loaded, or not in time, fails; the others run nevertheless.
 */
export async function runTogether(files: string[]): Promise<void> {
  // Loaded by a test file, their hooks would belong to that file and end what the next one needs.
  for (const shared of globSync('test/support/*.ts').sort()) if (hasHooks(shared)) await load(shared)
  runSuites(files, emptyQueues)
}

/** As `runTogether`, for files that show pages of one console, whose server and browser are started once. */
export async function runInConsole(files: string[]): Promise<void> {
  for (const shared of ['test/support/browser.ts', 'test/console/console.ts']) await load(shared)
  runSuites(files)
}

function runSuites(files: string[], prepare?: () => Promise<void>): void {
  let loaded: Promise<unknown> = Promise.resolve()
  const { promise: allBuilt, resolve: startTests } = Promise.withResolvers<void>()
  for (const file of files)
    describe(file, { timeout: FILE_MS_MAX }, () => {
      before(async () => {
        // What the files after the first one arrange while they are loaded would come between two looks of its tests.
        await allBuilt
        await prepare?.()
      })
      after(closeWhatIsOpen)
      // One after another, since loading keeps the process from all else: what another file asks the database for meanwhile would time out.
      // Bound: what is loaded belongs to this suite, and not to that of the file before.
      const loading = loaded.then(AsyncResource.bind(() => inTime(load(file), file)))
      loaded = loading.catch(() => {})
      return loading
    })
  void loaded.then(untrack).then(startTests)
  after(() => {
    const end = () => {
      console.error(`The process does not end: ${process.getActiveResourcesInfo().join(', ')}`)
      process.exit(1)
    }
    setTimeout(end, END_MS_MAX).unref()
  })
}

/** Run the tests of one file, which has the process for itself. */
export async function runAlone(file: string): Promise<void> {
  after(closeWhatIsOpen)
  await load(file)
  await untrack()
  skipUnlessSomeMatch()
}

async function inTime(loading: Promise<unknown>, file: string): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${file} is not loaded after ${FILE_MS_MAX / 1000} s`)), FILE_MS_MAX)
  try {
    await Promise.race([loading, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** What the files before have left for workers: those of a test would do it all before what the test waits for. */
async function emptyQueues(): Promise<void> {
  const { cells } = await import('./support/server.ts')
  const mail = `delete from mail where state = 'waiting'`
  const ofCell = `
    delete from job; delete from event_outbox; delete from delivery where state = 'pending';
    delete from deleted_destination; delete from patient_message where state = 'waiting'; ${mail}`
  await Promise.all([cells.control.pool.query(mail), ...cells.names.map((cell) => cells.db(cell).pool.query(ofCell))])
}
