// The whole suite: one embedded PostgreSQL for all test files, each file with its own database. Further arguments are files.
import { spawn } from 'node:child_process'
import { globSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openEmbedded } from '../src/platform/embedded-postgres.ts'
import { testDataDir, testSettings } from './setup.ts'

const compiled = fileURLToPath(new URL('../node_modules/.cache/drawbridge', import.meta.url))
const chosen = process.argv.slice(2)
const files = chosen.length ? chosen : globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort()

/** A run that was killed may have left a server behind; it is taken over and its folder made anew. */
const left = await openEmbedded({ dataDir: testDataDir, ownership: 'required', log: () => {}, settings: testSettings })
await left.stop()
rmSync(testDataDir, { recursive: true, force: true })

const database = await openEmbedded({ dataDir: testDataDir, ownership: 'required', log: () => {}, settings: testSettings })
const tests = spawn(
  process.execPath,
  ['--test', '--test-concurrency=2', '--test-timeout=300000', '--test-reporter=spec', ...files],
  // Each file is a process: what one has made of the sources the others need not make again.
  { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE: compiled } },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
const code = await new Promise<number>((resolve) => tests.on('exit', (status) => resolve(status ?? 1)))
await database.stop()
process.exitCode = code
