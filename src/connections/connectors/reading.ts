// Reads the values in what a vendor answers. Every value comes from outside: a field of another type than the vendor describes counts as absent; an answer of
// another form is `unexpected`.
import { readOutsideJson } from '../../platform/net/outside-json.ts'
import { readFailure, type VendorAnswer } from './answers.ts'
import { VendorError } from './connector.ts'

export type Values = Readonly<Record<string, unknown>>

/** No text of a vendor that is kept is longer. */
const TEXT_MAX = 300
const EARLIEST_MS = Date.UTC(1900, 0, 1)
const LATEST_MS = Date.UTC(2100, 0, 1)

/** The object in a JSON text. Throws VendorError `unexpected` for anything else. */
export const objectIn = (text: string): Values => object(parseJson(text))

/** The objects in a JSON text that is a list. Throws VendorError `unexpected` for anything else. */
export const listIn = (text: string): Values[] => readList(parseJson(text))

/** The value in a JSON text. Throws VendorError `unexpected` for what is none, or too complex. */
export function parseJson(text: string): unknown {
  try {
    return readOutsideJson(text)
  } catch {
    throw new VendorError('unexpected')
  }
}

const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws VendorError `unexpected` unless it is an object. */
export function object(value: unknown): Values {
  if (!isObject(value)) throw new VendorError('unexpected')
  return value
}

/** Empty unless it is an object. */
export const objectOrEmpty = (value: unknown): Values => (isObject(value) ? value : {})

/** The objects of a list; empty where the vendor left the list out. Throws VendorError `unexpected` for anything else. */
export function readList(value: unknown): Values[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new VendorError('unexpected')
  return value.filter(isObject)
}

/** The value that a table has under a name from outside; undefined for a name that the table does not have itself. */
export const ownValue = <V>(table: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** No vendor means a larger number: milliseconds since 1970 have thirteen digits. */
const MAGNITUDE_MAX = 1e15

/** A number of at most fifteen digits before the point; null for anything else. What it measures has bounds of its own where it is stored. */
export const readNumber = (value: unknown): number | null =>
  typeof value === 'number' && Math.abs(value) <= MAGNITUDE_MAX ? value : null

export const readInteger = (value: unknown): number | null => {
  const read = readNumber(value)
  return read === null ? null : Math.round(read)
}

/** A number that vendors also write as a text, such as a 64-bit integer in JSON of protocol buffers. */
export const numberOrText = (value: unknown): number | null =>
  typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : readNumber(value)

/** The seconds of a duration in JSON of protocol buffers: `80s`, `3.000000001s`. */
export function secondsOf(value: unknown): number | null {
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(readText(value) ?? '') ?? []
  return seconds === undefined ? null : Number(seconds)
}

/** A short text that PostgreSQL can store; null for anything else. */
export const readText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= TEXT_MAX && value.isWellFormed() && !value.includes('\0')
    ? value
    : null

/** Maximum length of a text that a user has written. */
const WORDS_MAX = 1000

/** What a user has written, cut at 1000 characters; empty if that is nothing, or PostgreSQL cannot store it. */
export const wordsOf = (value: unknown): string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
    ? value.trim().slice(0, WORDS_MAX).toWellFormed()
    : ''

/** A record that takes more than this is not kept. */
const RAW_BYTES_MAX = 200_000

/**
 * A record as it is kept next to its result: without the fields that hold samples. Undefined if it is too large, or PostgreSQL
 * cannot store a text in it.
 * @param omitted_names names of fields, at its top level, that hold samples
 */
export function rawValues(values: Values, ...omitted_names: string[]): Record<string, unknown> | undefined {
  const kept = Object.fromEntries(Object.entries(values).filter(([name]) => !omitted_names.includes(name)))
  const json = JSON.stringify(kept)
  // `JSON.stringify` writes a NUL and half a pair of surrogates as such escapes.
  return json.length > RAW_BYTES_MAX || /\\u(0000|d[89a-f])/.test(json) ? undefined : kept
}

/** What a vendor knows a record by, as a text; null if it is neither a text nor a whole number. */
export const idOf = (value: unknown): string | null => (Number.isSafeInteger(value) ? String(value) : readText(value))

/** An instant between 1900 and 2100, in whole seconds; null for anything else. */
export const readInstant = (ms: number | null): number | null =>
  ms !== null && ms >= EARLIEST_MS && ms < LATEST_MS ? Math.floor(ms / 1000) * 1000 : null

/** An instant of seconds since 1970. */
export const instantOfSeconds = (value: unknown): number | null => {
  const seconds = readNumber(value)
  return seconds === null ? null : readInstant(seconds * 1000)
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?$/

/** An instant in ISO 8601 with an offset. */
export const instantOfText = (value: unknown): number | null =>
  typeof value === 'string' && INSTANT.test(value) ? readInstant(finite(Date.parse(value))) : null

/** A local time without an offset, as the milliseconds that it would be in UTC. */
export const localTime = (value: unknown): number | null =>
  typeof value === 'string' && LOCAL.test(value) ? readInstant(finite(Date.parse(`${value}Z`))) : null

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** A day, `YYYY-MM-DD`; null for anything else. */
export const day = (value: unknown): string | null => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return null
  const ms = readInstant(finite(Date.parse(value)))
  return ms !== null && new Date(ms).toISOString().startsWith(value) ? value : null
}

/**
 * Why an answer with an error status did not do what was asked, for vendors that use statuses as HTTP describes them. A 401 to a request for
 * data means that the access token is not valid any more.
 */
export const refusalOf = (answer: VendorAnswer): VendorError =>
  readFailure(answer, Date.parse(answer.headers.get('date') ?? '')) ?? new VendorError('unexpected')
