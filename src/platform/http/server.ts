// HTTP. The only file that knows Fastify: it turns operations into routes, and every error into a documented response. request.ts serves a
// request for an operation. Order of checks before it: unknown host 421, no such route 404/405.
import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { ConstraintErrors } from '../db/database.ts'
import { outageOf } from '../db/outages.ts'
import { UNKNOWN_HOST, type KnownHosts } from '../net/host-name.ts'
import { systemNow } from '../runtime/clock.ts'
import { endOfTick, yieldIfLong } from '../runtime/loop-work.ts'
import { Problem } from '../runtime/problem.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { parseTraceparent } from '../telemetry/trace-context.ts'
import { describeAccess, type Call, type OperationResponse } from './call.ts'
import { DroppedConnection, IntendedProblem } from './errors.ts'
import { BodyMemory, MALFORMED, readBytes } from './input.ts'
import type { Operation } from './operation.ts'
import { KnownPaths, matchesPath, normalizeUrl, pathValues, unimplementedFinder } from './request-path.ts'
import { requestServer, type RequestDependencies } from './request.ts'
import type { Sockets } from './sockets.ts'

/** A response that was sent. */
export interface EndedResponse {
  status: number
  duration_ms: number
  ended_at: Date
}

export interface HttpOptions extends RequestDependencies {
  operations: Operation[]
  constraints: ConstraintErrors
  log: Log
  metrics: Metrics
  /** `METHOD /path` of the API that this server does not implement yet: 404 with a header that says so, also where it has the path. */
  unimplementedPaths: readonly string[]
  sockets: Sockets
  /** Gets every request for an operation when it has ended. */
  onEnd?: (call: Call, response: EndedResponse) => void
  /** Whether the server is about to stop: responses then ask clients to open another connection. */
  isDraining: () => boolean
  /** The hosts that a demo server answers for; other servers answer for every host. */
  isKnownHost?: KnownHosts
  /** Addresses and networks of proxies: the client address is the last of `X-Forwarded-For` that is not among them. */
  trusted_proxies: string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
  interface FastifyRequest {
    /** Undefined for requests without an operation. */
    call: Call | undefined
  }
}

/** Routes have no schemas of Fastify, so the compilers for them are not loaded. */
const unusedCompiler = (): never => {
  throw new Error('no route has a schema of Fastify')
}

