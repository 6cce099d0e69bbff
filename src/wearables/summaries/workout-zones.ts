// Zones of heart rate that the server computes for workouts whose source sends none. Source: users-wearables.md 8.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { summaryRowColumns, SummaryRow, toSummary, type Summary } from './summaries.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** No zones are computed for longer workouts, whose times are errors. */
const DAYS_MAX = 8
/** Workouts of which zones are computed at once. */
const WORKOUTS_MAX = 1000

const Row = T.Object({
  key: T.String(),
  source_type: T.String(),
  app_id: Nullable(T.String()),
  device_id: Nullable(T.String()),
  calendar_date: Nullable(T.String()),
  starts_at: Nullable(T.String()),
  ends_at: Nullable(T.String()),
})

export interface WorkoutSpan {
  key: string
  source_type: string
  app_id: string | null
  device_id: string | null
  /** The local day. */
  calendar_date: string
  from_ms: number
  to_ms: number
}

/** The source has sent no zones. */
const hasNoZones = sql`jsonb_typeof(document -> 'hr_zones') is distinct from 'array'`

/**
 * The workouts of a provider whose source has sent no zones: those with some keys, or those around a range of instants, of which some may
 * lie outside of it. At most the newest 1,000; none that lasts more than 8 days.
 */
export async function workoutsWithoutZones(
  tx: Tx,
  user_id: string,
  provider: string,
  selection: { keys: string[] } | { from_ms: number; to_ms: number },
): Promise<WorkoutSpan[]> {
  const day = (ms: number, days: number) => new Date(ms + days * DAY_MS).toISOString().slice(0, 10)
  const condition: Sql =
    'keys' in selection
      ? sql`key = any (${selection.keys}::text[])`
      : sql`calendar_date between ${day(selection.from_ms, -DAYS_MAX - 1)}::date and ${day(selection.to_ms, 1)}::date`
  const rows = await tx.many(
    Row,
    sql`
    select key, source_type, app_id, device_id, calendar_date::text, document ->> 'time_start' as starts_at, document ->> 'time_end' as ends_at
    from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = 'workouts' and provider = ${provider} and ${condition} and ${hasNoZones}
    order by calendar_date desc, key limit ${WORKOUTS_MAX}`,
  )
  return rows.flatMap(({ calendar_date, starts_at, ends_at, ...source }) => {
    const [from_ms, to_ms] = [Date.parse(starts_at ?? ''), Date.parse(ends_at ?? '')]
    const isMeant = to_ms > from_ms && to_ms - from_ms <= DAYS_MAX * DAY_MS
    return calendar_date !== null && isMeant ? [{ ...source, calendar_date, from_ms, to_ms }] : []
  })
}

/** The place of a workout in the list of a user's workouts by day. */
export const WorkoutPosition = T.Object({ calendar_date: T.String(), provider: T.String(), key: T.String() })

/** The newest workouts of a user whose source has sent no zones, of all providers, before a place in their list. */
export const workoutsBefore = (
  tx: Tx,
  user_id: string,
  position: Static<typeof WorkoutPosition> | null,
  count: number,
): Promise<Static<typeof WorkoutPosition>[]> =>
  tx.many(
    WorkoutPosition,
    sql`
    select calendar_date::text, provider, key from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = 'workouts' and calendar_date is not null and ${hasNoZones}
      and ${position === null ? sql`true` : sql`(calendar_date, provider, key) < (${position.calendar_date}::date, ${position.provider}, ${position.key})`}
    order by summary.calendar_date desc, provider desc, key desc limit ${count}`,
  )

const Written = T.Object({ ...SummaryRow.properties, key: T.String() })

/**
 * Writes computed zones of workouts of a user; null: nothing is known. Writes summary.
 * @returns the workouts that are shown with other zones than before, by `key`
 */
export async function writeZones(
  tx: Tx,
  user_id: string,
  provider: string,
  zones: { key: string; zones: number[] | null }[],
): Promise<Map<string, Summary>> {
  const rows = await tx.locking.many(
    Written,
    sql`
    update summary
    set computed_hr_zones = g.zones, updated_at = ${tx.now}
    from (select key as of, case when jsonb_typeof(zones) = 'array' then array(select jsonb_array_elements_text(zones)::integer) end as zones
          from jsonb_to_recordset(${JSON.stringify(zones)}::jsonb) as j (key text, zones jsonb)) g
    where team_id = ${tx.team} and user_id = ${user_id} and kind = 'workouts' and provider = ${provider} and key = g.of and ${hasNoZones}
      and computed_hr_zones is distinct from g.zones
    returning ${summaryRowColumns}, key`,
  )
  return new Map(rows.map((row) => [row.key, toSummary(tx, 'workouts', user_id, row)]))
}

const BirthDate = T.Object({ birth_date: Nullable(T.String()) })

/** The birth date in the newest profile of a user that has one; null without one. */
export const birthDateInProfile = async (tx: Tx, user_id: string): Promise<string | null> =>
  (
    await tx.maybe(
      BirthDate,
      sql`
      select document ->> 'birth_date' as birth_date from summary
      where team_id = ${tx.team} and user_id = ${user_id} and kind = 'profile' and document ->> 'birth_date' is not null
      order by updated_at desc, id desc limit 1`,
    )
  )?.birth_date ?? null
