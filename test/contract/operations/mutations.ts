// Hostile values, and random changes that put them into a request. What is random comes from fast-check, so that a failure can be
// repeated and is made small.
import fc from 'fast-check'
import { anyText } from '../../support/any-text.ts'
import type { Loc } from './invalid-values.ts'
import type { Request } from './requests.ts'

/** Texts that have broken a parser, an index, a database or a column somewhere. */
export const adversarialTexts = [
  '',
  ' ',
  'nonsense',
  'null',
  '-1',
  '0',
  '1.5',
  '1e308',
  'NaN',
  'Infinity',
  '2147483648',
  '-2147483649',
  '9007199254740993',
  '99999999999999999999999999',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '\ufeff',
  '\u202e',
  '\u{1f9ea}',
  '%',
  '\\',
  "' or 1=1 --",
  '{{7*7}}',
  '../../etc/passwd',
  '[]',
  '{}',
  'a,b',
  ',',
  '__proto__',
  'constructor',
  '0000-00-00',
  '9999-12-31',
  '2024-02-30',
  '2024-06-31T25:61:61Z',
  '+275760-09-13T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '9999-12-31T23:59:59-18:00',
  '0001-01-01T00:00:00+18:00',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'x'.repeat(5000),
]

/** Values of every kind. `__proto__` is a key of its own here, as a parser makes it. */
const adversarialValues: unknown[] = [
  ...adversarialTexts,
  null,
  true,
  false,
  0,
  -0,
  -1,
  0.1,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 53 + 2,
  [],
  {},
  [[]],
  [null],
  [{}],
  Array(1001).fill('x'),
  JSON.parse('{"__proto__":{"user_id":"x"},"constructor":{"prototype":{}},"toString":1}'),
]

export interface Mutation {
  place: number
  act: 'replace' | 'remove' | 'repeat' | 'prototype'
  value: unknown
}

/** One to three changes of a request. */
export const mutations = fc.array(
  fc.record<Mutation>({
    place: fc.nat({ max: 1000 }),
    act: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'repeat', 'prototype'),
    value: fc.oneof(fc.constantFrom(...adversarialValues), fc.jsonValue({ maxDepth: 3 }), anyText()),
  }),
  { minLength: 1, maxLength: 3 },
)

type Container = Record<string | number, unknown>
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null

/** Every place in a value. */
const placesIn = (value: unknown, parentPath: Loc = []): Loc[] =>
  isContainer(value)
    ? Object.keys(value).flatMap((key) => [[...parentPath, key], ...placesIn(value[key], [...parentPath, key])])
    : []

/** The thing that holds a place; what is missing on the way to it is made. */
function findHolder(root: Container, place: Loc): Container | undefined {
  let holder = root
  for (const [i, key] of place.slice(0, -1).entries()) {
    if (holder[key] === undefined) holder[key] = typeof place[i + 1] === 'number' ? [] : {}
    if (!isContainer(holder[key])) return undefined
    holder = holder[key]
  }
  return holder
}

/** The request after random changes. `further` are places that it does not use and could. */
export function mutateRequest(request: Request, further: Loc[], changes: Mutation[]): Request {
  const copy = structuredClone(request)
  const places = [...placesIn(copy).filter((place) => place.length > 1), ...further]
  for (const { place, act, value } of changes) {
    const chosen = places[place % places.length]
    const holder = chosen && findHolder(copy as unknown as Container, chosen)
    if (!holder) continue
    const key = chosen.at(-1)!
    if (act === 'remove' && chosen[0] !== 'path') delete holder[key]
    else if (act === 'prototype')
      Object.defineProperty(holder, '__proto__', { value, enumerable: true, configurable: true, writable: true })
    else holder[key] = act === 'repeat' ? [holder[key], holder[key]] : value
  }
  return { path: texts(copy.path), query: lists(copy.query), body: copy.body }
}

/** Path and query are text whatever was put there. */
const text = (value: unknown): string => (typeof value === 'string' ? value : String(JSON.stringify(value)))

const texts = (values: Container): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]))

const lists = (values: Container): Record<string, string[]> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat().map(text)]))