/** How paths are matched. */
const ROUTER = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 2048 }
const BODY_BYTES_MAX = 100_000
/** With other methods every path is unknown. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const NOT_FOUND_BODY = '{"detail":"Not Found"}'
const METHOD_NOT_ALLOWED = '{"detail":"Method Not Allowed"}'

/** Builds the server for a list of operations; the caller calls `listen`. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const app = createApp(options)
  const paths = new KnownPaths(options.operations, ROUTER)
  const rejectUnrouted = unroutedRejecter(options, paths)
  app.decorateRequest('call', undefined)
  app.addHook('onRequest', (request, reply, next) => {
    if (options.isDraining()) reply.raw.shouldKeepAlive = false
    const { operation } = request.routeOptions.config
    if (isUnknownHost(options, request)) return void sendJson(reply, 421, UNKNOWN_HOST)
    if (request.is404 || (operation && !paths.has(operation, request.url))) return void rejectUnrouted(request, reply)
    next()
  })
  app.addHook('onResponse', (request, reply, next) => {
    logResponse(options, request, reply)
    next()
  })
  app.setNotFoundHandler((_request, reply) => sendJson(reply, 404, NOT_FOUND_BODY))
  app.setErrorHandler((error, request, reply) => sendError(options, error, request, reply))

  const serve = requestServer(options)
  const memory = new BodyMemory()
  for (const operation of options.operations)
    for (const url of paths.routesOf(operation))
      app.route({
        method: operation.method,
        url,
        config: { operation },
        handler: async (request, reply) => {
          const call = (request.call = newCall(operation, request))
          const { body_bytes_max } = operation
          const response = await serve(call, () => {
            if (operation.method === 'GET') return Promise.resolve(undefined)
            const team = call.tenant?.team ?? ''
            return readBytes(
              request.raw,
              reply.raw,
              body_bytes_max ?? BODY_BYTES_MAX,
              body_bytes_max ? { budget: memory, team } : undefined,
            )
          })
          await endOfTick()
          if (options.isDraining()) reply.raw.shouldKeepAlive = false
          return sendResponse(reply.headers(call.response_headers), response, await encodeLong(response.text))
        },
      })
  return app
}

function createApp(options: HttpOptions): FastifyInstance {
  const prefix = randomBytes(4).toString('hex')
  let count = 0
  const app = Fastify({
    logger: false,
    schemaController: { compilersFactory: { buildValidator: unusedCompiler, buildSerializer: unusedCompiler } },
    trustProxy: options.trusted_proxies.length > 0 && options.trusted_proxies,
    genReqId: () => `${prefix}-${(++count).toString(36)}`,
    serverFactory: (handler) => options.sockets.server(handler),
    forceCloseConnections: 'idle',
    // Requests on open connections are served with the advice to open another connection.
    return503OnClosing: false,
    routerOptions: ROUTER,
    frameworkErrors: (_error, request, reply) =>
      isUnknownHost(options, request) ? sendJson(reply, 421, UNKNOWN_HOST) : sendJson(reply, 404, NOT_FOUND_BODY),
    clientErrorHandler(error, socket) {
      if (!socket.writable || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return socket.destroy()
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
      const body = JSON.stringify({ detail: MALFORMED })
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
    },
    rewriteUrl: (request: { url?: string | undefined }) => normalizeUrl(request.url ?? '/', options.base_path),
  })
  // Handlers read bodies themselves, when the caller is authorized.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  return app
}

const isUnknownHost = ({ isKnownHost }: HttpOptions, { headers }: FastifyRequest): boolean =>
  isKnownHost?.(headers.host) === false

/** Answers requests that no operation has: 404, 405 with the methods of the path, or a preflight. */
function unroutedRejecter({ unimplementedPaths, log }: HttpOptions, paths: KnownPaths) {
  const findUnimplemented = unimplementedFinder(unimplementedPaths)
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const unimplemented = findUnimplemented(request.method, request.url)
    if (unimplemented !== undefined) {
      log.warn({ 'request.id': request.id, unimplemented }, 'this operation of the API is not implemented')
      return sendJson(reply.header('x-unimplemented-operation', unimplemented), 404, NOT_FOUND_BODY)
    }
    const path = KNOWN_METHODS.has(request.method) ? paths.find(request.url) : undefined
    if (!path || !matchesPath(path.operations[0]!, path)) return sendJson(reply, 404, NOT_FOUND_BODY)
    const methods = path.operations.map(({ method }) => method).toSorted()
    if (isPreflight(request, path.operations)) return reply.headers(preflightHeaders(methods)).code(204).send()
    return sendJson(reply.header('allow', methods.join(', ')), 405, METHOD_NOT_ALLOWED)
  }
}

// Pages of other origins may call operations with link tokens, which such pages hold; cookies are not used. Source: client-conventions.md 6;
// https://fetch.spec.whatwg.org/#http-cors-protocol.

const ALLOW_ORIGIN = { 'access-control-allow-origin': '*' }
/** Pages of all origins may read the response, whatever its status. */
const READABLE = { ...ALLOW_ORIGIN, 'access-control-expose-headers': 'retry-after, x-request-id' }
/** How long a browser may cache the response to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE_S = '600'

function isPreflight({ method, headers }: FastifyRequest, operations: readonly Operation[]): boolean {
  const requested = headers['access-control-request-method']
  return method === 'OPTIONS' && operations[0]!.auth === 'link' && operations.some((operation) => operation.method === requested)
}

const preflightHeaders = (methods: readonly string[]) => ({
  ...ALLOW_ORIGIN,
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': '*',
  'access-control-max-age': PREFLIGHT_MAX_AGE_S,
})

const newCall = (operation: Operation, request: FastifyRequest): Call => ({
  operation,
  id: request.id,
  method: request.method,
  address: request.ip,
  headers: request.headers,
  sent_params: pathValues(operation, request),
  sent_query: request.query as Call['sent_query'],
  response_headers: operation.auth === 'link' ? { ...READABLE } : {},
  tenant: undefined,
  manager: undefined,
  session: undefined,
  user: undefined,
  key_id: undefined,
  member_id: undefined,
  db: undefined,
  bytes: undefined,
  params: undefined,
  query: undefined,
  body: undefined,
  hasIdempotencyKey: false,
  auditEntries: [],
  isInjected: false,
  error: undefined,
})

/** A shorter text is sent as it is. */
const LONG_TEXT = 1024 * 1024

/** A long text as bytes, in slices: writing 40 MB at once keeps the event loop for a tenth of a second. */
async function encodeLong(text: string): Promise<string | Buffer> {
  if (text.length < LONG_TEXT) return text
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(text))
  let [start, offset] = [0, 0]
  while (start < text.length) {
    await yieldIfLong()
    const end = start + LONG_TEXT
    // No pair of surrogates is divided.
    const piece = text.slice(start, /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end)
    offset += bytes.write(piece, offset)
    start += piece.length
  }
  return bytes
}

