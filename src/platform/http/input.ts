// Parses a request's path, query and body into the values that an operation declares, and collects all errors.
import { isUtf8 } from 'node:buffer'
import { hasForeignEscapes } from '../runtime/utf8.ts'
import { badRequest, unprocessable } from './errors.ts'
import { missingFault, valueFault, type Fault } from '../schema/fault.ts'
import { excessOf } from '../schema/json-limits.ts'
import { LenientFaults, validate, type Mode } from '../schema/request-validation.ts'
import type { TSchema } from '../schema/schema.ts'
import { parseInSlices } from '../schema/sliced-json.ts'
import { validateInSlices } from '../schema/sliced-validation.ts'

interface Property {
  type?: string
  anyOf?: Property[]
}
const properties = (schema: TSchema): Record<string, Property> =>
  (schema as { properties?: Record<string, Property> }).properties ?? {}

const isList = (property: Property): boolean => property.type === 'array' || (property.anyOf?.some(isList) ?? false)

/** Path parameters. 422 with all errors. */
export function readParams(schema: TSchema, values: Record<string, string | undefined>): unknown {
  const faults: Fault[] = []
  const result = validate(schema, values, ['path'], faults, 'text')
  if (faults.length) throw unprocessable(faults)
  return result
}

/**
 * Query parameters; appends errors. A list is a repeated key; `key[]`, `key[0]` and commas are accepted too, and one value may stand alone.
 * The last value of a repeated scalar counts; an empty value of any type but text means "not given".
 */
export function readQuery(schema: TSchema, query: Record<string, string | string[]>, faults: Fault[]): unknown {
  const given: Record<string, unknown> = {}
  const bracketed = groupBracketed(query)
  const shapes = properties(schema)
  for (const name in shapes) {
    const shape = shapes[name]!
    const value = query[name] ?? bracketed.get(name)
    if (value === undefined) continue
    if (isList(shape))
      given[name] = [value]
        .flat()
        .flatMap((item) => item.split(','))
        .filter((item) => item !== '')
    else {
      const last = Array.isArray(value) ? value.at(-1) : value
      if (last !== '' || shape.type === 'string') given[name] = last
    }
  }
  return validate(schema, given, ['query'], faults, 'text')
}

function groupBracketed(query: Record<string, string | string[]>): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const key in query) {
    const name = /^([^[\]]+)\[\d*\]$/.exec(key)?.[1]
    if (name) groups.set(name, [...(groups.get(name) ?? []), ...[query[key]!].flat()])
  }
  return groups
}

const decodeFault = (error: string): Fault => ({ loc: ['body'], msg: 'JSON decode error', type: 'json_invalid', ctx: { error } })

/** A body that is no text has no fields that an error could name. Errors: 400 for bytes that are not UTF-8. */
export function assertUtf8(bytes: Buffer | undefined): void {
  if (bytes && !isUtf8(bytes)) throw badRequest('The body is not UTF-8')
}

/** A shorter body is read at once. */
const LONG_BYTES = 64 * 1024

/**
 * A JSON body in UTF-8 (`assertUtf8`); appends errors. No bytes, or `null`, is no body. One that exceeds the limits of json-limits.ts is an
 * error and not parsed. Lists are read without their faulty items, where their schemas say so, unless there are other errors.
 * @returns a promise for a long body, which is read in slices
 */
export function readBody(
  schema: TSchema,
  bytes: Buffer | undefined,
  optional: boolean,
  faults: Fault[],
  mode: Mode = 'json',
): unknown {
  if (bytes && bytes.length > LONG_BYTES) return readLongBody(schema, bytes, optional, faults, mode)
  let value: unknown
  if (bytes?.length) {
    const excess = excessOf(bytes)
    if (excess !== undefined) {
      faults.push(decodeFault(excess))
      return undefined
    }
    try {
      value = JSON.parse(bytes.toString('utf8'))
    } catch {
      faults.push(decodeFault('not valid JSON'))
      return undefined
    }
  }
  if (isAbsent(value, optional, faults)) return undefined
  const found = new LenientFaults()
  const body = validate(schema, value, ['body'], found, mode)
  // What is left out of a body that is accepted is an error of one that is rejected.
  if (found.length) validate(schema, value, ['body'], faults, mode)
  return body
}

async function readLongBody(schema: TSchema, bytes: Buffer, optional: boolean, faults: Fault[], mode: Mode): Promise<unknown> {
  const read = await parseInSlices(bytes)
  if ('fault' in read) {
    faults.push(decodeFault(read.fault))
    return undefined
  }
  if (isAbsent(read.value, optional, faults)) return undefined
  const found = new LenientFaults()
  const body = await validateInSlices(schema, read.value, ['body'], found, mode)
  if (found.length) await validateInSlices(schema, read.value, ['body'], faults, mode)
  return body
}

function isAbsent(value: unknown, optional: boolean, faults: Fault[]): boolean {
  if (value !== undefined && value !== null) return false
  if (!optional) faults.push(missingFault(['body']))
  return true
}

/** The fields of a form-encoded body. Errors: 400 for bytes and escapes that are not UTF-8. */
export function formOf(bytes: Buffer | undefined): URLSearchParams {
  assertUtf8(bytes)
  const text = bytes?.toString('utf8') ?? ''
  if (hasForeignEscapes(text)) throw badRequest('The body is not UTF-8')
  return new URLSearchParams(text)
}

/** A form-encoded body; appends errors. A field that is given twice is an error. Errors: 400 for bytes and escapes that are not UTF-8. */
export function readForm(schema: TSchema, bytes: Buffer | undefined, faults: Fault[]): unknown {
  const entries = [...formOf(bytes)]
  const value = Object.fromEntries(entries)
  if (Object.keys(value).length < entries.length) faults.push(valueFault(['body'], 'must not have a field twice'))
  return validate(schema, value, ['body'], faults, 'text')
}
