import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fields, Nullable, T, withNulls } from './schema.ts'

const Person = Fields({ name: T.String(), email: Nullable(T.String()), age: Nullable(T.Integer()) })

test('a value is given all fields of a shape: absent ones are null, others are left out', () => {
  const given = { age: 0, name: 'Testa', email: undefined, income: 5 }
  const shown = withNulls(Person, given)
  assert.deepEqual(shown, { name: 'Testa', email: null, age: 0 })
  assert.deepEqual(Object.keys(shown), ['name', 'email', 'age'])
})
