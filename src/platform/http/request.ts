// Serves a request for an operation: authenticate, authorize, read and parse the body, replay a stored response or run the operation, record
// the access, answer. Order of checks: credential 401, path 422, access, plan and features 403/404, body too large 413, all errors of query,
// body and headers at once 422, then the operation's own. It knows nothing of connections and of Fastify.
import { createHash } from 'node:crypto'
import { isId } from '../access-log/access-line.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import type { Cells } from '../db/cells.ts'
import { NO_TENANT, type Db } from '../db/database.ts'
import { Subjects, type PlainTx, type Tenant, type Tx } from '../db/transaction.ts'
import { isPast } from '../runtime/clock.ts'
import { ConcurrencyLimit } from '../runtime/concurrency-limit.ts'
import { runLongWork } from '../runtime/long-work.ts'
import { runWork } from '../runtime/loop-work.ts'
import { missingFault, valueFault, type Fault } from '../schema/fault.ts'
import type { Mode } from '../schema/request-validation.ts'
import type { TSchema } from '../schema/schema.ts'
import { assertMatchesSchema } from '../schema/shape-check.ts'
import { describeAccess, recordAudit, recordChange, recordRead, type Call, type OperationResponse } from './call.ts'
import { acceptedFormat, forbidden, unauthorized, unprocessable } from './errors.ts'
import { assertFeature } from './feature-flags.ts'
import { findStoredResponse, withIdempotencyKey, type IdempotencyKey, type StoredResponse } from './idempotency.ts'
import { assertUtf8, readBody, readForm, readParams, readQuery } from './input.ts'
import {
  CONSOLE_API,
  deprecationHeaders,
  FileReply,
  isFile,
  isWrite,
  noContent,
  PreserializedJson,
  StatusReply,
  type Caller,
  type Changes,
  type Idempotency,
  type ManagementPrincipal,
  type MemberSession,
  type Operation,
} from './operation.ts'
import { quotaHeaders } from './rate-limits.ts'

/** Authenticates a team request. Throws 401, 429; 503 if the guard cannot decide in time. */
export type Guard = (headers: Call['headers'], address: string) => Caller | Promise<Caller>

/** Authenticates and authorizes a management request. `authorize` rejects (403, 404) and returns where the operation's rows are. */
interface ManagementGuard {
  authenticate(headers: Call['headers'], address: string): Promise<ManagementPrincipal>
  authorize(
    manager: ManagementPrincipal,
    operation: Operation,
    params: Record<string, string>,
  ): Promise<{ db: Db; tenant?: Tenant }>
}

/** Recognizes sessions of the console, which authenticate requests in place of keys. */
interface SessionGuard {
  /** Rejects a change that no page of this server sends, 403. */
  assertOwnPage(headers: Call['headers']): void
  /** The session of a request; undefined if it does not come with one. Throws 401, 403, 429. */
  authenticate(call: Call): Promise<MemberSession | undefined>
  /** The caller of an operation of teams, whom the headers of the request name. Throws 404, 422. */
  findCaller(session: MemberSession, headers: Call['headers']): Promise<Caller>
  /** Rejects what the launch URL of a session does not permit, 403; once more when the body is known. */
  assertInLaunch(session: MemberSession, call: Call): void
  /** Rejects what the member's role in the team does not permit, 403. */
  assertPermitted(session: MemberSession, operation: Operation, tenant: Tenant): void
  /** The principal of a management operation: its teams are those in which the member's role permits it. Throws 403. */
  limitToRole(session: MemberSession, operation: Operation, params: Record<string, string>): ManagementPrincipal
}

/**
 * Runs after authorization, before the body is read; what it returns runs after the operation. The sandbox injects faults here. Errors
 * become the response.
 */
type Interceptor = (call: Call) => AfterOperation | undefined | Promise<AfterOperation | undefined>
export type AfterOperation = () => Promise<void>

export interface RequestDependencies {
  guards: { team?: Guard; management?: ManagementGuard; link?: Guard; sessions?: SessionGuard }
  cells: Cells
  access: AccessLog
  /** Everything is served below this path, `''` for none. */
  base_path: string
  intercept?: Interceptor
  /** How the bodies of a team are validated. Default: `json`. */
  bodyMode?: (tenant: Tenant) => Mode
  /** Checks responses against their schemas. On in tests. */
  checkReplies: boolean
  /** Rejects replaying a stored response about these users: 404 if one of them is deleted. */
  assertShown: (tx: Tx, user_ids: string[]) => Promise<void>
}

