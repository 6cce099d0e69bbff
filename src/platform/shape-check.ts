// Holds what the server says to what it declares, in tests: every declared field is there, and nothing undeclared leaves.
import { Errors } from 'typebox/value'
import type { TSchema } from './schema.ts'

interface Shape {
  type?: string
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  items?: Shape
  additionalProperties?: boolean | Shape
}

/** @throws an Error that names the first place where `value` does not fit */
export function assertShape(schema: TSchema, value: unknown, what: string): void {
  const [fault] = Errors(schema, value)
  if (fault) throw new Error(`${what}: '${fault.instancePath}' ${fault.message}`)
  const extra = undeclared(schema as Shape, value, '')
  if (extra !== undefined) throw new Error(`${what}: '${extra}' is not declared`)
}

function undeclared(shape: Shape, value: unknown, path: string): string | undefined {
  if (value === null || typeof value !== 'object') return undefined
  if (shape.anyOf) {
    const found = shape.anyOf.filter((branch) => branch.type !== 'null').map((branch) => undeclared(branch, value, path))
    return found.includes(undefined) ? undefined : found[0]
  }
  if (Array.isArray(value)) {
    if (!shape.items) return undefined
    for (const [i, item] of value.entries()) {
      const extra = undeclared(shape.items, item, `${path}/${i}`)
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
    const extra = undeclared(declared, item, `${path}/${key}`)
    if (extra !== undefined) return extra
  }
  return undefined
}
