// Wrong values made from a schema, and where the faults they cause are due.
interface Shape {
  type?: string
  format?: string
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
}

export type Loc = (string | number)[]
export interface InvalidValue {
  value: unknown
  places: Loc[]
}

const kindOf: Record<string, string> = { integer: 'number', number: 'number', string: 'string', boolean: 'boolean' }

function kinds(shape: Shape): Set<string> {
  if (shape.anyOf) return new Set(shape.anyOf.flatMap((branch) => [...kinds(branch)]))
  return new Set([kindOf[shape.type ?? ''] ?? shape.type ?? 'anything'])
}

const candidates: [kind: string, value: unknown][] = [
  ['object', { a: 1 }],
  ['string', 'nonsense'],
  ['array', [1]],
  ['boolean', true],
]

/** A value of a kind that the shape does not take; none where it takes every kind. */
function otherKind(shape: Shape): unknown {
  const taken = kinds(shape)
  return taken.has('anything') ? undefined : candidates.find(([kind]) => !taken.has(kind))?.[1]
}

/** An object whose every field is of the wrong kind. */
export function invalidFields(schema: unknown): InvalidValue {
  const entries = Object.entries((schema as Shape).properties ?? {}).map(([name, shape]) => [name, otherKind(shape)] as const)
  const wrong = entries.filter(([, value]) => value !== undefined)
  return { value: Object.fromEntries(wrong), places: wrong.map(([name]) => [name]) }
}

/** A value of the right build whose leaves `make` gives; fields for which it gives nothing are left out. */
function leaves(schema: unknown, make: (shape: Shape) => unknown, loc: Loc = []): InvalidValue {
  const shape = schema as Shape
  const [only, ...more] = (shape.anyOf ?? [shape]).filter((branch) => branch.type !== 'null')
  if (only?.type === 'object' && only.properties && !more.length) {
    const fields = Object.entries(only.properties)
      .map(([name, property]) => [name, leaves(property, make, [...loc, name])] as const)
      .filter(([, { value }]) => value !== undefined)
    if (!fields.length) return { value: undefined, places: [] }
    return {
      value: Object.fromEntries(fields.map(([name, { value }]) => [name, value])),
      places: fields.flatMap(([, { places }]) => places),
    }
  }
  if (only?.type === 'array' && only.items && !more.length) {
    const item = leaves(only.items, make, [...loc, 0])
    return item.value === undefined ? item : { value: [item.value], places: item.places }
  }
  const value = make(shape)
  return { value, places: value === undefined ? [] : [loc] }
}

/** A value of the right build whose every leaf is of the wrong kind. */
export const invalidLeaves = (schema: unknown): InvalidValue => leaves(schema, otherKind)

/** Every place that a value of the schema can have. */
export const placesOf = (schema: unknown): Loc[] => leaves(schema, () => true).places

/** A value of the right build in which every text is `text`. */
export const textLeaves = (schema: unknown, text: string): InvalidValue =>
  leaves(schema, (shape) => (kinds(shape).has('string') ? text : undefined))

/** The fields that have to be given. */
export const requiredFields = (schema: unknown): string[] => (schema as Shape).required ?? []

/** Text that a path parameter of this shape does not take. */
export function malformedValues(schema: unknown): string[] {
  const { type, format } = schema as Shape
  if (format === 'uuid')
    return [
      'nonsense',
      '0',
      '{01890000-0000-7000-8000-000000000001}',
      '01890000000070008000000000000001',
      '01890000-0000-7000-8000-00000000000g',
      '\0',
    ]
  if (type === 'integer') return ['nonsense', '1.5', '1e3', '0x10', '99999999999', '\0']
  return ['x'.repeat(600), '\0']
}
