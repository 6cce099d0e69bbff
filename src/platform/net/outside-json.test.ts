// JSON of other servers: the limits of its reader, and that nothing else reads it.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { OutsideJsonError, readOutsideJson } from './outside-json.ts'

test('JSON of another server is read within the limits of requests', () => {
  assert.deepEqual(readOutsideJson('{"a":[1,null,"x"]}'), { a: [1, null, 'x'] })
  const names = Array.from({ length: 200_000 }, (_, i) => `"n${i}":0`).join()
  for (const text of [
    '',
    '{',
    'nothing',
    '['.repeat(20_000) + ']'.repeat(20_000),
    `[${'{},'.repeat(500_000)}{}]`,
    `[${'0,'.repeat(2_000_001)}0]`,
    `{${names}}`,
  ])
    assert.throws(() => readOutsideJson(text), OutsideJsonError, text.slice(0, 20))
})

/** Files of the server that parse JSON, by whose text it is. None of another server. */
const parsers: Record<string, RegExp> = {
  'the reader itself': /^platform\/net\/outside-json\.ts$/,
  'documents in the database, which this server wrote':
    /^(lab\/(accounts\/account-links|documents|fulfillment|link-shadow\/shadow-comparison|orders|result-matching|results)|notifications\/(messages|portal|reminders)|sandbox\/unmatched-results|tenancy\/(audit|teams)|wearables\/(queries|streams|timeseries|resources)|ehr\/observations\/send-observations|visits\/(appointments|phlebotomy\/(staff|visit-progress))|platform\/(access-log|queue)|connections\/(bulk\/bulk-operations|credentials\/credentials)|events\/(brokers\/pipelines|endpoints\/custom-headers))\b/,
  'tokens, cursors and lines that this server wrote':
    /^platform\/(crypto\/(jwt|signed-tokens)|http\/(list-pages|request)|telemetry\/terminal-log)\.ts$/,
  'requests, within the limits of requests':
    /^(platform\/(http\/input|schema\/sliced-json)|connections\/mobile-sdk\/post-operation)\.ts$/,
  'files that the simulated laboratory wrote': /^sandbox\/lab-peer\/journal\.ts$/,
  'files of the package':
    /^(lab\/catalog\/(data-files|lab-tests)|platform\/(embedded-postgres\/account|http\/console-pages|runtime\/version))\.ts$/,
  'files and settings of the operator':
    /^(lab\/(catalog-exchange\/exchange|link-onboarding\/compendium-table)|settings\/service-account|visits\/(phlebotomy\/staff-import|psc\/site-(files|row)|psc-booking\/schedule-import))\.ts$/,
  'what this server has read from a report': /^lab-reports\/reading\/read-report\.ts$/,
}

const files = globSync('src/**/*.{ts,js}')
  .filter((file) => !/\.test\.ts$|^src\/(cli|testing)\//.test(file))
  .map((file) => ({ file: file.slice('src/'.length), source: readFileSync(file, 'utf8') }))
const parses = (source: string) =>
  /\bJSON\.parse\s*\(|\bJSON\s*\[|\.json\s*\(\)|reviver/.test(source.replace(/\/\/.*$|`JSON\.parse`/gm, ''))

test('nothing but the reader parses JSON of another server', () => {
  const found = files.filter(({ source }) => parses(source)).map(({ file }) => file)
  assert(found.length > 40, `the pattern finds ${found.length} files`)
  const unknown = found.filter((file) => !Object.values(parsers).some((parser) => parser.test(file)))
  assert.deepEqual(unknown, [], 'say whose JSON it is, or use readOutsideJson')
})

test('a file that sends requests to another server parses no JSON itself', () => {
  const sending = files.filter(({ source }) => /import\('undici'\)|from 'undici'|\bfetch\(|HttpClient|VendorHttp\b/.test(source))
  assert(sending.length > 20, `the pattern finds ${sending.length} files`)
  const own = sending
    .filter(({ file, source }) => parses(source) && file !== 'platform/net/outside-json.ts')
    .map(({ file }) => file)
  assert.deepEqual(own, [])
})
