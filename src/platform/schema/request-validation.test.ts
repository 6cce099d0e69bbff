// Valid requests, and the errors of invalid ones.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Fault } from './fault.ts'
import { validate, RuleError } from './request-validation.ts'
import {
  Clearable,
  DateOnly,
  Email,
  Fields,
  Int,
  Maybe,
  Nullable,
  OneOf,
  OpenEnum,
  T,
  Text,
  Timestamp,
  TimeZone,
  Uuid,
  type TSchema,
} from './schema.ts'

type Outcome = { value: unknown } | { faults: Fault[] }

function outcome(schema: TSchema, value: unknown, mode: 'json' | 'text' = 'json', loc: string[] = ['body']): Outcome {
  const faults: Fault[] = []
  const result = validate(schema, value, loc, faults, mode)
  return faults.length ? { faults } : { value: result }
}

const json = (schema: TSchema, value: unknown) => outcome(schema, value, 'json')
const text = (schema: TSchema, value: unknown) => outcome(schema, value, 'text', ['query', 'x'])

/** The only error of a value, without its path. */
function faultOf(found: Outcome): Omit<Fault, 'loc'> {
  assert.ok('faults' in found, 'nothing was refused')
  assert.equal(found.faults.length, 1)
  const { loc: _, ...fault } = found.faults[0]!
  return fault
}

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

  test('that is no uuid, date, date-time or URL is reported as such, with the reason', () => {
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

describe('an object', () => {
  const Pet = Fields({ name: Text({ minLength: 1 }), legs: Maybe(Int()), tail: Maybe(T.Boolean()) })
  const Owner = Fields({ id: Uuid, pets: T.Array(Pet, { maxItems: 5 }), note: Maybe(T.String()) })

  test('reports all errors at once, in the order of the schema, each with its path', () => {
    const found = json(Owner, { note: 1, pets: [{ legs: 'four' }, 7, { name: '', tail: 0 }], id: 'x' })
    assert.ok('faults' in found)
    assert.deepEqual(
      found.faults.map(({ loc, type }) => [loc.join('.'), type]),
      [
        ['body.id', 'uuid_parsing'],
        ['body.pets.0.name', 'missing'],
        ['body.pets.0.legs', 'int_type'],
        ['body.pets.1', 'model_attributes_type'],
        ['body.pets.2.name', 'string_too_short'],
        ['body.pets.2.tail', 'bool_type'],
        ['body.note', 'string_type'],
      ],
    )
    assert.deepEqual(found.faults[1], { loc: ['body', 'pets', 0, 'name'], msg: 'Field required', type: 'missing' })
  })

  test('drops undeclared fields at every depth', () => {
    const owner = { id: '00000000-0000-7000-8000-00000000000a', pets: [{ name: 'Rex', colour: 'red' }], age: 7 }
    assert.deepEqual(json(Owner, owner), { value: { id: owner.id, pets: [{ name: 'Rex' }] } })
  })

  test('ignores names that all objects inherit', () => {
    const Odd = Fields({ constructor: Maybe(T.String()), toString: Maybe(T.String()) })
    assert.deepEqual(json(Odd, {}), { value: {} })
    assert.deepEqual(json(Owner, JSON.parse('{"__proto__":{"id":"x","pets":[]}}')), {
      faults: [
        { loc: ['body', 'id'], msg: 'Field required', type: 'missing' },
        { loc: ['body', 'pets'], msg: 'Field required', type: 'missing' },
      ],
    })
  })

  test('accepts null for an optional field as not given', () => {
    assert.deepEqual(json(Pet, { name: 'Rex', legs: null, tail: null }), { value: { name: 'Rex' } })
  })

  test('rejects null for a required field', () => {
    assert.deepEqual(json(Pet, { name: null }), {
      faults: [{ loc: ['body', 'name'], msg: 'Input should be a valid string', type: 'string_type' }],
    })
  })

  test('keeps null if it clears a field', () => {
    const Change = Fields({ a: Clearable(Int()), b: Clearable(Int()), c: Clearable(Int()) })
    assert.deepEqual(json(Change, { a: null, b: 2 }), { value: { a: null, b: 2 } })
    assert.equal(faultOf(json(Change, { c: 'x' })).type, 'int_type')
  })

  test('requires a nullable field to be present', () => {
    const Plan = Fields({ on: Nullable(DateOnly) })
    assert.deepEqual(json(Plan, { on: null }), { value: { on: null } })
    assert.deepEqual(json(Plan, {}), { faults: [{ loc: ['body', 'on'], msg: 'Field required', type: 'missing' }] })
  })

  test('fills in defaults', () => {
    const Page = Fields({ page: Maybe(Int({ default: 1 })), all: T.Boolean({ default: false }) })
    assert.deepEqual(json(Page, {}), { value: { page: 1, all: false } })
    assert.deepEqual(json(Page, { page: null, all: true }), { value: { page: 1, all: true } })
  })

  test('that is closed rejects undeclared fields after all other errors', () => {
    const Closed = Fields({ name: T.String() }, { additionalProperties: false })
    assert.deepEqual(json(Closed, { nick: 'x', legs: 4 }), {
      faults: [
        { loc: ['body', 'name'], msg: 'Field required', type: 'missing' },
        { loc: ['body', 'nick'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
        { loc: ['body', 'legs'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
      ],
    })
  })

  test('runs its final check only if every field is valid', () => {
    let finished = 0
    const Pair = Fields(
      { low: Int(), high: Int() },
      {
        finish: (pair) => {
          finished++
          return (pair.low as number) > (pair.high as number)
            ? { field: 'high', refusal: new RuleError('must not be below low') }
            : { low: pair.low, high: pair.high, span: (pair.high as number) - (pair.low as number) }
        },
      },
    )
    assert.equal(faultOf(json(Pair, { low: 1, high: 'x' })).type, 'int_type')
    assert.equal(finished, 0)
    assert.deepEqual(json(Pair, { low: 1, high: 3 }), { value: { low: 1, high: 3, span: 2 } })
    assert.deepEqual(json(Pair, { low: 3, high: 1 }), {
      faults: [{ loc: ['body', 'high'], msg: 'Value error, must not be below low', type: 'value_error', ctx: { error: {} } }],
    })
  })
})

describe('another spelling of a field', () => {
  const aliases = { street: 'first_line', zip_code: 'zip' }
  const Place = Fields({ first_line: T.String(), zip: Maybe(T.String()) }, { aliases })

  test('is parsed as the field', () => {
    assert.deepEqual(json(Place, { street: 'A', zip_code: '1' }), { value: { first_line: 'A', zip: '1' } })
  })

  test('is ignored if the field itself is present, unless that is null', () => {
    assert.deepEqual(json(Place, { street: 'A', first_line: 'B' }), { value: { first_line: 'B' } })
    assert.deepEqual(json(Place, { street: 'A', first_line: null }), { value: { first_line: 'A' } })
  })

  test('is reported by the name of the field', () => {
    assert.deepEqual(json(Place, { street: 1 }), {
      faults: [{ loc: ['body', 'first_line'], msg: 'Input should be a valid string', type: 'string_type' }],
    })
  })

  test('is not a surplus field of a closed object', () => {
    const Closed = Fields({ first_line: T.String() }, { aliases: { street: 'first_line' }, additionalProperties: false })
    assert.deepEqual(json(Closed, { street: 'A' }), { value: { first_line: 'A' } })
  })
})

describe('a value with several forms', () => {
  const Either = T.Union([Fields({ id: Int() }), Fields({ name: T.String() }), T.Null()])

  test('is parsed as the first form that it matches', () => {
    assert.deepEqual(json(Either, { name: 'x' }), { value: { name: 'x' } })
    assert.deepEqual(json(Either, { id: 1, name: 'x' }), { value: { id: 1 } })
    assert.deepEqual(json(Either, null), { value: null })
  })

  test('is rejected with the errors of the first form', () => {
    assert.deepEqual(json(Either, {}), { faults: [{ loc: ['body', 'id'], msg: 'Field required', type: 'missing' }] })
  })

  test('is rejected with the errors of the likeliest form: the one with most of the given keys', () => {
    const Forms = T.Union([Fields({ a: Int() }), Fields({ b: Int(), c: Int() }), Fields({ c: Int(), d: Int() })])
    const places = (value: unknown) => {
      const found = json(Forms, value)
      return 'faults' in found ? found.faults.map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`) : found
    }
    assert.deepEqual(places({ b: 'x' }), ['b int_type', 'c missing'])
    assert.deepEqual(places({ c: 1, d: 'x' }), ['d int_type'])
    assert.deepEqual(places({ c: 1 }), ['b missing'])
    assert.deepEqual(places({}), ['a missing'])
  })
})

describe('a field whose schema another field decides', () => {
  const Point = Fields({ x: Int() })
  const Name = Fields({ name: T.String() })
  const Thing = Fields(
    { kind: OpenEnum(['point', 'name', 'nothing']), more: Clearable(T.Union([Point, Name])) },
    { dependent: { field: 'more', on: 'kind', shapes: { point: Point, name: Name } } },
  )

  test('is parsed with that schema', () => {
    assert.deepEqual(json(Thing, { kind: 'name', more: { x: 1, name: 'a' } }), { value: { kind: 'name', more: { name: 'a' } } })
    assert.deepEqual(json(Thing, { kind: 'POINT', more: { x: 1 } }), { value: { kind: 'point', more: { x: 1 } } })
    assert.deepEqual(faultOf(json(Thing, { kind: 'name', more: { x: 1 } })), { msg: 'Field required', type: 'missing' })
  })

  test('may be null or absent, and nothing else if there is no schema', () => {
    for (const value of [{ kind: 'nothing', more: null }, { kind: 'point', more: null }, { kind: 'nothing' }])
      assert.deepEqual(json(Thing, value), { value })
    assert.equal(faultOf(json(Thing, { kind: 'nothing', more: { x: 1 } })).type, 'none_required')
  })

  test('is parsed as declared while the other is invalid', () => {
    assert.equal(faultOf(json(Thing, { kind: 'constructor', more: { x: 1 } })).type, 'enum')
    assert.equal(faultOf(json(Thing, { more: { x: 1 } })).type, 'missing')
  })
})

describe('a discriminated union', () => {
  const Named = OneOf('type', [
    Fields({ type: T.Literal('number'), n: Int() }),
    Fields({ type: T.Literal('name'), name: T.String(), more: Maybe(Int()) }),
  ])

  test('is parsed as the named form, in any letter case', () => {
    assert.deepEqual(json(Named, { type: 'name', name: 'x', n: 1 }), { value: { type: 'name', name: 'x' } })
    assert.deepEqual(json(Named, { type: 'NUMBER', n: 1 }), { value: { type: 'number', n: 1 } })
  })

  const faultsOf = (value: unknown): unknown[] =>
    (json(Named, value) as { faults: Fault[] }).faults.map(({ loc, type }) => [...loc, type])

  test('is checked against that form, with all of its errors', () => {
    assert.deepEqual(faultsOf({ type: 'name', more: 'x' }), [
      ['body', 'name', 'missing'],
      ['body', 'more', 'int_type'],
    ])
  })

  test('must name one of its forms, and be an object', () => {
    for (const [value, ...fault] of [
      [{}, 'body', 'type', 'missing'],
      [{ type: null }, 'body', 'type', 'string_type'],
      [{ type: 'other' }, 'body', 'type', 'enum'],
      [{ type: 1 }, 'body', 'type', 'string_type'],
      [[], 'body', 'model_attributes_type'],
      [null, 'body', 'model_attributes_type'],
    ])
      assert.deepEqual(faultsOf(value), [fault])
  })
})
