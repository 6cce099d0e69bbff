// HTTP. The only file that knows Fastify: it turns operations into routes, lets callers in, and turns everything that goes wrong into a
// documented answer. What an admitted request is answered is in answer.ts.
// Order of refusal: no such route 404/405, credential 401, path 422, reach, plan and features 403/404, body too large 413, query and body
// 422, then the operation's own.
import { randomBytes } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type preParsingHookHandler } from 'fastify'
import type { AccessLog } from '../access-log/access-log.ts'
import { accessRefused } from './request-access.ts'
import { handleRequest, isWrite } from './answer.ts'
import type { Answer, Asked } from './admitted-request.ts'
import type { Cells } from '../db/cells.ts'
import { isPast } from '../runtime/clock.ts'
import type { ConstraintErrors, Db } from '../db/database.ts'
import type { Tenant, Tx } from '../db/transaction.ts'
import { forbidden, payloadTooLarge, SwitchedOff } from './errors.ts'
import { Problem } from '../runtime/problem.ts'
import { assertFeature } from './feature-flags.ts'
import { readParams } from './input.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Caller, ManagementPrincipal, Method, Operation } from './operation.ts'
import { outageOf } from '../db/outages.ts'
import { matchesPath, pathValues, normalizeUrl } from './request-path.ts'
import type { Sockets } from './sockets.ts'
import { endOfTick } from '../runtime/event-loop.ts'

/** Who manages, and may they? `admit` refuses (403, 404) and says where the operation's rows are. */
export interface ManagementGuard {
  authenticate(headers: Record<string, string | string[] | undefined>, address: string): Promise<ManagementPrincipal>
  authorize(
    manager: ManagementPrincipal,
    operation: Operation,
    params: Record<string, string>,
  ): Promise<{ db: Db; tenant?: Tenant }>
}

/** Who is calling? Throws 401, 429. A guard that cannot know in time answers 503. */
export type Guard = (headers: Record<string, string | string[] | undefined>, address: string) => Caller | Promise<Caller>

export interface HttpOptions {
  operations: Operation[]
  guards: { team?: Guard; management?: ManagementGuard }
  cells: Cells
  access: AccessLog
  constraints: ConstraintErrors
  log: Log
  metrics: Metrics
  /** Everything is served below this path, `''` for none. */
  base_path: string
  /** `METHOD /path` of the interface that this server does not have yet, though it has the path: 404 and not 405. */
  unimplementedPaths: string[]
  sockets: Sockets
  /** Whether the server is about to stop: answers then ask for another connection. */
  draining: () => boolean
  /** Addresses and networks of proxies: the address of a caller is the last of `X-Forwarded-For` that is not among them. */
  trusted_proxies: string[]
  /** Hold replies to their schemas. On in tests. */
  checkReplies: boolean
  /** Refuses to give a kept answer about these users again: 404 where one of them is deleted. */
  assertShown: (tx: Tx, user_ids: string[]) => Promise<void>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
  interface FastifyRequest {
    tenant: Tenant | undefined
    manager: ManagementPrincipal | undefined
    /** Of the key or token of either. */
    key_id: string | undefined
    /** Where a management operation runs. */
    rows: Db | undefined
    values: unknown
    asked: Asked | undefined
    trace: string | undefined
  }
}

