// The entry. What Node makes of the sources is kept beside the installed packages: the next start is faster, and needs less memory
// because the compiler of TypeScript stays unloaded. For the same reason this file alone is JavaScript (docs/decisions/memory.md).
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { constants, enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

const RUNS_ON = /^(start|serve|work)$/
/** Loads all that a server needs, for what Node keeps of it, and ends. */
const COMPILE = '--compile'
const cache = fileURLToPath(new URL('../../node_modules/.cache/drawbridge', import.meta.url))
const words = process.argv.slice(2)

// Where a least is given that is also enough, what starting leaves behind does not make it more (src/platform/runtime/v8-heap.ts).
if (process.execArgv.some((flag) => flag.startsWith('--min-semi-space-size'))) setFlagsFromString('--semi-space-growth-factor=1')

const cold = isCold()
const { status } = enableCompileCache(cache)
if (cold && status === constants.compileCacheStatus.ENABLED && words.length === 1 && RUNS_ON.test(words[0])) {
  // A process that goes on for long does not translate the sources itself. If the other fails, this one still can, and says what is wrong.
  spawnSync(process.execPath, [fileURLToPath(import.meta.url), COMPILE], { stdio: 'ignore', timeout: 60_000 })
}
if (words[0] === COMPILE) await import('./commands/start.ts')
else await (await import('./main.ts')).main(words)

function isCold() {
  try {
    return !readdirSync(cache).some((name) => name.startsWith(`${process.version}-`))
  } catch {
    return true
  }
}
