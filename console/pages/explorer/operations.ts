// The operations of the OpenAPI document that members can call with their session.
import type { KeyKind } from '../../components/key-kind.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What the pages read of a JSON schema. */
interface ValueSchema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: (string | number)[]
  items?: ValueSchema
  default?: unknown
  description?: string
}

export interface ApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: ValueSchema
  example?: unknown
}

export interface ApiOperation {
  id: string
  method: Method
  path: string
  summary: string
  description: string | undefined
  tag: string
  keyKind: KeyKind
  parameters: ApiParameter[]
  /** The example of the body as JSON; undefined: it has none. */
  exampleBody: unknown
  /** Whether the body is a file or a form, which the explorer does not send. */
  hasFileBody: boolean
}

interface DocumentOperation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, unknown>[]
  parameters?: ApiParameter[]
  requestBody?: { content: Record<string, { example?: unknown }> }
}

export interface ApiDocument {
  paths: Record<string, Partial<Record<string, DocumentOperation>>>
  components: { schemas: Record<string, ValueSchema> }
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The operations that keys of teams and of the organization can call. */
export function toOperations({ paths, components }: ApiDocument): readonly ApiOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method.toLowerCase()]
      const keyKind = operation && keyKindOf(operation)
      return keyKind ? [toOperation({ path, method, keyKind, operation, schemas: components.schemas })] : []
    }),
  )
}

/** Undefined: it needs the token of a link or of a session, or none at all. */
function keyKindOf({ security }: DocumentOperation): KeyKind | undefined {
  if (!security) return 'team'
  return security.some((entry) => 'managementKey' in entry) ? 'management' : undefined
}

interface OperationParts {
  path: string
  method: Method
  keyKind: KeyKind
  operation: DocumentOperation
  schemas: Record<string, ValueSchema>
}

function toOperation({ path, method, keyKind, operation, schemas }: OperationParts): ApiOperation {
  const { operationId, summary = operationId, description, tags = [], parameters = [], requestBody } = operation
  const resolve = (schema: ValueSchema): ValueSchema =>
    (schema.$ref === undefined ? undefined : schemas[schema.$ref.split('/').at(-1)!]) ?? schema
  return {
    id: operationId,
    method,
    path,
    summary,
    description,
    tag: tags[0] ?? '',
    keyKind,
    // Keys of idempotency are for programs.
    parameters: parameters
      .filter(({ name }) => !name.startsWith('X-Idempotency'))
      .map((parameter) => ({ ...parameter, schema: resolve(parameter.schema) })),
    exampleBody: requestBody?.content['application/json']?.example,
    hasFileBody: requestBody !== undefined && !('application/json' in requestBody.content),
  }
}
