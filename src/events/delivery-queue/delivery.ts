// A delivery, a dispatch batch of deliveries, and the outcome of an attempt.
import type { SendableEndpoint } from './sendable-endpoint.ts'

/** A message for an endpoint. */
export interface Delivery {
  /** Whether it has a row; if not, its dispatch batch represents it. */
  has_row: boolean
  batch: DispatchBatch | undefined
  team_id: string
  webhook_id: string
  /** Of the event, or of the operational message. */
  message_id: string
  is_event: boolean
  /** The same, as receivers see it. */
  msg: string
  /** Of the present round, before this one. */
  attempts: number
  trigger: string
  /** The last operational message about it. */
  reported: string | null
  type: string
  body: Buffer
  object_id: string | null
  /** When it was claimed, by the process's own clock. */
  taken_ms: number
  /**
   * Its fencing token: until when its row is leased to this process, as it stands there, by the database's clock. Each claim writes another;
   * what a process writes later changes nothing of a row in which something else stands. Null: the row is not this process's.
   */
  lease: string | null
}

/** Deliveries that a process sends before they have rows: one row represents the batch. */
export interface DispatchBatch {
  id: string
  /** By the process's own clock. */
  taken_ms: number
  items: Delivery[]
  /** How many of them have no row. */
  left: number
}

/** The outcome of an attempt. */
export interface AttemptOutcome {
  item: Delivery
  endpoint: SendableEndpoint
  attempt_id: string
  at: Date
  duration_ms: number
  response_status: number | null
  response_body: string
  error: string | null
  succeeded: boolean
  signature: string
  /** After how long it is tried again; undefined: not any more. */
  next_s: number | undefined
  reported: string | null
}
