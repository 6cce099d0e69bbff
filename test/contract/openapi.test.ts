// The published OpenAPI document under the recommended rules of two linters, and what readers of it rely on.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createConfig, lintDocument, Source, BaseResolver } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { contents } from '../../src/app/contents.ts'
import { describeApi } from '../../src/app/describe-api.ts'

const document = await describeApi(contents, '0.0.0')

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
  // Redocly compares all examples with their schemas, and compiles each schema for that once more.
  'oas3-valid-media-example': 'off',
  'oas3-valid-schema-example': 'off',
  // It throws at a null in an example; a test below checks the same.
  'duplicated-entry-in-enum': 'off',
} as const

type Rules = Record<string, 'off'>
/** Both linters read text as YAML, which takes longer than JSON. */
const copyJson = (document: object): Json => JSON.parse(JSON.stringify(document)) as Json

async function redocly(document: object, rules: Rules = {}): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules })
  const source = new Source('/openapi.json', JSON.stringify(document), 'application/json')
  const externalRefResolver = new BaseResolver(config.resolve)
  const problems = await lintDocument({ document: { source, parsed: copyJson(document) }, config, externalRefResolver })
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)
}

async function spectrally(document: object, rules: Rules = {}): Promise<string[]> {
  const linter = new spectral.Spectral()
  linter.setRuleset({ extends: [[oas, 'recommended']], rules } as never)
  const read = { data: copyJson(document), diagnostics: [], ast: {}, lineMap: [] }
  const problems = await linter.run({ parsed: read, getLocationForJsonPath: () => undefined } as never)
  return problems.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)
}

type Json = Record<string, unknown>
interface Described {
  operationId: string
  tags: string[]
  responses: Record<string, { $ref?: string }>
}
const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as Described[])

describe('the OpenAPI document', () => {
  test("follows Redocly's recommended rules", async () => {
    assert.deepEqual(await redocly(document, REDOCLY_EXCEPTIONS), [])
  })

  test("follows Spectral's recommended rules", async () => {
    assert.deepEqual(await spectrally(document, SPECTRAL_EXCEPTIONS), [])
  })

  test('lists no value of an enumeration twice', () => {
    const lists: unknown[][] = []
    JSON.stringify(document, (name, value: unknown) => {
      if (name === 'enum' && Array.isArray(value)) lists.push(value)
      return value
    })
    assert(lists.length > 100)
    assert.deepEqual(
      lists.filter((values) => new Set(values).size < values.length),
      [],
    )
  })

  test('lists paths that are deprecated after all others', () => {
    const deprecated = Object.values(document.paths).map((path) =>
      Object.values(path).every((operation) => (operation as { deprecated?: boolean }).deprecated === true),
    )
    assert(deprecated.includes(true))
    assert(!deprecated.slice(deprecated.indexOf(true)).includes(false))
  })

  test('is refused by both linters when it is wrong', async () => {
    const { openapi, info } = document
    const wrong = { openapi, info, paths: { '/x': { get: { responses: { 200: { description: 1 } } } } } }
    assert.notDeepEqual(await redocly(wrong, REDOCLY_EXCEPTIONS), [])
    assert.match(String(await spectrally(wrong, SPECTRAL_EXCEPTIONS)), /oas3-schema at paths\.\/x\.get\.responses\.200/)
    const schema = { type: 'object', properties: { id: { type: 'string', example: 7 } }, required: ['id'] }
    const content = { 'application/json': { schema, example: {} } }
    const examples = { openapi, info, paths: { '/x': { get: { responses: { 200: { description: 'Has none.', content } } } } } }
    for (const rule of ['no-invalid-media-type-examples', 'no-invalid-schema-examples'])
      assert(
        (await redocly(examples, REDOCLY_EXCEPTIONS)).some((finding) => finding.startsWith(rule)),
        rule,
      )
  })

  test('shows users and orders first and the console last', () => {
    const names = document.tags.map(({ name }) => name)
    assert.deepEqual([...names.slice(0, 2), names.at(-1)], ['users', 'orders', 'console'])
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

  test('gives no title to two different schemas', async () => {
    const twice = contents.operations.slice(0, 1).map((operation) => ({ ...operation, id: 'other', path: '/other' as const }))
    await assert.doesNotReject(describeApi({ ...contents, operations: [...contents.operations, ...twice] }, '0'))
    const { reply } = contents.operations.find(({ reply }) => typeof reply === 'object' && 'title' in reply)!
    const changed = {
      ...contents.operations[0]!,
      id: 'other',
      path: '/other' as const,
      reply: { ...(reply as object), required: ['x'] },
    }
    await assert.rejects(describeApi({ ...contents, operations: [...contents.operations, changed as never] }, '0'), /the title/)
  })
})