/** About a thousand samples of a phone. */
export const LONG_BODY_BYTES_MIN = 128 * 1024
const WAITING = { waiting_max: 1000, wait_ms: 30_000 }
/** Requests with long bodies: one of a team at a time. Others do not wait for them. */
const LONG_REQUESTS = { running_max: Infinity, running_max_each: 1, waiting_max_each: 200, ...WAITING }
/** Of those whose team does no other long work, two run: what a team waits for with itself takes no place from others. */
const LONG_REQUESTS_OF_ALL = { running_max: 2, ...WAITING }

/**
 * Creates the function that serves requests. Its errors become responses: those of the guards, of the input, and of the operation; 429 and
 * 503 if too many requests with long bodies wait.
 * @param readBytes reads the body: called once, when the caller is authorized
 */
export function requestServer(process: RequestDependencies) {
  const ofTeams = new ConcurrencyLimit(LONG_REQUESTS)
  const ofAll = new ConcurrencyLimit(LONG_REQUESTS_OF_ALL)
  const runInTurn = <R>(owner: string, run: () => Promise<R>) =>
    ofTeams.run(() => runLongWork(owner, () => ofAll.run(run)), { owner })
  return async (call: Call, readBytes: () => Promise<Buffer | undefined>): Promise<OperationResponse> => {
    const { operation } = call
    await authenticate(process, call)
    if (operation.params) call.params = readParams(operation.params, call.sent_params)
    await authorize(process, call)
    const afterOperation = await process.intercept?.(call)
    call.bytes = await readBytes()
    const run = () =>
      runWork({ kind: 'operation', name: operation.id }, async () => replayOrRun(process, call, await parseInput(process, call)))
    const owner = call.tenant?.team ?? call.manager?.org
    const isLong = (call.bytes?.length ?? 0) >= LONG_BODY_BYTES_MIN && (operation.body ?? operation.file) !== undefined
    const response = await (isLong && owner !== undefined ? runInTurn(owner, run) : run())
    await afterOperation?.()
    const deprecation = operation.deprecation?.(call.params)
    if (deprecation) Object.assign(call.response_headers, deprecationHeaders(deprecation, process.base_path))
    return response
  }
}

async function authenticate({ guards, cells }: RequestDependencies, call: Call): Promise<void> {
  const { operation } = call
  const { auth } = operation
  if (isWrite(operation) && operation.path.startsWith(CONSOLE_API)) guards.sessions!.assertOwnPage(call.headers)
  if (auth === 'none') return
  const session = auth === 'link' ? undefined : await guards.sessions?.authenticate(call)
  call.session = session
  if (auth === 'session') {
    if (!session) throw unauthorized('Sign in to the console')
    call.db = cells.control
    setPrincipal(call, session)
  } else if (auth === 'management') {
    if (!session) call.manager = await guards.management!.authenticate(call.headers, call.address)
    setPrincipal(call, session ?? call.manager!)
  } else {
    const caller = session
      ? await guards.sessions!.findCaller(session, call.headers)
      : await guards[auth]!(call.headers, call.address)
    call.tenant = caller.tenant
    call.db = cells.db(caller.tenant.cell)
    call.user = caller.user
    setPrincipal(call, caller)
  }
}

function setPrincipal(call: Call, { key_id, member_id, quota }: Caller | ManagementPrincipal | MemberSession): void {
  call.key_id = key_id
  call.member_id = member_id
  if (quota) Object.assign(call.response_headers, quotaHeaders(quota))
}

/**
 * Errors: 403, 404 of the guard; 403 the role of a member, or an access token of a user, does not permit it, or the organization has expired;
 * a disabled feature.
 */
