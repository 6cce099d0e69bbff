// How far the history of each resource of a user has been received. Owns the table historical_pull. Source: users-wearables.md 5, 13;
// events.md 4.11.
import { eraseTablesOfUser } from '../../platform/db/erasure.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'

interface PullKey {
  user_id: string
  provider: string
  resource: string
}

/** Why a history could not be asked for. The first four are tried again for a while. Source: users-wearables.md 5. */
export const pullErrors = [
  'provider_rate_limit_exceeded',
  'provider_unavailable',
  'transport_failure',
  'resource_contention',
  'non_retriable_error',
  'unexpected_error',
  'retry_quota_exhausted',
] as const
export type PullError = (typeof pullErrors)[number]

export interface HistoryRange {
  from_ms: number
  to_ms: number
  /** The client says that this is the range of the whole history; else it is what one post has. */
  is_whole: boolean
  /** The post has neither a range nor data: it says only that the history ends. */
  is_empty?: boolean
}

const instant = (ms: number) => new Date(ms).toISOString()

/**
 * A post of a history that is complete changes nothing if its range lies within the recorded one, since posts are repeated; else another
 * history begins.
 */
const write = (
  tx: Tx,
  key: PullKey,
  { from_ms, to_ms, is_whole, is_empty = false }: HistoryRange,
  ended_at: Date | null,
): Sql => sql`
  insert into historical_pull as h (team_id, user_id, provider, resource, range_start, range_end, started_at, ended_at)
  values (${tx.team}, ${key.user_id}, ${key.provider}, ${key.resource}, ${instant(from_ms)}, ${instant(to_ms)}, ${tx.now}, ${ended_at})
  on conflict (team_id, user_id, provider, resource) do update
  set range_start = case when h.ended_at is null and not ${is_whole}::boolean then least(h.range_start, excluded.range_start)
                         else excluded.range_start end,
      range_end = case when h.ended_at is null and not ${is_whole}::boolean then greatest(h.range_end, excluded.range_end)
                       else excluded.range_end end,
      started_at = case when h.ended_at is null then coalesce(h.started_at, excluded.started_at) else excluded.started_at end,
      ended_at = excluded.ended_at, days_with_data = 0, error = null
  where h.ended_at is null or h.error is not null
    or not ${is_empty}::boolean and (excluded.range_start < h.range_start or excluded.range_end > h.range_end)`

/** Records that a part of a history was received, and that more will follow. Writes historical_pull. */
export const startPull = (tx: Tx, key: PullKey, range: HistoryRange): Promise<number> => tx.run(write(tx, key, range, null))

/** Records that a history will be asked for. Writes historical_pull. */
export const schedulePull = (
  tx: Tx,
  key: PullKey,
  { from_ms, to_ms }: Pick<HistoryRange, 'from_ms' | 'to_ms'>,
): Promise<number> =>
  tx.run(sql`
    insert into historical_pull (team_id, user_id, provider, resource, range_start, range_end, scheduled_at)
    values (${tx.team}, ${key.user_id}, ${key.provider}, ${key.resource}, ${instant(from_ms)}, ${instant(to_ms)}, ${tx.now})
    on conflict (team_id, user_id, provider, resource) do update
    set range_start = excluded.range_start, range_end = excluded.range_end, scheduled_at = excluded.scheduled_at, started_at = null,
        ended_at = null, days_with_data = 0, error = null`)

/** Records that asking for a history has begun. Writes historical_pull. */
export const beginPull = (tx: Tx, { user_id, provider, resource }: PullKey): Promise<number> =>
  tx.run(sql`
    update historical_pull set started_at = coalesce(started_at, ${tx.now})
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and resource = ${resource} and ended_at is null`)

/** Records why asking for a history has failed: it is tried again, or not. Writes historical_pull. */
export const failPull = (tx: Tx, { user_id, provider, resource }: PullKey, error: PullError, isFinal: boolean): Promise<number> =>
  tx.run(sql`
    update historical_pull set error = ${error}, ended_at = ${isFinal ? tx.now : null}
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and resource = ${resource} and ended_at is null`)

const Range = T.Object({ range_start: T.String(), range_end: T.String() })

