// The limits of JSON texts: texts within them pass, and texts beyond them are rejected.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { findExcess } from './json-limits.ts'

/** A text of which it makes no difference that it is long. */
const long = (text: string): Buffer => Buffer.from(text.padEnd(20_000))
const nestArrays = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const repeatPart = (count: number, part: (i: number) => string): Buffer =>
  long(`[${Array.from({ length: count }, (_, i) => part(i)).join()}]`)

describe('a JSON text', () => {
  test('has at most 64 levels', () => {
    assert.equal(findExcess(long(nestArrays(64))), undefined)
    assert.equal(findExcess(long(nestArrays(65))), 'more than 64 levels')
    assert.equal(findExcess(long(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)), 'more than 64 levels')
    // One after another they are no deeper.
    assert.equal(findExcess(long(`[${Array(1000).fill(nestArrays(63)).join()}]`)), undefined)
  })

  test('has no levels within its strings, with any escapes', () => {
    const deep = '['.repeat(1000)
    for (const string of [deep, `\\"${deep}`, `${deep}\\\\`, `\\\\\\"${deep}\\"`, `\u00e9\u4e2d\u{1f600}${deep}`]) {
      assert.equal(typeof JSON.parse(`"${string}"`), 'string')
      assert.equal(findExcess(long(`{"${string}":["${string}"]}`)), undefined, string.slice(0, 10))
    }
    assert.equal(findExcess(long(`["\\\\",${deep}`)), 'more than 64 levels')
  })

  test('has at most 500,000 objects and lists', () => {
    assert.equal(findExcess(repeatPart(499_999, () => '{}')), undefined)
    assert.equal(findExcess(repeatPart(500_000, (i) => (i % 2 ? '{}' : '[]'))), 'more than 500000 objects and lists')
  })

  test('has a limit of different sequences of field names, in one object or in many', () => {
    const excess = 'more than 100000 different sequences of field names'
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `"n${i}":1`).join()
    assert.equal(findExcess(long(`{${fields(90_000)}}`)), undefined)
    assert.equal(findExcess(long(`{${fields(200_000)}}`)), excess)
    assert.equal(findExcess(repeatPart(90_000, () => '{"value":1,"unit":"bpm","metadata":{"a":1,"b":{"c":2}}}')), undefined)
    assert.equal(findExcess(repeatPart(200_000, (i) => `{"n${i}":1}`)), excess)
    // The same twelve names in another order each time.
    let state = 1
    const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
    const orders = repeatPart(25_000, () => {
      const names = Array.from({ length: 12 }, (_, n) => [random(), n] as const).toSorted(([a], [b]) => a - b)
      return `{${names.map(([, n]) => `"n${n}":1`).join()}}`
    })
    assert.equal(findExcess(orders), excess)
  })

  test('is left to the parser if it is short', () => {
    assert.equal(findExcess(Buffer.from(nestArrays(100))), undefined)
  })

  test('of any form within the limits has no excess', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (text) => {
        assert.equal(findExcess(long(text)), undefined)
      }),
    )
  })
})
