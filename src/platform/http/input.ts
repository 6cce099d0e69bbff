// The input of a request: reads the bytes of its body within the limits of memory, and parses path, query and body into the values that an
// operation declares, with all errors.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Problem, unavailable } from '../runtime/problem.ts'
import { hasForeignEscapes } from '../runtime/utf8.ts'
import { badRequest, payloadTooLarge, unprocessable } from './errors.ts'
import { missingFault, valueFault, type Fault } from '../schema/fault.ts'
import { findExcess } from '../schema/json-limits.ts'
import { LenientFaults, validate, type Mode } from '../schema/request-validation.ts'
import type { TSchema } from '../schema/schema.ts'
import { parseInSlices } from '../schema/sliced-json.ts'
import { validateInSlices } from '../schema/sliced-validation.ts'

const MIB = 1024 * 1024

/** Maximum bytes of the bodies that arrive or are served: eight of the largest, and half of them of one team. */
const BODY_MEMORY = { bytes_max: 256 * MIB, team_bytes_max: 128 * MIB }

/** The memory that large bodies take while they arrive and are served: in total, and for each team. One per process. */
export class BodyMemory {
  readonly #limits: typeof BODY_MEMORY
  readonly #bytesByTeam = new Map<string, number>()
  #bytes = 0

  constructor(limits = BODY_MEMORY) {
    this.#limits = limits
  }

  /** Bytes of all bodies. */
  get bytes(): number {
    return this.#bytes
  }

  /** The share of one body. `add`: 429 if the bodies of the team take too much memory, 503 if those of all teams do; then it adds nothing. */
  share(team: string): { add: (bytes: number) => void; release: () => void } {
    let share_bytes = 0
    let isReleased = false
    const change = (bytes: number) => {
      share_bytes += bytes
      this.#bytes += bytes
      const team_bytes = (this.#bytesByTeam.get(team) ?? 0) + bytes
      if (team_bytes) this.#bytesByTeam.set(team, team_bytes)
      else this.#bytesByTeam.delete(team)
    }
    return {
      add: (bytes) => {
        if (isReleased) return
        if ((this.#bytesByTeam.get(team) ?? 0) + bytes > this.#limits.team_bytes_max)
          throw new Problem(429, { detail: 'Large requests of this team are being served, try again' }, { 'retry-after': '1' })
        if (this.#bytes + bytes > this.#limits.bytes_max) throw unavailable('Large requests are being served, try again')
        change(bytes)
      },
      release: () => {
        isReleased = true
        change(-share_bytes)
      },
    }
  }
}

export const MALFORMED = 'The request is malformed'
const MEDIA_TYPE = /^[^\s/;,]+\/[^\s/;,]+\s*(;|$)/

/**
 * Reads the body of a request, and decompresses it from gzip.
 * @param bytes_max of the decompressed body
 * @param memory counts the bytes of the body until the response is sent, for a team
 * @returns undefined if the request has no body
 * Errors: 413 too large, 415 `Content-Type` is not a media type, 422 not gzip, 429 and 503 of the memory; 400 or another error if the connection ends. The
 * rest of a rejected body is discarded.
 */
export async function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  bytes_max: number,
  memory?: { budget: BodyMemory; team: string },
): Promise<Buffer | undefined> {
  const { headers } = request
  const { 'content-length': length, 'content-type': type } = headers
  if (length === undefined && headers['transfer-encoding'] === undefined) return undefined
  const isGzip = headers['content-encoding']?.toLowerCase() === 'gzip' && length !== '0'
  try {
    // The client has gone: nothing more would arrive.
    if (request.destroyed) throw new Problem(400, { detail: MALFORMED })
    if (type !== undefined && !MEDIA_TYPE.test(type)) throw new Problem(415, { detail: MALFORMED })
    if (!isGzip && Number(length) > bytes_max) throw tooLarge()
    const share = memory?.budget.share(memory.team)
    if (share) response.on('close', share.release)
    const isLengthKnown = !isGzip && length !== undefined
    if (isLengthKnown) share?.add(Number(length))
    const payload = isGzip ? request.pipe(createGunzip()) : request
    if (isGzip) request.on('error', (error) => payload.destroy(error))
    return await collect(payload, bytes_max, isLengthKnown ? undefined : share?.add)
  } catch (error) {
    discardRest(request)
    throw error
  }
}

const tooLarge = () => payloadTooLarge('Request body is too large')

function collect(payload: Readable, bytes_max: number, count: ((bytes: number) => void) | undefined): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    const end = (error: unknown) => {
      payload.off('data', add)
      reject(error as Error)
    }
    const add = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytes_max) return end(tooLarge())
      try {
        count?.(chunk.length)
        chunks.push(chunk)
      } catch (error) {
        end(error)
      }
    }
    // The listener for errors stays: an error of a stream without one ends the process.
    payload
      .on('data', add)
      .on('end', () => resolve(Buffer.concat(chunks, bytes)))
      .on('error', end)
  })
}

