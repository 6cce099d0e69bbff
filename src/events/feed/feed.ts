// The event feed of a team, in the order in which events were fanned out, for readers without an endpoint. One transaction at a
// time adds rows, so a reader that has seen a number has seen every smaller one. Source: events.md 10.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { eventBody } from '../../platform/queue/outbox.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, arrayLiteral } from '../../platform/db/sql.ts'
import { messageId } from '../catalog/message-id.ts'
import type { FeedEvent } from './schema.ts'

const RETENTION_S = 30 * 86_400
/** Number of events read for one response, whether or not their types are requested. */
const WINDOW = 1000

/** An event that is fanned out. */
export interface EventRef {
  team_id: string
  event_id: string
}

/** Which of these users are deleted, within the grace period or permanently. Events about them are not sent any more. */
export type FindDeletedUsers = (db: Queries, users: { team_id: string; user_id: string | null }[]) => Promise<Set<string>>

/** Numbers of one epoch; 90,000 epochs are numbers that JSON has exactly. */
const EPOCH_NUMBERS = 100_000_000_000

/** The epoch of a number. */
export const epochOf = (seq: number): number => Math.floor(seq / EPOCH_NUMBERS)

/** Hours from 1970 to 2026, and the last hour after that which begins an epoch: in 2035. */
const HOURS_BEFORE_2026 = 490_896
const HOURS_MAX = 80_000

/**
 * Numbers events, in this order, in the transaction that fans them out. A failover, a recovery and a restored backup lose the last numbers, so
 * that the sequence gives them again: then a new epoch begins, whose numbers are higher than all that readers have. A restored backup knows
 * nothing of later epochs, so that the hour is part of the number of an epoch; some backups are known by the start of PostgreSQL only.
 * Writes feed, feed_epoch.
 */
export async function addToFeed(tx: PlainTx, events: EventRef[]): Promise<void> {
  await tx.run(sql`
    with server as materialized (
      select timeline, concat_ws(' ', system_identifier, timeline,
               (select oid from pg_database where datname = current_database()), extract(epoch from pg_postmaster_start_time())) as state
      from pg_control_system(), (select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer as timeline) t),
    renewed as (
      update feed_epoch e
      set epoch = greatest(e.epoch + 1, s.timeline + least(${HOURS_MAX}::integer,
                    floor(extract(epoch from ${dbNow}) / 3600)::integer - ${HOURS_BEFORE_2026}::integer)),
          server_state = s.state
      from server s where e.server_state is distinct from s.state
      returning e.epoch),
    numbered as materialized (
      select team_id, event_id,
             coalesce((select epoch from renewed), (select epoch from feed_epoch)) * ${EPOCH_NUMBERS}::bigint + nextval('feed_number') as seq
      from unnest(${arrayLiteral(events.map((e) => e.team_id))}::uuid[], ${arrayLiteral(events.map((e) => e.event_id))}::uuid[]) with ordinality as given (team_id, event_id, n)
      order by n)
    insert into feed (team_id, seq, event_id, created_at) select team_id, seq, event_id, ${dbNow} from numbered`)
}

const End = T.Object({ seq: T.Integer() })

/** The latest number of the team's feed; 0 before its first event. */
export const latestFeedPosition = async (db: Queries, team: string): Promise<number> =>
  (await db.one(End, sql`select coalesce(max(seq), 0) as seq from feed where team_id = ${team}`)).seq

const Row = T.Object({
  seq: T.Integer(),
  id: Nullable(T.String()),
  type: Nullable(T.String()),
  user_id: Nullable(T.String()),
  object_id: Nullable(T.String()),
  created_at: Nullable(T.String()),
})
const Body = T.Object({ id: T.String(), body: Nullable(T.String()) })

export interface FeedPage {
  events: Static<typeof FeedEvent>[]
  /** The cursor to continue from. */
  seq: number
  /** Whether the feed has more events after those read. */
  hasMore: boolean
}

/**
 * The team's events after a number that endpoints of the requested types get, without those of deleted users. Reads at most 1,000 events of any
 * type.
 */
export async function readFeed(
  db: Queries,
  team: string,
  query: { position: number; types: readonly string[] | undefined; limit: number },
  findDeletedUsers: FindDeletedUsers,
): Promise<FeedPage> {
  const { position, types, limit } = query
  const rows = await db.many(
    Row,
    sql`
    select f.seq, e.id, e.type, e.user_id, e.object_id, e.created_at
    from (select seq, event_id from feed where team_id = ${team} and seq > ${position} order by seq limit ${WINDOW}) f
    left join event e on e.team_id = ${team} and e.id = f.event_id and not e.historical and not starts_with(e.type, 'raw.')
    order by f.seq`,
  )
  const found = rows.filter((row) => row.id !== null && (!types || types.includes(row.type!)))
  const page = found.slice(0, limit)
  const whole = page.length === found.length
  const seq = (whole ? rows : page).at(-1)?.seq ?? position
  const hasMore = !whole || rows.length === WINDOW
  if (page.length === 0) return { events: [], seq, hasMore }
  const ids = page.map((row) => row.id!)
  const [bodies, deleted] = await Promise.all([
    db.many(
      Body,
      sql`select e.id, ${eventBody(team)} as body from event e where e.team_id = ${team} and e.id = any (${ids}::uuid[])`,
    ),
    findDeletedUsers(
      db,
      page.map((row) => ({ team_id: team, user_id: row.user_id })),
    ),
  ])
  const bodyOf = new Map(bodies.map(({ id, body }) => [id, body]))
  const events = page.flatMap(({ id, type, user_id, object_id, created_at }) => {
    const body = bodyOf.get(id!)
    if (body === undefined || (user_id !== null && deleted.has(user_id))) return []
    return [{ id: messageId(id!), type: type!, object_id: object_id!, created_at: created_at!, body }]
  })
  return { events, seq, hasMore }
}

/** Feed rows that are older than 30 days. */
export const feedCleanup = cleanup({ table: 'feed', column: 'created_at', retention_s: RETENTION_S })
