// Valid requests, and the errors of invalid ones.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RuleError } from './request-validation.ts'
import { DateOnly, Email, Fields, Int, OpenEnum, T, Text, Timestamp, TimeZone, Uuid, type TSchema } from './schema.ts'
import { json, text, faultOf } from '../../../test/support/validation.ts'

const Color = OpenEnum(['red', 'Green', 'blue-ish'])
const short = Text({ minLength: 2, maxLength: 3 })
const several = T.Array(Int(), { minItems: 2, maxItems: 3 })
const even = Text({ rule: (value) => (value.length % 2 ? new RuleError('must be even') : value.toUpperCase()) })

describe('a rejected body value', () => {
  const refusals: [string, TSchema, unknown, string, Record<string, unknown>?][] = [
    ['a number for text', T.String(), 5, 'string_type: Input should be a valid string'],
    ['null for text', T.String(), null, 'string_type: Input should be a valid string'],
    ['text for an integer', Int(), '5', 'int_type: Input should be a valid integer'],
    ['true for an integer', Int(), true, 'int_type: Input should be a valid integer'],
    ['a number beyond all numbers', Int(), Infinity, 'int_type: Input should be a valid integer'],
    ['text for a number', T.Number(), '5.5', 'float_type: Input should be a valid number'],
    [
      'a fraction for an integer',
      Int(),
      1.5,
      'int_from_float: Input should be a valid integer, got a number with a fractional part',
    ],
    ['text for a truth value', T.Boolean(), 'true', 'bool_type: Input should be a valid boolean'],
    ['a number for a truth value', T.Boolean(), 1, 'bool_type: Input should be a valid boolean'],
    ['an object for a list', several, {}, 'list_type: Input should be a valid list'],
    [
      'a list for an object',
      Fields({}),
      [],
      'model_attributes_type: Input should be a valid dictionary or object to extract fields from',
    ],
    [
      'text for an object',
      Fields({}),
      'x',
      'model_attributes_type: Input should be a valid dictionary or object to extract fields from',
    ],
    [
      'a word outside an enumeration',
      Color,
      'mauve',
      "enum: Input should be 'red', 'Green' or 'blue-ish'",
      { expected: "'red', 'Green' or 'blue-ish'" },
    ],
    ['another word than the only one', OpenEnum(['red']), 'mauve', "enum: Input should be 'red'", { expected: "'red'" }],
    ['a number for an enumeration', Color, 1, 'string_type: Input should be a valid string'],
    ['text that is too short', short, 'a', 'string_too_short: String should have at least 2 characters', { min_length: 2 }],
    ['empty text', Text({ minLength: 1 }), '', 'string_too_short: String should have at least 1 character', { min_length: 1 }],
    [
      'one picture where two characters are needed',
      short,
      '🧪',
      'string_too_short: String should have at least 2 characters',
      { min_length: 2 },
    ],
    ['text that is too long', short, 'abcd', 'string_too_long: String should have at most 3 characters', { max_length: 3 }],
    [
      'text of more than one character',
      Text({ maxLength: 1 }),
      'ab',
      'string_too_long: String should have at most 1 character',
      { max_length: 1 },
    ],
    [
      'text of another pattern',
      Text({ pattern: '^\\d+$' }),
      'x',
      "string_pattern_mismatch: String should match pattern '^\\d+$'",
      { pattern: '^\\d+$' },
    ],
    [
      'text with a NUL, which no database keeps',
      T.String(),
      'a\0b',
      'value_error: Value error, must not contain NUL characters',
      { error: {} },
    ],
    ['text that a rule refuses', even, 'abc', 'value_error: Value error, must be even', { error: {} }],
    [
      'a number that is too small',
      Int({ minimum: 1, maximum: 9 }),
      0,
      'greater_than_equal: Input should be greater than or equal to 1',
      { ge: 1 },
    ],
    [
      'a number that is too large',
      Int({ minimum: 1, maximum: 9 }),
      10,
      'less_than_equal: Input should be less than or equal to 9',
      { le: 9 },
    ],
    [
      'a number that the database has no room for',
      Int(),
      2147483648,
      'less_than_equal: Input should be less than or equal to 2147483647',
      { le: 2147483647 },
    ],
    [
      'a list that is too short',
      several,
      [1],
      'too_short: List should have at least 2 items after validation, not 1',
      { min_length: 2, actual_length: 1 },
    ],
    [
      'an empty list',
      T.Array(Int(), { minItems: 1 }),
      [],
      'too_short: List should have at least 1 item after validation, not 0',
      { min_length: 1, actual_length: 0 },
    ],
    [
      'a list that is too long',
      several,
      [1, 2, 3, 4],
      'too_long: List should have at most 3 items after validation, not 4',
      { max_length: 3, actual_length: 4 },
    ],
    [
      'a list of more than one',
      T.Array(Int(), { maxItems: 1 }),
      [1, 2],
      'too_long: List should have at most 1 item after validation, not 2',
      { max_length: 1, actual_length: 2 },
    ],
    ['an unknown time zone', TimeZone, 'Mars/Olympus', 'value_error: Value error, not an IANA time zone', { error: {} }],
    [
      'a date-time with a time of day for a date',
      DateOnly,
      '1990-01-31T00:01:00Z',
      'date_from_datetime_inexact: Datetimes provided to dates should have zero time - e.g. be exact dates',
      {},
    ],
  ]
  for (const [what, schema, value, why, ctx] of refusals)
    test(`has a reason: ${what}`, () => {
      const { type, msg, ...rest } = faultOf(json(schema, value))
      assert.deepEqual([`${type}: ${msg}`, rest], [why, ctx ? { ctx } : {}])
    })

  test('that is not a uuid, date, date-time or URL is reported with the reason', () => {
    for (const [schema, type, msg] of [
      [Uuid, 'uuid_parsing', /^Input should be a valid UUID/],
      [DateOnly, 'date_from_datetime_parsing', /^Input should be a valid date or datetime/],
      [Timestamp, 'datetime_parsing', /^Input should be a valid datetime/],
    ] as const) {
      const fault = faultOf(json(schema, 'nonsense'))
      assert.equal(fault.type, type)
      assert.match(fault.msg, msg)
      assert.equal(typeof fault.ctx?.error, 'string')
    }
    const address = faultOf(json(Email, 'nonsense'))
    assert.equal(address.type, 'value_error')
    assert.match(address.msg, /^value is not a valid email address/)
    assert.equal(typeof address.ctx?.reason, 'string')
  })

  test('is never repeated in the response', () => {
    const secret = 'Zaphodine'
    const Everything = Fields({
      a: Int(),
      b: T.Boolean(),
      c: Color,
      d: Uuid,
      e: DateOnly,
      f: Timestamp,
      g: Email,
      h: Text({ maxLength: 3 }),
      i: Text({ pattern: '^x$' }),
      j: T.Array(Int()),
      k: Fields({}),
      l: TimeZone,
      m: Text({ rule: () => new RuleError('no') }),
    })
    const body = Object.fromEntries([...'abcdefghijklm'].map((key) => [key, secret]))
    const found = json(Everything, body)
    assert.ok('faults' in found)
    assert.equal(found.faults.length, 13)
    assert.ok(!JSON.stringify(found).includes(secret))
    assert.ok(found.faults.every((fault) => !('input' in fault)))
  })
})

