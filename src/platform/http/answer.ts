// What an operation answers to a request that was let in: its input read, every fault at once, then the operation run where its rows
// are, in one transaction, under the caller's idempotency key when there is one. Knows nothing of connections and of HTTP's library.
import { createHash } from 'node:crypto'
import type { AuthorizedRequest, Answer, Asked } from './admitted-request.ts'
import { isId } from '../access-log/access-line.ts'
import { Subjects } from '../db/subjects.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import { accessOf } from './request-access.ts'
import { recordAudit, type AuditEntry } from './audit-trail.ts'
import type { Cells } from '../db/cells.ts'
import type { Db } from '../db/database.ts'
import type { PlainTx, Tenant, Tx } from '../db/transaction.ts'
import { unprocessable, invalidField } from './errors.ts'
import type { Fault } from '../schema/fault.ts'
import { withIdempotencyKey, type OperationResult as Kept } from './idempotency.ts'
import { readBody, readQuery } from './input.ts'
import {
  FileReply,
  PreserializedJson,
  noContent,
  pdf,
  type RecordAuditSubject,
  type Idempotency,
  type ManagementPrincipal,
  type Operation,
} from './operation.ts'
import type { TSchema } from '../schema/schema.ts'
import { assertMatchesSchema } from '../schema/shape-check.ts'

interface RequestDependencies {
  cells: Cells
  access: AccessLog
  /** Refuses to give an answer about these users again: 404 where one of them is deleted. */
  assertShown: (tx: Tx, user_ids: string[]) => Promise<void>
  /** Hold replies to their schemas. On in tests. */
  checkReplies: boolean
}

const IDEMPOTENCY_KEY_MAX = 255
const NO_CONTENT = 204

/** Whether an operation changes something. */
export const isWrite = (operation: Operation): boolean => operation.method !== 'GET' && !operation.reads

/** Run an operation. 422: every fault of query, body and headers; else whatever the operation refuses with. */
export async function handleRequest(
  means: RequestDependencies,
  operation: Operation,
  request: AuthorizedRequest,
): Promise<Answer> {
  const faults: Fault[] = []
  const query = operation.query && readQuery(operation.query, request.query as Record<string, string>, faults)
  const body =
    operation.body &&
    readBody(
      operation.body,
      request.body as Buffer | undefined,
      operation.body_optional ?? false,
      faults,
      request.tenant?.cell.endsWith('eu') ? 'abroad' : 'json',
    )
  const idempotency = operation.idempotency && idempotencyOf(operation.idempotency, request, { query, body }, faults)
  const lines: AuditEntry[] = []
  const recordAuditSubject: RecordAuditSubject = (team_id, object) => void lines.push({ team_id, object: object ?? null })
  const input = {
    params: request.values,
    query,
    body,
    keyed: idempotency !== undefined,
    manager: request.manager,
    recordAuditSubject,
    lines,
  }
  request.asked = input
  if (faults.length) throw unprocessable(faults)
  const call = { means, operation, request, input }
  if (idempotency) return keyed(call, idempotency)
  return request.rows ? runManagementOperation(call, request.rows) : run(call)
}

/** A request that is being answered. */
interface Call {
  means: RequestDependencies
  operation: Operation
  request: AuthorizedRequest
  input: { params: unknown; query: unknown; body: unknown; lines: AuditEntry[] }
}

