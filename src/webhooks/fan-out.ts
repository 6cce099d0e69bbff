// From what was announced to what is to be sent: the events of a transaction are handed to each place where events may go, in one
// transaction with their taking. Source: events.md 5, 6.7.
// wants its type, and a line of the feed for those who follow. Source: events.md 5, 6.7.
import type { Db, PlainTx, Queries } from '../platform/db.ts'
import { takeAnnouncements } from '../platform/outbox.ts'
import { Nullable, T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { appendToFeed } from './feed.ts'

/** At a time. */
export const ANNOUNCEMENTS_MAX = 200

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

/**
 * Take the oldest announcements of a cell, number them for who follows and queue their deliveries, in one transaction: a crash undoes
 * all. Writes feed.
 * @returns how many announcements
 */
export async function fanOut(db: Db, sinks: Sink[], now: Date): Promise<number> {
  const { waiting } = await db.queries.one(
    T.Object({ waiting: T.Boolean() }),
    sql`select exists (select from announcement) as waiting`,
  )
  if (!waiting) return 0
  return db.relaxedTx(async (tx) => {
    const announced = await takeAnnouncements(tx, ANNOUNCEMENTS_MAX)
    let events = announced.flatMap(({ team_id, event_ids }) => event_ids.map((event_id) => ({ team_id, event_id })))
    if (events.length) await appendToFeed(tx, events, now)
    for (const sink of sinks) if (events.length) events = await sink.queue(tx, events, now)
    return announced.length
  })
}

/** The team's endpoints, each with the types that it wants. Never what a provider sent, nor what is told of long ago: H2, H6. */
export const endpointSink = (deletedAmong: DeletedAmong): Sink => ({
  async queue(tx, events, now) {
    await queueForEndpoints(tx, events, deletedAmong, now)
    return []
  },
})

const Match = T.Object({
  team_id: T.String(),
  event_id: T.String(),
  user_id: Nullable(T.String()),
  webhook_id: T.String(),
})

/** Writes delivery. */
async function queueForEndpoints(tx: PlainTx, events: Told[], deletedAmong: DeletedAmong, now: Date): Promise<void> {
  const matches = await tx.many(
    Match,
    sql`
    select e.team_id, e.id as event_id, e.user_id, w.id as webhook_id
    from unnest(${events.map((e) => e.team_id)}::uuid[], ${events.map((e) => e.event_id)}::uuid[]) with ordinality as given (team_id, id, n)
    join event e on e.team_id = given.team_id and e.id = given.id and not e.historical and not starts_with(e.type, 'raw.')
    join webhook w on w.team_id = given.team_id and not w.disabled and (w.filter_types is null or e.type = any (w.filter_types))
    order by given.n, w.id`,
  )
  if (matches.length === 0) return
  const deleted = await deletedAmong(tx, matches)
  const wanted = matches.filter(({ user_id }) => user_id === null || !deleted.has(user_id))
  // Numbered in this order, by which deliveries of the same instant are sent. An endpoint deleted meanwhile is not there any more.
  await tx.run(sql`
    insert into delivery (team_id, webhook_id, event_id, state, due_at, trigger, created_at)
    select given.team_id, w.id, given.event_id, 'pending', ${now}, 'scheduled', ${now}
    from unnest(${wanted.map((m) => m.team_id)}::uuid[], ${wanted.map((m) => m.webhook_id)}::text[], ${wanted.map((m) => m.event_id)}::uuid[])
         with ordinality as given (team_id, webhook_id, event_id, n)
    join (select id, team_id from webhook where id = any (${wanted.map((m) => m.webhook_id)}::text[]) for key share) w
      on w.id = given.webhook_id and w.team_id = given.team_id
    join event e on e.team_id = given.team_id and e.id = given.event_id
    order by given.n
    on conflict (webhook_id, event_id) do nothing`)
}