async function authorize({ guards }: RequestDependencies, call: Call): Promise<void> {
  const { operation, user, session } = call
  if (session) guards.sessions!.assertInLaunch(session, call)
  if (session && operation.auth === 'management')
    call.manager = guards.sessions!.limitToRole(session, operation, call.params as Record<string, string>)
  if (session && call.tenant) guards.sessions!.assertPermitted(session, operation, call.tenant)
  const { manager } = call
  if (manager) {
    const { db, tenant } = await guards.management!.authorize(manager, operation, call.params as Record<string, string>)
    call.db = db
    call.tenant = tenant
  }
  // Operations with link tokens accept nothing else, so these always name their own user.
  const { userTokens } = operation
  if (user && operation.auth !== 'link' && (userTokens === undefined || (userTokens === 'path' && !isOwn(call.params, user))))
    throw forbidden(NOT_PERMITTED)
  const expires_at = (manager ?? call.tenant)?.expires_at
  if (expires_at && isWrite(operation) && isPast(expires_at))
    throw forbidden('The organization has expired and has read-only access')
  if (operation.feature && call.tenant) assertFeature(call.tenant, operation.feature)
}

const NOT_PERMITTED = 'The access token of a user does not permit this'
/** Whether input names the user of the credential: another one, existing or not, gets 403. */
const isOwn = (input: unknown, { user_id }: { user_id: string }): boolean =>
  (input as { user_id?: unknown } | undefined)?.user_id === user_id

/** Parses query, body and headers. Errors: 422 with all errors; 403 the body names a user whom the credential does not permit; 406. */
async function parseInput(process: RequestDependencies, call: Call): Promise<IdempotencyKey | undefined> {
  const { operation, headers, user } = call
  if (operation.formats) acceptedFormat(headers.accept, operation.formats)
  const faults: Fault[] = []
  if (operation.query) call.query = readQuery(operation.query, call.sent_query, faults)
  if (operation.body) call.body = await parseBody(process, call, operation.body, faults)
  const idempotency = operation.idempotency && parseIdempotencyKey(operation.idempotency, call, faults)
  call.hasIdempotencyKey = idempotency !== undefined
  if (faults.length) throw unprocessable(faults)
  if (user && operation.userTokens === 'body' && !isOwn(call.body, user)) throw forbidden(NOT_PERMITTED)
  if (call.session) process.guards.sessions!.assertInLaunch(call.session, call)
  return idempotency
}

const FORM = /^application\/x-www-form-urlencoded *(;|$)/i

/** @returns a promise for a body that is read in slices */
function parseBody({ bodyMode }: RequestDependencies, call: Call, schema: TSchema, faults: Fault[]): unknown {
  const { operation, headers, bytes, tenant } = call
  if (operation.form && FORM.test(String(headers['content-type'] ?? ''))) return readForm(schema, bytes, faults)
  const mode = (tenant && bodyMode?.(tenant)) ?? 'json'
  assertUtf8(bytes)
  return readBody(schema, bytes, operation.body_optional ?? false, faults, mode)
}

const IDEMPOTENCY_KEY_MAX = 255

function parseIdempotencyKey(idempotency: Idempotency, call: Call, faults: Fault[]): IdempotencyKey | undefined {
  const key = call.headers['x-idempotency-key']
  const onError = call.headers['x-idempotency-error']
  if (onError !== undefined && onError !== 'no-cache')
    faults.push({
      loc: ['header', 'X-Idempotency-Error'],
      msg: "Input should be 'no-cache'",
      type: 'literal_error',
      ctx: { expected: "'no-cache'" },
    })
  if (key === undefined) {
    if (idempotency.required) faults.push(missingFault(['header', 'X-Idempotency-Key']))
    return undefined
  }
  if (typeof key !== 'string' || key.length === 0 || key.length > IDEMPOTENCY_KEY_MAX) {
    faults.push(valueFault(['header', 'X-Idempotency-Key'], `must have 1 to ${IDEMPOTENCY_KEY_MAX} characters`))
    return undefined
  }
  const { params = null, query = null, body = null, user } = call
  const content = params === null && query === null ? body : { values: params, query, body }
  // An invalid body is rejected with its own errors.
  const fingerprint = idempotency.bindsToBody && faults.length === 0 ? sha256(JSON.stringify(sortKeys(content))) : null
  // A user's access token shares no keys with the team or with another user, so that it replays and blocks nothing of theirs.
  const scope = user ? `${idempotency.scope} of user ${user.user_id}` : idempotency.scope
  return { ...idempotency, scope, key, fingerprint, storeFailures: onError !== 'no-cache' }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** The same value with sorted keys, so that the order of keys in a request makes no difference. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  )
}

