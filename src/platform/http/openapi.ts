// Builds the published OpenAPI document from the list of operations. A pure function: it needs neither database nor server.
import { isDeepStrictEqual } from 'node:util'
import { yieldIfLong } from '../runtime/loop-work.ts'
import type { TSchema } from '../schema/schema.ts'
import { CONSOLE_API, type Idempotency, isFile, isWrite, noContent, type Operation, pdf } from './operation.ts'

type Json = Record<string, unknown>

const KEYWORDS = new Set([
  'type',
  'format',
  'enum',
  'const',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'default',
  'description',
  'title',
  'deprecated',
  'required',
  'propertyNames',
])

export interface OpenApiDocument {
  openapi: string
  info: Json
  servers: Json[]
  security: Json[]
  tags: Tag[]
  paths: Record<string, Json>
  webhooks: Record<string, Json>
  components: Json
}

/** A group of operations. */
export interface Tag {
  name: string
  /** The title on the API page. */
  'x-displayName': string
  description: string
}

/** A type of events that are sent to webhook endpoints. */
export interface DescribedEvent {
  name: string
  /** About deliveries, in an envelope of its own. */
  isOperational: boolean
  /** The whole body of an example. */
  example: Json
}

/**
 * OpenAPI 3.1 of the operations and events; each titled schema and each error response is defined once. Paths, their methods and schemas are
 * sorted by name, with deprecated paths last; groups and events stay in their order.
 * @throws Error if two different schemas have the same title
 */
export async function buildOpenApi(
  operations: Operation[],
  version: string,
  { tags = [], events = [] }: { tags?: Tag[]; events?: DescribedEvent[] } = {},
): Promise<OpenApiDocument> {
  const schemas: Record<string, Json> = { ...errorSchemas, ...envelopes }
  const shape = (schema: TSchema): Json => inlineSchema(schema as unknown as Json, schemas)
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const turn = yieldIfLong()
    if (turn) await turn
    for (const path of [operation.path, ...(operation.aliases ?? [])]) {
      const url = path.replace('...}', '}')
      paths[url] = {
        ...paths[url],
        [operation.method.toLowerCase()]: describeOperation(operation, path === operation.path, shape),
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Drawbridge',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Laboratory testing and health data. Compatible with version 0.4.553 of the reference API. The [start page](./) leads to the guides.',
    },
    servers: [{ url: '/' }],
    security: [{ teamKey: [] }, { accessToken: [] }],
    tags,
    paths: sortEntries(
      Object.entries(paths).map<[string, Json]>(([path, of]) => [path, sortEntries(Object.entries(of))]),
      isDeprecated,
    ),
    webhooks: Object.fromEntries(events.map((event) => [event.name, { post: describeEvent(event) }])),
    components: {
      schemas: sortEntries(Object.entries(schemas)),
      headers: quotaHeaderDescriptions,
      responses: errorResponses(),
      securitySchemes,
    },
  }
}

/** The credentials of operations. */
const securitySchemes: Record<string, Json> = {
  teamKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-service-api-key',
    description: 'A team key, `sk_us_…`. `x-vital-api-key` is understood too.',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token of a team, minted with a management key; valid for ten minutes.',
  },
  linkToken: {
    type: 'apiKey',
    in: 'header',
    name: 'x-vital-link-token',
    description: 'The token of a link session; valid for an hour. `x-service-link-token` is understood too.',
  },
  managementKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Management-Key',
    description: 'A management key, `mg_…`. `X-Service-Org-Key` and `X-Vital-Org-Key` are understood too.',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-drawbridge_session',
    description:
      'The session of a member in the console, with the header `X-Drawbridge-Console: 1`. It is accepted in place of keys of teams and organizations too; the headers `X-Drawbridge-Team` and `X-Drawbridge-Cell` then name the team.',
  },
}

const sortEntries = <Value>(entries: [string, Value][], isLast: (value: Value) => boolean = () => false): Record<string, Value> =>
  Object.fromEntries(entries.sort(([a, one], [b, other]) => Number(isLast(one)) - Number(isLast(other)) || (a < b ? -1 : 1)))
const isDeprecated = (path: Json): boolean => Object.values(path).every((operation) => (operation as Json).deprecated === true)

