// Checks with knip that every export is used, and that exports that only tests use are listed with a reason in test/source-rules.ts.
// `npm run check` runs it; knip.json has its settings.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { TEST_EXPORTS } from './source-rules.ts'

interface KnipReport {
  issues: { file: string; exports: { name: string }[]; types: { name: string }[]; files: unknown[] }[]
}

const [unused, unusedByProgram] = await Promise.all([findUnused(), findUnused('--production')])
const allowed = new Set(Object.values(TEST_EXPORTS).flat())
const problems = [
  ...unused.map((name) => `unused: ${name}`),
  ...unusedByProgram
    .filter((name) => !unused.includes(name) && !allowed.has(name))
    .map((name) => `used by tests only, without a reason in test/source-rules.ts: ${name}`),
  ...[...allowed]
    .filter((name) => !unusedByProgram.includes(name))
    .map((name) => `test/source-rules.ts: no reason is needed for ${name}`),
]
for (const problem of problems) console.error(problem)
if (problems.length) process.exitCode = 1

/** Returns the unused files, and the unused exports as `file name`. */
async function findUnused(...options: string[]): Promise<string[]> {
  const knip = [
    'node_modules/knip/bin/knip.js',
    '--no-exit-code',
    '--reporter',
    'json',
    '--include',
    'exports,types,files',
    ...options,
  ]
  const { stdout } = await promisify(execFile)(process.execPath, knip, { maxBuffer: 1e8 })
  return (JSON.parse(stdout) as KnipReport).issues.flatMap(({ file, exports, types, files }) =>
    files.length ? [file] : [...exports, ...types].map(({ name }) => `${file} ${name}`),
  )
}