/** Sends a JSON body. */
function sendJson(reply: FastifyReply, status: number, text: string | Buffer): FastifyReply {
  reply.header('content-type', 'application/json')
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-request-id', reply.request.id)
  return reply.code(status).send(text)
}

/** Sends the response of an operation. */
function sendResponse(reply: FastifyReply, { status, file }: OperationResponse, text: string | Buffer): FastifyReply {
  if (status === 204) return reply.header('x-request-id', reply.request.id).code(204).send()
  if (!file) return sendJson(reply, status, text)
  reply.header('x-request-id', reply.request.id)
  reply.header('content-type', file.type).header('content-disposition', `attachment; filename="${file.name}"`)
  reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  return reply.send(Buffer.from(file.bytes))
}

/** Turns an error into a response, and records that the request was rejected. */
async function sendError(
  options: HttpOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { call } = request
  if (error instanceof DroppedConnection) {
    reply.hijack()
    request.raw.socket.destroy()
    return reply
  }
  if (options.isDraining()) reply.raw.shouldKeepAlive = false
  const hasHungUp = request.raw.destroyed && !request.raw.complete
  const problem = hasHungUp ? new Problem(400, { detail: MALFORMED }) : toProblem(error, options.constraints)
  if (!problem || (problem.status === 503 && !(problem instanceof IntendedProblem)))
    options.log.error(
      { 'request.id': request.id, operation: request.routeOptions.config.operation?.id, causes: errorFields(error) },
      'request failed',
    )
  if (call && problem && !hasHungUp) await recordRejection(options, call, problem)
  const status = problem?.status ?? 500
  const text = problem ? JSON.stringify(problem.body) : '{"detail":"Internal Server Error"}'
  if (call) {
    call.error = problem?.body
    if (call.db && call.operation.logsAccess)
      options.access.addRejected(call.db, describeAccess(call, { status, text }, undefined))
    reply.headers(call.response_headers)
  }
  return sendJson(reply.headers(problem?.headers ?? {}), status, text)
}

/** The response for an error; undefined for a bug. */
function toProblem(error: unknown, constraints: ConstraintErrors): Problem | undefined {
  if (error instanceof Problem) return error
  const { code, constraint, statusCode } = error as { code?: string; constraint?: string; statusCode?: number }
  if (constraint !== undefined && Object.hasOwn(constraints, constraint)) return constraints[constraint]!()
  if (code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR')
    return new Problem(422, { detail: [{ loc: ['body'], msg: 'Body is not valid gzip', type: 'value_error' }] })
  const outage = outageOf(error)
  if (outage) return outage
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new Problem(statusCode, { detail: MALFORMED })
  return undefined
}

/** The request itself is wrong: its form, its size, its values. */
const REJECTED = new Set([400, 413, 422])

/**
 * Calls `onRejected` of the operation in a transaction of the team, also for a body that was not read. The response is that of the rejected
 * request, whether it could be recorded or not.
 */
async function recordRejection({ log }: HttpOptions, call: Call, problem: Problem): Promise<void> {
  const { operation, tenant, params, bytes, db } = call
  const { onRejected } = operation
  if (!onRejected || !tenant || params === undefined || !REJECTED.has(problem.status)) return
  try {
    await db!.tx(tenant, (tx) => onRejected(tx, { params, bytes, problem }))
  } catch (error) {
    log.error({ 'request.id': call.id, operation: operation.id, causes: errorFields(error) }, 'rejected request not recorded')
  }
}

/** Writes the log line of a response and counts it. Faults that a test asked for are not counted: no alert is about them. */
function logResponse({ log, metrics, onEnd }: HttpOptions, request: FastifyRequest, reply: FastifyReply): void {
  const { call } = request
  const { id: operation = 'none', path: route } = request.routeOptions.config.operation ?? {}
  const { statusCode: status, elapsedTime: duration_ms } = reply
  const caller = parseTraceparent(request.headers.traceparent)
  if (!call?.isInjected) metrics.request(operation, status, duration_ms / 1000, { method: request.method, route, caller })
  log.info(
    {
      'request.id': request.id,
      operation,
      status,
      duration_ms: Math.round(duration_ms * 100) / 100,
      ...(call?.key_id !== undefined && { 'key.id': call.key_id }),
      ...(call?.member_id !== undefined && { 'member.id': call.member_id }),
      ...(call?.manager && { 'org.id': call.manager.org }),
      ...(call?.tenant && { 'team.id': call.tenant.team, cell: call.tenant.cell }),
      ...(caller !== undefined && { 'trace.id': caller.trace_id }),
    },
    'request',
  )
  if (call) onEnd?.(call, { status, duration_ms, ended_at: systemNow() })
}
