// What all parts of delivery share: the delivery, the destination that it goes to, and what became of it.
//
// A destination is a webhook endpoint or a broker of a pipeline. All destinations have the same queue, limits, leases and log. They differ
// in three methods: how a destination is prepared, how deliveries are sent to it, and what its answer means.
import type { DestinationKind, DestinationRow } from './destination-rows.ts'
import type { Health } from './retry-schedule.ts'

/** A message for a destination, leased to this process. */
export interface Delivery {
  team_id: string
  destination_id: string
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
  user_id: string | null
  created_at: string
  /**
   * The fencing token: the end of the lease in its row, by the database's clock. Each claim writes another value. A late write
   * of a process changes nothing in a row with another value.
   */
  lease: string
  /** How often it is sent, by a fault that its team asked for; once by default. */
  copies?: number
}

/** A destination that is ready: its secrets are decrypted. */
export interface Target {
  id: string
  team_id: string
  kind: DestinationKind
  /** Where deliveries go; it changes with the destination. */
  address: string
  /** Deliveries a second; null: without a limit. */
  rate_limit: number | null
  /** It takes one batch of deliveries at a time, instead of single ones concurrently. */
  isBatch: boolean
  /** The health when the destination was read. */
  health: Health
}

/** A delivery that is leased and not yet sent. */
export interface BufferedDelivery {
  delivery: Delivery
  target: Target
  /** When it was leased, by the monotonic clock of the process. */
  leased_ms: number
}

/** An attempt at a delivery, to be recorded. */
export interface Attempt {
  delivery: Delivery
  attempt_id: string
  /** When it began. */
  begun_at: Date
  duration_ms: number
  response_status: number | null
  response_body: string
  error: string | null
  succeeded: boolean
  signature: string
  /** The names of the endpoint's own headers. */
  custom_headers: string[]
  /** The time until the next attempt; undefined: there is none. */
  next_s: number | undefined
  last_report: string | null
}

/** What an answer means for its delivery and for the destination. */
export interface Outcome {
  /** Undefined: nothing was sent, or the destination was unreachable. The delivery returns to the queue as it was. */
  attempt: Attempt | undefined
  duration_ms: number
  /** The time for which nothing is sent to the destination. */
  pause_s: number | undefined
  /** The receiver asked to stop all deliveries. */
  isGone: boolean
  /** Why a broker was unreachable. */
  unreachable?: string
}

export interface Destination<T extends Target = Target, A = unknown> {
  /** Decrypts what sending needs. Throws if that is not possible. */
  prepare(row: DestinationRow): T
  /**
   * Sends deliveries once: one to a webhook endpoint, a batch to a broker. Never fails because of the receiver: that is an answer.
   * @param onDone called once, later, with the answer for each delivery
   */
  deliver(target: T, deliveries: Delivery[], onDone: (answers: A[]) => void): void
  /** @param pauses how often in a row the destination has been paused */
  outcome(target: T, delivery: Delivery, answer: A, pauses: number): Outcome
}
