// The error responses of the OpenAPI document. Each is described once, as a component.
import type { Operation } from './operation.ts'

type Json = Record<string, unknown>

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
  UnprocessableContent: {
    description: 'The request does not have the documented shape; every fault is listed',
    schema: 'HTTPValidationError',
  },
  TooManyRequests: { description: 'The team has used up its rate of requests', schema: 'Error', retryAfter: true },
  ServiceUnavailable: { description: 'The server or its database is overloaded or stopping', schema: 'Error', retryAfter: true },
} as const satisfies Record<string, ErrorResponse>

const refer = (name: keyof typeof RESPONSES): Json => ({ $ref: `#/components/responses/${name}` })

/** The schemas of errors, for `components.schemas`. */
export const errorSchemas: Record<string, Json> = {
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
export const quotaHeaderDescriptions: Record<string, Json> = {
  'RateLimit-Limit': count('the most requests at once.'),
  'RateLimit-Remaining': count('how many of them are left.'),
  'RateLimit-Reset': count('seconds until all of them are there again, if no further request comes.'),
}
/** References to these headers, in a response. */
const quotaReferences = Object.fromEntries(
  Object.keys(quotaHeaderDescriptions).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

/** The headers of successes of an operation. */
export const headersOf = ({ auth }: Operation): Json =>
  auth === 'team' || auth === 'management' ? { headers: quotaReferences } : {}

/** The responses, for `components.responses`. */
export const errorResponses = (): Record<string, Json> =>
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
export function errorsOf(operation: Operation): Record<string, Json> {
  const { auth, params, query, body, file, idempotency } = operation
  const takesBody = body !== undefined || file !== undefined
  return {
    ...(takesBody && { 400: refer('BadRequest') }),
    ...(auth !== 'none' && { 401: refer('Unauthorized') }),
    ...(auth === 'management' && { 403: refer('Forbidden') }),
    ...(params && { 404: refer('NotFound') }),
    ...(operation.formats && { 406: refer('NotAcceptable') }),
    ...(idempotency && { 409: refer('Conflict') }),
    ...(takesBody && { 413: refer('PayloadTooLarge') }),
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
