// Fan-out: takes outbox entries and hands their events to each destination, in one transaction. Source: events.md 5, 6.7.
import type { Db } from '../../platform/db/database.ts'
import type { EventDestination } from './destination.ts'
import { takeOutboxEntries } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

/** Number of outbox entries considered at a time. */
const OUTBOX_ENTRIES_MAX = 500
/** Fewer outbox entries are taken if they have many events. */
export const EVENTS_MAX = 2000
/** Fewer are taken from teams with many endpoints: while rows are written for one team the others wait. */
const DELIVERIES_MAX = 2000

/** The number of endpoints to which an event may go. */
const endpoints = sql`greatest(1, (select count(*) from webhook w where w.team_id = weighed.team_id and not w.disabled))`

/** The connections to a cell that fan-out needs. */
export type DeliveryDb = Pick<Db, 'queries' | 'asyncCommit' | 'asyncCommitTx' | 'plainTx' | 'onEventNotification'>

export interface FanOutResult {
  entries: number
  /** Whether there are more outbox entries. */
  hasMore: boolean
}

/**
 * Takes the oldest outbox entries of a cell, alternating between teams, and hands their events to each destination in turn, in
 * one transaction: a crash undoes all. Writes what the destinations write.
 * @param events_max the maximum number of events, unless a single outbox entry has more
 */
export async function fanOut(db: DeliveryDb, destinations: EventDestination[], events_max: number): Promise<FanOutResult> {
  // By the index: entries that were taken stay in the pages of the table until it is vacuumed.
  const { waiting } = await db.queries.one(
    T.Object({ waiting: T.Boolean() }),
    sql`select (select true from event_outbox order by team_id limit 1) is not null as waiting`,
  )
  if (!waiting) return { entries: 0, hasMore: false }
  return db.asyncCommitTx(async (tx) => {
    const portion = { entries: OUTBOX_ENTRIES_MAX, events: Math.min(events_max, EVENTS_MAX), deliveries: DELIVERIES_MAX }
    const { taken, isMore } = await takeOutboxEntries(tx, portion, endpoints)
    let events = taken.flatMap(({ team_id, event_ids }) => event_ids.map((event_id) => ({ team_id, event_id })))
    for (const destination of destinations) if (events.length) events = await destination.queue(tx, events)
    return { entries: taken.length, hasMore: isMore }
  })
}