describe('a rejected value of the path or the query', () => {
  const refusals: [string, TSchema, string, string, Record<string, unknown>?][] = [
    ['no integer', Int(), 'x', 'int_parsing: Input should be a valid integer, unable to parse string as an integer'],
    ['a fraction', Int(), '1.5', 'int_parsing: Input should be a valid integer, unable to parse string as an integer'],
    [
      'more digits than an integer has',
      Int(),
      '12345678901234567',
      'int_parsing: Input should be a valid integer, unable to parse string as an integer',
    ],
    ['no number', T.Number(), '1,5', 'float_parsing: Input should be a valid number, unable to parse string as a number'],
    ['no truth value', T.Boolean(), 'maybe', 'bool_parsing: Input should be a valid boolean, unable to interpret input'],
    [
      'a number that is too large',
      Int({ maximum: 9 }),
      '10',
      'less_than_equal: Input should be less than or equal to 9',
      { le: 9 },
    ],
    [
      'a word outside an enumeration',
      OpenEnum(['asc', 'desc']),
      'up',
      "enum: Input should be 'asc' or 'desc'",
      { expected: "'asc' or 'desc'" },
    ],
  ]
  for (const [what, schema, value, why, ctx] of refusals)
    test(`is repeated in the response: ${what}`, () => {
      const { type, msg, ...rest } = faultOf(text(schema, value))
      assert.deepEqual([`${type}: ${msg}`, rest], [why, { input: value, ...(ctx && { ctx }) }])
    })

  test('that is free text is not repeated: people search for people', () => {
    assert.ok(!('input' in faultOf(text(Text({ maxLength: 3 }), 'abcd'))))
  })
})

describe('values of the path and the query are parsed from text', () => {
  test('whole numbers with and without a sign, and with blanks around', () => {
    for (const [given, value] of [
      ['7', 7],
      ['+7', 7],
      ['-7', -7],
      [' 7 ', 7],
      ['007', 7],
    ] as const)
      assert.deepEqual(text(Int(), given), { value })
  })

  test('numbers with fractions and exponents', () => {
    for (const [given, value] of [
      ['1.5', 1.5],
      ['.5', 0.5],
      ['5.', 5],
      ['-2e3', -2000],
    ] as const)
      assert.deepEqual(text(T.Number(), given), { value })
  })

  test('truth values in every usual spelling', () => {
    for (const given of ['true', 'True', '1', 'on', 'yes', 'YES']) assert.deepEqual(text(T.Boolean(), given), { value: true })
    for (const given of ['false', 'FALSE', '0', 'off', 'no']) assert.deepEqual(text(T.Boolean(), given), { value: false })
  })
})
