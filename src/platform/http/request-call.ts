// A request in progress, and what is left of it: its answer, and its line in the access log.
import { isId } from '../access-log/access-line.ts'
import type { AccessLog } from '../access-log/access-log.ts'
import type { Cells } from '../db/cells.ts'
import type { Db } from '../db/database.ts'
import type { PlainTx, Subjects, Tx } from '../db/transaction.ts'
import type { TSchema } from '../schema/schema.ts'
import { assertMatchesSchema } from '../schema/shape-check.ts'
import type { Answer, AuthorizedRequest } from './admitted-request.ts'
import { FileReply, isFile, noContent, PreserializedJson, StatusReply, type Operation } from './operation.ts'
import { accessOf, type AuditEntry } from './request-access.ts'

export interface RequestDependencies {
  cells: Cells
  access: AccessLog
  /** Rejects replaying a stored response about these users: 404 if one of them is deleted. */
  assertShown: (tx: Tx, user_ids: string[]) => Promise<void>
  /** Checks responses against their schemas. On in tests. */
  checkReplies: boolean
}

/** The state of a request in progress. */
export interface Call {
  means: RequestDependencies
  operation: Operation
  request: AuthorizedRequest
  input: { params: unknown; query: unknown; body: unknown; lines: AuditEntry[] }
}

/** Records a change in its transaction. @returns the users whom it is about */
export function logChange({ means, operation, request }: Call, db: Db, tx: PlainTx, given: Answer): readonly string[] {
  if (!operation.patients) return []
  const access = accessOf(operation, request, given, tx.subjects)
  means.access.changed(db, tx, access)
  return access.users.filter(isId)
}

/** Records what a response shows. If it returns a promise, the response must wait for it. */
export function logRead(
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

/** The response with the result of an operation. */
export function answerOf({ means, operation }: Call, result: unknown): Answer {
  if (operation.reply === noContent) return {}
  if (result instanceof FileReply) return { file: result }
  if (result instanceof StatusReply) return { status: result.status, text: canonicalJson(means, operation, result.body) }
  const status = operation.success ?? 200
  if (!(result instanceof PreserializedJson) || result.searchForUsers)
    return { status, text: canonicalJson(means, operation, result) }
  if (means.checkReplies) canonicalJson(means, operation, result)
  return { status, parts: result.parts }
}

/** The JSON of a result. In tests it is checked against the schema of the operation. */
export function canonicalJson(means: RequestDependencies, operation: Operation, result: unknown): string {
  const text = result instanceof PreserializedJson ? result.text : JSON.stringify(result)
  if (means.checkReplies && !isFile(operation.reply))
    assertMatchesSchema(operation.reply as TSchema, JSON.parse(text), operation.id)
  return text
}
