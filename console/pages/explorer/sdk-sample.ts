// A request as a call of the official TypeScript SDK.
import type { ApiOperation, ApiParameter } from './operations.ts'
import { DATE_FIELDS, SDK_METHODS, WRAPPED_BODIES } from './sdk-methods.ts'

export interface SdkCall {
  /** For example `user.create`. */
  method: string
  /** Path, query and body in one object, as the SDK takes them. */
  request: Record<string, unknown>
}

const RESOURCE_PATH = /^\/v2\/timeseries\/\{user_id\}\/\{(\w+)\}(\/grouped)?$/

/**
 * The call of an operation; undefined if the SDK has none, or takes a value that JSON has not.
 * @param values of the parameters by their names; required ones that are missing stand as their names
 */
export function sdkCall(
  operation: ApiOperation,
  values: Readonly<Record<string, readonly string[]>>,
  body: unknown,
): SdkCall | undefined {
  const method = findMethod(operation, values)
  if (method === undefined) return undefined
  const [, resource] = RESOURCE_PATH.exec(operation.path) ?? []
  const parameters = operation.parameters.filter(
    ({ name, required, in: place }) => place !== 'header' && name !== resource && (required || values[name]?.some(Boolean)),
  )
  const fields = parameters.map(
    (parameter) => [toCamelCase(parameter.name), toValue(parameter, values[parameter.name] ?? [])] as const,
  )
  const names = [...parameters.map(({ name }) => name), ...Object.keys((body as object | undefined) ?? {})]
  if (names.some((name) => DATE_FIELDS.has(`${operation.id} ${name}`))) return undefined
  const bodyFields = toCamelCases(body) as object | undefined
  const isWrapped = bodyFields !== undefined && WRAPPED_BODIES.has(operation.id)
  return { method, request: { ...Object.fromEntries(fields), ...(isWrapped ? { body: bodyFields } : bodyFields) } }
}

/** The call as code. */
export const writeSdkCode = ({ method, request }: SdkCall, environment: string): string =>
  `import { JunctionClient } from '@junction-api/sdk'

const client = new JunctionClient({ apiKey: process.env.KEY, environment: ${JSON.stringify(environment)} })
console.log(await client.${method}(${Object.keys(request).length ? JSON.stringify(request, null, 2) : ''}))`

function findMethod({ id, method, path }: ApiOperation, values: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [part, methods] of Object.entries(SDK_METHODS)) if (methods[id] !== undefined) return `${part}.${methods[id]}`
  const [, name, grouped] = RESOURCE_PATH.exec(path) ?? []
  const resource = name === undefined ? undefined : values[name]?.[0]
  return resource && method === 'GET' ? `vitals.${toCamelCase(resource)}${grouped ? 'Grouped' : ''}` : undefined
}

function toValue({ name, schema: { type } }: ApiParameter, values: readonly string[]): unknown {
  const filled = values.filter(Boolean)
  const types = [type].flat()
  if (types.includes('array')) return filled
  const [text = name.toUpperCase()] = filled
  if (types.includes('boolean')) return text === 'true'
  return (types.includes('integer') || types.includes('number')) && filled.length ? Number(text) : text
}

const toCamelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** A JSON value whose names are in camel case, as in the types of the SDK. */
function toCamelCases(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCases)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [toCamelCase(name), toCamelCases(entry)]))
}
