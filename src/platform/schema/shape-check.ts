// Checks responses against their declared schemas, in tests: every declared field is present, and no undeclared field leaves.
import { createRequire } from 'node:module'
import type { TSchema } from './schema.ts'

interface Shape {
  type?: string
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  items?: Shape
  additionalProperties?: boolean | Shape
}

// Loaded by the first check: a server in production checks nothing, and their files would be a part of each start.
const load = createRequire(import.meta.url)
const checker = () => load('typebox/schema') as typeof import('typebox/schema')

/**
 * Compiling takes as long as six checks without; most schemas are checked less often in a process, and some very often. Each item of a list
 * counts, since it costs as much as a value by itself. Finding the faults takes twice as long as finding that there are none.
 */
const COMPILED_FROM = 10
const seen = new WeakMap<TSchema, { looks: number; fits?: (value: unknown) => boolean }>()

/**
 * The first field that does not match; undefined if all match. For tests: production parses requests in another way, and trusts its rows.
 */
export function firstFault(schema: TSchema, value: unknown): { instancePath: string; message: string } | undefined {
  let known = seen.get(schema)
  if (!known) seen.set(schema, (known = { looks: 0 }))
  if (!known.fits && (known.looks += 1 + itemsOf(value)) >= COMPILED_FROM) {
    const compiled = checker().Compile(schema)
    known.fits = (input) => compiled.Check(input)
  }
  const fits = known.fits?.(value) ?? checker().Check(schema, value)
  return fits ? undefined : checker().Errors(schema, value)[1][0]
}

/** How many items the lists of a value have. */
function itemsOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0
  const lists = Array.isArray(value) ? [value] : Object.values(value).filter(Array.isArray)
  return lists.reduce((sum, list) => sum + list.length, 0)
}

/** @throws an Error that names the first field of `value` that does not match */
export function assertMatchesSchema(schema: TSchema, value: unknown, subject: string): void {
  const fault = firstFault(schema, value)
  if (fault) throw new Error(`${subject}: '${fault.instancePath}' ${fault.message}`)
  const extra = undeclaredProperty(schema as Shape, value, '')
  if (extra !== undefined) throw new Error(`${subject}: '${extra}' is not declared`)
}

function undeclaredProperty(shape: Shape, value: unknown, path: string): string | undefined {
  if (value === null || typeof value !== 'object') return undefined
  if (shape.anyOf) {
    const found = shape.anyOf.filter((branch) => branch.type !== 'null').map((branch) => undeclaredProperty(branch, value, path))
    return found.includes(undefined) ? undefined : found[0]
  }
  if (Array.isArray(value)) {
    if (!shape.items) return undefined
    for (const [i, item] of value.entries()) {
      const extra = undeclaredProperty(shape.items, item, `${path}/${i}`)
      if (extra !== undefined) return extra
    }
    return undefined
  }
  if (!shape.properties) return undefined
  for (const [key, item] of Object.entries(value)) {
    const declared =
      shape.properties[key] ?? (typeof shape.additionalProperties === 'object' ? shape.additionalProperties : undefined)
    if (!declared) {
      if (shape.additionalProperties === true) continue
      return `${path}/${key}`
    }
    const extra = undeclaredProperty(declared, item, `${path}/${key}`)
    if (extra !== undefined) return extra
  }
  return undefined
}
