// The record of a module: its contributions to the process. modules.ts of its domain lists it; a long record has a file of its own,
// module.ts in the folder of the module. app/compose.ts combines all of them.
import type { EncryptedColumn } from '../crypto/encrypted-columns.ts'
import type { ConstraintErrors, Db } from '../db/database.ts'
import type { TeamEraser } from '../db/erasure.ts'
import type { Hook } from '../db/hooks.ts'
import type { Tx } from '../db/transaction.ts'
import type { Feature, Option } from '../http/feature-flags.ts'
import type { Operation } from '../http/operation.ts'
import type { BrowserPage } from '../http/browser-pages.ts'
import type { EventType } from '../queue/event-type.ts'
import type { Handler } from '../queue/outbox.ts'
import type { Cleanup } from '../queue/retention.ts'

/** Every part except the first two is optional. Records are listed from the bottom of the architecture up. */
export interface Module {
  /** Its folder below `src`: `lab/orders`. */
  readonly name: string
  /** What it is about, and what it leaves to others. docs/ARCHITECTURE.md shows it. */
  readonly about: string
  /** The group of its operations on the API page; required if there are operations. */
  readonly tag?: string
  /** The tables that only this module writes. */
  readonly tables?: Tables
  readonly operations?: readonly Operation[]
  /** The types of the events that it emits. */
  readonly eventTypes?: readonly EventType[]
  /** What an operator can disable for a team. */
  readonly features?: readonly Feature[]
  /** What an operator can enable for a team. */
  readonly options?: readonly Option[]
  /** Pages for browsers, without a key. */
  readonly pages?: readonly BrowserPage[]
  /** Job handlers, from the top of the architecture down. */
  readonly jobs?: readonly Handler[]
  /** Rows that the worker deletes after their retention. */
  readonly periodicTasks?: readonly Cleanup[]
  /** Services of every process: started before the first request, stopped after the last request and the last job. */
  readonly services?: readonly Service[]
  /** Services of worker processes: started after the jobs, stopped with them. */
  readonly workers?: readonly (() => Service)[]
  /** The hooks that it runs within the transactions of lower modules, from the bottom of the architecture up. */
  readonly hooks?: readonly Hook[]
  /** Constraints of its tables, and the responses when statements violate them. */
  readonly constraints?: ConstraintErrors
  /** Encrypted columns of its tables. */
  readonly encryptedColumns?: readonly EncryptedColumn[]
  /** Erasers of its own rows, from the top of the architecture down: referencing rows are deleted before the rows they refer to. */
  readonly erasers?: {
    /** Runs after the grace period of a deleted user: each in a transaction of its own, which may run twice. */
    readonly user?: UserEraser
    /** Runs after the grace period of a deleted team. */
    readonly team?: TeamEraser
  }
  /**
   * Seeds a cell with the data that ships with the program, from the bottom of the architecture up. It may run again at any time.
   * @param offers whether the cell has tests to order
   */
  readonly referenceData?: (db: Db, offers: boolean) => Promise<void>
}

interface Tables {
  /** Every statement on one of these must name the team, except in periodic tasks. */
  readonly ofTeams?: readonly string[]
  /** Views of such tables that show only a team's rows; statements on them name the team as well. */
  readonly views?: readonly string[]
  readonly others?: readonly string[]
}

type UserEraser = (tx: Tx, user_id: string) => Promise<unknown>

/** A service that runs alongside requests. */
export interface Service {
  start(): void
  /** Starts no new work and waits for work in progress. */
  stop(): Promise<void>
  /** Called when the process stops serving, before `stop`: ends requests that it keeps waiting. */
  endRequests?(): void
}
