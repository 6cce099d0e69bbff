// What was asked for at clouds of vendors, by user, provider and resource, so that only gaps are asked for; and when a connection was last
// notified and polled. Owns the tables provider_pull and provider_watermark. Source: users-wearables.md 5, 13.
import { eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { UserProvider } from '../grants/grants.ts'

export interface ResourceKey extends UserProvider {
  resource: string
}

/** Half-open: [from, to). */
export interface TimeRange {
  from_ms: number
  to_ms: number
}

const toTimestamp = (ms: number) => new Date(ms).toISOString()
const RangeRow = T.Object({ from_ms: T.Integer(), to_ms: T.Integer() })

/** The parts of a range that were not asked for yet, newest first. */
export const findGaps = (
  tx: Tx,
  { user_id, provider, resource }: ResourceKey,
  { from_ms, to_ms }: TimeRange,
): Promise<TimeRange[]> =>
  from_ms >= to_ms
    ? Promise.resolve([])
    : tx.many(
        RangeRow,
        sql`
        select (extract(epoch from lower(gap)) * 1000)::bigint as from_ms, (extract(epoch from upper(gap)) * 1000)::bigint as to_ms
        from unnest(
          tstzmultirange(tstzrange(${toTimestamp(from_ms)}, ${toTimestamp(to_ms)}))
          - coalesce((
              select covered from provider_pull
              where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and resource = ${resource}), '{}')) gap
        order by 1 desc`,
      )

export interface PullOutcome {
  result: 'data' | 'empty' | 'failed'
  error?: string | null
  /** What was asked for and stored. */
  covered?: TimeRange | undefined
  /** The refresh that is done with it. */
  refresh_id?: string | undefined
}

/** Records the outcome of asking for a resource. Writes provider_pull. */
export function recordPullOutcome(tx: Tx, { user_id, provider, resource }: ResourceKey, outcome: PullOutcome): Promise<number> {
  const { result, error = null, covered, refresh_id = null } = outcome
  const range =
    covered && covered.from_ms < covered.to_ms
      ? sql`tstzmultirange(tstzrange(${toTimestamp(covered.from_ms)}, ${toTimestamp(covered.to_ms)}))`
      : sql`'{}'::tstzmultirange`
  return tx.run(sql`
    insert into provider_pull as p (team_id, user_id, provider, resource, covered, asked_at, result, error, refresh_id)
    values (${tx.team}, ${user_id}, ${provider}, ${resource}, ${range}, ${tx.now}, ${result}, ${error}, ${refresh_id})
    on conflict (team_id, user_id, provider, resource) do update
    set covered = p.covered + excluded.covered, asked_at = excluded.asked_at, result = excluded.result, error = excluded.error,
        refresh_id = coalesce(excluded.refresh_id, p.refresh_id)`)
}

const PullRow = T.Object({
  resource: T.String(),
  asked_at: Nullable(T.String()),
  result: Nullable(T.String()),
  error: Nullable(T.String()),
  refresh_id: Nullable(T.String()),
  /** Until when everything that was asked for is known; null: nothing was. */
  until_ms: Nullable(T.Integer()),
})
export type ResourcePull = Static<typeof PullRow>

/** What was asked for of a user at a provider. */
export const listPulls = (tx: Tx, { user_id, provider }: UserProvider): Promise<ResourcePull[]> =>
  tx.many(
    PullRow,
    sql`
    select resource, asked_at, result, error, refresh_id, (extract(epoch from upper(covered)) * 1000)::bigint as until_ms
    from provider_pull where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} order by resource`,
  )

const AttemptRow = T.Object({
  user_id: T.String(),
  provider: T.String(),
  resource: T.String(),
  asked_at: T.String(),
  result: T.String(),
})
export type Attempt = Static<typeof AttemptRow>

/** When the clouds of users were last asked for each resource, in whole seconds, and what came of it: `data`, `empty` or `failed`. */
export const listAttempts = (tx: Tx, user_ids: string[], provider: string | undefined): Promise<Attempt[]> =>
  tx.many(
    AttemptRow,
    sql`
    select user_id, provider, resource, date_trunc('second', asked_at) as asked_at, result from provider_pull
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and provider = coalesce(${provider ?? null}, provider)
      and asked_at is not null
    order by user_id, provider, resource`,
  )

/** Records that a verified notification has led to data that is new or has changed. Writes provider_watermark. */
export const recordNotified = (tx: Tx, { user_id, provider }: UserProvider): Promise<number> =>
  tx.run(sql`
    insert into provider_watermark (team_id, user_id, provider, notified_at)
    values (${tx.team}, ${user_id}, ${provider}, ${tx.now})
    on conflict (team_id, user_id, provider) do update set notified_at = excluded.notified_at`)

/** Records that a connection was polled. Writes provider_watermark. */
export const recordPolled = (tx: Tx, { user_id, provider }: UserProvider): Promise<number> =>
  tx.run(sql`
    insert into provider_watermark (team_id, user_id, provider, polled_at)
    values (${tx.team}, ${user_id}, ${provider}, ${tx.now})
    on conflict (team_id, user_id, provider) do update set polled_at = excluded.polled_at`)

const Watermark = T.Object({ notified_at: Nullable(T.String()), polled_at: Nullable(T.String()) })

/** When a connection was last notified and polled. */
export const getWatermark = async (tx: Tx, { user_id, provider }: UserProvider): Promise<Static<typeof Watermark>> =>
  (await tx.maybe(
    Watermark,
    sql`
    select notified_at, polled_at from provider_watermark
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider}`,
  )) ?? { notified_at: null, polled_at: null }

const Mark = T.Object({ provider: T.String(), ...Watermark.properties })

/** When the connections of a user were last notified and polled, in whole seconds. */
export const listWatermarks = (tx: Tx, user_id: string): Promise<Static<typeof Mark>[]> =>
  tx.many(
    Mark,
    sql`
    select provider, date_trunc('second', notified_at) as notified_at, date_trunc('second', polled_at) as polled_at
    from provider_watermark where team_id = ${tx.team} and user_id = ${user_id} order by provider`,
  )

/** Forgets what was asked for: another account of the vendor has other data. Writes provider_pull, provider_watermark. */
export const forgetPulls = eraseTablesOfUser('provider_pull', 'provider_watermark')
