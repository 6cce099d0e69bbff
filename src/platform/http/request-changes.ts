// Serves operations that need several transactions. Their change runs in one of them, which also leaves the line of the access log and stores
// the result under the idempotency key, so that all of it is there or nothing.
import { createHash } from 'node:crypto'
import { isId } from '../access-log/access-line.ts'
import { Subjects, type Tenant, type Tx } from '../db/transaction.ts'
import type { Answer } from './admitted-request.ts'
import { findStoredResponse, withIdempotencyKey, type OperationResult } from './idempotency.ts'
import type { Changes } from './multi-transaction.ts'
import { accessOf } from './request-access.ts'
import { answerOf, logChange, logRead, type Call } from './request-call.ts'

type IdempotencyKey = Parameters<typeof withIdempotencyKey>[2]

/** Runs an operation in transactions of its own. Errors: those of the operation. */
export async function runMultiTransactionOperation(call: Call, idempotency: IdempotencyKey | undefined): Promise<Answer> {
  const { means, operation, request, input } = call
  const { tenant } = request
  const subjects = new Subjects()
  const caller = tenant && (operation.patients ? { ...tenant, subjects } : tenant)
  const changes = new RequestChanges(call, caller, idempotency)
  const context = {
    tenant: caller,
    cells: means.cells,
    address: request.ip,
    headers: request.headers,
    query: request.query as Record<string, string | string[]>,
    body: request.body as Buffer | undefined,
    changes,
  }
  if (!operation.patients) return answerOf(call, await operation.run(context, input))
  const db = means.cells.of(tenant!.cell)
  means.access.assertRoom(db)
  const given = answerOf(call, await operation.run(context, input))
  if (!changes.isLogged) await logRead(call, db, subjects, given)
  return given
}

class RequestChanges implements Changes {
  readonly #call: Call
  readonly #tenant: Tenant | undefined
  #idempotency: IdempotencyKey | undefined
  /** Whether the line of the access log is in the database. */
  isLogged = false

  constructor(call: Call, tenant: Tenant | undefined, idempotency: IdempotencyKey | undefined) {
    this.#call = call
    this.#tenant = tenant
    this.#idempotency = idempotency
  }

  bind(values: unknown): void {
    if (!this.#idempotency) return
    const text = JSON.stringify([this.#idempotency.fingerprint ?? null, values])
    const fingerprint = createHash('sha256').update(text).digest('base64url')
    this.#idempotency = { ...this.#idempotency, fingerprint }
  }

  async earlier<R>(): Promise<R | undefined> {
    const { means } = this.#call
    const idempotency = this.#idempotency
    if (!idempotency) return undefined
    const stored = await this.#db().read(this.#team(), async (tx) => {
      const found = await findStoredResponse(tx, idempotency)
      if (found?.user_ids.length) await means.assertShown(tx, found.user_ids)
      return found
    })
    return stored && (JSON.parse(stored.text) as R)
  }

  async make<R>(work: (tx: Tx) => Promise<R>): Promise<R> {
    const { means, operation, request } = this.#call
    let made: { result: R; stored: OperationResult } | undefined
    let users: readonly string[] = []
    const change = async (tx: Tx): Promise<OperationResult> => {
      const result = await work(tx)
      made = { result, stored: { status: 200, text: JSON.stringify(result ?? null) } }
      users = logChange(this.#call, this.#db(), tx, { status: operation.success ?? 200, text: '' })
      if (operation.patients) tx.afterCommit(() => (this.isLogged = true))
      return made.stored
    }
    if (!this.#idempotency) {
      await this.#db().tx(this.#team(), change)
      return made!.result
    }
    const usersOf = (kept: OperationResult, tx: Tx | undefined) =>
      tx ? users : accessOf(operation, request, kept, undefined).users.filter(isId)
    const options = { ...this.#idempotency, storeFailures: false }
    const stored = await withIdempotencyKey(
      this.#db(),
      this.#team(),
      options,
      { usersOf, assertShown: means.assertShown },
      change,
    )
    return stored === made?.stored ? made.result : (JSON.parse(stored.text) as R)
  }

  #db() {
    return this.#call.means.cells.of(this.#team().cell)
  }

  #team(): Tenant {
    if (!this.#tenant) throw new Error('the operation has no team')
    return this.#tenant
  }
}
