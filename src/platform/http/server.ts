// HTTP. The only file that knows Fastify: it turns operations into routes, authenticates callers, and turns every error into a documented
// response. request-handler.ts serves an authorized request. Order of checks: no such route 404/405, credential 401, path 422, access, plan and
// features 403/404, body too large 413, query and body 422, then the operation's own.
import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { AccessLog } from '../access-log/access-log.ts'
import { BodyMemory } from './body-memory.ts'
import { answerPreflight, permitReading } from './cors.ts'
import { discardBody } from './discard-body.ts'
import { accessRefused } from './request-access.ts'
import { HeavyRequests } from './heavy-requests.ts'
import { handleRequest, isWrite } from './request-handler.ts'
import type { Asked } from './admitted-request.ts'
import type { Cells } from '../db/cells.ts'
import { isPast } from '../runtime/clock.ts'
import type { ConstraintErrors, Db } from '../db/database.ts'
import type { Tenant, Tx } from '../db/transaction.ts'
import { deprecationHeaders } from './deprecation.ts'
import { forbidden, InjectedFault, payloadTooLarge, SwitchedOff } from './errors.ts'
import { Problem } from '../runtime/problem.ts'
import { assertFeature } from './feature-flags.ts'
import { readParams } from './input.ts'
import { quotaHeaders } from './rate-limits.ts'
import { reasonOf, type RecentRequests } from './recent-requests.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Caller, ManagementPrincipal, Operation, UserCredential } from './operation.ts'
import { outageOf } from '../db/outages.ts'
import { logResponse } from './response-log.ts'
import { RequestFaults, type FaultSource, type RequestFault } from './request-faults.ts'
import { recordRejection } from './rejected-requests.ts'
import { send, sendResponse } from './responses.ts'
import { unzip } from './unzip-body.ts'
import { assertPathOfUser } from './user-tokens.ts'
import { KnownPaths, matchesPath, pathValues, normalizeUrl, unimplementedFinder } from './request-path.ts'
import { UNKNOWN_HOST, type KnownHosts } from './known-hosts.ts'
import type { Sockets } from './sockets.ts'
import { endOfTick } from '../runtime/event-loop.ts'
import { runWork } from '../runtime/loop-work.ts'

/** Authenticates and authorizes a management request. `admit` rejects (403, 404) and returns the scope of the operation's rows. */
export interface ManagementGuard {
  authenticate(headers: Record<string, string | string[] | undefined>, address: string): Promise<ManagementPrincipal>
  authorize(
    manager: ManagementPrincipal,
    operation: Operation,
    params: Record<string, string>,
  ): Promise<{ db: Db; tenant?: Tenant }>
}

/** Authenticates a team request. Throws 401, 429; 503 if the guard cannot decide in time. */
export type Guard = (headers: Record<string, string | string[] | undefined>, address: string) => Caller | Promise<Caller>

export interface HttpOptions {
  operations: Operation[]
  guards: { team?: Guard; management?: ManagementGuard; link?: Guard }
  cells: Cells
  access: AccessLog
  constraints: ConstraintErrors
  log: Log
  metrics: Metrics
  /** Everything is served below this path, `''` for none. */
  base_path: string
  /** `METHOD /path` of the API that this server does not implement yet: 404 with a header that says so, also where it has the path. */
  unimplementedPaths: readonly string[]
  sockets: Sockets
  /** Gets the requests of sandbox teams. */
  requests: RecentRequests
  /** The faults that sandbox teams ask for; without it requests can only ask for their own. */
  faults?: FaultSource
  /** Whether the server is about to stop: responses then ask clients to open another connection. */
  draining: () => boolean
  /** The hosts that a demo server answers for; other servers answer for every host. */
  isKnownHost?: KnownHosts
  /** Addresses and networks of proxies: the client address is the last of `X-Forwarded-For` that is not among them. */
  trusted_proxies: string[]
  /** Checks responses against their schemas. On in tests. */
  checkReplies: boolean
  /** Rejects replaying a stored response about these users: 404 if one of them is deleted. */
  assertShown: (tx: Tx, user_ids: string[]) => Promise<void>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
  interface FastifyRequest {
    tenant: Tenant | undefined
    manager: ManagementPrincipal | undefined
    user: UserCredential | undefined
    /** The id of the key or token of either. */
    key_id: string | undefined
    /** The member who uses the key. */
    member_id: string | undefined
    /** The scope of a management operation. */
    rows: Db | undefined
    values: unknown
    asked: Asked | undefined
    trace: string | undefined
    /** What a sandbox team has asked to happen to it. */
    fault: RequestFault | undefined
    /** Why it was refused, in one line. */
    refusal: string | null
  }
}

/** Routes have no schemas of Fastify, so the compilers for them are not loaded. */
const unused = (): never => {
  throw new Error('no route has a schema of Fastify')
}

