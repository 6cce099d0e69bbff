// What came in for each resource of a user: the newest and oldest data, the last attempt. One row for a user, provider and resource, so that
// reading it does not read data. Owns the table resource_state. Source: users-wearables.md 13.
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Expiry } from '../resources/expiry.ts'
import type { Resource } from '../resources/resources.ts'

/** What one post had for one resource. */
export interface ResourcePost {
  user_id: string
  provider: string
  resource: Resource
  /** Oldest accepted data; null if there was none. */
  oldest_ms: number | null
  newest_ms: number | null
  /** Records that were new or changed. */
  changed: number
}

/** Records a post. Writes resource_state when the transaction ends, so that it takes no round trip of its own. */
export const recordPost = (tx: Tx, post: ResourcePost): void => tx.deferBatched(post, writeStates)

const least = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))
const greatest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b))

/** Rows in the order of their keys: transactions that lock several of them do not wait for each other in a circle. */
function writeStates(tx: Tx, posts: ResourcePost[]): Sql {
  const rows = new Map<string, ResourcePost>()
  for (const post of posts) {
    const key = JSON.stringify([post.user_id, post.provider, post.resource])
    const before = rows.get(key)
    rows.set(
      key,
      before
        ? {
            ...post,
            oldest_ms: least(before.oldest_ms, post.oldest_ms),
            newest_ms: greatest(before.newest_ms, post.newest_ms),
            changed: before.changed + post.changed,
          }
        : post,
    )
  }
  const sorted = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  // Whole seconds: the strictest reader of published clients fails on fractions.
  const instant = (ms: number | null) => (ms === null ? null : new Date(Math.floor(ms / 1000) * 1000).toISOString())
  const states = sorted.map((row) => ({ ...row, oldest: instant(row.oldest_ms), newest: instant(row.newest_ms) }))
  return sql`
    insert into resource_state as s (team_id, user_id, provider, resource, last_attempt_at, oldest_data, newest_data, sent_count)
    select ${tx.team}::uuid, g.user_id, g.provider, g.resource, ${tx.now}::timestamptz, g.oldest, g.newest, g.changed
    from jsonb_to_recordset(${JSON.stringify(states)}::jsonb)
      as g (user_id uuid, provider text, resource text, oldest timestamptz, newest timestamptz, changed bigint)
    on conflict (team_id, user_id, provider, resource) do update
    set last_attempt_at = greatest(s.last_attempt_at, excluded.last_attempt_at), oldest_data = least(s.oldest_data, excluded.oldest_data),
        newest_data = greatest(s.newest_data, excluded.newest_data), sent_count = s.sent_count + excluded.sent_count`
}

const StateRow = T.Object({
  user_id: T.String(),
  provider: T.String(),
  resource: T.String(),
  last_attempt_at: T.String(),
  oldest_data: Nullable(T.String()),
  newest_data: Nullable(T.String()),
  sent_count: T.Integer(),
})
export type ResourceState = Static<typeof StateRow>

/** The states of the resources of users. */
export const resourceStates = (tx: Tx, user_ids: string[], provider: string | undefined): Promise<ResourceState[]> =>
  tx.many(
    StateRow,
    sql`
    select user_id, provider, resource, last_attempt_at, oldest_data, newest_data, sent_count
    from resource_state
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = coalesce(${provider ?? null}, provider)
    order by user_id, provider, resource`,
  )

/** Corrects what is shown of the oldest and newest data when data has expired. Writes resource_state. */
export const forgetExpired = (tx: PlainTx, { team_id, user_ids, now, days }: Expiry): Promise<number> => {
  const kept = days(sql`x.resource`, sql`x.provider`)
  return tx.run(sql`
    update resource_state s
    set oldest_data = case when s.newest_data < d.cutoff then null else d.cutoff end,
        newest_data = case when s.newest_data < d.cutoff then null else s.newest_data end
    from (select x.user_id, x.provider, x.resource,
                 date_trunc('second', ${now} - (${kept}) * interval '1 day') as cutoff
          from resource_state x where x.team_id = ${team_id} and x.user_id = any (${user_ids}::uuid[])) d
    where s.team_id = ${team_id} and s.user_id = d.user_id and s.provider = d.provider and s.resource = d.resource
      and s.oldest_data < d.cutoff`)
}
