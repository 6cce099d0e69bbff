// Error messages are actionable: rules in words, and limits with the setting that lifts them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { orderBody, patient } from '../support/orders.ts'
import { createTestTeam } from '../support/server.ts'
import { settings } from '../../src/settings/settings.ts'
import { TokenBuckets } from '../../src/platform/http/rate-limits.ts'

const { operations } = contents

interface Shape {
  pattern?: string
  says?: string
  [part: string]: unknown
}

/** Every pattern within a schema that has no words. */
const wordless = (schema: unknown, path: string): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const { pattern, says } = schema as Shape
  const own = typeof pattern === 'string' && !says ? [`${path} ${pattern}`] : []
  // The names of a map are patterns of its own kind.
  return [
    ...own,
    ...Object.entries(schema)
      .filter(([name]) => name !== 'pattern')
      .flatMap(([name, part]) => wordless(part, `${path}.${name}`)),
  ]
}

test('every rule about a text has words', () => {
  const found = operations.flatMap(({ id, params, query, body }) =>
    Object.entries({ params, query, body }).flatMap(([part, schema]) => wordless(schema, `${id} ${part}`)),
  )
  assert.deepEqual(found, [])
})

describe('the refusal of a name', () => {
  test('describes a name, not the expression that recognizes it', async () => {
    const team = await createTestTeam()
    const patient_details = { ...patient, first_name: 'José', last_name: ' Fictional' }
    const { status, body } = await team.api.post('/v3/order', await orderBody(team, { patient_details }))
    assert.equal(status, 422)
    const words =
      "String should begin with a letter or digit and have only letters without accents, digits, - . , ' and single spaces between words"
    assert.deepEqual(
      body.detail.map(({ msg, type }: { msg: string; type: string }) => [msg, type]),
      [
        [words, 'string_pattern_mismatch'],
        [words, 'string_pattern_mismatch'],
      ],
    )
  })
})

describe('the error for one thing too many names the setting', () => {
  const named = (text: string) => {
    const names: string[] = text.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? []
    assert(names.length > 0, text)
    for (const name of names)
      assert(
        Object.values(settings).some((setting) => setting.name === name),
        `there is no setting ${name}`,
      )
    return names
  }

  test('of requests', () => {
    const buckets = new TokenBuckets({ per_s: 1, burst: 1 })
    buckets.consume('caller')
    assert.throws(
      () => buckets.consume('caller'),
      ({ body }: { body: { detail: string } }) => named(body.detail).includes('REQUESTS_PER_SECOND'),
    )
  })
})