function describeOperation(operation: Operation, primary: boolean, shape: (schema: TSchema) => Json): Json {
  const parameters = [
    ...describeParameters('path', operation.params, shape),
    ...describeParameters('query', operation.query, shape),
    ...idempotencyParameters(operation.idempotency),
  ]
  return {
    operationId: primary ? operation.id : `${operation.id}_alias`,
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    tags: [operation.module],
    ...(operation.deprecated && { deprecated: true }),
    ...(operation.auth === 'none' && { security: [] }),
    ...(operation.auth === 'management' && { security: [{ managementKey: [] }] }),
    ...(operation.auth === 'link' && { security: [{ linkToken: [] }] }),
    ...(operation.auth === 'session' && { security: [{ consoleSession: [] }] }),
    ...(parameters.length && { parameters }),
    ...(operation.body && {
      requestBody: {
        required: !operation.body_optional,
        content: {
          'application/json': {
            schema: shape(operation.body),
            ...(operation.example !== undefined && { example: operation.example }),
          },
          ...(operation.form && { 'application/x-www-form-urlencoded': { schema: shape(operation.body) } }),
        },
      },
    }),
    ...(operation.file && {
      requestBody: {
        required: true,
        content: operation.form_file
          ? { 'multipart/form-data': { schema: { type: 'object', ...operation.form_file }, example: formExample(operation) } }
          : {
              'application/octet-stream': {
                schema: { type: 'string', format: 'binary' },
                ...(operation.example !== undefined && { example: operation.example }),
              },
            },
      },
    }),
    responses: {
      ...successResponse(operation, shape),
      ...errorsOf(operation),
    },
  }
}

/** Parts of a form that may be repeated are lists in its schema. */
function formExample({ form_file, example }: Operation): unknown {
  const isList = (name: string) => (form_file!.properties[name] as Json | undefined)?.type === 'array'
  return Object.fromEntries(Object.entries(example as Json).map(([name, value]) => [name, isList(name) ? [value] : value]))
}

/** The bodies of deliveries. Source: events.md 1. */
const envelopes: Record<string, Json> = {
  Event: {
    type: 'object',
    required: ['event_type', 'data', 'team_id'],
    properties: {
      event_type: { type: 'string' },
      data: { description: 'The object that changed, as the operation that reads it answers.' },
      user_id: { description: 'The user whom it concerns, if it is known.', type: 'string', format: 'uuid' },
      client_user_id: { description: "The user's id in the system of the team.", type: 'string' },
      team_id: { type: 'string', format: 'uuid' },
    },
  },
  OperationalEvent: {
    type: 'object',
    required: ['type', 'data'],
    properties: {
      type: { type: 'string' },
      data: { description: 'The delivery or the endpoint that it is about.', type: 'object' },
    },
  },
}

