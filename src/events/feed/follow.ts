// Answering somebody who follows a team's events: what there is at once, or what comes while they wait.
import type { Db } from '../../platform/db/database.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { followTeam } from '../../platform/queue/outbox.ts'
import { cursor, numberPart, readCursor } from '../../platform/http/cursors.ts'
import type { Static } from '../../platform/schema/schema.ts'
import type { DeletedAmong } from '../fan-out/destination.ts'
import { feedEnd, readFeed } from './feed.ts'
import type { FeedWatch } from './feed-waiters.ts'
import type { FollowedPage, FollowQuery } from './schema.ts'

const LIMIT = 50
/** So many looks at the feed per answer: where nothing that is wanted is found, the caller asks again from there. */
const LOOKS_MAX = 20

export interface Following {
  tenant: Tenant
  db: Db
  watch: FeedWatch
  deletedAmong: DeletedAmong
}

/**
 * The team's events after a cursor, oldest first; without a cursor from the oldest that are kept, or from now on. Waits up to `wait_s`
 * for one when there is none. From the first request on the team's events are numbered. Writes followed_team. 400: a cursor of another list. 429, 503: too many are waiting.
 */
export async function followEvents(
  { tenant, db, watch, deletedAmong }: Following,
  query: FollowQuery,
): Promise<Static<typeof FollowedPage>> {
  const { team, cell } = tenant
  const list = `feed ${team}`
  const types = query.type?.length ? query.type : undefined
  const end_ms = performance.now() + (query.wait_s ?? 0) * 1000
  await db.tx(tenant, (tx) => followTeam(tx, team))
  let after = await startOf(db, tenant, list, query)
  for (let looks = 1; ; looks++) {
    const wanted = { after, types, limit: query.limit ?? LIMIT }
    const page = await db.read(tenant, (tx) => readFeed(tx, team, wanted, deletedAmong))
    after = page.seq
    const left_ms = end_ms - performance.now()
    const goesOn =
      page.events.length === 0 && looks < LOOKS_MAX && (page.more || (await watch.wait(cell, db, team, after, left_ms)))
    if (!goesOn) return { data: page.events, next_cursor: cursor(list, [String(after)]) }
  }
}

async function startOf(db: Db, tenant: Tenant, list: string, { next_cursor, start }: FollowQuery): Promise<number> {
  if (next_cursor === undefined) return start === 'newest' ? db.read(tenant, (tx) => feedEnd(tx, tenant.team)) : 0
  const [seq] = readCursor(list, next_cursor, [numberPart(15)])
  return Number(seq)
}
