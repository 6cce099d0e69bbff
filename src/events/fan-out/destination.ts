// Where events may go: endpoints, brokers, those who follow the feed.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'

/** An event that somebody is to be told of. */
export interface EventRef {
  team_id: string
  event_id: string
}

/** A place where events may go. */
export interface Sink {
  /**
   * Queue those that go there, in the order given; the transaction is that in which they are taken.
   * @returns those that the sinks behind it may have
   */
  queue(tx: PlainTx, events: EventRef[]): Promise<EventRef[]>
}

/** Which of these users are deleted, in their grace or for good. What was told of them is not sent any more. */
export type FindDeletedUsers = (db: Queries, users: { team_id: string; user_id: string | null }[]) => Promise<Set<string>>
