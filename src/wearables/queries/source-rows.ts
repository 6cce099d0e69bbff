// Where the rows of a query come from: for each table and timeseries the rows of a user as SQL, with their columns, their place in
// floating time and their source. What comes from outside is only ever a bound value. Source: users-wearables.md 15.2-15.4, 18 no. 12-15.
import { sql, type Sql } from '../../platform/db/sql.ts'
import { detailsOf } from '../resources/sample-details.ts'
import { isTimeseries, resourceNameOf, timeseriesNames } from '../resources/timeseries.ts'
import { fieldsOf, sourceColumns, tables, type Columns, type Kind, type TableName } from './columns.ts'
import { derivedReadiness, readinessRows } from './readiness.ts'
import { awakenings, chronotype, sleepScore } from './sleep-values.ts'
import { summaryColumns, listOf } from './summary-columns.ts'
import { floatingText } from './buckets.ts'
import { daysAround, LATEST_MS, type Owner, type Span } from './timeframe.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** The rows of one table or timeseries of a user. */
export interface SourceRows {
  /** The rows, after `from`. */
  from: Sql
  condition: Sql
  /** `timestamp`: local wall time of the index. */
  at: Sql
  /** `timestamptz`: orders rows; the wall time repeats when clocks are turned back. */
  instant: Sql
  provider: Sql
  source_type: Sql
  /** The value of a column; a list is `jsonb`. */
  column(name: string): { value: Sql; kind: Kind }
  /** What the priorities of providers are about; null: there are none. */
  priorities: 'sleep' | 'activity' | 'workouts' | 'body' | 'timeseries' | null
}

const utc = (instant: Sql): Sql => sql`(${instant} at time zone 'UTC')`

const kinds: Record<Exclude<TableName, 'derived_readiness'>, string> = {
  sleep: 'sleep',
  activity: 'activity',
  workout: 'workouts',
  body: 'body',
  meal: 'meal',
  menstrual_cycle: 'menstrual_cycle',
  profile: 'profile',
}

const instantOf = (field: string): Sql => sql`(s.document ->> ${field}::text)::timestamptz`
const offsetSeconds = sql`coalesce(case jsonb_typeof(s.document -> 'timezone_offset') when 'number' then (s.document ->> 'timezone_offset')::float8 end, 0)`
const localTime = (instant: Sql): Sql => sql`(${utc(instant)} + make_interval(secs => ${offsetSeconds}))`
/** For rows without an offset, whose local day is known: the UTC time, moved into that day. */
const withinDay = (instant: Sql): Sql =>
  sql`least(greatest(${utc(instant)}, s.calendar_date::timestamp), s.calendar_date::timestamp + interval '23:59:59')`
const day = sql`s.calendar_date::timestamp`

/** A measurement of a phone is known by its instant; others only by their day. */
const measuredAt = sql`coalesce(substring(s.key from '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d')::timestamp at time zone 'UTC', ${day} at time zone 'UTC')`

const indexes: Record<keyof typeof kinds, { instant: Sql; at: Sql }> = {
  sleep: { instant: instantOf('bedtime_stop'), at: localTime(instantOf('bedtime_stop')) },
  activity: { instant: sql`(${day} at time zone 'UTC')`, at: day },
  workout: { instant: instantOf('time_start'), at: localTime(instantOf('time_start')) },
  body: { instant: measuredAt, at: withinDay(measuredAt) },
  meal: { instant: instantOf('timestamp'), at: withinDay(instantOf('timestamp')) },
  menstrual_cycle: { instant: sql`(${day} at time zone 'UTC')`, at: day },
  profile: { instant: sql`s.updated_at`, at: utc(sql`s.updated_at`) },
}

const dataTypes: Partial<Record<keyof typeof kinds, SourceRows['priorities']>> = {
  sleep: 'sleep',
  activity: 'activity',
  workout: 'workouts',
  body: 'body',
}

const summarySource: Record<string, Sql> = {
  source_provider: sql`s.provider collate "C"`,
  source_type: sql`s.source_type collate "C"`,
  source_app_id: sql`s.app_id collate "C"`,
  source_device_id: sql`s.device_id::text collate "C"`,
  source_workout_id: sql`null::text`,
  source_sport: sql`null::text`,
}

function summaryRows(table: keyof typeof kinds, { team, user_id }: Owner, span: Span): SourceRows {
  const columns: Columns = { ...sourceColumns, ...tables[table] }
  return {
    from: sql`summary s`,
    condition: sql`s.team_id = ${team} and s.user_id = ${user_id} and s.kind = ${kinds[table]} and ${
      table === 'profile' ? sql`true` : daysAround(span)
    }`,
    ...indexes[table],
    provider: sql`s.provider`,
    source_type: sql`s.source_type`,
    priorities: dataTypes[table] ?? null,
    column(name) {
      const kind = columns[name]!
      return { kind, value: summarySource[name] ?? (typeof kind === 'object' ? listOf(name) : summaryColumns(table, name, kind)) }
    },
  }
}

