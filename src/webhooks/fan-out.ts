// From what was announced to what is to be sent: the events of a transaction are handed to each place where events may go, in one
// transaction with their taking, and get a line of the feed for those who follow. Source: events.md 5, 6.7.
import type { Db } from '../platform/db.ts'
import type { PlainTx, Queries } from '../platform/transaction.ts'
import { takeAnnouncements } from '../platform/outbox.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { appendToFeed } from './feed.ts'

/** Looked at at a time. */
const ANNOUNCEMENTS_MAX = 500
/** Of announcements with many events fewer are taken. */
export const EVENTS_MAX = 2000
/** And of teams with many endpoints: while rows are written for one team the others wait. */
const DELIVERIES_MAX = 2000

/** How many endpoints an event may go to. */
const endpoints = sql`greatest(1, (select count(*) from webhook w where w.team_id = weighed.team_id and not w.disabled))`

/** Which of these users are deleted, in their grace or for good. What was told of them is not sent any more. */
export type DeletedAmong = (db: Queries, users: { team_id: string; user_id: string | null }[]) => Promise<Set<string>>

/** What delivering needs of the connections to a cell. */
export type DeliveryDb = Pick<Db, 'queries' | 'relaxed' | 'relaxedTx' | 'plainTx' | 'onEvents'>

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
  queue(tx: PlainTx, events: Told[]): Promise<Told[]>
}

export interface Taken {
  announcements: number
  /** More is waiting. */
  isFull: boolean
}

/**
 * Take the oldest announcements of a cell, of all teams by turns, number them for who follows and queue their deliveries, in one transaction: a crash undoes
 * all. Writes feed.
 * @param events_max so many events, unless a single announcement has more
 */
export async function fanOut(db: DeliveryDb, sinks: Sink[], events_max: number): Promise<Taken> {
  const { waiting } = await db.queries.one(
    T.Object({ waiting: T.Boolean() }),
    sql`select exists (select from announcement) as waiting`,
  )
  if (!waiting) return { announcements: 0, isFull: false }
  return db.relaxedTx(async (tx) => {
    const portion = { announcements: ANNOUNCEMENTS_MAX, events: Math.min(events_max, EVENTS_MAX), deliveries: DELIVERIES_MAX }
    const { taken, isMore } = await takeAnnouncements(tx, portion, endpoints)
    let events = taken.flatMap(({ team_id, event_ids }) => event_ids.map((event_id) => ({ team_id, event_id })))
    if (events.length) await appendToFeed(tx, events)
    for (const sink of sinks) if (events.length) events = await sink.queue(tx, events)
    return { announcements: taken.length, isFull: isMore }
  })
}
