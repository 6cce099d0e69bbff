// Posts in their usual form are read from their bytes, with the result of `JSON.parse` and the schema.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Fault } from '../../platform/schema/fault.ts'
import { validate } from '../../platform/schema/request-validation.ts'
import { SamplePost } from './schema.ts'
import { readUsualPost } from './usual-posts.ts'

type Read = Record<string, unknown> & { data: Record<string, unknown>[] }

/** What the schema makes of a text; undefined if it has a fault. */
function bySchema(text: string): Read | undefined {
  const faults: Fault[] = []
  const read = validate(SamplePost, JSON.parse(text), ['body'], faults, 'json')
  return faults.length ? undefined : (read as Read)
}

/** Both in one form: instants as numbers, absent fields left out. */
function comparable({ data, ...rest }: Read): unknown {
  const instants = data.map(({ start_date, end_date, ...one }) => ({
    ...one,
    start_ms: Date.parse(String(start_date)),
    end_ms: Date.parse(String(end_date)),
  }))
  return JSON.parse(JSON.stringify({ ...rest, data: instants }))
}

/** As `comparable`; undefined if the post is not usual. */
async function usual(bytes: Buffer): Promise<unknown> {
  const read = await readUsualPost(bytes, bySchema)
  if (!read) return undefined
  const { columns, ...rest } = read
  const data = Array.from({ length: columns.length }, (_, i) => ({
    value: columns.values[i],
    ...columns.kinds[columns.kind[i]!],
    start_ms: columns.start_ms[i],
    end_ms: columns.end_ms[i],
  }))
  return JSON.parse(JSON.stringify({ ...rest, data }))
}

function ordinary(text: string): unknown {
  try {
    const read = bySchema(text)
    return read && comparable(read)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const at = { start_date: '2026-01-31T09:30:00.000Z', end_date: '2026-01-31T09:30:01Z' }
const post = (data: unknown[]) =>
  JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data })

const pick = (...values: unknown[]) => fc.constantFrom(...values)
const instant = pick(
  '2026-01-31T09:30:00.000Z',
  '2026-01-31T09:30:00Z',
  '2026-01-31T23:59:59.999Z',
  '2026-02-01T00:00:00Z',
  '2024-02-28T00:00:00Z',
)
const anyInstant = fc.oneof(
  { weight: 20, arbitrary: instant },
  pick('2026-01-31 09:30', '2026-02-30T00:00:00Z', '2026-01-31T24:00:00Z', '', null),
)
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -1e9, max: 1e9 }).map((n) => n / 1000),
)
const quantity = fc.record(
  {
    id: pick('0001'),
    value: number,
    unit: pick('count/min', 'bpm', ''),
    start_date: anyInstant,
    end_date: anyInstant,
    source_bundle: pick('com.apple.health.0000', 'com.example.app', null),
    product_type: pick('Watch6,1', 'iPhone14,5', null),
    type: pick('watch', 'phone'),
    metadata: pick({ _DMO: 'One', HKTimeZone: 'UTC' }, { note: 'a "quoted" } text', '\u0000': [1, { b: null }] }, {}, null),
  },
  { requiredKeys: ['value', 'unit', 'start_date', 'end_date'] },
)
const spaces = pick(undefined, 1, '\t')

test('a post is read from its bytes as by its schema, in the order of its samples', async () => {
  let read = 0
  const shuffled = fc
    .tuple(quantity, fc.array(fc.nat(8), { maxLength: 3 }))
    .map(([one, moves]) => moves.reduce((fields, n) => [...fields.slice(n), ...fields.slice(0, n)], Object.entries(one)))
    .map((fields) => Object.fromEntries(fields))
  await fc.assert(
    fc.asyncProperty(fc.array(shuffled, { maxLength: 6 }), spaces, fc.boolean(), async (data, indent, isLast) => {
      const body = {
        stage: 'daily',
        time_zone: 'Ünknown',
        ...(!isLast && { data }),
        provider: 'apple_health_kit',
        is_final_chunk: true,
        ...(isLast && { data }),
      }
      const text = JSON.stringify(body, null, indent as string)
      const found = await usual(Buffer.from(text))
      if (found === undefined) return
      read++
      assert.deepEqual(found, ordinary(text))
    }),
    { numRuns: 2000 },
  )
  assert.ok(read > 500, `only ${read} of 2,000 posts were usual`)
})

test('a post whose bytes were damaged is read as by its schema, or left to it', async () => {
  const whole = Buffer.from(
    post([
      { value: 61.25, unit: 'bpm', ...at, source_bundle: 'com.example.app', metadata: { _DMO: 'One' } },
      { value: -0.5, unit: 'bpm', ...at, source_bundle: 'com.example.app', metadata: { _DMO: 'One' } },
      { value: 1e-7, unit: 'bpm', ...at, type: 'watch', product_type: null },
    ]),
  )
  assert.deepEqual(await usual(whole), ordinary(whole.toString()))
  const bytes = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...Buffer.from('{}[]",:\\01-.eE \n')))
  const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), bytes, fc.constantFrom(0, 1, 2)), { minLength: 1, maxLength: 3 })
  let read = 0
  await fc.assert(
    fc.asyncProperty(damage, async (places) => {
      let given = Buffer.from(whole)
      // The byte is replaced, put in, or left out.
      for (const [place, byte, kind] of places) {
        const first = given.subarray(0, place)
        given = Buffer.concat([
          first,
          kind === 2 ? Buffer.alloc(0) : Buffer.of(byte),
          given.subarray(kind === 1 ? place : place + 1),
        ])
      }
      const found = await usual(given)
      if (found === undefined) return
      read++
      assert.deepEqual(found, ordinary(given.toString()))
    }),
    { numRuns: 20_000 },
  )
  assert.ok(read > 500, `only ${read} of 20,000 posts were usual`)
})

test('posts in other forms are left to the schema', async () => {
  const one = { value: 61, unit: 'bpm', ...at }
  const texts = [
    '',
    '{}',
    '[]',
    'null',
    post([{ ...one, unit: 'x'.repeat(61) }]),
    post([{ ...one, other: 1 }]),
    post([{ ...one, unit: 'µg' }]),
    post([{ ...one, unit: 'a\\b' }]),
    post([{ ...one, start_date: '2026-01-31T09:30:00-07:00' }]),
    post([{ value: 61, unit: 'bpm' }]),
    post([one]).replace('61', '061'),
    post([one]).replace('61', '1e999'),
    post([one]).replace('daily', 'sometimes'),
    post([one]).replace('"data"', '"d\\u0061ta":[],"data"'),
    post([one]).replace('"data"', '"data":[],"data"'),
    `${post([one])}x`,
    post([one]).replace(':61', ':\u000161'),
    post([one]).replace('"unit"', '"metadata":{}x,"metadata":{},"unit"'),
    post([one]).replace('"unit"', '"unit":"bpm","unit"'),
  ]
  for (const text of texts) assert.equal(await readUsualPost(Buffer.from(text), bySchema), undefined, text)
  assert.ok(await readUsualPost(Buffer.from(post([one])), bySchema))
})
