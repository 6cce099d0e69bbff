// The destinations of events: endpoints, brokers and the event feed.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'

/** An event that is to be sent. */
export interface EventRef {
  team_id: string
  event_id: string
}

/** A destination of events. */
export interface EventDestination {
  /**
   * Queues the events for this destination, in the order given, in the transaction that takes them.
   * @returns the events that are left for later destinations
   */
  queue(tx: PlainTx, events: EventRef[]): Promise<EventRef[]>
}

/** Which of these users are deleted, within the grace period or permanently. Events about them are not sent any more. */
export type FindDeletedUsers = (db: Queries, users: { team_id: string; user_id: string | null }[]) => Promise<Set<string>>
