// Types for clients, made from the published OpenAPI document as users make them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'openapi-types-'))
after(() => rmSync(folder, { recursive: true }))

// `openapi-typescript` builds its output with the programming interface of TypeScript 5, which TypeScript 7 does not have.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript' && context.parentURL?.includes('/openapi-typescript/')
      ? next('./typescript-5.ts', { ...context, parentURL: new URL('../support/', import.meta.url).href })
      : next(specifier, context),
})
const { default: openapiTs, astToString } = await import('openapi-typescript')

const CLIENT = `
import type { components, paths, webhooks } from './api.ts'

type Order = components['schemas']['Order']
type Created = paths['/v3/order']['post']['responses'][200]['content']['application/json']
type Event = webhooks['labtest.order.created']['post']['requestBody']['content']['application/json']

export const id = (order: Order): string => order.id
export const idOfCreated = (created: Created): string => created.order.id
export const typeOf = (event: Event): string => event.event_type
`
/** Used wrongly: orders have no such field. */
const WRONG = CLIENT.replace('order.id', 'order.identity')

test('the types that openapi-typescript generates from the OpenAPI document compile, and a client that uses them wrongly does not', async () => {
  const document = JSON.parse(readFileSync(join(root, 'api/openapi.json'), 'utf8')) as Parameters<typeof openapiTs>[0]
  writeFileSync(join(folder, 'api.ts'), astToString(await openapiTs(document)))
  writeFileSync(join(folder, 'client.ts'), CLIENT)
  writeFileSync(join(folder, 'wrong.ts'), WRONG)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--module', 'nodenext', '--types', '']
  const args = [tsc, ...options, '--pretty', 'false', 'client.ts', 'wrong.ts']
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  assert.notEqual(status, 0)
  // One error, and in the client that has one.
  assert.match(stdout, /^wrong\.ts\(\d+,\d+\): error TS2339: [^\n]*identity[^\n]*\n$/)
})
