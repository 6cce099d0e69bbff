// From what was announced to what is to be sent: the events of a transaction are handed to each place where events may go, in one
// transaction with their taking. Source: events.md 5, 6.7.
import type { Db } from '../../platform/db/database.ts'
import type { Sink } from './destination.ts'
import { takeOutboxEntries } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

/** Looked at at a time. */
const OUTBOX_ENTRIES_MAX = 500
/** Of announcements with many events fewer are taken. */
export const EVENTS_MAX = 2000
/** And of teams with many endpoints: while rows are written for one team the others wait. */
const DELIVERIES_MAX = 2000

/** How many endpoints an event may go to. */
const endpoints = sql`greatest(1, (select count(*) from webhook w where w.team_id = weighed.team_id and not w.disabled))`

/** What delivering needs of the connections to a cell. */
export type DeliveryDb = Pick<Db, 'queries' | 'asyncCommit' | 'asyncCommitTx' | 'plainTx' | 'onEventNotification'>

export interface FanOutResult {
  announcements: number
  /** More is waiting. */
  hasMore: boolean
}

/**
 * Take the oldest announcements of a cell, of all teams by turns, and hand their events to each place in turn, in one transaction: a crash
 * undoes all. Writes what the places write.
 * @param events_max so many events, unless a single announcement has more
 */
export async function fanOut(db: DeliveryDb, sinks: Sink[], events_max: number): Promise<FanOutResult> {
  const { waiting } = await db.queries.one(
    T.Object({ waiting: T.Boolean() }),
    sql`select exists (select from announcement) as waiting`,
  )
  if (!waiting) return { announcements: 0, hasMore: false }
  return db.asyncCommitTx(async (tx) => {
    const portion = { announcements: OUTBOX_ENTRIES_MAX, events: Math.min(events_max, EVENTS_MAX), deliveries: DELIVERIES_MAX }
    const { taken, isMore } = await takeOutboxEntries(tx, portion, endpoints)
    let events = taken.flatMap(({ team_id, event_ids }) => event_ids.map((event_id) => ({ team_id, event_id })))
    for (const sink of sinks) if (events.length) events = await sink.queue(tx, events)
    return { announcements: taken.length, hasMore: isMore }
  })
}
