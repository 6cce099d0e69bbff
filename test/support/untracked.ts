// What a test process is spared once its tests are known. To tell which test registers another one, or which has thrown what nobody caught,
// node:test follows every promise of its process (async_hooks): a fifth of what tests cost. A file registers its tests while it is loaded;
// after that nothing is followed any more (docs/decisions/tests.md). To be loaded before all that imports node:test, which sees nothing of it
// otherwise.
import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { createRequire } from 'node:module'

type Call = (...args: unknown[]) => unknown

const registering = createRequire(import.meta.url)('node:test') as Record<string, Call>

const hooks = new Set<{ disable(): unknown }>()
const prototype = Object.getPrototypeOf(createHook({})) as { enable: Call }
const { enable } = prototype
prototype.enable = function (this: { disable(): unknown }) {
  hooks.add(this)
  return enable.call(this)
}

let isTracked = true
/** Suites whose functions have not returned yet: they may register more. */
const building = new Set<Promise<unknown>>()
/** What tests have asked to be done after them since nothing is followed. */
let closings: Call[] = []

/** Only tests whose titles match are registered, and those of suites whose titles do. The runner's own choice by name drops suites that are built later. */
const pattern = process.env.TEST_GREP === undefined ? undefined : new RegExp(process.env.TEST_GREP)
const matchingSuite = new AsyncLocalStorage<boolean>()
const matches = (title: unknown): boolean => !pattern || matchingSuite.getStore() === true || pattern.test(String(title))

function watchSuites(describe: Call): Call {
  const watching: Call = (...args) => {
    assertTracked()
    const at = args.findIndex((arg) => typeof arg === 'function')
    const build = args[at] as Call | undefined
    if (build)
      args[at] = (...context: unknown[]) => {
        const built = matchingSuite.run(matches(args[0]), () => build(...context))
        if (built instanceof Promise) {
          building.add(built)
          const over = () => void building.delete(built)
          built.then(over, over)
        }
        return built
      }
    return describe(...args)
  }
  return Object.assign(watching, describe)
}

function assertTracked(): void {
  if (!isTracked) throw new Error('Suites and hooks are registered while a file is loaded.')
}

for (const name of ['describe', 'suite']) registering[name] = watchSuites(registering[name]!)
const { test } = registering
let matching = 0
// Not without a pattern: a test that fails is reported with the line that has called `test`, which is here then.
if (pattern)
  for (const name of ['test', 'it']) {
    const register = registering[name]!
    const choosing: Call = (...args) => {
      if (!matches(args[0])) return undefined
      matching++
      return register(...args)
    }
    registering[name] = Object.assign(choosing, register)
  }
for (const name of ['before', 'beforeEach', 'afterEach']) {
  const register = registering[name]!
  registering[name] = (...args) => {
    assertTracked()
    return register(...args)
  }
}
const { after } = registering
registering.after = (...args) => (isTracked ? after!(...args) : void closings.push(args[0] as Call))

/**
 * To be called when every file has been loaded: follow no promise from the moment on in which all suites are built. An error that nobody
 * catches fails the file then, not its test; it is printed. `after`, called within a test, is done by `closeWhatIsOpen`.
 */
export async function untrack(): Promise<void> {
  while (building.size) await Promise.allSettled(building)
  for (const hook of hooks) hook.disable()
  isTracked = false
  process.on('uncaughtExceptionMonitor', (error) => console.error('Nobody has caught this error, which fails the file:', error))
}

/** To be called when every suite is built. A process that registers no test never does what is to be done after its tests, and does not end. */
export function skipUnlessSomeMatch(): void {
  if (pattern && matching === 0) test!('no title matches', { skip: true })
}

/** Do what tests have asked for, at the end of a file. What was opened last is closed first. */
export async function closeWhatIsOpen(): Promise<void> {
  const now = closings
  closings = []
  for (const close of now.toReversed()) await close()
}
