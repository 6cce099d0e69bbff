// Serves an authorized request: parses its input and reports all errors at once, then runs the operation in one transaction in its scope,
// under the caller's idempotency key if there is one. It knows nothing of connections and of Fastify.
import { createHash } from 'node:crypto'
import type { AuthorizedRequest, Answer, Asked } from './admitted-request.ts'
import { isId } from '../access-log/access-line.ts'
import { Subjects, type PlainTx, type Tenant, type Tx } from '../db/transaction.ts'
import { accessOf, recordAudit, type AuditEntry } from './request-access.ts'
import { answerOf, canonicalJson, logChange, logRead, type Call, type RequestDependencies } from './request-call.ts'
import { runMultiTransactionOperation } from './request-changes.ts'
import type { Db } from '../db/database.ts'
import { acceptedFormat, unprocessable } from './errors.ts'
import { missingFault, valueFault, type Fault } from '../schema/fault.ts'
import { withIdempotencyKey, type OperationResult as Kept } from './idempotency.ts'
import { assertBodyOfUser } from './user-tokens.ts'
import { assertUtf8, readBody, readForm, readQuery } from './input.ts'
import { noContent, type RecordAuditSubject, type Idempotency, type ManagementPrincipal, type Operation } from './operation.ts'
import type { TSchema } from '../schema/schema.ts'

const IDEMPOTENCY_KEY_MAX = 255
const NO_CONTENT = 204

/** Whether an operation changes data. */
export const isWrite = (operation: Operation): boolean => operation.method !== 'GET' && !operation.reads

/** Runs an operation. 422: all errors of query, body and headers; otherwise the operation's own errors. */
export async function handleRequest(
  means: RequestDependencies,
  operation: Operation,
  request: AuthorizedRequest,
): Promise<Answer> {
  if (operation.formats) acceptedFormat(request.headers.accept, operation.formats)
  const faults: Fault[] = []
  const query = operation.query && readQuery(operation.query, request.query as Record<string, string>, faults)
  const parsed = operation.body && parseBody(operation, operation.body, request, faults)
  const body = parsed instanceof Promise ? ((await parsed) as unknown) : parsed
  const idempotency = operation.idempotency && idempotencyOf(operation.idempotency, request, { query, body }, faults)
  const lines: AuditEntry[] = []
  const recordAuditSubject: RecordAuditSubject = (team_id, object) => void lines.push({ team_id, object: object ?? null })
  const input = {
    params: request.values,
    query,
    body,
    keyed: idempotency !== undefined,
    user: request.user,
    key_id: request.key_id ?? '',
    file: operation.file && (request.body as Buffer | undefined),
    bytes: request.body as Buffer | undefined,
    headers: request.headers,
    manager: request.manager,
    recordAuditSubject,
    lines,
  }
  request.asked = input
  if (faults.length) throw unprocessable(faults)
  if (request.user) assertBodyOfUser(operation, request.user, body)
  const call = { means, operation, request, input }
  if (operation.multiTransaction && !request.rows) return runMultiTransactionOperation(call, idempotency)
  if (idempotency) return keyed(call, idempotency)
  return request.rows ? runManagementOperation(call, request.rows) : run(call)
}

const FORM = /^application\/x-www-form-urlencoded *(;|$)/i

/** @returns a promise for a body that is read in slices */
function parseBody(operation: Operation, schema: TSchema, request: AuthorizedRequest, faults: Fault[]): unknown {
  const bytes = request.body as Buffer | undefined
  if (operation.form && FORM.test(String(request.headers['content-type'] ?? ''))) return readForm(schema, bytes, faults)
  const mode = request.tenant?.cell.endsWith('eu') ? 'abroad' : 'json'
  assertUtf8(bytes)
  return readBody(schema, bytes, operation.body_optional ?? false, faults, mode)
}

async function keyed(call: Call, idempotency: Parameters<typeof withIdempotencyKey>[2]): Promise<Answer> {
  const { means, operation, request, input } = call
  const owner = request.tenant ?? resolveOrganization(request.manager!)
  const db = request.rows ?? means.cells.of(owner.cell)
  let executed: Kept | undefined
  let users: readonly string[] = []
  const work = async (tx: Tx) => {
    input.lines.length = 0
    const result = await operation.run(tx, input)
    if (request.manager) recordAudit(tx, request.manager, operation.id, request.values as Record<string, string>, input.lines)
    executed =
      operation.reply === noContent
        ? { status: NO_CONTENT, text: '' }
        : { status: operation.success ?? 200, text: canonicalJson(means, operation, result) }
    users = logChange(call, db, tx, executed)
    return executed
  }
  const usersOf = (kept: Kept, tx: Tx | undefined) => {
    if (tx) return users
    return operation.patients ? accessOf(operation, request, kept, undefined).users.filter(isId) : []
  }
  const given = await withIdempotencyKey(db, owner, idempotency, { usersOf, assertShown: means.assertShown }, work)
  // A replayed response shows the same data again, of the same users.
  if (given !== executed && operation.patients) {
    means.access.assertRoom(db)
    const subjects = new Subjects()
    for (const user_id of given.user_ids ?? []) subjects.add(user_id)
    await logRead(call, db, subjects, given)
  }
  return given.status === NO_CONTENT ? {} : given
}