/** The values that are computed of a night. */
export const macroValue = (name: string, { team, user_id }: Owner): { value: Sql; kind: Kind } => {
  switch (name) {
    case 'sleep_score':
      return { value: sleepScore, kind: 'int' }
    case 'chronotype':
      return { value: chronotype, kind: 'text' }
    case 'asleep_at':
      return {
        kind: 'time',
        value: sql`${localTime(instantOf('bedtime_start'))} + make_interval(secs => (s.document ->> 'latency')::float8)`,
      }
    default:
      return awakenings(name === 'awake_at' ? 'awake_at' : 'awakenings', team, user_id)
  }
}

/** The names under which samples are stored: queries call some timeseries by the names of their events. */
const storedNames = (resource: string): string[] => timeseriesNames.filter((name) => resourceNameOf(name) === resource)

const sampleColumns: Record<string, Sql> = {
  value: sql`u.value`,
  systolic: sql`u.value`,
  diastolic: sql`u.second`,
  duration: sql`u.length / 1000.0::float8`,
  timezone_offset: sql`u.zone::float8`,
  type: sql`u.type collate "C"`,
  source_provider: sql`s.provider collate "C"`,
  source_type: sql`s.source_type collate "C"`,
  source_app_id: sql`s.app_id collate "C"`,
  source_workout_id: sql`s.workout_id::text collate "C"`,
  source_sport: sql`s.sport collate "C"`,
}

/** The type and the details of samples that are stored with these in one text. */
function detailColumns(resource: string): Record<string, Sql> {
  const names = isTimeseries(resource) ? detailsOf(resource) : []
  if (!names.length) return {}
  const place = (i: number) => sql`case when u.type like '[%' then u.type::jsonb ->> ${i}::integer end`
  const texts = Object.fromEntries(names.map((name, i) => [name, sql`(${place(i + 1)}) collate "C"`]))
  const tags = sql`case when u.type like '[%' and jsonb_typeof(u.type::jsonb -> 2) = 'array' then u.type::jsonb -> 2 else '[]'::jsonb end`
  return {
    ...texts,
    ...(names.includes('tags') && { tags }),
    type: sql`(case when u.type like '[%' then u.type::jsonb ->> 0 else u.type end) collate "C"`,
  }
}

/** The hours that a span touches, in any zone. */
const hoursAround = ({ from_ms, to_ms }: Span): Sql =>
  sql`c.hour >= ${floatingText(from_ms - DAY_MS)}::timestamp at time zone 'UTC' and c.hour <= ${floatingText(
    Math.min(to_ms + DAY_MS, LATEST_MS),
  )}::timestamp at time zone 'UTC'`

/** The chunks of a timeseries, after `from`. */
export const chunksDuring = (resource: string, { team, user_id }: Owner, span: Span): Sql => sql`
  series s join chunk c on c.team_id = s.team_id and c.user_id = s.user_id and c.series_id = s.id
  where s.team_id = ${team} and s.user_id = ${user_id} and s.resource = any (${storedNames(resource)}::text[]) and ${hoursAround(span)}`

function sampleRows(resource: string, owner: Owner, span: Span): SourceRows {
  const { team, user_id } = owner
  const fields = fieldsOf(resource)!
  const columns: Record<string, Sql> = { ...sampleColumns, ...detailColumns(resource) }
  return {
    from: sql`
      series s join chunk c on c.team_id = s.team_id and c.user_id = s.user_id and c.series_id = s.id
      cross join lateral unnest(c.at, c.values, c.seconds, c.lengths, c.zones, c.types) as u (at, value, second, length, zone, type)`,
    condition: sql`s.team_id = ${team} and s.user_id = ${user_id} and s.resource = any (${storedNames(resource)}::text[])
      and ${hoursAround(span)}`,
    at: sql`(${utc(sql`c.hour`)} + make_interval(secs => u.at / 1000.0::float8 + coalesce(u.zone, 0)))`,
    instant: sql`(c.hour + make_interval(secs => u.at / 1000.0::float8))`,
    provider: sql`s.provider`,
    source_type: sql`s.source_type`,
    priorities: 'timeseries',
    column(name) {
      const kind = fields[name] ?? sourceColumns[name]!
      return { kind, value: columns[name] ?? (typeof kind === 'object' ? sql`'[]'::jsonb` : sql`null::text`) }
    },
  }
}

/** The rows of a table, or of a timeseries by its name among resources. */
export function sourceRows(table: TableName | { timeseries: string }, owner: Owner, span: Span): SourceRows {
  if (typeof table === 'object') return sampleRows(table.timeseries, owner, span)
  if (table !== 'derived_readiness') return summaryRows(table, owner, span)
  return {
    from: readinessRows(owner, span),
    condition: sql`true`,
    at: sql`s.calendar_date::timestamp`,
    instant: sql`(s.calendar_date::timestamp at time zone 'UTC')`,
    provider: sql`s.provider`,
    source_type: sql`s.source_type`,
    priorities: 'sleep',
    column: (name) => ({
      kind: (tables.derived_readiness as Columns)[name] ?? sourceColumns[name]!,
      value: summarySource[name] ?? derivedReadiness(name),
    }),
  }
}