/**
 * Records that a history is complete. Writes historical_pull.
 * @returns the range of the history, or undefined if it was complete before
 */
export async function finishPull(
  tx: Tx,
  key: PullKey,
  range: HistoryRange,
): Promise<Pick<HistoryRange, 'from_ms' | 'to_ms'> | undefined> {
  const finished = await tx.maybe(Range, sql`${write(tx, key, range, tx.now)} returning range_start, range_end`)
  if (!finished) return undefined
  await countDays(tx, key)
  return { from_ms: Date.parse(finished.range_start), to_ms: Date.parse(finished.range_end) }
}

/** Counts the days, in UTC, that have data of the history. Writes historical_pull. */
const countDays = (tx: Tx, { user_id, provider, resource }: PullKey): Promise<number> =>
  tx.run(sql`
    update historical_pull h
    set days_with_data = (
      select count(distinct (c.hour at time zone 'UTC')::date)
      from series s
      join chunk c on c.team_id = s.team_id and c.user_id = s.user_id and c.series_id = s.id
      where s.team_id = ${tx.team} and s.user_id = ${user_id} and s.resource = ${resource} and s.provider = ${provider}
        and c.hour > h.range_start - interval '1 hour' and c.hour <= h.range_end)
      + (
      select count(distinct s.calendar_date) from summary s
      where s.team_id = ${tx.team} and s.user_id = ${user_id} and s.kind = ${resource} and s.provider = ${provider}
        and s.calendar_date between (h.range_start at time zone 'UTC')::date and (h.range_end at time zone 'UTC')::date)
    where h.team_id = ${tx.team} and h.user_id = ${user_id} and h.provider = ${provider} and h.resource = ${resource}`)

const PullRow = T.Object({
  user_id: T.String(),
  provider: T.String(),
  resource: T.String(),
  range_start: T.String(),
  range_end: T.String(),
  started_at: Nullable(T.String()),
  ended_at: Nullable(T.String()),
  scheduled_at: Nullable(T.String()),
  error: Nullable(T.String()),
  days_with_data: T.Integer(),
})
export type HistoricalPull = Static<typeof PullRow>

/** The histories of users, in whole seconds: the strictest reader of published clients fails on fractions. */
export const historicalPulls = (tx: Tx, user_ids: string[], provider: string | undefined): Promise<HistoricalPull[]> =>
  tx.many(
    PullRow,
    sql`
    select user_id, provider, resource, date_trunc('second', range_start) as range_start,
           date_trunc('second', range_end) as range_end, started_at, ended_at, scheduled_at, error, days_with_data
    from historical_pull
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = coalesce(${provider ?? null}, provider)
    order by user_id, provider, resource`,
  )

const Begun = T.Object({ resource: T.String() })

/** Which of these resources have a history that has begun and is not complete. */
export async function pullsInProgress(
  tx: Tx,
  { user_id, provider }: Omit<PullKey, 'resource'>,
  resources: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.many(
    Begun,
    sql`
    select resource from historical_pull
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and resource = any (${[...resources]}::text[])
      and ended_at is null`,
  )
  return new Set(rows.map(({ resource }) => resource))
}

/** The resources whose history was scheduled after an instant and is not complete. */
export async function historiesSince(
  tx: Tx,
  { user_id, provider }: Omit<PullKey, 'resource'>,
  instant: Date,
): Promise<Set<string>> {
  const rows = await tx.many(
    Begun,
    sql`
    select resource from historical_pull
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and ended_at is null and scheduled_at > ${instant}`,
  )
  return new Set(rows.map(({ resource }) => resource))
}

const Asked = T.Object({ user_id: T.String() })

/** Which of these users have a history at a provider that is not complete and has not failed permanently. */
export async function usersWithPulls(tx: Tx, user_ids: string[], provider: string): Promise<string[]> {
  const rows = await tx.many(
    Asked,
    sql`
    select distinct user_id from historical_pull
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = ${provider} and ended_at is null`,
  )
  return rows.map(({ user_id }) => user_id)
}

/** Forgets which histories of a connection were received. Writes historical_pull. */
export const forgetHistory = eraseTablesOfUser('historical_pull')