function describeEvent({ name, isOperational, example }: DescribedEvent): Json {
  return {
    operationId: `event_${name.replaceAll(/[^a-z0-9]+/gi, '_')}`,
    summary: name,
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${isOperational ? 'OperationalEvent' : 'Event'}` },
          example,
        },
      },
    },
    responses: { '2XX': { description: 'Received; any other answer, or none in time, is retried' } },
  }
}

function successResponse(operation: Operation, shape: (schema: TSchema) => Json): Json {
  const headers = headersOf(operation)
  if (operation.reply === noContent) return { 204: { description: 'Done', ...headers } }
  if (isFile(operation.reply)) {
    const [description, type] = operation.reply === pdf ? ['A PDF', 'application/pdf'] : ['A picture', 'image/png']
    return { 200: { description, ...headers, content: { [type]: { schema: { type: 'string', format: 'binary' } } } } }
  }
  const files = (operation.formats ?? []).map((type) => [type, { schema: { type: 'string', format: 'binary' } }])
  const content = { 'application/json': { schema: shape(operation.reply as TSchema) }, ...Object.fromEntries(files) }
  return { [operation.success ?? 200]: { description: successes[operation.success ?? 200], ...headers, content } }
}

const successes = { 200: 'OK', 201: 'Created', 202: 'Accepted: it is done in the background' }

function describeParameters(place: 'path' | 'query', schema: TSchema | undefined, shape: (schema: TSchema) => Json): Json[] {
  if (!schema) return []
  const { properties, required = [] } = schema as unknown as { properties: Record<string, TSchema>; required?: string[] }
  return Object.entries(properties).map(([name, property]) => {
    const described = shape(property)
    const { description, ...rest } = described
    const needed = required.includes(name)
    const example = chooseExample(name, property as unknown as Json, needed)
    return {
      name,
      in: place,
      required: needed,
      ...(description !== undefined && { description }),
      ...(example !== undefined && { example }),
      schema: rest,
    }
  })
}

const EXAMPLE_ID = '01890000-0000-7000-8000-000000000001'

/**
 * The example values of the API page: the declared one; otherwise, if a value is required, the first enum value or a value of the right
 * format.
 */
function chooseExample(name: string, schema: Json, needed: boolean): unknown {
  if (schema.example !== undefined || !needed) return schema.example
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (schema.type === 'array') return [chooseExample(name, schema.items as Json, true)]
  if (schema.type === 'integer') return Math.max(1, (schema.minimum as number | undefined) ?? 1)
  if (schema.type === 'boolean') return true
  return schema.format === 'uuid' ? EXAMPLE_ID : `your-${name.replaceAll('_', '-')}`
}

const idempotencyParameters = (idempotency: Idempotency | undefined): Json[] =>
  idempotency
    ? [
        {
          name: 'X-Idempotency-Key',
          in: 'header',
          required: idempotency.required ?? false,
          ...(idempotency.required && { example: 'your-own-key-1' }),
          schema: { type: 'string', minLength: 1, maxLength: 255 },
          description: idempotency.bindsToBody
            ? 'The first answer under a key is given again for the same request; for another one 409.'
            : 'The first answer under a key is given again.',
        },
        {
          name: 'X-Idempotency-Error',
          in: 'header',
          required: false,
          schema: { type: 'string', enum: ['no-cache'] },
          description: 'Keep successes only.',
        },
      ]
    : []

function inlineSchema(schema: Json, schemas: Record<string, Json>): Json {
  const body = inlineBody(schema, schemas)
  const title = schema.title
  if (typeof title !== 'string') return body
  const { title: _, ...rest } = body
  const known = schemas[title]
  if (known && !isDeepStrictEqual(known, rest)) throw new Error(`two schemas have the title ${title}`)
  schemas[title] = rest
  return { $ref: `#/components/schemas/${title}` }
}

function inlineBody(schema: Json, schemas: Record<string, Json>): Json {
  const result: Json = {}
  for (const key of Object.keys(schema)) if (KEYWORDS.has(key)) result[key] = schema[key]
  const properties = schema.properties as Record<string, Json> | undefined
  if (properties)
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, inlineSchema(property, schemas)]),
    )
  if (schema.items) result.items = inlineSchema(schema.items as Json, schemas)
  if (Array.isArray(schema.anyOf)) Object.assign(result, inlineUnion(schema.anyOf as Json[], schemas))
  if (typeof schema.discriminator === 'string') result.discriminator = { propertyName: schema.discriminator }
  if (schema.additionalProperties !== undefined)
    result.additionalProperties =
      typeof schema.additionalProperties === 'object'
        ? inlineSchema(schema.additionalProperties as Json, schemas)
        : schema.additionalProperties
  if (schema.patternProperties)
    result.additionalProperties = inlineSchema(Object.values(schema.patternProperties as Record<string, Json>)[0]!, schemas)
  return result
}

/** A nullable simple type becomes `type: [t, "null"]`; anything else stays a union. */
function inlineUnion(branches: Json[], schemas: Record<string, Json>): Json {
  const [only, ...more] = branches.filter((branch) => branch.type !== 'null').map((branch) => inlineSchema(branch, schemas))
  const nullable = branches.some((branch) => branch.type === 'null')
  if (only && more.length === 0 && nullable && typeof only.type === 'string' && !only.enum)
    return { ...only, type: [only.type, 'null'] }
  return { anyOf: [only, ...more, ...(nullable ? [{ type: 'null' }] : [])] }
}

/** One line per operation: method, path, id, auth, module. It is committed, so that a change of the API is a visible line. */
export const listOperations = (operations: Operation[]): string =>
  operations
    .flatMap((operation) =>
      [operation.path, ...(operation.aliases ?? [])].map(
        (path) =>
          `${operation.method.padEnd(6)} ${path.padEnd(48)} ${operation.id.padEnd(40)} ${operation.auth.padEnd(5)} ${operation.module}\n`,
      ),
    )
    .sort((a, b) => (`${a.slice(7, 55)}${a}` < `${b.slice(7, 55)}${b}` ? -1 : 1))
    .join('')

// The error responses. Each is described once, as a component.

interface ErrorResponse {
  description: string
  schema: 'Error' | 'HTTPValidationError'
  retryAfter?: true
}

