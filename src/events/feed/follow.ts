// Answers a request for a team's event feed: with the events available, or after waiting for new ones.
import type { Db } from '../../platform/db/database.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { subscribeTeam } from '../../platform/queue/outbox.ts'
import { cursor, numberPart, readCursor } from '../../platform/http/list-pages.ts'
import type { Static } from '../../platform/schema/schema.ts'
import type { FindDeletedUsers } from './feed.ts'
import { epochOf, latestFeedPosition, readFeed } from './feed.ts'
import type { FeedWaiters } from './feed-waiters.ts'
import type { FeedEventPage, FeedQuery } from './schema.ts'

const LIMIT = 50
/** Number of reads of the feed per response: if no requested type is found, the caller continues from there. */
const FEED_READS_MAX = 20

export interface FollowDependencies {
  tenant: Tenant
  db: Db
  watch: FeedWaiters
  findDeletedUsers: FindDeletedUsers
}

/**
 * The team's events after a cursor, oldest first; without a cursor from the oldest that are kept, or from now on. Waits up to
 * `wait_s` for an event if there is none. The team's events are numbered from the first request on. Writes event_subscribed_team.
 * 400: a cursor of another list. 429, 503: too many requests are waiting.
 */
export async function followEvents(
  { tenant, db, watch, findDeletedUsers }: FollowDependencies,
  query: FeedQuery,
): Promise<Static<typeof FeedEventPage>> {
  const { team, cell } = tenant
  const list = `feed ${team}`
  const types = query.type?.length ? query.type : undefined
  const end_ms = performance.now() + (query.wait_s ?? 0) * 1000
  await db.tx(tenant, (tx) => subscribeTeam(tx, team))
  let after = await startPosition(db, tenant, list, query)
  for (let reads = 1; ; reads++) {
    const feedQuery = { position: after, types, limit: query.limit ?? LIMIT }
    const page = await db.read(tenant, (tx) => readFeed(tx, team, feedQuery, findDeletedUsers))
    after = page.seq
    const left_ms = end_ms - performance.now()
    const isCurrentPosition =
      page.events.length === 0 && reads < FEED_READS_MAX && (page.hasMore || (await watch.wait(cell, db, team, after, left_ms)))
    if (!isCurrentPosition) return { data: page.events, next_cursor: cursor(list, [String(after)]), epoch: epochOf(after) }
  }
}

async function startPosition(db: Db, tenant: Tenant, list: string, { next_cursor, start }: FeedQuery): Promise<number> {
  if (next_cursor === undefined) return start === 'newest' ? db.read(tenant, (tx) => latestFeedPosition(tx, tenant.team)) : 0
  const [seq] = readCursor(list, next_cursor, [numberPart(16)])
  return Number(seq)
}
