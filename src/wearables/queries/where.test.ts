import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Scalar } from './columns.ts'
import { validateConditions, parseWhere, WhereClauseError, type Condition } from './where.ts'

const a = (literal: string | number | boolean, operator = '='): Condition =>
  ({ left: { column: 'a' }, operator, right: { literal } }) as Condition

describe('parses a condition', () => {
  const read: [text: string, condition: Condition][] = [
    ['a = 1', a(1)],
    ['  a=1  ', a(1)],
    ['a >= -1.5e3', a(-1500, '>=')],
    ['a<.5', a(0.5, '<')],
    ['a>-2', a(-2, '>')],
    ["a != 'it''s'", a("it's", '!=')],
    ["a = ''", a('')],
    ["a = 'or (b) and'", a('or (b) and')],
    ['a = TRUE', a(true)],
    ['a = false', a(false)],
    ['1 <= a', { left: { literal: 1 }, operator: '<=', right: { column: 'a' } }],
    ['a = b', { left: { column: 'a' }, operator: '=', right: { column: 'b' } }],
    ['not a = 1', { not: a(1) }],
    ['NOT NOT (a = 1)', { not: { not: a(1) } }],
    ['a = 1 and a = 2 AND a = 3', { and: [a(1), a(2), a(3)] }],
    ['a = 1 or a = 2 and a = 3', { or: [a(1), { and: [a(2), a(3)] }] }],
    ['(a = 1 or a = 2) and not a = 3', { and: [{ or: [a(1), a(2)] }, { not: a(3) }] }],
  ]
  for (const [text, condition] of read) test(text, () => assert.deepEqual(parseWhere(text), condition))
})

describe('rejects a condition with the position of the error', () => {
  const refused: [text: string, reason: RegExp][] = [
    ['', /a column or a value at character 1/],
    ['a', /a comparison at character 2/],
    ['a = ', /a column or a value at character 4/],
    ['a = 1 b', /AND, OR or its end at character 7/],
    ['a = 1 and', /a column or a value at character 10/],
    ['(a = 1', /a closing parenthesis at character 7/],
    ['a = 1)', /AND, OR or its end at character 6/],
    ['a == 1', /a column or a value at character 4/],
    ['a = and', /a column or a value at character 5/],
    ["a = 'x", /syntax error at character 5/],
    ['a = "x"', /syntax error at character 5/],
    ['a = 1; drop table "user"', /syntax error at character 6/],
    ['a like 1', /a comparison at character 3/],
    ['a(1) = 1', /a comparison at character 2/],
    ['a = 1e999', /number that is out of range/],
    [`${'('.repeat(41)}a = 1${')'.repeat(41)}`, /more than 40 levels/],
    [`${'not '.repeat(41)}a = 1`, /more than 40 levels/],
  ]
  for (const [text, reason] of refused)
    test(text.slice(0, 40), () =>
      assert.throws(
        () => parseWhere(text),
        (error: Error) => error instanceof WhereClauseError && reason.test(error.message),
      ),
    )

  test('never throws for arbitrary input', () => {
    const words = fc.constantFrom('a', '1', "'x'", '(', ')', 'and', 'or', 'not', '=', '>=', '<', ' ', "'", '.', '-', 'é')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(words, { maxLength: 60 }).map((parts) => parts.join(' ')),
          fc.string(),
        ),
        (text) => {
          try {
            parseWhere(text)
          } catch (error) {
            assert(error instanceof WhereClauseError)
          }
        },
      ),
      { seed: 20300101 },
    )
  })
})

describe('a comparison', () => {
  const kinds: Record<string, Scalar> = { n: 'int', x: 'double', s: 'text', b: 'bool', d: 'date', t: 'time' }
  const faults = (text: string) =>
    validateConditions(parseWhere(text), (name) => (Object.hasOwn(kinds, name) ? kinds[name] : undefined))

  test('requires a column and a value of its type, or two columns of one type', () => {
    for (const text of [
      'n > 1.5',
      "s = 'x'",
      "s > 'x'",
      'b = true',
      'b != false',
      "d >= '2030-01-31'",
      "t < '2030-01-31T08:00:00'",
      'n = x',
      'd < t',
    ])
      assert.deepEqual(faults(text), [], text)
  })

  test('rejects any other comparison', () => {
    const refused = [
      "n = '1'",
      's = 1',
      'b = 1',
      "b = 'true'",
      'b > true',
      "d = 'soon'",
      'd = 1',
      'n = s',
      '1 = 1',
      'unknown = 1',
    ]
    for (const text of refused) assert.equal(faults(text).length, 1, text)
  })

  test('is checked at every position, and all errors are reported', () => {
    assert.deepEqual(faults('(n = true or not s = 1) and zz = 1 and n = 1'), [
      'where compares n with a value of another type',
      'where compares s with a value of another type',
      'where references unknown column zz',
    ])
  })
})
