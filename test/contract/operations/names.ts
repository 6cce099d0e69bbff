// Reads the field names of requests and responses of an operation from any OpenAPI document, to compare two documents.

interface Json {
  [key: string]: unknown
}

export interface OpenApi {
  paths: Record<string, Record<string, Json>>
  components?: { schemas?: Record<string, Json> }
}

export interface Names {
  query: string[]
  body: string[]
  reply: string[]
  /** Of a success. */
  status: number
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Every operation as `METHOD /path`, with what stands in braces left out: two descriptions call it differently. */
export const withoutParameterNames = (method: string, path: string): string =>
  `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '{}').replace(/\/$/, '')}`

/** By operation: `a`, `a.b` for a field of an object, `a[].b` of the items of a list, `a{}.b` of the values of a record. */
export function namesOf(description: OpenApi): Map<string, Names> {
  const names = new Map<string, Names>()
  for (const [path, methods] of Object.entries(description.paths))
    for (const method of METHODS) {
      const operation = methods[method]
      if (operation) names.set(withoutParameterNames(method, path), namesOfOperation(description, operation))
    }
  return names
}

function namesOfOperation(description: OpenApi, operation: Json): Names {
  const [status, success] = Object.entries(operation.responses as Record<string, Json>).find(([code]) => code.startsWith('2'))!
  const sorted = (schema: unknown): string[] => [...new Set(fields(description, schema as Json | undefined, '', []))].toSorted()
  return {
    query: ((operation.parameters ?? []) as { name: string; in: string }[])
      .filter((parameter) => parameter.in === 'query')
      .map(({ name }) => name)
      .toSorted(),
    body: sorted(content(operation.requestBody)),
    reply: sorted(content(success)),
    status: Number(status),
  }
}

const content = (response: unknown): unknown =>
  ((response as Json | undefined)?.content as Record<string, Json> | undefined)?.['application/json']?.schema

/** @param parents names of the shapes that this one stands in: what stands in itself is followed once */
function fields(description: OpenApi, schema: Json | undefined, path: string, parents: readonly string[]): string[] {
  if (!schema) return []
  const inside = (part: unknown, where: string) => fields(description, part as Json, where, parents)
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1)!
    return parents.includes(name) ? [] : fields(description, description.components!.schemas![name], path, [...parents, name])
  }
  const found: string[] = []
  for (const key of ['anyOf', 'oneOf', 'allOf']) for (const one of (schema[key] ?? []) as Json[]) found.push(...inside(one, path))
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Json)) {
    const where = path ? `${path}.${name}` : name
    found.push(where, ...inside(property, where))
  }
  if (schema.items) found.push(...inside(schema.items, `${path}[]`))
  if (typeof schema.additionalProperties === 'object') found.push(...inside(schema.additionalProperties, `${path}{}`))
  return found
}

/** One line an operation and part. */
export const printNames = (names: Map<string, Names>): string =>
  [...names]
    .flatMap(([operation, { status, ...parts }]) =>
      Object.entries(parts).map(([part, list]) => `${[operation, part === 'reply' ? status : part, ...list].join('\t')}\n`),
    )
    .toSorted()
    .join('')

/** What `printNames` has printed. */
export function readNames(text: string): Map<string, Names> {
  const names = new Map<string, Names>()
  for (const line of text.split('\n').filter(Boolean)) {
    const [operation, part, ...list] = line.split('\t') as [string, string, ...string[]]
    const known = names.get(operation) ?? { query: [], body: [], reply: [], status: 0 }
    const status = Number(part)
    names.set(operation, status ? { ...known, status, reply: list } : { ...known, [part]: list })
  }
  return names
}

/** The names of all fields in a schema. */
export const namesIn = (schema: unknown): string[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : Object.entries(schema).flatMap(([key, value]) => [
        ...(key === 'properties' ? Object.keys(value as object) : []),
        ...namesIn(value),
      ])
