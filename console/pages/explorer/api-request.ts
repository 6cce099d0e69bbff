// A request of an operation: its values as they are typed, and sending it as the signed-in member.
import type { SampleRequest } from '../../components/CodeSamples.tsx'
import { basePath } from '../../page-context.ts'
import type { TeamScope } from '../../session/team.ts'
import type { ApiOperation, ApiParameter } from './operations.ts'
import { sdkCall, writeSdkCode } from './sdk-sample.ts'

/** The values of parameters, by place and name; lists have several. */
export type ParameterValues = Readonly<Record<string, readonly string[]>>

export interface ApiRequest {
  operation: ApiOperation
  values: ParameterValues
  /** The body as JSON text. */
  body: string
}

export const valueKey = ({ in: place, name }: Pick<ApiParameter, 'in' | 'name'>): string => `${place} ${name}`

/** The parameters that the page decides, so that a request is about this team in this environment. */
export function scopeValue(
  { name, in: place }: ApiParameter,
  { org_id, team, environment, region }: TeamScope,
): string | undefined {
  if (place === 'header') return undefined
  const values: Record<string, string> = { org_id, team_id: team.id, environment, env: environment, region }
  return place === 'path' || name === 'team_id' ? values[name] : undefined
}

/** The request with which an operation opens: the team's own ids, and the example of the body. */
export const firstRequest = (operation: ApiOperation, scope: TeamScope): ApiRequest => ({
  operation,
  values: Object.fromEntries(
    operation.parameters
      .filter(({ required, in: place }) => required || place === 'path')
      .map((parameter) => [valueKey(parameter), [scopeValue(parameter, scope) ?? '']]),
  ),
  body: operation.exampleBody === undefined ? '' : JSON.stringify(withTeam(operation.exampleBody, scope), null, 2),
})

/** An example body with the id of the team in place of the example's. */
function withTeam(example: unknown, { team }: TeamScope): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [
      name,
      name === 'team_id' ? team.id : name === 'team_ids' || name === 'team_id_allowlist' ? [team.id] : value,
    ]),
  )
}

/** The parameters that must have a value and have none. */
export const missingParameters = ({ operation, values }: ApiRequest): ApiParameter[] =>
  operation.parameters.filter((parameter) => parameter.required && !values[valueKey(parameter)]?.some(Boolean))

/** Says why a body cannot be sent; undefined if it can. */
export function bodyError(body: string): string | undefined {
  if (!body.trim()) return undefined
  try {
    JSON.parse(body)
    return undefined
  } catch {
    return 'This is not JSON'
  }
}

/** The request as code: values that are missing stand as their names. */
export function toSample(operation: ApiOperation, values: ParameterValues = {}, body?: string): SampleRequest {
  const valuesOf = (place: ApiParameter['in'], name: string) => (values[valueKey({ in: place, name })] ?? []).filter(Boolean)
  const query = Object.fromEntries(
    operation.parameters.filter(({ in: place }) => place === 'query').map(({ name }) => [name, valuesOf('query', name)]),
  )
  return {
    method: operation.method,
    path: operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(valuesOf('path', name)[0] ?? name.toUpperCase()),
    ),
    query,
    ...(operation.exampleBody !== undefined && { body: bodyValue(body) ?? operation.exampleBody }),
  }
}

/** The request as code for the official SDK; undefined if the SDK has no such call. */
export function toSdkCode(operation: ApiOperation, values: ParameterValues = {}, body?: string): string | undefined {
  const byName = Object.fromEntries(operation.parameters.map((parameter) => [parameter.name, values[valueKey(parameter)] ?? []]))
  const call = sdkCall(operation, byName, bodyValue(body) ?? operation.exampleBody)
  return call && writeSdkCode(call, `${location.origin}${basePath}`)
}

function bodyValue(body: string | undefined): unknown {
  if (!body?.trim()) return undefined
  return bodyError(body) === undefined ? JSON.parse(body) : undefined
}

export interface ApiResponse {
  status: number
  duration_ms: number
  headers: [name: string, value: string][]
  /** Parsed, if it is JSON. */
  json: unknown
  /** What is not JSON. */
  file: Blob | undefined
  bytes: number
}

const TIMEOUT_S = 60

/** Sends the request with the session. A response of any status is a response; without one it throws. */
export async function sendRequest(
  { operation, values, body }: ApiRequest,
  { team, cell }: TeamScope,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const { path, query = {} } = toSample(operation, values)
  const url = new URL(`${location.origin}${basePath}${path}`)
  for (const [name, list] of Object.entries(query))
    for (const value of [list].flat()) url.searchParams.append(name, String(value))
  const started_ms = performance.now()
  const hasBody = operation.method !== 'GET' && body.trim() !== ''
  const response = await fetch(url, {
    method: operation.method,
    credentials: 'same-origin',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_S * 1000)]),
    headers: {
      'x-drawbridge-console': '1',
      'x-drawbridge-team': team.id,
      'x-drawbridge-cell': cell,
      ...(hasBody && { 'content-type': 'application/json' }),
      ...collectHeaders(operation, values),
    },
    ...(hasBody && { body }),
  })
  const file = await response.blob()
  const duration_ms = Math.round(performance.now() - started_ms)
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    duration_ms,
    headers: [...response.headers],
    json: isJson ? JSON.parse(await file.text()) : undefined,
    file: isJson || file.size === 0 ? undefined : file,
    bytes: file.size,
  }
}

const collectHeaders = ({ parameters }: ApiOperation, values: ParameterValues): Record<string, string> =>
  Object.fromEntries(
    parameters
      .filter(({ in: place }) => place === 'header')
      .map((parameter) => [parameter.name, values[valueKey(parameter)]?.[0] ?? ''])
      .filter(([, value]) => value),
  )
