// The shapes of events, read from an OpenAPI description with webhooks: types and names of fields alone, none of its words.

type Json = Record<string, unknown>

/** A shape as JSON Schema; a reference names another shape. */
export type Shape = Json
export interface EventShapes {
  /** Shapes of bodies, by type of event. */
  events: Record<string, string>
  shapes: Record<string, Shape>
}

interface OpenApiDocument {
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: { $ref: string } }> } } }>
  components: { schemas: Record<string, Json> }
}

const FORMATS = new Set(['uuid', 'date', 'date-time'])
const REFERENCE = '#/components/schemas/'

/** What of a description says how events look. A type `a.*` stands for `a.created` and `a.updated`. */
export function eventShapesOf(description: OpenApiDocument): EventShapes {
  const { schemas } = description.components
  const shapes: Record<string, Shape> = {}
  const add = (name: string): void => {
    if (name in shapes) return
    shapes[name] = {}
    shapes[name] = stripSchema(schemas[name]!, add)
  }
  const events: Record<string, string> = {}
  for (const [pattern, { post }] of Object.entries(description.webhooks)) {
    const name = post.requestBody.content['application/json']!.schema.$ref.slice(REFERENCE.length)
    add(name)
    for (const ending of pattern.endsWith('.*') ? ['.created', '.updated'] : [''])
      events[pattern.replace(/\.\*$/, '') + ending] = name
  }
  return { events, shapes }
}

function stripSchema(schema: Json, add: (name: string) => void): Shape {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.slice(REFERENCE.length)
    add(name)
    return { $ref: name }
  }
  const inside = (part: unknown): Shape => stripSchema(part as Json, add)
  const all = (parts: unknown): Shape[] => (parts as unknown[]).map(inside)
  const { type, required, anyOf, items, prefixItems, properties, additionalProperties, format } = schema
  const values = schema.enum ?? ('const' in schema ? [schema.const] : undefined)
  return {
    ...(type !== undefined && { type }),
    ...(typeof format === 'string' && FORMATS.has(format) && { format }),
    ...(values !== undefined && { enum: values }),
    ...(anyOf !== undefined && { anyOf: all(anyOf) }),
    ...(items !== undefined && { items: inside(items) }),
    ...(prefixItems !== undefined && { prefixItems: all(prefixItems) }),
    ...(required !== undefined && { required }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties as Json).map(([name, one]) => [name, inside(one)])),
    }),
    ...(additionalProperties !== null &&
      typeof additionalProperties === 'object' && { additionalProperties: inside(additionalProperties) }),
  }
}

/** The shape of the body of an event, with every reference replaced by what it names. */
export function bodyShape({ events, shapes }: EventShapes, type: string): Shape {
  const whole = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(whole)
    if (part === null || typeof part !== 'object') return part
    if (typeof (part as Json).$ref === 'string') return whole(shapes[(part as { $ref: string }).$ref])
    return Object.fromEntries(Object.entries(part).map(([name, part]) => [name, whole(part)]))
  }
  return whole(shapes[events[type]!]) as Shape
}

/** One shape to a line, so that a change is read in the diff. */
export const printEventShapes = ({ events, shapes }: EventShapes): string => {
  const lines = (entries: Record<string, unknown>): string =>
    Object.entries(entries)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n')
  return `{\n  "events": {\n${lines(events)}\n  },\n  "shapes": {\n${lines(shapes)}\n  }\n}\n`
}
