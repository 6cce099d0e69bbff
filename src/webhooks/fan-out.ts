// From what was announced to what is to be sent: the events of a transaction are handed to each place where events may go, in one
// transaction with their taking, and get a line of the feed for those who follow. Source: events.md 5, 6.7.
import type { Db, PlainTx, Queries } from '../platform/db.ts'
import { takeAnnouncements } from '../platform/outbox.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { appendToFeed } from './feed.ts'

/** At a time. */
export const ANNOUNCEMENTS_MAX = 200
/** Of announcements with many events fewer are taken. */
export const EVENTS_MAX = 2000

/** Which of these users are deleted, in their grace or for good. What was told of them is not sent any more. */
export type DeletedAmong = (db: Queries, users: { team_id: string; user_id: string | null }[]) => Promise<Set<string>>

/** An event that somebody is to be told of. */
export interface Told {
  team_id: string
  event_id: string
}

/** A place where events may go. */
export interface Sink {
  /**
   * Queue those that go there, in the order given; the transaction is that in which they are taken.
   * @returns those that the sinks behind it may have
   */
  queue(tx: PlainTx, events: Told[], now: Date): Promise<Told[]>
}

export interface Taken {
  announcements: number
  /** About as many as were asked for, so that more may be waiting. */
  isFull: boolean
}

/**
 * Take the oldest announcements of a cell, number them for who follows and queue their deliveries, in one transaction: a crash undoes
 * all. Writes feed.
 * @param events_max so many events, unless a single announcement has more
 */
export async function fanOut(db: Db, sinks: Sink[], now: Date, events_max: number): Promise<Taken> {
  const { waiting } = await db.queries.one(
    T.Object({ waiting: T.Boolean() }),
    sql`select exists (select from announcement) as waiting`,
  )
  if (!waiting) return { announcements: 0, isFull: false }
  return db.relaxedTx(async (tx) => {
    const most = Math.min(events_max, EVENTS_MAX)
    const announced = await takeAnnouncements(tx, ANNOUNCEMENTS_MAX, most)
    let events = announced.flatMap(({ team_id, event_ids }) => event_ids.map((event_id) => ({ team_id, event_id })))
    const isFull = announced.length === ANNOUNCEMENTS_MAX || events.length > most / 2
    if (events.length) await appendToFeed(tx, events, now)
    for (const sink of sinks) if (events.length) events = await sink.queue(tx, events, now)
    return { announcements: announced.length, isFull }
  })
}
