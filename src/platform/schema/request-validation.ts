// Parses a request: from untrusted JSON or text to a value of a schema, with all errors, in schema order. One pass validates and
// normalizes. Unknown keys are dropped, so the result holds declared fields only. Messages follow the vocabulary of management-auth.md
// 20.3; they never echo body values, because bodies hold patients' data.
import type { TSchema } from 'typebox'
import { missingFault, valueFault, type Fault, type Loc } from './fault.ts'
import { FormatError, formats } from './formats.ts'
import { FAULTS_MAX, LenientFaults, LenientList, listRead } from './lists.ts'
import { readBoolean, readNumber, type Mode } from './numbers.ts'

export { LenientFaults, leftOutOf, sameLeftOut } from './lists.ts'
export type { Mode }

/** The reason why a rule rejects a value. */
export class RuleError {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
/** Normalizes a string that satisfies its schema, or rejects it. */
export type Rule = (value: string) => string | RuleError
/** Normalizes an object whose fields are all valid, or rejects one of them. */
export type FinalizeObject = (value: Record<string, unknown>) => Record<string, unknown> | { field: string; refusal: RuleError }

/**
 * Reads an object of which requests have thousands, in its usual form, quicker than its schema does. The result must be that of reading it
 * by the schema; undefined for any other form, and for what has an error.
 */
export type ReadUsual = (value: Record<string, unknown>) => Record<string, unknown> | undefined

/** The schema of `field` is the one for the value of `on`; for a value without one only null is allowed. */
export interface Dependent {
  field: string
  dependsOn: string
  shapes: Readonly<Record<string, TSchema>>
}

export interface Shape {
  type?: string
  anyOf?: Shape[]
  /** For a union of objects: the literal field that distinguishes them. */
  discriminator?: string
  const?: unknown
  enum?: string[]
  format?: string
  /** Parsed as this format, although documented as `format`. */
  readAs?: string
  pattern?: string
  /** The pattern's requirement as text. */
  says?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  items?: Shape
  /** With `LenientFaults`, items with errors are left out; `leftOutOf` tells which. */
  leavesOutFaulty?: boolean
  properties?: Record<string, Shape>
  required?: string[]
  additionalProperties?: boolean
  /** For a map: the schema of every value. */
  patternProperties?: Record<string, Shape>
  /** For a map: the allowed names; any name without a list. */
  propertyNames?: { enum: string[] }
  /** For a map: refuses a name. */
  nameRule?: Rule
  dependent?: Dependent
  aliases?: Record<string, string>
  default?: unknown
  rule?: Rule
  finish?: FinalizeObject
  readUsual?: ReadUsual
  /** The schema that replaces it in bodies of cells outside the United States. */
  abroad?: Shape
}

/** Parses `value` as `schema`. Errors are appended to `faults`; if there are any, the result is meaningless. */
export function validate(schema: TSchema, value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  return readShape(schema as Shape, value, [...loc], faults, mode)
}

/** Parses what stands at `key`. All parts share one `loc`, which errors copy: a copy for each part took a fifth of the time of a large body. */
function readPart(s: Shape, value: unknown, key: string | number, loc: Loc, faults: Fault[], mode: Mode): unknown {
  loc.push(key)
  const result = readShape(s, value, loc, faults, mode)
  loc.pop()
  return result
}

function readShape(s: Shape, value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  if (s.discriminator !== undefined) return readTagged(s.anyOf!, s.discriminator, value, loc, faults, mode)
  if (s.anyOf) return readUnion(s.anyOf, value, loc, faults, mode)
  switch (s.type) {
    case 'string':
      return readString(s, value, loc, faults, mode)
    case 'integer':
    case 'number':
      return readNumber(s, value, loc, faults, mode)
    case 'boolean':
      return readBoolean(value, loc, faults, mode)
    case 'array':
      return readArray(s, value, loc, faults, mode)
    case 'object':
      return readObject((mode === 'abroad' && s.abroad) || s, value, loc, faults, mode)
    default:
      return value
  }
}

const isNull = (s: Shape) => s.type === 'null'

/** If no branch matches, reports the errors of the likeliest branch: the one that declares most keys of the value, then the first. */
function readUnion(branches: Shape[], value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  if (value === null && branches.some(isNull)) return null
  let likeliest: { keys: number; faults: Fault[] } | undefined
  for (const branch of branches) {
    if (isNull(branch)) continue
    const faults: Fault[] = []
    const result = readShape(branch, value, loc, faults, mode)
    if (faults.length === 0) return result
    const keys = declaredKeys(branch, value)
    if (!likeliest || keys > likeliest.keys) likeliest = { keys, faults }
  }
  faults.push(...(likeliest?.faults ?? [{ loc: [...loc], msg: 'Input should be null', type: 'none_required' }]))
  return value
}

function readTagged(branches: Shape[], tag: string, value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return readObject({}, value, loc, faults, mode)
  const kinds = branches.map((branch) => branch.properties![tag]!.const as string)
  const found: Fault[] = []
  const kind = readObject({ properties: { [tag]: { type: 'string', enum: kinds } }, required: [tag] }, value, loc, found, mode)
  faults.push(...found)
  if (found.length) return value
  const said = (kind as Record<string, string>)[tag]!
  return readObject(branches[kinds.indexOf(said)]!, { ...value, [tag]: said }, loc, faults, mode)
}

/** How many keys of a value are fields of a schema. */
function declaredKeys({ properties }: Shape, value: unknown): number {
  if (!properties || typeof value !== 'object' || value === null) return 0
  let known = 0
  for (const key in properties) if (Object.hasOwn(value, key)) known++
  return known
}

function readString(s: Shape, value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  const fault = (type: string, msg: string, ctx?: Record<string, unknown>) => {
    const echo = mode === 'text' && (s.enum || s.format) ? { input: value } : {}
    faults.push({ loc: [...loc], msg, type, ...(ctx && { ctx }), ...echo })
    return value
  }
  if (typeof value !== 'string') return fault('string_type', 'Input should be a valid string')
  if (value.includes('\0')) return fault('value_error', 'Value error, must not contain NUL characters', { error: {} })
  // Half a surrogate pair has no UTF-8 encoding: the database would store another text than the given one.
  if (!value.isWellFormed()) return fault('value_error', 'Value error, must be well-formed Unicode', { error: {} })
  if (s.enum) return readEnum(s.enum, value, fault)
  if (s.minLength !== undefined && value.length < 2 * s.minLength && [...value].length < s.minLength)
    return fault('string_too_short', `String should have at least ${s.minLength} character${s.minLength === 1 ? '' : 's'}`, {
      min_length: s.minLength,
    })
  if (s.maxLength !== undefined && value.length > s.maxLength && [...value].length > s.maxLength)
    return fault('string_too_long', `String should have at most ${s.maxLength} character${s.maxLength === 1 ? '' : 's'}`, {
      max_length: s.maxLength,
    })
  if (s.pattern !== undefined && !regexOf(s.pattern).test(value))
    return fault('string_pattern_mismatch', `String should ${s.says ?? `match pattern '${s.pattern}'`}`, { pattern: s.pattern })
  const format = s.format === undefined ? undefined : formats[s.readAs ?? s.format]
  if (format) {
    const result = format(value)
    if (result instanceof FormatError) return fault(result.type, result.msg, result.ctx)
    value = result
  }
  if (s.rule) {
    const result = s.rule(value as string)
    if (result instanceof RuleError) return fault('value_error', `Value error, ${result.text}`, { error: {} })
    value = result
  }
  return value
}

type Fail = (type: string, msg: string, ctx?: Record<string, unknown>) => unknown

function readEnum(values: string[], value: string, fault: Fail): unknown {
  if (values.includes(value)) return value
  const lower = value.toLowerCase()
  const match = values.find((v) => v.toLowerCase() === lower)
  if (match !== undefined) return match
  const quoted = values.map((v) => `'${v}'`)
  const expected = quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}` : (quoted[0] ?? '')
  return fault('enum', `Input should be ${expected}`, { expected })
}

function readArray(s: Shape, value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  if (!Array.isArray(value)) {
    faults.push({ loc: [...loc], msg: 'Input should be a valid list', type: 'list_type' })
    return value
  }
  const size = value.length
  if (s.minItems !== undefined && size < s.minItems)
    faults.push({
      loc: [...loc],
      msg: `List should have at least ${s.minItems} item${s.minItems === 1 ? '' : 's'} after validation, not ${size}`,
      type: 'too_short',
      ctx: { min_length: s.minItems, actual_length: size },
    })
  if (s.maxItems !== undefined && size > s.maxItems) {
    faults.push({
      loc: [...loc],
      msg: `List should have at most ${s.maxItems} item${s.maxItems === 1 ? '' : 's'} after validation, not ${size}`,
      type: 'too_long',
      ctx: { max_length: s.maxItems, actual_length: size },
    })
    return value
  }
  const items = s.items ?? {}
  const ready = listRead(value, faults instanceof LenientFaults)
  if (ready) {
    faults.push(...ready.faults.slice(0, Math.max(0, FAULTS_MAX - faults.length)))
    return ready.result
  }
  if (s.leavesOutFaulty && faults instanceof LenientFaults) return readLenient(items, value, loc, mode)
  const result: unknown[] = []
  for (let i = 0; i < size && faults.length < FAULTS_MAX; i++) result.push(readPart(items, value[i], i, loc, faults, mode))
  return result
}

/** A list without its items that have errors. */
function readLenient(items: Shape, value: unknown[], loc: Loc, mode: Mode): unknown[] {
  const list = new LenientList()
  for (const [i, item] of value.entries()) list.add(i, item, (faults) => readPart(items, item, i, loc, faults, mode))
  return list.end()
}

function readObject(s: Shape, value: unknown, loc: Loc, faults: Fault[], mode: Mode): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push({
      loc: [...loc],
      msg: 'Input should be a valid dictionary or object to extract fields from',
      type: 'model_attributes_type',
    })
    return value
  }
  if (s.patternProperties) return readMap(s, value, loc, faults, mode)
  const usual = s.readUsual?.(value as Record<string, unknown>)
  if (usual) return usual
  const given = s.aliases ? applyAliases(value as Record<string, unknown>, s.aliases) : (value as Record<string, unknown>)
  const properties = s.properties ?? {}
  const result: Record<string, unknown> = {}
  const before = faults.length
  for (const key in properties) {
    const shape = s.dependent?.field === key ? dependentShape(s.dependent, given, properties) : properties[key]!
    let field = Object.hasOwn(given, key) ? given[key] : undefined
    const required = s.required?.includes(key) ?? false
    if (field === null && !required && !shape.anyOf?.some(isNull)) field = undefined
    if (field !== undefined) result[key] = readPart(shape, field, key, loc, faults, mode)
    else if (shape.default !== undefined) result[key] = shape.default
    else if (required) faults.push(missingFault([...loc, key]))
  }
  if (s.additionalProperties === false)
    for (const key of Object.keys(given))
      if (faults.length < FAULTS_MAX && !Object.hasOwn(properties, key) && !Object.hasOwn(s.aliases ?? {}, key))
        faults.push({ loc: [...loc, key], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' })
  if (!s.finish || faults.length > before) return result
  const finished = s.finish(result)
  if (!isRuleError(finished)) return finished
  faults.push(valueFault([...loc, finished.field], finished.refusal.text))
  return result
}

/** The schema for the value of another field; while that value is invalid, the declared schema. */
function dependentShape(
  { field, dependsOn, shapes }: Dependent,
  input: Record<string, unknown>,
  properties: Record<string, Shape>,
): Shape {
  const faults: Fault[] = []
  const name = readShape(
    properties[dependsOn]!,
    Object.hasOwn(input, dependsOn) ? input[dependsOn] : undefined,
    [],
    faults,
    'json',
  )
  if (faults.length) return properties[field]!
  return { anyOf: [...(Object.hasOwn(shapes, name as string) ? [shapes[name as string] as Shape] : []), { type: 'null' }] }
}

/** A map from names to values of one schema. */
function readMap(s: Shape, value: object, loc: Loc, faults: Fault[], mode: Mode): unknown {
  const { patternProperties, propertyNames, nameRule } = s
  const shape = Object.values(patternProperties!)[0]!
  const items = Object.entries(value).map(([key, item]) => {
    if (faults.length >= FAULTS_MAX) return [key, item] as const
    const name = nameRule?.(key)
    if (name instanceof RuleError) {
      faults.push(valueFault([...loc, key], name.text))
      return [key, item] as const
    }
    if (!propertyNames || propertyNames.enum.includes(key)) return [key, readPart(shape, item, key, loc, faults, mode)] as const
    faults.push({ loc: [...loc, key], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' })
    return [key, item] as const
  })
  return Object.fromEntries(items)
}

const isRuleError = (value: ReturnType<FinalizeObject>): value is { field: string; refusal: RuleError } =>
  value.refusal instanceof RuleError

function applyAliases(value: Record<string, unknown>, aliases: Record<string, string>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined
  for (const alias in aliases) {
    const name = aliases[alias]!
    if (Object.hasOwn(value, alias) && (value[name] === undefined || value[name] === null))
      (copy ??= { ...value })[name] = value[alias]
  }
  return copy ?? value
}

const patterns = new Map<string, RegExp>()
function regexOf(pattern: string): RegExp {
  let regex = patterns.get(pattern)
  if (!regex) patterns.set(pattern, (regex = new RegExp(pattern, 'u')))
  return regex
}
