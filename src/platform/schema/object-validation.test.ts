// Objects and unions of a request: which fields are read, and which errors are reported where.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Fault } from './fault.ts'
import { RuleError } from './request-validation.ts'
import { Clearable, DateOnly, Fields, Int, Maybe, Nullable, OneOf, OpenEnum, T, Text, Uuid } from './schema.ts'
import { json, faultOf } from '../../../test/support/validation.ts'

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
    const owner = { id: '00000000-0000-7000-8000-00000000000a', pets: [{ name: 'Rex', color: 'red' }], age: 7 }
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
    { dependent: { field: 'more', dependsOn: 'kind', shapes: { point: Point, name: Name } } },
  )

  test('is parsed with that schema', () => {
    assert.deepEqual(json(Thing, { kind: 'name', more: { x: 1, name: 'a' } }), { value: { kind: 'name', more: { name: 'a' } } })
    assert.deepEqual(json(Thing, { kind: 'POINT', more: { x: 1 } }), { value: { kind: 'point', more: { x: 1 } } })
    assert.deepEqual(faultOf(json(Thing, { kind: 'name', more: { x: 1 } })), { msg: 'Field required', type: 'missing' })
  })

  test('may be null or absent, and has no other value without a schema', () => {
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
