// Summaries that are stored already, for data that reaches the server by two ways.
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { SummaryKind } from './schema.ts'

const nullableText = Nullable(T.String())
const Recorded = T.Object({
  key: T.String(),
  app_id: nullableText,
  calendar_date: nullableText,
  starts_at: nullableText,
  ends_at: nullableText,
  fields: T.Array(T.String()),
})
/**
 * What a stored summary is known by; `starts_at` and `ends_at` are those of a workout, a night, an electrocardiogram or a meal, `fields` those
 * that a profile or a measurement of the body has.
 */
export type RecordedSummary = Static<typeof Recorded>

const times: Partial<Record<SummaryKind, readonly [start: string, end: string]>> = {
  sleep: ['bedtime_start', 'bedtime_stop'],
  electrocardiogram: ['session_start', 'session_end'],
  meal: ['timestamp', 'timestamp'],
}

/** Kinds whose records may each have a part of what is known. */
const ofFields: readonly SummaryKind[] = ['profile', 'body']

/** A user who moves about all day has some 20 workouts of it. */
const ROWS_MAX = 50_000

/**
 * The summaries of one kind that a user has of a provider on some local days, and those without a day. At most 50,000, with those of the
 * earliest days; without their documents, which may be large.
 */
export const recordedSummaries = (
  tx: Tx,
  { user_id, kind, provider }: { user_id: string; kind: SummaryKind; provider: string },
  days: string[],
): Promise<RecordedSummary[]> => {
  const [start, end] = times[kind] ?? ['time_start', 'time_end']
  return tx.many(
    Recorded,
    sql`
    select key, app_id, calendar_date::text, document ->> ${start}::text as starts_at, document ->> ${end}::text as ends_at,
      case when ${ofFields.includes(kind)}::boolean then array(select jsonb_object_keys(jsonb_strip_nulls(document))) else '{}' end as fields
    from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider}
      and (calendar_date is null or calendar_date = any (${days}::date[]))
    order by calendar_date limit ${ROWS_MAX}`,
  )
}

const Zoned = T.Object({ key: T.String(), zone: T.String() })

/** By key, the time zones that stored records have; those whose zone is not known are missing. */
export async function storedZones(
  tx: Tx,
  { user_id, kind, provider }: { user_id: string; kind: 'sleep' | 'workouts' | 'body' | 'electrocardiogram'; provider: string },
  keys: string[],
): Promise<Map<string, string>> {
  if (!keys.length) return new Map()
  const rows = await tx.many(
    Zoned,
    sql`
    select key, coalesce(query_values ->> 'time_zone', document ->> 'time_zone') as zone from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider} and key = any (${keys}::text[])
      and coalesce(query_values ->> 'time_zone', document ->> 'time_zone') is not null`,
  )
  return new Map(rows.map(({ key, zone }) => [key, zone]))
}
