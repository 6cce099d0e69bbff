// Quantities in their usual form are read quicker than by their schema, with the same result.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Fault } from '../../platform/schema/fault.ts'
import { validate } from '../../platform/schema/request-validation.ts'
import { Fields, type TSchema } from '../../platform/schema/schema.ts'
import { Quantity } from './schema.ts'

const bySchema = Fields(Quantity.properties)

function outcome(schema: TSchema, input: unknown) {
  const faults: Fault[] = []
  const value = validate(schema, input, ['body', 'data', 3], faults, 'json')
  return faults.length ? { faults } : { value: JSON.parse(JSON.stringify(value)) as unknown }
}

const usual = { value: 61, unit: 'bpm', start_date: '2026-01-31T09:30:00.000Z', end_date: '2026-01-31T09:30:01.000Z' }

test('a quantity in its usual form is not copied, one with further fields is', () => {
  const given = { ...usual, source_bundle: 'com.example.app' }
  assert.equal(validate(Quantity, given, [], [], 'json'), given)
  assert.deepEqual(outcome(Quantity, { ...given, other: 'not declared' }), { value: given })
  assert.deepEqual(outcome(Quantity, { ...usual, end_date: '2026-01-31T09:30:01Z' }), { value: usual })
})

test('a quantity is parsed as by its schema, with the same errors, for any fields', () => {
  const instants = ['2026-01-31T09:30:00.000Z', '2026-01-31T09:30:00Z', '2026-01-31T23:59:59.999Z', '2024-02-29T00:00:00Z']
  const unusual = ['2026-01-31 09:30', '2026-01-31T09:30:00-07:00', '2026-01-31', '0999-01-31T09:30:00Z']
  const wrong = ['2026-02-29T00:00:00Z', '2026-01-31T24:00:00Z', '2026-13-31T09:30:00Z', '2026-01-31T09:30:00.0x0Z', '']
  const instant = fc.constantFrom<unknown>(...instants, ...unusual, ...wrong, null, 5, undefined)
  const text = (max: number) => {
    const texts = ['', 'com.example.app', 'x'.repeat(max), 'x'.repeat(max + 1), '🧪'.repeat(max), 'a\0b', '\ud800']
    return fc.constantFrom<unknown>(...texts, null, 7, undefined)
  }
  const quantity = fc.record(
    {
      value: fc.oneof(fc.double(), fc.integer(), fc.constantFrom('61', null, undefined)),
      unit: text(60),
      start_date: instant,
      end_date: instant,
      source_bundle: text(300),
      product_type: text(100),
      type: text(60),
      metadata: fc.constantFrom(undefined, null, {}, [], 'text', { HKTimeZone: 'UTC', nested: { a: null } }),
      other: fc.constantFrom(undefined, 'not declared'),
    },
    { requiredKeys: [] },
  )
  // Every second one has only the fields of the usual form, so that many are usual.
  const given = fc.tuple(quantity, fc.boolean()).map(([one, isUsual]) => (isUsual ? { ...one, ...usual } : one))
  fc.assert(
    fc.property(given, (value) => assert.deepEqual(outcome(Quantity, value), outcome(bySchema, value))),
    { numRuns: 3000 },
  )
})
