// A delivery that a process has claimed, and the outcome of an attempt.
import type { SendableEndpoint } from './sendable-endpoint.ts'

/** A message for an endpoint. */
export interface Delivery {
  team_id: string
  webhook_id: string
  /** The id of the event, or of the operational message. */
  message_id: string
  is_event: boolean
  /** The same id, as receivers see it. */
  msg: string
  /** The number of attempts of the current round, before this one. */
  attempts: number
  trigger: string
  /** The last operational message about it. */
  last_report: string | null
  type: string
  body: Buffer
  object_id: string | null
  /** When it was claimed, by the monotonic clock of the process. */
  taken_ms: number
  /**
   * The fencing token: the end of the lease in its row, by the database's clock. Each claim writes another value. A late write
   * of a process changes nothing in a row with another value.
   */
  lease: string
  /** How often it is sent, by a fault that its team asked for; once by default. */
  copies?: number
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
  /** The time until the next attempt; undefined: there is none. */
  next_s: number | undefined
  last_report: string | null
}