const BODY_BYTES_MAX = 100_000
/** How much of a refused body is still taken, and thrown away, before the connection is cut. */
const DISCARDED_BYTES_MAX = 50_000_000
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Build the server for a list of operations; `listen` is the caller's. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const { operations, log, metrics } = options
  const prefix = randomBytes(4).toString('hex')
  let count = 0
  const app = Fastify({
    logger: false,
    trustProxy: options.trusted_proxies.length > 0 && options.trusted_proxies,
    genReqId: () => `${prefix}-${(++count).toString(36)}`,
    bodyLimit: BODY_BYTES_MAX,
    serverFactory: (handler) => options.sockets.server(handler),
    forceCloseConnections: 'idle',
    // What still comes on a connection that is open is served, and told to take another one.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 2048 },
    frameworkErrors: (_error, _request, reply) => send(reply, 404, NOT_FOUND_BODY),
    clientErrorHandler(error, socket) {
      if (!socket.writable || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return socket.destroy()
      const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
      const body = '{"detail":"The request is malformed"}'
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      )
    },
    rewriteUrl: (request: { url?: string | undefined }) => normalizeUrl(request.url ?? '/', options.base_path),
  })

  app.decorateRequest('tenant', undefined)
  app.decorateRequest('manager', undefined)
  app.decorateRequest('key_id', undefined)
  app.decorateRequest('rows', undefined)
  app.decorateRequest('values', undefined)
  app.decorateRequest('asked', undefined)
  app.decorateRequest('trace', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  // Hooks of every request answer by callback where they need not wait: a promise each would cost more than they do.
  app.addHook('onRequest', (request, reply, done) => {
    closeIfDraining(options, reply)
    if (request.is404) return void send(reply, 404, NOT_FOUND_BODY)
    const { operation } = request.routeOptions.config
    if (!operation) return done()
    let admitted: Promise<void> | undefined
    try {
      admitted = authorize(options, operation, request)
    } catch (error) {
      return done(error as Error)
    }
    // oxlint-disable-next-line promise/no-callback-in-promise -- only who has to wait gets a promise
    if (admitted) admitted.then(() => done(), done)
    else done()
  })

  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config.operation?.id ?? 'none'
    const duration_ms = reply.elapsedTime
    metrics.request(operation, reply.statusCode, duration_ms / 1000)
    log.info(
      {
        'request.id': request.id,
        operation,
        status: reply.statusCode,
        duration_ms: Math.round(duration_ms * 100) / 100,
        ...(request.key_id !== undefined && { 'key.id': request.key_id }),
        ...(request.manager && { 'org.id': request.manager.org }),
        ...(request.tenant && { 'team.id': request.tenant.team, cell: request.tenant.cell }),
        ...(typeof request.headers.traceparent === 'string' && {
          'trace.id': request.headers.traceparent.slice(0, 60).split('-')[1],
        }),
      },
      'request',
    )
    done()
  })

  app.setNotFoundHandler((_request, reply) => send(reply, 404, NOT_FOUND_BODY))
  app.setErrorHandler((error, request, reply) => {
    closeIfDraining(options, reply)
    if (reply.getHeader('connection') === 'close') discardBody(request, reply)
    const hungUp = request.raw.destroyed && !request.raw.complete
    const problem = hungUp ? BAD_REQUEST_CODES : toProblem(error, options.constraints)
    if (!problem || (problem.status === 503 && !(problem instanceof SwitchedOff))) {
      log.error(
        { 'request.id': request.id, operation: request.routeOptions.config.operation?.id, causes: errorFields(error) },
        'request failed',
      )
    }
    const status = problem?.status ?? 500
    const text = problem ? JSON.stringify(problem.body) : '{"detail":"Internal Server Error"}'
    for (const name in problem?.headers) reply.header(name, problem.headers[name])
    logRefusal(options, request, status, text)
    return send(reply, status, text)
  })

  const known = new Map<string, Operation[]>()
  for (const operation of operations)
    for (const path of [operation.path, ...(operation.aliases ?? [])]) {
      const url = path.replace(/\{(\w+)\.\.\.\}/, '*').replace(/\{(\w+)\}/g, ':$1')
      known.set(url, [...(known.get(url) ?? []), operation])
      app.route({
        method: operation.method,
        url,
        config: { operation },
        bodyLimit: operation.body_bytes_max ?? BODY_BYTES_MAX,
        ...(operation.method !== 'GET' && { preParsing: unzip }),
        handler: async (request, reply) => {
          const given = await handleRequest(options, operation, request)
          await endOfTick()
          closeIfDraining(options, reply)
          return sendResponse(reply, given)
        },
      })
    }
  for (const [url, [first, ...more]] of known) {
    const methods = [first!, ...more].map((operation) => operation.method)
    const allow = methods.toSorted().join(', ')
    const rejectRequest = (request: FastifyRequest, reply: FastifyReply) => {
      const absent = options.unimplementedPaths.includes(`${request.method} ${first!.path}`) || !matchesPath(first!, request)
      return absent ? send(reply, 404, NOT_FOUND_BODY) : send(reply.header('allow', allow), 405, METHOD_NOT_ALLOWED)
    }
    // In a hook, since a handler is only reached when the body has been read.
    const others = METHODS.filter((method) => !methods.includes(method as Method))
    app.route({ method: others, url, onRequest: async (request, reply) => rejectRequest(request, reply), handler: rejectRequest })
  }
  return app
}

/** A server that is about to stop asks for another connection. */
function closeIfDraining({ draining }: HttpOptions, { raw }: FastifyReply): void {
  if (draining()) raw.shouldKeepAlive = false
}

/** The body of a request as it was before it was compressed. */
const unzip: preParsingHookHandler = (request, _reply, payload, done) => {
  if (request.headers['content-encoding']?.toLowerCase() !== 'gzip' || request.headers['content-length'] === '0')
    return done(null, payload)
  delete request.headers['content-length']
  // Nobody listens any more once a body was refused, and an error that nobody hears ends the process.
  done(null, payload.pipe(createGunzip().on('error', () => {})))
}