function replayOrRun(
  process: RequestDependencies,
  call: Call,
  idempotency: IdempotencyKey | undefined,
): Promise<OperationResponse> {
  const { operation } = call
  if (operation.multiTransaction) return runInSeveralTransactions(process, call, idempotency)
  if (idempotency) return replayOrChange(process, call, idempotency)
  if (isWrite(operation) || operation.auditsRead)
    return transact(call, async (tx) => (await runAndRecord(process, call, tx)).response)
  return read(process, call)
}

const transact = <R>({ db, tenant }: Call, work: (tx: Tx) => Promise<R>): Promise<R> =>
  // An operation of no team declares that it needs no team's transaction.
  tenant ? db!.tx(tenant, work) : db!.plainTx(work as (tx: PlainTx) => Promise<R>)

/** Runs an operation in the transaction that also holds its records. @returns also the users whom it is about */
async function runAndRecord(process: RequestDependencies, call: Call, tx: Tx) {
  // A transaction may run again.
  call.auditEntries.length = 0
  const response = createResponse(process, call, await call.operation.run(tx, inputOf(call)))
  if (call.manager || call.operation.auth === 'session' || call.operation.auditsRead) recordAudit(tx, call)
  return { response, user_ids: recordChange(process.access, call, tx, response) }
}

/** Replays the response of an idempotency key, or runs the operation in the transaction that stores its response. */
async function replayOrChange(process: RequestDependencies, call: Call, key: IdempotencyKey): Promise<OperationResponse> {
  const { operation, manager } = call
  // Keys of an organization's own requests are stored under its id.
  const owner = call.tenant ?? { ...NO_TENANT, team: manager!.org, org: manager!.org }
  let created: StoredResponse | undefined
  const stored = await withIdempotencyKey(call.db!, owner, key, {
    assertShown: process.assertShown,
    usersOfError: (error) => (operation.logsAccess ? describeAccess(call, error, undefined).users.filter(isId) : []),
    work: async (tx) => {
      const { response, user_ids } = await runAndRecord(process, call, tx)
      return (created = { ...response, user_ids })
    },
  })
  // A replayed response shows the same data again, of the same users.
  if (stored !== created && operation.logsAccess) {
    process.access.assertRoom(call.db!)
    const subjects = new Subjects()
    for (const user_id of stored.user_ids ?? []) subjects.add(user_id)
    await recordRead(process.access, call, subjects, stored)
  }
  return stored
}

async function read(process: RequestDependencies, call: Call): Promise<OperationResponse> {
  const { operation, db, tenant, manager } = call
  if (operation.logsAccess) process.access.assertRoom(db!)
  let subjects: Subjects | undefined
  const work = async (tx: Tx) => {
    const result = await operation.run(tx, inputOf(call))
    subjects = tx.subjects
    return result
  }
  const result = await (operation.method === 'GET' && tenant && !manager ? db!.read(tenant, work) : transact(call, work))
  const response = createResponse(process, call, result)
  await recordRead(process.access, call, subjects, response)
  return response
}

/** Runs an operation that needs several transactions, or none. A change in one of them also leaves the line of the access log. */
async function runInSeveralTransactions(
  process: RequestDependencies,
  call: Call,
  idempotency: IdempotencyKey | undefined,
): Promise<OperationResponse> {
  const { operation, tenant, manager, address, headers, bytes, sent_query } = call
  if (operation.logsAccess) process.access.assertRoom(call.db!)
  let subjects: Subjects | undefined = manager ? undefined : new Subjects()
  const caller = tenant && operation.logsAccess && subjects ? { ...tenant, subjects } : tenant
  const changes = manager ? undefined : new RequestChanges(process, call, caller, idempotency)
  const context = manager
    ? {
        read: <R>(execute: (tx: Tx) => Promise<R>) =>
          transact(call, async (tx) => {
            const result = await execute(tx)
            subjects = tx.subjects
            return result
          }),
        write: <R>(execute: (tx: Tx) => Promise<R>) =>
          transact(call, async (tx) => {
            call.auditEntries.length = 0
            const result = await execute(tx)
            recordAudit(tx, call)
            return result
          }),
      }
    : { tenant: caller, cells: process.cells, address, headers, query: sent_query, body: bytes, changes }
  const response = createResponse(process, call, await operation.run(context, inputOf(call)))
  if (!changes?.isRecorded) await recordRead(process.access, call, subjects, response)
  return response
}