async function run(call: Call): Promise<Answer> {
  const { means, operation, request, input } = call
  const { tenant } = request
  const db = means.cells.of(tenant!.cell)
  if (isWrite(operation) || operation.auditsRead)
    return db.tx(tenant!, async (tx) => {
      // A transaction may run again.
      input.lines.length = 0
      const given = answerOf(call, await operation.run(tx, input))
      if (operation.auditsRead)
        recordAudit(tx, { org: tenant!.org, key_id: request.key_id! }, operation.id, { team_id: tenant!.team }, input.lines)
      logChange(call, db, tx, given)
      return given
    })
  if (operation.patients) means.access.assertRoom(db)
  let subjects: Subjects | undefined
  const work = async (tx: Tx) => {
    const result = await operation.run(tx, input)
    subjects = tx.subjects
    return result
  }
  const given = answerOf(call, await (operation.method === 'GET' ? db.read(tenant!, work) : db.tx(tenant!, work)))
  const logged = logRead(call, db, subjects, given)
  if (logged) await logged
  return given
}

/** A management operation: a transaction in its scope, with its audit entry if it writes or reveals a secret. */
async function runManagementOperation(call: Call, db: Db): Promise<Answer> {
  const { means, operation, request, input } = call
  const { tenant } = request
  let subjects: Subjects | undefined
  const runInTransaction = <R>(work: (tx: PlainTx | Tx) => Promise<R>): Promise<R> =>
    tenant ? db.tx(tenant, work) : db.plainTx(work)
  const read = <R>(work: (tx: PlainTx | Tx) => Promise<R>): Promise<R> =>
    runInTransaction(async (tx) => {
      const result = await work(tx)
      subjects = tx.subjects
      return result
    })
  const write = <R>(work: (tx: PlainTx | Tx) => Promise<R>): Promise<R> =>
    runInTransaction(async (tx) => {
      // A transaction may run again.
      input.lines.length = 0
      const result = await work(tx)
      recordAudit(tx, request.manager!, operation.id, input.params as Record<string, string>, input.lines)
      return result
    })
  if (operation.multiTransaction) {
    if (operation.patients) means.access.assertRoom(db)
    const given = answerOf(call, await operation.run({ read, write }, input))
    await logRead(call, db, subjects, given)
    return given
  }
  if (isWrite(operation) || operation.auditsRead)
    return write(async (tx) => {
      const given = answerOf(call, await operation.run(tx, input))
      logChange(call, db, tx, given)
      return given
    })
  if (operation.patients) means.access.assertRoom(db)
  const given = answerOf(call, await read((tx) => operation.run(tx, input)))
  await logRead(call, db, subjects, given)
  return given
}

/** Keys of an organization's own requests are stored under its id. */
const resolveOrganization = ({ org }: ManagementPrincipal): Tenant => ({
  team: org,
  org,
  cell: 'sandbox-us',
  clock_offset_s: 0,
  settings: {},
})

function idempotencyOf(declared: Idempotency, request: AuthorizedRequest, asked: Asked, faults: Fault[]) {
  const { headers } = request
  const key = headers['x-idempotency-key']
  const onError = headers['x-idempotency-error']
  if (onError !== undefined && onError !== 'no-cache')
    faults.push({
      loc: ['header', 'X-Idempotency-Error'],
      msg: "Input should be 'no-cache'",
      type: 'literal_error',
      ctx: { expected: "'no-cache'" },
    })
  if (key === undefined) {
    if (declared.required) faults.push(missingFault(['header', 'X-Idempotency-Key']))
    return undefined
  }
  if (typeof key !== 'string' || key.length === 0 || key.length > IDEMPOTENCY_KEY_MAX) {
    faults.push(valueFault(['header', 'X-Idempotency-Key'], `must have 1 to ${IDEMPOTENCY_KEY_MAX} characters`))
    return undefined
  }
  // An invalid body is rejected with its own errors.
  const fingerprint = declared.bindsToBody && faults.length === 0 ? sha256(JSON.stringify(sortKeys(whole(request, asked)))) : null
  // A user's access token shares no keys with the team or with another user, so that it replays and blocks nothing of theirs.
  const scope = request.user ? `${declared.scope} of user ${request.user.user_id}` : declared.scope
  return { ...declared, scope, key, fingerprint, storeFailures: onError !== 'no-cache' }
}

/** The fingerprint that distinguishes a request from others of its operation. */
const whole = ({ values = null }: AuthorizedRequest, { query = null, body = null }: Asked): unknown =>
  values === null && query === null ? body : { values, query, body }

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
