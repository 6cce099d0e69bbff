// What an operation answers to a request that was let in: its input read, every fault at once, then the operation run where its rows
// are, in one transaction, under the caller's idempotency key when there is one. Knows nothing of connections and of HTTP's library.
import { createHash } from 'node:crypto'
import type { Admitted, Answer, Asked } from './admitted-request.ts'
import { isId } from '../access-log/access-line.ts'
import { Subjects } from '../db/subjects.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import { accessOf } from './request-access.ts'
import { audit, type Line } from './audit-trail.ts'
import type { Cells } from '../db/cells.ts'
import type { Db } from '../db/database.ts'
import type { PlainTx, Tenant, Tx } from '../db/transaction.ts'
import { invalid, invalidValue } from './errors.ts'
import type { Fault } from '../schema/fault.ts'
import { underKey, type Answer as Kept } from './idempotency.ts'
import { readBody, readQuery } from './input.ts'
import { FileReply, JsonText, noContent, pdf, type About, type Idempotency, type Manager, type Operation } from './operation.ts'
import type { TSchema } from '../schema/schema.ts'
import { assertShape } from '../schema/shape-check.ts'

interface Means {
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
export const writes = (operation: Operation): boolean => operation.method !== 'GET' && !operation.reads

/** Run an operation. 422: every fault of query, body and headers; else whatever the operation refuses with. */
export async function answer(means: Means, operation: Operation, request: Admitted): Promise<Answer> {
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
  const lines: Line[] = []
  const about: About = (team_id, object) => void lines.push({ team_id, object: object ?? null })
  const input = { params: request.values, query, body, keyed: idempotency !== undefined, manager: request.manager, about, lines }
  request.asked = input
  if (faults.length) throw invalid(faults)
  const call = { means, operation, request, input }
  if (idempotency) return keyed(call, idempotency)
  return request.rows ? manage(call, request.rows) : run(call)
}

/** A request that is being answered. */
interface Call {
  means: Means
  operation: Operation
  request: Admitted
  input: { params: unknown; query: unknown; body: unknown; lines: Line[] }
}

async function keyed(call: Call, idempotency: Parameters<typeof underKey>[2]): Promise<Answer> {
  const { means, operation, request, input } = call
  const owner = request.tenant ?? organization(request.manager!)
  const db = request.rows ?? means.cells.of(owner.cell)
  let made: Kept | undefined
  let users: readonly string[] = []
  const work = async (tx: Tx) => {
    input.lines.length = 0
    const result = await operation.run(tx, input)
    if (request.manager) audit(tx, request.manager, operation.id, request.values as Record<string, string>, input.lines)
    made =
      operation.reply === noContent
        ? { status: NO_CONTENT, text: '' }
        : { status: operation.success ?? 200, text: textOf(means, operation, result) }
    users = logChange(call, db, tx, made)
    return made
  }
  const usersOf = (kept: Kept, tx: Tx | undefined) => {
    if (tx) return users
    return operation.patients ? accessOf(operation, request, kept, undefined).users.filter(isId) : []
  }
  const given = await underKey(db, owner, idempotency, { usersOf, assertShown: means.assertShown }, work)
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
  if (operation.outside) {
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
  if (writes(operation))
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
async function manage(call: Call, db: Db): Promise<Answer> {
  const { means, operation, request, input } = call
  const { tenant } = request
  let subjects: Subjects | undefined
  const transact = <R>(work: (tx: PlainTx | Tx) => Promise<R>): Promise<R> => (tenant ? db.tx(tenant, work) : db.plainTx(work))
  const read = <R>(work: (tx: PlainTx | Tx) => Promise<R>): Promise<R> =>
    transact(async (tx) => {
      const result = await work(tx)
      subjects = tx.subjects
      return result
    })
  const write = <R>(work: (tx: PlainTx | Tx) => Promise<R>): Promise<R> =>
    transact(async (tx) => {
      // A transaction may be run again.
      input.lines.length = 0
      const result = await work(tx)
      audit(tx, request.manager!, operation.id, input.params as Record<string, string>, input.lines)
      return result
    })
  if (operation.outside) return answerOf(call, await operation.run({ read: transact, write }, input))
  if (writes(operation) || operation.reveals)
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
const organization = ({ org }: Manager): Tenant => ({ team: org, org, cell: 'sandbox-us', clock_offset_s: 0, settings: {} })

function answerOf({ means, operation }: Call, result: unknown): Answer {
  if (operation.reply === noContent) return {}
  if (result instanceof FileReply) return { file: result }
  return { status: operation.success ?? 200, text: textOf(means, operation, result) }
}

function textOf(means: Means, operation: Operation, result: unknown): string {
  const text = result instanceof JsonText ? result.text : JSON.stringify(result)
  if (means.checkReplies && operation.reply !== pdf) assertShape(operation.reply as TSchema, JSON.parse(text), operation.id)
  return text
}

function idempotencyOf(declared: Idempotency, request: Admitted, asked: Asked, faults: Fault[]) {
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
      ...(invalidValue(['header', 'X-Idempotency-Key'], `must have 1 to ${IDEMPOTENCY_KEY_MAX} characters`).body
        .detail as Fault[]),
    )
    return undefined
  }
  // A body that is not sound is refused for that.
  const fingerprint = declared.one_body && faults.length === 0 ? sha256(JSON.stringify(sorted(whole(request, asked)))) : null
  return { ...declared, key, fingerprint, keepFailures: onError !== 'no-cache' }
}

/** What tells a request from others of its operation. */
const whole = ({ values = null }: Admitted, { query = null, body = null }: Asked): unknown =>
  values === null && query === null ? body : { values, query, body }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** The same value with its keys in order, so that how a request is written makes no difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}