/**
 * Find out who calls and whether they may. 401, 403, 404, 422, 429 and 503 as the operation, its guard and its parameters have it.
 * @returns what has to be waited for, if something has
 */
function authorize(options: HttpOptions, operation: Operation, request: FastifyRequest): Promise<void> | undefined {
  if (operation.auth === 'management') return admitManager(options.guards.management!, operation, request)
  const found = operation.auth === 'team' ? options.guards.team!(request.headers, request.ip) : undefined
  if (found instanceof Promise) return found.then((caller) => admitCaller(operation, request, caller))
  admitCaller(operation, request, found)
  return undefined
}

function admitCaller(operation: Operation, request: FastifyRequest, caller: Caller | undefined): void {
  if (caller) {
    request.tenant = caller.tenant
    request.key_id = caller.key_id
  }
  if (operation.params) request.values = readParams(operation.params, pathValues(operation, request))
  assertNotExpired(operation, request.tenant?.expires_at)
  assertEnabled(operation, request.tenant)
}

async function admitManager(guard: ManagementGuard, operation: Operation, request: FastifyRequest): Promise<void> {
  const manager = await guard.authenticate(request.headers, request.ip)
  request.manager = manager
  request.key_id = manager.key_id
  if (operation.params) request.values = readParams(operation.params, pathValues(operation, request))
  const { db, tenant } = await guard.authorize(manager, operation, request.values as Record<string, string>)
  request.rows = db
  request.tenant = tenant
  assertNotExpired(operation, manager.expires_at)
  assertEnabled(operation, tenant)
}

/** Write down that somebody was refused who asked for patients' data, where it is known in which cell. */
function logRefusal({ access, cells }: HttpOptions, request: FastifyRequest, status: number, text: string): void {
  const operation = request.routeOptions.config.operation
  if (!operation?.patients) return
  const db = request.rows ?? (request.tenant && cells.of(request.tenant.cell))
  if (db) access.refused(db, accessRefused(operation, request, status, text))
}

const NOT_FOUND_BODY = '{"detail":"Not Found"}'
const METHOD_NOT_ALLOWED = '{"detail":"Method Not Allowed"}'

function send(reply: FastifyReply, status: number, text: string): FastifyReply {
  reply.header('content-type', 'application/json')
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-request-id', reply.request.id)
  return reply.code(status).send(text)
}

/** What an operation has answered. */
function sendResponse(reply: FastifyReply, given: Answer): FastifyReply {
  if ('text' in given) return send(reply, given.status, given.text)
  reply.header('x-request-id', reply.request.id)
  if (!given.file) return reply.code(204).send()
  const { type, name, bytes } = given.file
  reply.header('content-type', type).header('content-disposition', `attachment; filename="${name}"`)
  reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  return reply.send(Buffer.from(bytes))
}

/**
 * Read on after a body was refused. Fastify means to close the connection then; that resets it under a client that is still
 * sending, which so never sees its answer. The time for it is bounded by `requestTimeout`.
 */
function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection')
  let left = DISCARDED_BYTES_MAX
  request.raw.unpipe()
  request.raw.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.raw.destroy()
  })
  request.raw.resume()
}

/** 403: an organization that has expired may only read. */
function assertNotExpired(operation: Operation, expires_at: string | null | undefined): void {
  if (expires_at && isWrite(operation) && isPast(expires_at))
    throw forbidden('The organization has expired and has read-only access')
}

/** The refusal of the operation's feature, where it is switched off for the team. */
function assertEnabled({ feature }: Operation, tenant: Tenant | undefined): void {
  if (feature && tenant) assertFeature(tenant, feature)
}

const BAD_REQUEST_CODES = new Problem(400, { detail: 'The request is malformed' })

/** The answer an error stands for; undefined when it is a fault of ours. */
function toProblem(error: unknown, constraints: ConstraintErrors): Problem | undefined {
  if (error instanceof Problem) return error
  const { code, constraint, statusCode } = error as { code?: string; constraint?: string; statusCode?: number }
  if (constraint !== undefined && Object.hasOwn(constraints, constraint)) return constraints[constraint]!()
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return payloadTooLarge('Request body is too large')
  if (code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR')
    return new Problem(422, { detail: [{ loc: ['body'], msg: 'Body is not valid gzip', type: 'value_error' }] })
  const outage = outageOf(error)
  if (outage) return outage
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new Problem(statusCode, BAD_REQUEST_CODES.body)
  return undefined
}
