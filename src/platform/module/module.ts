// The record of a module: what it contributes to the process. Every module that contributes something exports its record from its
// module.ts; modules.ts of its domain lists it, and app/compose.ts puts all of them together.
import type { EncryptedColumn } from '../crypto/sealed-columns.ts'
import type { ConstraintErrors, Db } from '../db/database.ts'
import type { TeamEraser } from '../db/erasure.ts'
import type { Hook } from '../db/hooks.ts'
import type { Tx } from '../db/transaction.ts'
import type { Operation } from '../http/operation.ts'
import type { BrowserPage } from '../http/system-pages.ts'
import type { Handler } from '../queue/outbox.ts'
import type { Cleanup } from '../queue/retention.ts'

/** Every part but the name is optional. Records are listed from the bottom of the architecture up. */
export interface Module {
  /** Its folder below `src`: `lab/orders`. */
  readonly name: string
  /** The group of its operations on the API page; needed where there are operations. */
  readonly tag?: string
  /** The tables that this module alone writes. */
  readonly tables?: Tables
  readonly operations?: readonly Operation[]
  /** Pages for browsers, without a key. */
  readonly pages?: readonly BrowserPage[]
  /** What carries out jobs, from the top of the architecture down. */
  readonly jobs?: readonly Handler[]
  /** Rows that the worker deletes when their time is over. */
  readonly periodicTasks?: readonly Cleanup[]
  /** Of every process: started before the first request, stopped after the last request and the last job. */
  readonly services?: readonly Service[]
  /** Of processes that work: made and started after the jobs, stopped with them. */
  readonly workers?: readonly (() => Service)[]
  /** What it does within the transactions of modules below it, from the bottom of the architecture up. */
  readonly hooks?: readonly Hook[]
  /** Constraints of its tables, and what violating them answers. */
  readonly constraints?: ConstraintErrors
  /** Columns of its tables that hold secrets at rest. */
  readonly sealedColumns?: readonly EncryptedColumn[]
  /** What erases its own rows, from the top of the architecture down: rows that refer to others go before the rows they refer to. */
  readonly erasers?: {
    /** When the grace of a deleted user is over: each in a transaction of its own, which may run twice. */
    readonly user?: UserEraser
    /** When the grace of a deleted team is over. */
    readonly team?: TeamEraser
  }
  /**
   * Brings what ships with the program into a cell, from the bottom of the architecture up. It may run again at any time.
   * @param offers whether there is something to order in the cell
   */
  readonly referenceData?: (db: Db, offers: boolean) => Promise<void>
}

export interface Tables {
  /** Every statement on one of these names the team, but for those of periodic tasks. */
  readonly ofTeams?: readonly string[]
  /** Views of such tables that only show a team's rows; statements on them name the team as well. */
  readonly views?: readonly string[]
  readonly others?: readonly string[]
}

export type UserEraser = (tx: Tx, user_id: string) => Promise<void>

/** What goes on beside requests. */
export interface Service {
  start(): void
  /** Begins nothing more and waits for what goes on. */
  stop(): Promise<void>
  /** Called when the process no longer serves, before `stop`: ends requests that it keeps waiting. */
  endRequests?(): void
}