/** How paths are matched. */
const ROUTER = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 2048 }
const BODY_BYTES_MAX = 100_000
/** With other methods every path is unknown. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Builds the server for a list of operations; the caller calls `listen`. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const { operations, log } = options
  const prefix = randomBytes(4).toString('hex')
  let count = 0
  const faults = new RequestFaults(options.faults)
  const isUnknownHost = ({ headers }: FastifyRequest): boolean => options.isKnownHost?.(headers.host) === false
  const app = Fastify({
    logger: false,
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    trustProxy: options.trusted_proxies.length > 0 && options.trusted_proxies,
    genReqId: () => `${prefix}-${(++count).toString(36)}`,
    bodyLimit: BODY_BYTES_MAX,
    serverFactory: (handler) => options.sockets.server(handler),
    forceCloseConnections: 'idle',
    // Requests on open connections are served with the advice to open another connection.
    return503OnClosing: false,
    routerOptions: ROUTER,
    frameworkErrors: (_error, request, reply) =>
      isUnknownHost(request) ? send(reply, 421, UNKNOWN_HOST) : send(reply, 404, NOT_FOUND_BODY),
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
  app.decorateRequest('user', undefined)
  app.decorateRequest('key_id', undefined)
  app.decorateRequest('member_id', undefined)
  app.decorateRequest('rows', undefined)
  app.decorateRequest('values', undefined)
  app.decorateRequest('asked', undefined)
  app.decorateRequest('trace', undefined)
  app.decorateRequest('refusal', null)
  app.decorateRequest('fault', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  // Request hooks use callbacks if they need not wait: a promise for each would cost more than they do.
  app.addHook('onRequest', (request, reply, done) => {
    closeIfDraining(options, reply)
    if (isUnknownHost(request)) return void send(reply, 421, UNKNOWN_HOST)
    if (request.is404) return void rejectUnrouted(request, reply)
    const { operation } = request.routeOptions.config
    if (!operation) return done()
    permitReading(operation, reply)
    let admitted: Promise<void> | undefined
    try {
      admitted = authorize(options, operation, request, reply)
      admitted = admitted
        ? admitted.then(() => faults.before(operation, request, reply))
        : faults.before(operation, request, reply)
    } catch (error) {
      return done(error as Error)
    }
    // oxlint-disable-next-line promise/no-callback-in-promise -- only a request that must wait gets a promise
    if (admitted) admitted.then(() => done(), done)
    else done()
  })

  app.addHook('onResponse', (request, reply, done) => {
    logResponse(options, request, reply)
    done()
  })

  app.setNotFoundHandler((_request, reply) => send(reply, 404, NOT_FOUND_BODY))
  app.setErrorHandler(async (error, request, reply) => {
    closeIfDraining(options, reply)
    if (reply.getHeader('connection') === 'close') discardBody(request, reply)
    const hungUp = request.raw.destroyed && !request.raw.complete
    const problem = hungUp ? BAD_REQUEST_CODES : toProblem(error, options.constraints)
    if (!problem || (problem.status === 503 && !isIntended(problem))) {
      log.error(
        { 'request.id': request.id, operation: request.routeOptions.config.operation?.id, causes: errorFields(error) },
        'request failed',
      )
    }
    if (problem && !hungUp) await recordRejection(options, request, problem)
    const status = problem?.status ?? 500
    const text = problem ? JSON.stringify(problem.body) : '{"detail":"Internal Server Error"}'
    for (const name in problem?.headers) reply.header(name, problem.headers[name])
    logRefusal(options, request, status, text)
    request.refusal = reasonOf(problem?.body)
    return send(reply, status, text)
  })

  const bodies = new BodyMemory()
  const heavy = new HeavyRequests()
  const known = new Map<string, Operation[]>()
  const paths = new KnownPaths(known, ROUTER)
  const findUnimplemented = unimplementedFinder(options.unimplementedPaths)
  const rejectUnrouted = (request: FastifyRequest, reply: FastifyReply) => {
    const unimplemented = findUnimplemented(request.method, request.url)
    if (unimplemented !== undefined) {
      log.warn({ 'request.id': request.id, unimplemented }, 'this operation of the API is not implemented')
      return send(reply.header('x-unimplemented-operation', unimplemented), 404, NOT_FOUND_BODY)
    }
    const found = KNOWN_METHODS.has(request.method) ? paths.find(request.url) : undefined
    const first = found?.operation
    if (!first || !matchesPath(first, found)) return send(reply, 404, NOT_FOUND_BODY)
    if (answerPreflight(request, reply, found)) return reply
    return send(reply.header('allow', found.methods.join(', ')), 405, METHOD_NOT_ALLOWED)
  }
  for (const operation of operations)
    for (const path of [operation.path, ...(operation.aliases ?? [])]) {
      const url = path.replace(/\{(\w+)\.\.\.\}/, '*').replace(/\{(\w+)\}/g, ':$1')
      const { body_bytes_max } = operation
      const work = { kind: 'operation' as const, name: operation.id }
      known.set(url, [...(known.get(url) ?? []), operation])
      app.route({
        method: operation.method,
        url,
        config: { operation },
        bodyLimit: body_bytes_max ?? BODY_BYTES_MAX,
        ...(operation.method !== 'GET' && { preParsing: body_bytes_max ? [unzip, bodies.hook(body_bytes_max)] : unzip }),
        handler: async (request, reply) => {
          const owner = request.tenant?.team ?? request.manager?.org
          const given = await heavy.take(operation, request.body, owner, () =>
            runWork(work, () => handleRequest(options, operation, request)),
          )
          if (request.fault) await faults.after(request, reply)
          if (reply.sent) return
          await endOfTick()
          closeIfDraining(options, reply)
          const deprecation = operation.deprecation?.(request.values)
          if (deprecation) reply.headers(deprecationHeaders(deprecation, options.base_path))
          return sendResponse(reply, given)
        },
      })
    }
  for (const url of known.keys()) {
    const shadowed = paths.shadowedMethods(url)
    // In a hook, because a handler runs only after the body has been read.
    const onRequest = async (request: FastifyRequest, reply: FastifyReply) => rejectUnrouted(request, reply)
    if (shadowed.length) app.route({ method: shadowed, url, onRequest, handler: rejectUnrouted })
  }
  return app
}

/** A server that is about to stop asks clients to open another connection. */
function closeIfDraining({ draining }: HttpOptions, { raw }: FastifyReply): void {
  if (draining()) raw.shouldKeepAlive = false
}

