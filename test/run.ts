// The whole suite: one embedded PostgreSQL for all test files, each file with its own database. Further arguments are files.
import { globSync, rmSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { relative, resolve } from 'node:path'
import { openEmbedded } from '../src/platform/embedded-postgres.ts'
import { testDataDir, testSettings } from './setup.ts'

/** More than there are cores: files that start whole programs wait for them much of their time. */
const CONCURRENCY = 3
const TIMEOUT_MS = 300_000
/** How many files are told at the end with the time that they took. */
const SLOWEST = 25

const chosen = process.argv.slice(2)
/** Whole programs first: they take longest, and what is short fills the gaps they leave. */
const all = () => ['test/**/*.test.ts', 'src/**/*.test.ts'].flatMap((pattern) => globSync(pattern).sort())
const files = (chosen.length ? chosen : all()).map((file) => resolve(file))

/** A run that was killed may have left a server behind; it is taken over and its folder made anew. It needs 5 GB at the end. */
const left = await openEmbedded({ dataDir: testDataDir, ownership: 'required', log: () => {}, settings: testSettings })
await left.stop()
rmSync(testDataDir, { recursive: true, force: true })

const database = await openEmbedded({ dataDir: testDataDir, ownership: 'required', log: () => {}, settings: testSettings })
// Each file is a process: what one has made of the sources the others need not make again.
process.env.NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/drawbridge', import.meta.url))
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())
const tests = run({ files, concurrency: CONCURRENCY, timeout: TIMEOUT_MS, signal: ending.signal })
const durations_ms = new Map<string, number>()
tests.on('test:summary', ({ file, success, duration_ms }) => {
  if (file !== undefined) durations_ms.set(file, duration_ms)
  else if (!success) process.exitCode = 1
})
/** Before the counts, which end the output. */
tests.once('test:diagnostic', () => {
  const slowest = [...durations_ms].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST)
  const lines = slowest.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${relative('.', file)}\n`)
  process.stdout.write(`Files that took longest:\n${lines.join('')}`)
})
const said = tests.compose(new spec())
said.pipe(process.stdout)
await finished(said, { writable: false })
await database.stop()
rmSync(testDataDir, { recursive: true, force: true })
