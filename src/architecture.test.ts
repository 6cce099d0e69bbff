// Reads the sources and holds them to the architecture: who imports whom, who writes which table, who may read a clock.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { uses } from './architecture.ts'

const files = globSync('src/*/**/*.ts').filter((file) => !/\.(test|fixture)\.ts$/.test(file))
const folder = (path: string) => path.split('/')[1]!
const text = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
const modules: Record<string, readonly string[]> = uses

const mayUse = (from: string, to: string): boolean =>
  from === to ||
  (to === 'platform' && from !== 'platform') ||
  (to === 'platform' && from === 'platform') ||
  (to === 'wire' && from !== 'platform') ||
  (modules[from]?.includes(to) ?? false)

test('arrows point down: every module uses only what stands above its own line', () => {
  const seen = new Set<string>()
  for (const [module, below] of Object.entries(modules)) {
    for (const name of below) assert(seen.has(name), `${module} uses ${name}, which does not stand above it`)
    seen.add(module)
  }
})

test('every folder of the sources is a module of the architecture', () => {
  const known = new Set(['platform', 'wire', ...Object.keys(modules)])
  for (const file of files) assert(known.has(folder(file)), `${file}: no module ${folder(file)} in architecture.ts`)
})

test('imports follow the architecture', () => {
  for (const [file, source] of text)
    for (const [, target] of source.matchAll(/from '(\.[^']+)'/g)) {
      const to = folder(normalize(join(dirname(file), target!)))
      assert(mayUse(folder(file), to), `${file}: ${folder(file)} may not use ${to}`)
    }
})

test('the platform knows no module', () => {
  for (const [file, source] of text)
    if (folder(file) === 'platform') assert(!/from '\.\.\//.test(source), `${file} imports from outside the platform`)
})

test('only the platform reads the machine clock, or asks the database for the time', () => {
  for (const [file, source] of text) {
    const code = source.replace(/\/\/.*$|\/\*[\s\S]*?\*\//gm, '')
    if (folder(file) !== 'platform')
      assert(!/Date\.now\(|new Date\(\)|machineNow\(/.test(code), `${file} reads the machine clock`)
    assert(
      !/\bnow\(\)(?! *=>)|current_timestamp/i.test(code.replaceAll('machineNow()', '').replaceAll('performance.now()', '')),
      `${file} asks for the time in SQL`,
    )
    if (folder(file) !== 'platform')
      assert(!/(statement|clock|transaction)_timestamp\(/i.test(code), `${file} asks for the time in SQL`)
  }
})

test('a table is written by one module', () => {
  const writers = new Map<string, string>()
  for (const [file, source] of text)
    for (const [, table] of source.matchAll(
      /(?:insert into|update|delete from)\s+"?([a-z_]+)"?\s+(?:as \w+ )?(?:\(|set|where)/g,
    )) {
      const owner = writers.get(table!) ?? folder(file)
      assert.equal(folder(file), owner, `${table} is written by ${owner} and by ${file}`)
      writers.set(table!, owner)
    }
  for (const [file, source] of text)
    for (const [, table] of source.matchAll(/\bcleanup\(\{[^}]*?\btable: '([a-z_]+)'/g))
      assert.equal(writers.get(table!), folder(file), `${table} is cleaned up by ${file}`)
  assert(writers.size > 10, 'the pattern finds no writers any more')
})

/**
 * Fragments that name the table; the statements they become part of name the team. And whose time is taken: staff may visit the patients
 * of many teams.
 */
const FRAGMENTS: Record<string, RegExp> = {
  'src/phlebotomy/visits.ts': /select staff_id, .* from phlebotomy_visit\s+where staff_id = any/s,
  'src/users/users.ts': /from "user"\s*$/,
  'src/catalog/lab-tests.ts': /from lab_test t\s+join lab l/,
  'src/matching/raw-results.ts': /from raw_result r join lab l on l.id = r.lab_id$/,
  // Who sends for a team is known by the team's id.
  'src/matching/receive.ts': /lab_id = \S+ and sender = /,
}

const TEAM_TABLES = [
  '"user"',
  'user_checkpoint',
  'user_demographics',
  'insurance',
  'team_physician',
  'lab_test',
  'lab_order',
  'order_mark',
  'order_checkpoint',
  'lab_result',
  'lab_result_pdf',
  'simulation',
  'appointment',
  'phlebotomy_visit',
  'raw_result',
  'unmatched_result_test',
  'event',
  'idempotency',
  'scope_requirement',
  'continuous_query',
  'feed',
]

test("every statement on a team's table names the team", () => {
  for (const [file, source] of text)
    for (const [, statement] of source.matchAll(/sql`([^`]*)`/g))
      for (const table of TEAM_TABLES)
        if (new RegExp(`(from|update|into|join)\\s+${table}(\\s|$)`).test(statement!))
          assert(
            /team_id (=|is not distinct from|is null) |live\(tx\)|ofTeam\(tx\)|insert into \S+ (as \w+ )?\([^)]*team_id/.test(
              statement!,
            ) ||
              /(expires|created)_at </.test(statement!) ||
              FRAGMENTS[file]?.test(statement!),
            `${file}: a statement on ${table} does not name the team`,
          )
})
