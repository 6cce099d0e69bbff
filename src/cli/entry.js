// The entry. Node's compiled code of the sources is cached next to the installed packages: the next start is faster, and needs less memory
// because the TypeScript compiler stays unloaded. For the same reason only this file is JavaScript (docs/decisions/worker-threads.md).
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { constants, enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

const RUNS_ON = /^(start|serve|work)$/
const IS_HELP = /^(-h|--help)$/
/** Imports all modules of the server, so that Node caches their code, and ends. */
const COMPILE = '--compile'
const cache = fileURLToPath(new URL('../../node_modules/.cache/drawbridge', import.meta.url))
const words = process.argv.slice(2)

const cold = isCold()
const { status } = enableCompileCache(cache)
// Worker threads read the cache too: without it each loads the TypeScript compiler, 20 MB.
if (status === constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = cache
if (
  cold &&
  status === constants.compileCacheStatus.ENABLED &&
  RUNS_ON.test(words[0]) &&
  !words.some((word) => IS_HELP.test(word))
) {
  // A long-running process does not compile the sources itself. If the other process fails, this one still can start, and reports the
  // error. Node keeps the code for each set of V8's options apart.
  const flags = process.execArgv.filter((flag) => flag.includes('semi-space-size'))
  spawnSync(process.execPath, [...flags, fileURLToPath(import.meta.url), COMPILE], { stdio: 'ignore', timeout: 60_000 })
}
if (words[0] === COMPILE) await (await import('./commands/start.ts')).loadServer()
else await (await import('./main.ts')).main(words)

function isCold() {
  try {
    return !readdirSync(cache).some((name) => name.startsWith(`${process.version}-`))
  } catch {
    return true
  }
}
