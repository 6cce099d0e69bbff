// Every operation that the reference has for users, connections, health data and webhooks is one of ours: method, path, and for lists of
// timeseries the name. test/contract/reference-paths.tsv is made from a table with a row for each, whose first columns are `method`, `path`
// and whose column `notes` says what is deprecated: REFERENCE=<that file> UPDATE=1.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { contents, unimplementedPaths } from '../../src/app/contents.ts'
import { matchesPath } from '../../src/platform/http/request-path.ts'
import type { Operation } from '../../src/platform/http/operation.ts'

const LIST = new URL('reference-paths.tsv', import.meta.url)
const { REFERENCE, UPDATE } = process.env
if (REFERENCE && UPDATE) {
  const [head, ...rows] = readFileSync(REFERENCE, 'utf8').trim().split('\n')
  const notes = head!.split('\t').indexOf('notes')
  const lines = rows.map((row) => {
    const columns = row.split('\t')
    const isDeprecated = columns[1]!.startsWith('/v2/timeseries/') && /^deprecated\b/.test(columns[notes] ?? '')
    return `${columns[0]}\t${columns[1]}\t${isDeprecated ? 'deprecated' : ''}\n`
  })
  writeFileSync(LIST, lines.toSorted().join(''))
}
const rows = readFileSync(LIST, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t') as [method: string, path: string, deprecated: string])

/** Values for parameters, by name: where the table has one, ours may have a list of names. */
const values: Record<string, string> = {
  oauth_provider: 'oura',
  env: 'sandbox',
  environment: 'sandbox',
  region: 'us',
  resource: 'heartrate',
}
const ID = '00000000-0000-4000-8000-000000000000'
/** One of each way to connect. */
const providers = ['oura', 'whoop', 'freestyle_libre', 'apple_health_kit']
const fillPath = (path: string, provider: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => (name === 'provider' ? provider : (values[name] ?? ID)))

/** The parameters with which a path is one of an operation; undefined if it is not. A fixed segment is the better match, as for requests. */
function paramsFor(operation: Operation, path: string): Record<string, string> | undefined {
  for (const own of [operation.path, ...(operation.aliases ?? [])]) {
    const [ours, theirs] = [own.split('/'), path.split('/')]
    if (ours.length !== theirs.length && !own.includes('...}')) continue
    const params: Record<string, string> = {}
    const isSame = ours.every((segment, i) => {
      const name = /^\{(\w+)(\.\.\.)?\}$/.exec(segment)?.[1]
      if (name) params[name] = theirs[i]!
      return name !== undefined || segment === theirs[i]
    })
    if (isSame && (own.includes('...}') || matchesPath(operation, { params, url: path }))) return params
  }
  return undefined
}

/** The operations of a request. A path with a fixed segment hides one with a parameter there, whatever their methods. */
function findOperation(method: string, path: string) {
  const matches = contents.operations.flatMap((operation) => {
    const params = providers
      .map((provider) => paramsFor(operation, fillPath(path, provider)))
      .find((pathParams) => pathParams !== undefined)
    return params ? [{ operation, params }] : []
  })
  const fewest = Math.min(...matches.map(({ params }) => Object.keys(params).length))
  return matches.filter(({ operation, params }) => operation.method === method && Object.keys(params).length === fewest)
}
const isPage = (method: string, path: string) => method === 'GET' && contents.pages.some((page) => page.path === path)

test('every path of the reference is served, or listed as not implemented', () => {
  assert(rows.length >= 190, 'the list of the reference is not whole')
  const missing = rows
    .filter(([method, path]) => !isPage(method, path) && !findOperation(method, path).length)
    .map(([method, path]) => `${method} ${path}`)
  assert.deepEqual(missing, unimplementedPaths)
})

/** Deprecated in the reference, and not ended. */
const onlyDeprecated = ['GET /v2/timeseries/sleep/{sleep_id}/stream']

test('every list of samples that the reference has ended says so in its answers', () => {
  const silent = rows
    .filter(([, , deprecated]) => deprecated)
    .filter(([method, path]) => !findOperation(method, path).some(({ operation, params }) => operation.deprecation?.(params)))
    .map(([method, path]) => `${method} ${path}`)
  assert.deepEqual(silent, onlyDeprecated)
})
