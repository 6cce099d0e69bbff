// How typed clients read JSON: a value of another type than the declared one fails the whole response.

export type Decode<V = unknown> = (value: unknown, at: string) => V

class Undecodable extends Error {
  constructor(at: string, expected: string, value: unknown) {
    super(`${at}: expected ${expected}, but it is ${value === undefined ? 'absent' : JSON.stringify(value)}`)
  }
}

export const fail = (at: string, expected: string, value: unknown): never => {
  throw new Undecodable(at, expected, value)
}

export const whatever: Decode = (value, at) => (value === undefined ? fail(at, 'a value', value) : value)
export const string: Decode<string> = (value, at) => (typeof value === 'string' ? value : fail(at, 'a string', value))
export const number: Decode<number> = (value, at) => (typeof value === 'number' ? value : fail(at, 'a number', value))
export const integer: Decode<number> = (value, at) => (Number.isInteger(value) ? Number(value) : fail(at, 'an integer', value))
export const boolean: Decode<boolean> = (value, at) => (typeof value === 'boolean' ? value : fail(at, 'a boolean', value))

export const optional =
  <V>(of: Decode<V>): Decode<V | null> =>
  (value, at) =>
    value === undefined || value === null ? null : of(value, at)

/** Null is another type, but the field may be absent. */
export const withDefault =
  <V>(of: Decode<V>, otherwise: V): Decode<V> =>
  (value, at) =>
    value === undefined ? otherwise : of(value, at)

export const oneOf =
  <V extends string>(...names: V[]): Decode<V> =>
  (value, at) =>
    names.find((name) => name === value) ?? fail(at, names.join(' or '), value)

export const list =
  <V>(of: Decode<V>): Decode<V[]> =>
  (value, at) =>
    Array.isArray(value) ? value.map((one, i) => of(one, `${at}[${i}]`)) : fail(at, 'a list', value)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const map =
  <V>(of: Decode<V>): Decode<Record<string, V>> =>
  (value, at) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, of(one, `${at}.${name}`)]))
      : fail(at, 'an object', value)

/** Fields that are not declared are ignored. */
export const object =
  <F extends Record<string, Decode>>(fields: F): Decode<{ [N in keyof F]: ReturnType<F[N]> }> =>
  (value, at) =>
    isObject(value)
      ? (Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, of(value[name], `${at}.${name}`)])) as {
          [N in keyof F]: ReturnType<F[N]>
        })
      : fail(at, 'an object', value)