async function keyed(call: Call, idempotency: Parameters<typeof withIdempotencyKey>[2]): Promise<Answer> {
  const { means, operation, request, input } = call
  const owner = request.tenant ?? resolveOrganization(request.manager!)
  const db = request.rows ?? means.cells.of(owner.cell)
  let made: Kept | undefined
  let users: readonly string[] = []
  const work = async (tx: Tx) => {
    input.lines.length = 0
    const result = await operation.run(tx, input)
    if (request.manager) recordAudit(tx, request.manager, operation.id, request.values as Record<string, string>, input.lines)
    made =
      operation.reply === noContent
        ? { status: NO_CONTENT, text: '' }
        : { status: operation.success ?? 200, text: canonicalJson(means, operation, result) }
    users = logChange(call, db, tx, made)
    return made
  }
  const usersOf = (kept: Kept, tx: Tx | undefined) => {
    if (tx) return users
    return operation.patients ? accessOf(operation, request, kept, undefined).users.filter(isId) : []
  }
  const given = await withIdempotencyKey(db, owner, idempotency, { usersOf, assertShown: means.assertShown }, work)
  // Given once more, it shows again what it showed then, of those whom it was about then.
  if (given !== made && operation.patients) {
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
  if (operation.multiTransaction) {
    if (!operation.patients)
      return answerOf(call, await operation.run({ tenant, cells: means.cells, address: request.ip }, input))
    const db = means.cells.of(tenant!.cell)
    means.access.assertRoom(db)
    const subjects = new Subjects()
    const given = answerOf(
      call,
      await operation.run({ tenant: { ...tenant!, subjects }, cells: means.cells, address: request.ip }, input),
    )
    await logRead(call, db, subjects, given)
    return given
  }
  const db = means.cells.of(tenant!.cell)
  if (isWrite(operation))
    return db.tx(tenant!, async (tx) => {
      const given = answerOf(call, await operation.run(tx, input))
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

/** A management operation: a transaction where its rows are, with its line in the audit log when it writes or reveals a secret. */
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
      // A transaction may be run again.
      input.lines.length = 0
      const result = await work(tx)
      recordAudit(tx, request.manager!, operation.id, input.params as Record<string, string>, input.lines)
      return result
    })
  if (operation.multiTransaction) return answerOf(call, await operation.run({ read: runInTransaction, write }, input))
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

/** Leave the line of a change with it. @returns the users whom it is about */
function logChange({ means, operation, request }: Call, db: Db, tx: PlainTx, given: Answer): readonly string[] {
  if (!operation.patients) return []
  const access = accessOf(operation, request, given, tx.subjects)
  means.access.changed(db, tx, access)
  return access.users.filter(isId)
}

/** Write down what an answer shows. It must wait for what is returned, if something is. */
function logRead(
  { means, operation, request }: Call,
  db: Db,
  subjects: Subjects | undefined,
  given: Answer,
): Promise<void> | undefined {
  if (!operation.patients) return undefined
  const whole = accessOf(operation, request, given, subjects)
  if (!subjects?.teams.size) return means.access.read(db, whole)
  const written = [...subjects.teams].map(([team, users]) => means.access.read(db, { ...whole, team, users }))
  return Promise.all(written).then(() => undefined)
}

/** Keys of an organization's own requests are kept under its id. */
const resolveOrganization = ({ org }: ManagementPrincipal): Tenant => ({
  team: org,
  org,
  cell: 'sandbox-us',
  clock_offset_s: 0,
  settings: {},
})

function answerOf({ means, operation }: Call, result: unknown): Answer {
  if (operation.reply === noContent) return {}
  if (result instanceof FileReply) return { file: result }
  return { status: operation.success ?? 200, text: canonicalJson(means, operation, result) }
}

function canonicalJson(means: RequestDependencies, operation: Operation, result: unknown): string {
  const text = result instanceof PreserializedJson ? result.text : JSON.stringify(result)
  if (means.checkReplies && operation.reply !== pdf)
    assertMatchesSchema(operation.reply as TSchema, JSON.parse(text), operation.id)
  return text
}

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
    if (declared.required) faults.push({ loc: ['header', 'X-Idempotency-Key'], msg: 'Field required', type: 'missing' })
    return undefined
  }
  if (typeof key !== 'string' || key.length === 0 || key.length > IDEMPOTENCY_KEY_MAX) {
    faults.push(
      ...(invalidField(['header', 'X-Idempotency-Key'], `must have 1 to ${IDEMPOTENCY_KEY_MAX} characters`).body
        .detail as Fault[]),
    )
    return undefined
  }
  // A body that is not sound is refused for that.
  const fingerprint = declared.bindsToBody && faults.length === 0 ? sha256(JSON.stringify(sortKeys(whole(request, asked)))) : null
  return { ...declared, key, fingerprint, storeFailures: onError !== 'no-cache' }
}

/** What tells a request from others of its operation. */
const whole = ({ values = null }: AuthorizedRequest, { query = null, body = null }: Asked): unknown =>
  values === null && query === null ? body : { values, query, body }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** The same value with its keys in order, so that how a request is written makes no difference. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  )
}
