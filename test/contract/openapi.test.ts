// The published OpenAPI document under the recommended rules of two linters, and what readers of it rely on.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { contents } from '../../src/app/contents.ts'
import { describeApi } from '../../src/app/describe-api.ts'

const document = describeApi(contents, '0.0.0')
const source = JSON.stringify(document)

/** Rules that are not followed, and why. */
const REDOCLY_EXCEPTIONS = {
  // The OpenAPI document has `/v2/user/providers/{user_id}` beside `/v2/user/{user_id}/…`.
  'no-ambiguous-paths': 'off',
} as const
const SPECTRAL_EXCEPTIONS = {
  // There is no address that answers for every installation.
  'info-contact': 'off',
  // The summary of most operations says all.
  'operation-description': 'off',
} as const

type Json = Record<string, unknown>
interface Described {
  operationId: string
  tags: string[]
  responses: Record<string, { $ref?: string }>
}
const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as Described[])

describe('the OpenAPI document', () => {
  test("follows Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'], rules: REDOCLY_EXCEPTIONS })
    const problems = await lintFromString({ source, config })
    assert.deepEqual(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    )
  })

  test("follows Spectral's recommended rules", async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [[oas, 'recommended']], rules: SPECTRAL_EXCEPTIONS } as never)
    const problems = await linter.run(source)
    assert.deepEqual(
      problems.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`),
      [],
    )
  })

  test('lists paths that are deprecated after all others', () => {
    const deprecated = Object.values(document.paths).map((path) =>
      Object.values(path).every((one) => (one as { deprecated?: boolean }).deprecated === true),
    )
    assert(deprecated.includes(true))
    assert(!deprecated.slice(deprecated.indexOf(true)).includes(false))
  })

  test('is refused by both linters when it is wrong', async () => {
    const paths = { '/x': { get: { responses: { 200: { description: 1 } } } } }
    const wrong = JSON.stringify({ openapi: document.openapi, info: document.info, paths })
    const config = await createConfig({ extends: ['recommended'] })
    assert.notDeepEqual(await lintFromString({ source: wrong, config }), [])
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [[oas, 'recommended']] } as never)
    assert.notDeepEqual(await linter.run(wrong), [])
  })

  test('shows users and orders first and management last', () => {
    const names = document.tags.map(({ name }) => name)
    assert.deepEqual([...names.slice(0, 2), names.at(-1)], ['users', 'orders', 'management'])
    assert.deepEqual(new Set(operations.flatMap(({ tags }) => tags)), new Set(names))
    assert(document.tags.every(({ description }) => description.endsWith('.')))
  })

  test('has each error once, as a component', () => {
    const ofErrors = operations.flatMap(({ responses }) => Object.entries(responses).filter(([status]) => Number(status) >= 400))
    const inline = ofErrors.filter(([, { $ref }]) => $ref === undefined).map(([, { description }]: [string, Json]) => description)
    assert(
      inline.every((text) => String(text).startsWith('Switched off for the team')),
      inline.join(),
    )
    const { responses } = document.components as { responses: Json }
    assert.deepEqual(new Set(ofErrors.flatMap(([, { $ref }]) => $ref?.split('/').at(-1) ?? [])), new Set(Object.keys(responses)))
  })

  test('has a webhook with an example for each type of events', () => {
    assert.deepEqual(new Set(Object.keys(document.webhooks)), new Set(contents.eventTypes.map(({ name }) => name)))
    const { post } = document.webhooks['labtest.order.created'] as { post: { requestBody: { content: Record<string, Json> } } }
    const example = post.requestBody.content['application/json']!.example as Json
    assert.equal(example.event_type, 'labtest.order.created')
  })

  test('gives no title to two different schemas', () => {
    const twice = contents.operations.slice(0, 1).map((one) => ({ ...one, id: 'other', path: '/other' as const }))
    assert.doesNotThrow(() => describeApi({ ...contents, operations: [...contents.operations, ...twice] }, '0'))
    const { reply } = contents.operations.find(({ reply }) => typeof reply === 'object' && 'title' in reply)!
    const changed = {
      ...contents.operations[0]!,
      id: 'other',
      path: '/other' as const,
      reply: { ...(reply as object), required: ['x'] },
    }
    assert.throws(() => describeApi({ ...contents, operations: [...contents.operations, changed as never] }, '0'), /the title/)
  })
})
