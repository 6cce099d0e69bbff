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

const compiled = new WeakMap<TSchema, ReturnType<ReturnType<typeof checker>['Compile']>>()

/**
 * The first field that does not match; undefined if all match. For tests: production parses requests in another way, and trusts its rows.
 */
export function firstFault(schema: TSchema, value: unknown): { instancePath: string; message: string } | undefined {
  let shape = compiled.get(schema)
  if (!shape) compiled.set(schema, (shape = checker().Compile(schema)))
  return shape.Check(value) ? undefined : checker().Errors(schema, value)[1][0]
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