/**
 * Authenticates and authorizes the caller. 401, 403, 404, 422, 429 and 503 from the operation, its guard and its parameters.
 * @returns a promise, if the request must wait
 */
function authorize(
  options: HttpOptions,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> | undefined {
  if (operation.auth === 'management') return admitManager(options.guards.management!, operation, request, reply)
  const guard = operation.auth === 'none' ? undefined : options.guards[operation.auth]!
  const found = guard?.(request.headers, request.ip)
  if (found instanceof Promise) return found.then((caller) => admitCaller(operation, request, reply, caller))
  admitCaller(operation, request, reply, found)
  return undefined
}

function admitCaller(operation: Operation, request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined): void {
  if (caller) {
    if (caller.quota) reply.headers(quotaHeaders(caller.quota))
    request.tenant = caller.tenant
    request.key_id = caller.key_id
    request.member_id = caller.member_id
    request.user = caller.user
  }
  if (operation.params) request.values = readParams(operation.params, pathValues(operation, request))
  if (request.user) assertPathOfUser(operation, request.user, request.values)
  assertNotExpired(operation, request.tenant?.expires_at)
  assertEnabled(operation, request.tenant)
}

async function admitManager(
  guard: ManagementGuard,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const manager = await guard.authenticate(request.headers, request.ip)
  if (manager.quota) reply.headers(quotaHeaders(manager.quota))
  request.manager = manager
  request.key_id = manager.key_id
  request.member_id = manager.member_id
  if (operation.params) request.values = readParams(operation.params, pathValues(operation, request))
  const { db, tenant } = await guard.authorize(manager, operation, request.values as Record<string, string>)
  request.rows = db
  request.tenant = tenant
  assertNotExpired(operation, manager.expires_at)
  assertEnabled(operation, tenant)
}

/** Records that a request for patients' data was rejected, if its cell is known. */
function logRefusal({ access, cells }: HttpOptions, request: FastifyRequest, status: number, text: string): void {
  const operation = request.routeOptions.config.operation
  if (!operation?.patients) return
  const db = request.rows ?? (request.tenant && cells.of(request.tenant.cell))
  if (db) access.refused(db, accessRefused(operation, request, status, text))
}

const NOT_FOUND_BODY = '{"detail":"Not Found"}'
const METHOD_NOT_ALLOWED = '{"detail":"Method Not Allowed"}'
/** 403: an expired organization is read-only. */
function assertNotExpired(operation: Operation, expires_at: string | null | undefined): void {
  if (expires_at && isWrite(operation) && isPast(expires_at))
    throw forbidden('The organization has expired and has read-only access')
}

/** The response of the operation's feature if it is disabled for the team. */
function assertEnabled({ feature }: Operation, tenant: Tenant | undefined): void {
  if (feature && tenant) assertFeature(tenant, feature)
}

/** A response that is no failure, even with the status of one. */
const isIntended = (problem: Problem): boolean => problem instanceof SwitchedOff || problem instanceof InjectedFault

const BAD_REQUEST_CODES = new Problem(400, { detail: 'The request is malformed' })

/** The response for an error; undefined for a bug. */
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