/** The change of an operation with several transactions: one of them, with its records and the idempotency key, so that all of it is there or nothing. */
class RequestChanges implements Changes {
  readonly #process: RequestDependencies
  readonly #call: Call
  readonly #tenant: Tenant | undefined
  #idempotency: IdempotencyKey | undefined
  /** Whether the line of the access log is in the database. */
  isRecorded = false

  constructor(process: RequestDependencies, call: Call, tenant: Tenant | undefined, idempotency: IdempotencyKey | undefined) {
    this.#process = process
    this.#call = call
    this.#tenant = tenant
    this.#idempotency = idempotency
  }

  bind(values: unknown): void {
    if (!this.#idempotency) return
    const fingerprint = sha256(JSON.stringify([this.#idempotency.fingerprint ?? null, values]))
    this.#idempotency = { ...this.#idempotency, fingerprint }
  }

  async earlier<R>(): Promise<R | undefined> {
    const idempotency = this.#idempotency
    if (!idempotency) return undefined
    const stored = await this.#call.db!.read(this.#tenant!, async (tx) => {
      const response = await findStoredResponse(tx, idempotency)
      if (response?.user_ids.length) await this.#process.assertShown(tx, response.user_ids)
      return response
    })
    return stored && (JSON.parse(stored.text) as R)
  }

  async make<R>(execute: (tx: Tx) => Promise<R>): Promise<R> {
    const { access, assertShown } = this.#process
    const { operation, db } = this.#call
    let created: { result: R; response: StoredResponse } | undefined
    const work = async (tx: Tx): Promise<StoredResponse> => {
      const result = await execute(tx)
      const user_ids = recordChange(access, this.#call, tx, { status: operation.success ?? 200, text: '' })
      if (operation.logsAccess) tx.afterCommit(() => (this.isRecorded = true))
      created = { result, response: { status: 200, text: JSON.stringify(result ?? null), user_ids } }
      return created.response
    }
    if (!this.#idempotency) {
      await db!.tx(this.#tenant!, work)
      return created!.result
    }
    const key = { ...this.#idempotency, storeFailures: false }
    const stored = await withIdempotencyKey(db!, this.#tenant!, key, { assertShown, usersOfError: () => [], work })
    return stored === created?.response ? created.result : (JSON.parse(stored.text) as R)
  }
}

/** What the operation gets besides its transaction. */
const inputOf = (call: Call) => ({
  params: call.params,
  query: call.query,
  body: call.body,
  hasIdempotencyKey: call.hasIdempotencyKey,
  user: call.user,
  key_id: call.key_id ?? '',
  session: call.session,
  member_id: call.member_id,
  file: call.operation.file && call.bytes,
  bytes: call.bytes,
  headers: call.headers,
  manager: call.manager,
  recordAuditSubject: (team_id: string, object?: string) => void call.auditEntries.push({ team_id, object: object ?? null }),
})

/** The response with the result of an operation. */
function createResponse({ checkReplies }: RequestDependencies, call: Call, result: unknown): OperationResponse {
  const { operation } = call
  if (result instanceof StatusReply) Object.assign(call.response_headers, result.headers)
  if (operation.reply === noContent) return { status: 204, text: '' }
  const status = result instanceof StatusReply ? result.status : (operation.success ?? 200)
  if (result instanceof FileReply) return { status, text: '', file: result }
  const isPreserialized = result instanceof PreserializedJson
  const text = isPreserialized ? result.text : JSON.stringify(result instanceof StatusReply ? result.body : result)
  if (checkReplies && !isFile(operation.reply)) assertMatchesSchema(operation.reply as TSchema, JSON.parse(text), operation.id)
  return { status, text, ...(isPreserialized && !result.searchForUsers && { isUnsearched: true }) }
}