const RESPONSES = {
  BadRequest: { description: 'A rule of the operation does not admit the request; `detail` says which', schema: 'Error' },
  Unauthorized: { description: 'The key is missing or not valid', schema: 'Error' },
  Forbidden: { description: 'The key does not reach this', schema: 'Error' },
  NotFound: { description: 'It does not exist, or it belongs to another team', schema: 'Error' },
  NotAcceptable: { description: 'The header Accept admits no JSON', schema: 'Error' },
  Conflict: {
    description: 'The idempotency key belongs to another request, or to one that is not answered yet',
    schema: 'Error',
  },
  PayloadTooLarge: { description: 'The body is larger than the operation takes', schema: 'Error' },
  MisdirectedRequest: { description: 'A demo server is asked under a name that it does not know', schema: 'Error' },
  UnprocessableContent: {
    description: 'The request does not have the documented shape; every fault is listed',
    schema: 'HTTPValidationError',
  },
  TooManyRequests: { description: 'The team has used up its rate of requests', schema: 'Error', retryAfter: true },
  ServiceUnavailable: { description: 'The server or its database is overloaded or stopping', schema: 'Error', retryAfter: true },
} as const satisfies Record<string, ErrorResponse>

const refer = (name: keyof typeof RESPONSES): Json => ({ $ref: `#/components/responses/${name}` })

/** The schemas of errors, for `components.schemas`. */
const errorSchemas: Record<string, Json> = {
  Error: {
    type: 'object',
    required: ['detail'],
    properties: {
      detail: { description: 'What is wrong, as a text; few operations answer an object.', type: ['string', 'object'] },
    },
  },
  HTTPValidationError: {
    type: 'object',
    required: ['detail'],
    properties: { detail: { type: 'array', items: { $ref: '#/components/schemas/ValidationError' } } },
  },
  ValidationError: {
    type: 'object',
    required: ['loc', 'msg', 'type'],
    properties: {
      loc: { description: 'Where the fault is.', type: 'array', items: { type: ['string', 'integer'] } },
      msg: { type: 'string' },
      type: { type: 'string' },
    },
  },
}

const LIMITED = 'Where the server limits the rate of requests (`REQUESTS_PER_SECOND`): '
const count = (description: string): Json => ({ description: LIMITED + description, schema: { type: 'integer', minimum: 0 } })

/** The headers that show the rate of a caller, for `components.headers`. */
const quotaHeaderDescriptions: Record<string, Json> = {
  'RateLimit-Limit': count('the most requests at once.'),
  'RateLimit-Remaining': count('how many of them are left.'),
  'RateLimit-Reset': count('seconds until all of them are there again, if no further request comes.'),
}
/** References to these headers, in a response. */
const quotaReferences = Object.fromEntries(
  Object.keys(quotaHeaderDescriptions).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

/** The headers of successes of an operation. */
const headersOf = ({ auth }: Operation): Json => (auth === 'team' || auth === 'management' ? { headers: quotaReferences } : {})

/** The responses, for `components.responses`. */
const errorResponses = (): Record<string, Json> =>
  Object.fromEntries(
    Object.entries<ErrorResponse>(RESPONSES).map(([name, { description, schema, retryAfter }]) => [
      name,
      {
        description,
        ...(retryAfter && {
          headers: {
            ...(name === 'TooManyRequests' && quotaReferences),
            'Retry-After': { description: 'After how many seconds to try again.', schema: { type: 'integer', minimum: 1 } },
          },
        }),
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
      },
    ]),
  )

/** The error responses of an operation. */
function errorsOf(operation: Operation): Record<string, Json> {
  const { auth, params, query, body, file, idempotency } = operation
  const takesBody = body !== undefined || file !== undefined
  const isOfConsole = operation.path.startsWith(CONSOLE_API)
  return {
    ...(takesBody && { 400: refer('BadRequest') }),
    ...(auth !== 'none' && { 401: refer('Unauthorized') }),
    ...((auth === 'management' || (isOfConsole && isWrite(operation))) && { 403: refer('Forbidden') }),
    ...(params && { 404: refer('NotFound') }),
    ...(operation.formats && { 406: refer('NotAcceptable') }),
    ...(idempotency && { 409: refer('Conflict') }),
    ...(takesBody && { 413: refer('PayloadTooLarge') }),
    ...(isOfConsole && { 421: refer('MisdirectedRequest') }),
    ...((params || query || body) && { 422: refer('UnprocessableContent') }),
    ...(auth !== 'none' && { 429: refer('TooManyRequests') }),
    503: refer('ServiceUnavailable'),
    ...featureDisabledResponse(operation),
  }
}

function featureDisabledResponse({ auth, feature }: Operation): Record<string, Json> {
  const status = feature?.refusal().status
  if (status === undefined || (status === 403 && auth === 'management')) return {}
  return {
    [status]: {
      description: `Switched off for the team: ${feature!.name}`,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  }
}
