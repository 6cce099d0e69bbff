import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from './schema.ts'
import { assertMatchesSchema, firstFault } from './shape-check.ts'

const LOOKS = 30
const Order = () => T.Object({ id: T.String({ format: 'uuid' }), lines: T.Array(T.Object({ count: T.Integer({ minimum: 1 }) })) })
const id = '00000000-0000-4000-8000-000000000000'

test('a value is checked against its schema however often the schema is used', () => {
  const schema = Order()
  for (let i = 0; i < LOOKS; i++) {
    assert.equal(firstFault(schema, { id, lines: [{ count: 1 }] }), undefined)
    assert.equal(firstFault(schema, { id, lines: [{ count: 1 }, { count: 0 }] })?.instancePath, '/lines/1/count')
    assert.equal(firstFault(schema, { id: 'x', lines: [] })?.instancePath, '/id')
    assert.throws(
      () => assertMatchesSchema(schema, { id }, 'the order'),
      /^Error: the order: '' must have required properties lines$/,
    )
    assert.throws(
      () => assertMatchesSchema(schema, { id, lines: [{ count: 1, price: 2 }] }, 'the order'),
      /'\/lines\/0\/price' is not declared/,
    )
  }
})

test('schemas that are created for each check are checked too', () => {
  for (let i = 0; i < LOOKS; i++) assert.equal(firstFault(Order(), { id, lines: [{}] })?.instancePath, '/lines/0')
})
