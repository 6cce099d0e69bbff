// What an operation gets that needs several transactions, or none.
import type { Cells } from '../db/cells.ts'
import type { Tenant, Tx } from '../db/transaction.ts'

/** The dependencies of an operation that works outside a single transaction. */
export interface MultiTransactionContext {
  /** Each of its transactions names the users whose data it reads or changes (`Tx.concerns`). */
  tenant: Tenant
  cells: Cells
}

/** The transaction in which an operation changes data of its team. */
export interface Changes {
  /** Makes the idempotency key of the request belong to these values as well: those of a body that only the operation can read. */
  bind(values: unknown): void
  /**
   * What `make` returned for an earlier request with the same idempotency key; undefined if there was none. An operation that does much
   * before its change asks first. Errors: 404 a user of it is deleted; 409 the key belongs to another request.
   */
  earlier<R>(): Promise<R | undefined>
  /**
   * Runs a transaction of the team that also leaves the line of the access log, and stores what `work` returns under the idempotency key.
   * With a repeated key it returns what was stored, and `work` does not run. Errors: those of `work`, and of `earlier`.
   */
  make<R>(work: (tx: Tx) => Promise<R>): Promise<R>
}

/** The same, with the principal. */
export interface OutsideRequest extends MultiTransactionContext {
  /** Client address. */
  address: string
  /** As they were sent, for signatures. */
  headers: Record<string, string | string[] | undefined>
  /** All parameters of the query, also those that the operation does not declare. */
  query: Record<string, string | string[]>
  /** The bytes of the body, decompressed; undefined without one. */
  body: Buffer | undefined
  /** For operations with a key or token of a team. */
  changes: Changes
}

/**
 * The dependencies of a management operation that calls an external service. It reads, calls and writes, with a transaction for each step,
 * so that none is open while it waits.
 */
export interface TransactionSteps<X> {
  read<R>(execute: (tx: X) => Promise<R>): Promise<R>
  /** Adds the audit entry. */
  write<R>(execute: (tx: X) => Promise<R>): Promise<R>
}