/** Maximum bytes of a rejected body that are read and discarded before the connection is closed. */
const DISCARDED_BYTES_MAX = 50_000_000

/**
 * Reads the rest of a body that was rejected. Closing the connection at once would reset it under a client that is still sending, so that the
 * client never sees the response. The deadline for a whole request limits the time.
 */
function discardRest(request: IncomingMessage): void {
  let left = DISCARDED_BYTES_MAX
  request.unpipe()
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.resume()
}

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
 * The last value of a repeated scalar counts; an empty value of any type but text counts as absent.
 */
export function readQuery(schema: TSchema, query: Record<string, string | string[]>, faults: Fault[]): unknown {
  const values: Record<string, unknown> = {}
  const bracketed = groupBracketed(query)
  const shapes = properties(schema)
  for (const name in shapes) {
    const shape = shapes[name]!
    const value = query[name] ?? bracketed.get(name)
    if (value === undefined) continue
    if (isList(shape))
      values[name] = [value]
        .flat()
        .flatMap((item) => item.split(','))
        .filter((item) => item !== '')
    else {
      const last = Array.isArray(value) ? value.at(-1) : value
      if (last !== '' || shape.type === 'string') values[name] = last
    }
  }
  return validate(schema, values, ['query'], faults, 'text')
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
 * A JSON body in UTF-8 (`assertUtf8`); appends errors. No bytes, or `null`, is not a body. One that exceeds the limits of json-limits.ts is an
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
    const excess = findExcess(bytes)
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
  const lenientFaults = new LenientFaults()
  const body = validate(schema, value, ['body'], lenientFaults, mode)
  // What is left out of a body that is accepted is an error of one that is rejected.
  if (lenientFaults.length) validate(schema, value, ['body'], faults, mode)
  return body
}

async function readLongBody(schema: TSchema, bytes: Buffer, optional: boolean, faults: Fault[], mode: Mode): Promise<unknown> {
  const parsed = await parseInSlices(bytes)
  if ('fault' in parsed) {
    faults.push(decodeFault(parsed.fault))
    return undefined
  }
  if (isAbsent(parsed.value, optional, faults)) return undefined
  const lenientFaults = new LenientFaults()
  const body = await validateInSlices(schema, parsed.value, ['body'], lenientFaults, mode)
  if (lenientFaults.length) await validateInSlices(schema, parsed.value, ['body'], faults, mode)
  return body
}

function isAbsent(value: unknown, optional: boolean, faults: Fault[]): boolean {
  if (value !== undefined && value !== null) return false
  if (!optional) faults.push(missingFault(['body']))
  return true
}

/** The fields of a form-encoded body. Errors: 400 for bytes and escapes that are not UTF-8. */
export function parseForm(bytes: Buffer | undefined): URLSearchParams {
  assertUtf8(bytes)
  const text = bytes?.toString('utf8') ?? ''
  if (hasForeignEscapes(text)) throw badRequest('The body is not UTF-8')
  return new URLSearchParams(text)
}

/** A form-encoded body; appends errors. A repeated field is an error. Errors: 400 for bytes and escapes that are not UTF-8. */
export function readForm(schema: TSchema, bytes: Buffer | undefined, faults: Fault[]): unknown {
  const entries = [...parseForm(bytes)]
  const value = Object.fromEntries(entries)
  if (Object.keys(value).length < entries.length) faults.push(valueFault(['body'], 'must not have a field twice'))
  return validate(schema, value, ['body'], faults, 'text')
}
