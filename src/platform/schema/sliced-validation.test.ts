// Long requests are read in slices with the result of reading them at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from './fault.ts'
import { LenientFaults, leftOutOf, validate } from './request-validation.ts'
import { Fields, Maybe, T, Text } from './schema.ts'
import { validateInSlices } from './sliced-validation.ts'

const Item = Fields({
  value: T.Number({ minimum: 0 }),
  name: Maybe(Text({ maxLength: 5 })),
  list: Maybe(T.Array(T.Integer(), { maxItems: 1000 })),
})
const Request = Fields({
  lenient: T.Array(Item, { maxItems: 5000, leavesOutFaulty: true }),
  strict: Maybe(T.Array(Item, { maxItems: 5000 })),
  inner: Maybe(Fields({ map: Maybe(T.Record(T.String(), T.Array(Item))) })),
  either: Maybe(T.Union([T.Array(T.Integer()), T.Null()])),
})

const items = (count: number, createItem: (i: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, i) => ({ value: i, other: 1, ...createItem(i) }))
const long = Array.from({ length: 300 }, (_, i) => i)

const requests: unknown[] = [
  { lenient: items(2000), strict: items(2000), either: long, inner: { map: { a: items(500), b: items(500) } } },
  { lenient: items(2000, (i) => (i % 3 ? {} : { value: -1 })) },
  { lenient: items(500, (i) => ({ list: i % 2 ? long : [...long, 'x'] })), strict: items(200, () => ({ list: long })) },
  { lenient: items(2000, () => ({ value: 'x' })), strict: items(2000, () => ({ value: 'x', name: 'too long' })) },
  { lenient: items(200), strict: items(200, (i) => ({ value: i === 150 ? -1 : 1 })) },
  { lenient: items(200, () => ({ value: -1 })), inner: { map: { a: items(200, () => ({ value: -1 })), b: 1 } } },
  { lenient: items(5001), strict: items(5001) },
  { lenient: 1, strict: null, inner: [] },
  { lenient: items(150, () => ({ list: Array(1001).fill(1) })) },
  items(1000),
  null,
]

for (const isLenient of [true, false])
  test(`a long request is read in slices as at once, ${isLenient ? 'without its faulty items' : 'with all its errors'}`, async () => {
    for (const request of requests) {
      const faults = (): Fault[] => (isLenient ? new LenientFaults() : [])
      const [once, sliced] = [faults(), faults()]
      const copy = structuredClone(request)
      const expected = validate(Request, copy, ['body'], once, 'json')
      const actual = await validateInSlices(Request, request, ['body'], sliced, 'json')
      assert.deepEqual([...sliced].slice(0, 1000), [...once].slice(0, 1000))
      if (once.length) continue
      assert.deepEqual(actual, expected)
      const left = (read: unknown) => leftOutOf((read as { lenient: unknown[] }).lenient)
      assert.deepEqual(left(actual), left(expected))
    }
  })
