// The worst bodies that a schema allows, made from the schema: lists as long as it and the size of a body allow, texts as long, and lists of
// what is faulty.
import type { TSchema } from '../../src/platform/schema/schema.ts'

interface Shape {
  type?: string
  anyOf?: Shape[]
  const?: unknown
  enum?: unknown[]
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maxItems?: number
  items?: Shape
  properties?: Record<string, Shape>
  patternProperties?: Record<string, Shape>
}

export const bodyKinds = ['long lists', 'long texts', 'faulty items', 'unknown fields'] as const
export type BodyKind = (typeof bodyKinds)[number]

const formats: Record<string, string> = {
  uuid: '00000000-0000-4000-8000-000000000000',
  date: '2026-01-31',
  'date-time': '2026-01-31T09:30:00Z',
  email: 'nobody@example.com',
  uri: 'https://example.com/',
}
/** Where a schema says nothing. */
const MANY = 50_000

interface Size {
  items: number
  characters: number
}

function worstValue(shape: Shape, kind: BodyKind, size: Size, depth = 0): unknown {
  const { anyOf, enum: allowed, type, properties, patternProperties, items } = shape
  if (depth > 12) return null
  if (shape.const !== undefined) return shape.const
  if (allowed) return allowed[0]
  if (anyOf) return worstValue(anyOf.find((shape) => shape.type !== 'null') ?? {}, kind, size, depth + 1)
  switch (type) {
    case 'string':
      return worstText(shape, kind, size)
    case 'integer':
    case 'number':
      return shape.minimum ?? 1
    case 'boolean':
      return true
    case 'array': {
      const count = Math.min(size.items, shape.maxItems ?? MANY)
      const item = kind === 'faulty items' ? {} : worstValue(items ?? {}, kind, depth ? { ...size, items: 3 } : size, depth + 1)
      return Array.from({ length: count }, () => item)
    }
    case 'object': {
      const named = Object.entries(properties ?? {}).map(([name, part]) => [name, worstValue(part, kind, size, depth + 1)])
      const [each] = Object.values(patternProperties ?? {})
      const others = each || kind === 'unknown fields' ? Math.min(size.items, depth ? 3 : MANY) : 0
      const more = Array.from({ length: others }, (_, i) => [`field${i}`, worstValue(each ?? {}, kind, size, depth + 1)])
      return Object.fromEntries([...named, ...more])
    }
    default:
      return 1
  }
}

function worstText({ format, minLength = 1, maxLength = MANY }: Shape, kind: BodyKind, { characters }: Size): string {
  if (format !== undefined && kind !== 'long texts') return formats[format] ?? 'x'
  return 'é'.repeat(kind === 'long texts' ? Math.min(maxLength, characters) : minLength)
}

/** The largest body of a kind that fits. */
export function worstBody(schema: TSchema, kind: BodyKind, bytes_max: number): string {
  const items = Math.min(MANY, bytes_max >> 3)
  let size: Size = kind === 'long texts' ? { items: 20, characters: MANY } : { items, characters: 1 }
  for (;;) {
    const body = JSON.stringify(worstValue(schema as Shape, kind, size))
    if (Buffer.byteLength(body) <= bytes_max || (size.items <= 1 && size.characters <= 1)) return body
    size = { items: (size.items >> 1) + 1, characters: (size.characters >> 1) + 1 }
    if (size.items === 2) size.items = 1
  }
}
