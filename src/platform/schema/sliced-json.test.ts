// Long texts are read in slices with the result of `JSON.parse`, whatever they are.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseInSlices } from './sliced-json.ts'

/** What `JSON.parse` makes of a text. */
function whole(text: string): unknown {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { fault: 'not valid JSON' }
  }
}

async function assertSame(text: string): Promise<void> {
  assert.deepEqual(await parseInSlices(Buffer.from(text)), whole(text), text.slice(0, 60))
}

const LONG = 'x'.repeat(70_000)
const items = (count: number) => Array.from({ length: count }, (_, i) => ({ value: i, text: `"[{${i}\\`, list: [i, null] }))

describe('A long JSON text', () => {
  test('is read as JSON.parse reads it', async () => {
    for (const value of [
      items(20_000),
      { a: items(5000), b: 1, c: { d: items(5000), e: [] }, f: items(3) },
      [items(5000), 1, items(5000), [], {}, 'a', items(5000)],
      [[[items(5000)]]],
      { [LONG]: LONG, '"': items(5000), __proto__: 1 },
      JSON.parse(`{"__proto__": ${JSON.stringify(items(5000))}, "a": {"__proto__": 1}}`),
      [LONG, LONG],
      LONG,
    ])
      for (const indent of [0, 1]) await assertSame(JSON.stringify(value, null, indent))
    await assertSame(`{"a":[${LONG.replaceAll('x', '1,')}1],"a":2,"a":[${LONG.replaceAll('x', '2,')}1]}`)
  })

  test('with a fault is refused, wherever the fault is', async () => {
    const list = JSON.stringify(items(3000))
    for (const text of [
      `${list}]`,
      `${list},`,
      `[${list}`,
      `[${list},]`,
      `[${list},,1]`,
      `[,${list}]`,
      `[1,,${list}]`,
      `[1 ${list}]`,
      `[${list} 1]`,
      `[${list}${list}]`,
      `{"a":${list},}`,
      `{,"a":${list}}`,
      `{"a" ${list}}`,
      `{"a"::${list}}`,
      `{:${list}}`,
      `{1:${list}}`,
      `{"a":1 "b":${list}}`,
      `{"a":${list}]`,
      `[${list}}`,
      `[${'1,'.repeat(70_000)}]`,
      `[${'1,'.repeat(70_000)},1]`,
      `[${' '.repeat(70_000)},${list}]`,
      `{${'"a":1,'.repeat(20_000)}}`,
      `["${LONG}]`,
      `["${LONG}\n"]`,
      `["${LONG}\\x"]`,
    ])
      assert.deepEqual(await parseInSlices(Buffer.from(text)), { fault: 'not valid JSON' }, text.slice(0, 20))
    assert.deepEqual(await parseInSlices(Buffer.from(`${'['.repeat(65)}${list}${']'.repeat(65)}`)), {
      fault: 'more than 64 levels',
    })
  })

  test('is read so with any character in any place changed, left out or doubled', async () => {
    const text = JSON.stringify({ a: items(2000), b: [1, items(2000), 'é\u{1f600}'], c: { d: items(2000) } })
    const marks = fc.constantFrom('', '[', ']', '{', '}', '"', ',', ':', '\\', ' ', '1')
    /** Near to what is long, where the pieces meet. */
    const near = fc.constantFrom(
      ...[...text.matchAll(/items|"[abcd]":|\]\},?|\],|\[\{/g)].slice(0, 20).map(({ index }) => index),
      text.length - 6,
    )
    const place = fc.oneof(
      fc.nat(text.length),
      fc.tuple(near, fc.nat(8)).map(([at, by]) => at + by),
    )
    await fc.assert(
      fc.asyncProperty(place, marks, fc.boolean(), (position, mark, isInstead) =>
        assertSame(text.slice(0, position) + mark + text.slice(isInstead ? position + 1 : position)),
      ),
      { numRuns: 150 },
    )
  })
})
