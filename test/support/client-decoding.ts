// How typed clients read JSON: a value of another type than the declared one fails the whole response.

export type Decode<V = unknown> = (value: unknown, path: string) => V

class Undecodable extends Error {
  constructor(path: string, expected: string, value: unknown) {
    super(`${path}: expected ${expected}, but it is ${value === undefined ? 'absent' : JSON.stringify(value)}`)
  }
}

export const fail = (path: string, expected: string, value: unknown): never => {
  throw new Undecodable(path, expected, value)
}

export const whatever: Decode = (value, path) => (value === undefined ? fail(path, 'a value', value) : value)
export const string: Decode<string> = (value, path) => (typeof value === 'string' ? value : fail(path, 'a string', value))
export const number: Decode<number> = (value, path) => (typeof value === 'number' ? value : fail(path, 'a number', value))
export const integer: Decode<number> = (value, path) =>
  Number.isInteger(value) ? Number(value) : fail(path, 'an integer', value)
export const boolean: Decode<boolean> = (value, path) => (typeof value === 'boolean' ? value : fail(path, 'a boolean', value))

export const optional =
  <V>(decode: Decode<V>): Decode<V | null> =>
  (value, path) =>
    value === undefined || value === null ? null : decode(value, path)

/** Null is another type, but the field may be absent. */
export const withDefault =
  <V>(decode: Decode<V>, fallback: V): Decode<V> =>
  (value, path) =>
    value === undefined ? fallback : decode(value, path)

export const oneOf =
  <V extends string>(...names: V[]): Decode<V> =>
  (value, path) =>
    names.find((name) => name === value) ?? fail(path, names.join(' or '), value)

export const list =
  <V>(decode: Decode<V>): Decode<V[]> =>
  (value, path) =>
    Array.isArray(value) ? value.map((item, i) => decode(item, `${path}[${i}]`)) : fail(path, 'a list', value)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const map =
  <V>(decode: Decode<V>): Decode<Record<string, V>> =>
  (value, path) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, decode(one, `${path}.${name}`)]))
      : fail(path, 'an object', value)

/** Fields that are not declared are ignored. */
export const object =
  <F extends Record<string, Decode>>(fields: F): Decode<{ [N in keyof F]: ReturnType<F[N]> }> =>
  (value, path) =>
    isObject(value)
      ? (Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, of(value[name], `${path}.${name}`)])) as {
          [N in keyof F]: ReturnType<F[N]>
        })
      : fail(path, 'an object', value)
