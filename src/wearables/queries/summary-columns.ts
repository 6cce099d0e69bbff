// The columns of summaries as SQL, from the documents that `summary` stores. What no source has said is null.
// Source: users-wearables.md 15.3, 18 no. 12-15.
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Scalar, TableName } from './columns.ts'

type Place = readonly string[]

const typeOf = (place: Place): Sql => sql`jsonb_typeof(s.document #> ${[...place]}::text[])`
const textOf = (place: Place): Sql => sql`(s.document #>> ${[...place]}::text[])`
/** A number; null if the document holds anything else there. */
export const numberAt = (...place: string[]): Sql => sql`case ${typeOf(place)} when 'number' then ${textOf(place)}::float8 end`

const offsetSeconds = sql`coalesce(${numberAt('timezone_offset')}, 0)`

/** @param place where it is in the document */
function readAs(kind: Scalar, place: Place): Sql {
  switch (kind) {
    case 'int':
    case 'double':
      return numberAt(...place)
    case 'bool':
      return sql`case ${typeOf(place)} when 'boolean' then ${textOf(place)}::boolean end`
    case 'date':
      return sql`left(${textOf(place)}, 10)::date`
    case 'time':
      return sql`((${textOf(place)}::timestamptz at time zone 'UTC') + make_interval(secs => ${offsetSeconds}))`
    case 'text':
      return sql`${textOf(place)} collate "C"`
  }
}

const scaledNumber = (factor: number, ...place: string[]): Sql => sql`(${numberAt(...place)} * ${factor}::float8)`

const macro = (names: Record<string, string>, ...group: string[]): Record<string, Place> =>
  Object.fromEntries(Object.entries(names).map(([column, field]) => [column, [...group, field]]))
const sameNames = (suffix: string, names: string, ...group: string[]): Record<string, Place> =>
  macro(Object.fromEntries(names.split(' ').map((name) => [name + suffix, name])), ...group)

/** Where a column is in the document, if its name there is another one. */
const places: Record<string, Record<string, Place>> = {
  sleep: macro({
    session_start: 'bedtime_start',
    session_end: 'bedtime_stop',
    duration_second: 'duration',
    stage_asleep_second: 'total',
    stage_awake_second: 'awake',
    stage_light_second: 'light',
    stage_rem_second: 'rem',
    stage_deep_second: 'deep',
    latency_second: 'latency',
    heart_rate_minimum: 'hr_lowest',
    heart_rate_mean: 'hr_average',
    heart_rate_resting: 'hr_resting',
    heart_rate_dip: 'hr_dip',
    hrv_mean_rmssd: 'average_hrv',
    skin_temperature_delta: 'temperature_delta',
  }),
  activity: {
    ...macro({ distance_meter: 'distance', time_zone_offset: 'timezone_offset' }),
    ...macro(
      {
        heart_rate_mean: 'avg_bpm',
        heart_rate_minimum: 'min_bpm',
        heart_rate_maximum: 'max_bpm',
        heart_rate_resting: 'resting_bpm',
        heart_rate_mean_walking: 'avg_walking_bpm',
      },
      'heart_rate',
    ),
  },
  workout: {
    ...macro({
      session_start: 'time_start',
      session_end: 'time_end',
      heart_rate_mean: 'average_hr',
      heart_rate_maximum: 'max_hr',
      duration_active_second: 'moving_time',
      distance_meter: 'distance',
      elevation_gain_meter: 'total_elevation_gain',
      elevation_maximum_meter: 'elev_high',
      elevation_minimum_meter: 'elev_low',
      speed_mean: 'average_speed',
      speed_maximum: 'max_speed',
      power_source: 'device_watts',
      power_mean: 'average_watts',
      power_maximum: 'max_watts',
      power_weighted_mean: 'weighted_average_watts',
      external_id: 'provider_id',
    }),
    ...macro({ sport_name: 'name', sport_slug: 'slug' }, 'sport'),
    ...macro({ map_polyline: 'polyline', map_summary_polyline: 'summary_polyline' }, 'map'),
  },
  body: macro({ weight_kilogram: 'weight', fat_mass_percentage: 'fat' }),
  profile: macro({ height_centimeter: 'height' }),
  meal: {
    calories: ['energy', 'value'],
    date: ['calendar_date'],
    carbohydrate_gram: ['macros', 'carbs'],
    ...sameNames('_gram', 'protein alcohol water fibre sugar cholesterol', 'macros'),
    ...macro(
      {
        saturated_fat_gram: 'saturated',
        monounsaturated_fat_gram: 'monounsaturated',
        polyunsaturated_fat_gram: 'polyunsaturated',
        omega3_fat_gram: 'omega3',
        omega6_fat_gram: 'omega6',
        total_fat_gram: 'total',
      },
      'macros',
      'fats',
    ),
    ...sameNames('_milligram', 'sodium potassium calcium phosphorus magnesium iron zinc fluoride chloride', 'micros', 'minerals'),
    ...sameNames('_milligram', 'copper manganese', 'micros', 'trace_elements'),
    ...sameNames('_microgram', 'chromium iodine molybdenum selenium', 'micros', 'trace_elements'),
    ...sameNames(
      '_milligram',
      'vitamin_b1 riboflavin niacin pantothenic_acid vitamin_b6 vitamin_c vitamin_e',
      'micros',
      'vitamins',
    ),
    ...sameNames('_microgram', 'biotin vitamin_b12 vitamin_d vitamin_k folic_acid', 'micros', 'vitamins'),
  },
}

const besideDocument = (kind: Scalar, name: string): Sql =>
  kind === 'text'
    ? sql`(s.query_values ->> ${name}::text) collate "C"`
    : sql`case jsonb_typeof(s.query_values -> ${name}::text) when 'number' then (s.query_values ->> ${name}::text)::float8 end`

const fixed: Record<string, Record<string, Sql>> = {
  sleep: { id: sql`s.id::text collate "C"` },
  activity: {
    date: sql`s.calendar_date`,
    // Summaries have minutes.
    intensity_low_second: scaledNumber(60, 'low'),
    intensity_medium_second: scaledNumber(60, 'medium'),
    intensity_high_second: scaledNumber(60, 'high'),
    duration_active_second: sql`coalesce(${scaledNumber(60, 'low')} + ${scaledNumber(60, 'medium')} + ${scaledNumber(60, 'high')},
      ${besideDocument('int', 'duration_active_second')})`,
  },
  body: {
    measured_at: sql`least(greatest(
      coalesce(substring(s.key from '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d')::timestamp, s.calendar_date::timestamp),
      s.calendar_date::timestamp), s.calendar_date::timestamp + interval '23:59:59')`,
  },
  // What the source has sent counts, else what was computed.
  workout: Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((zone) => [
      `heart_rate_zone_${zone}`,
      sql`case ${typeOf(['hr_zones'])} when 'array' then ${numberAt('hr_zones', String(zone - 1))}
        else s.computed_hr_zones[${zone}::integer]::float8 end`,
    ]),
  ),
  // The document has micrograms.
  meal: { vitamin_a_milligram: scaledNumber(0.001, 'micros', 'vitamins', 'vitamin_a') },
  profile: {
    created_at: sql`(s.created_at at time zone 'UTC')`,
    updated_at: sql`(s.updated_at at time zone 'UTC')`,
  },
}

/** Columns that no summary shows: what sources have said of them is stored next to the document. */
const beside = new Set([
  'sleep.stage_unknown_second',
  'sleep.heart_rate_maximum',
  'sleep.hrv_mean_sdnn',
  'sleep.time_zone',
  'activity.intensity_sedentary_second',
  'workout.heart_rate_minimum',
  'workout.time_zone',
  'body.time_zone',
])

/** A column of a summary `s`, as the SQL type of its kind: numbers are `float8`, times local wall time. */
export function summaryColumns(table: TableName, name: string, kind: Scalar): Sql {
  const own = fixed[table]?.[name]
  if (own) return own
  if (beside.has(`${table}.${name}`)) return besideDocument(kind, name)
  return readAs(kind, places[table]?.[name] ?? [name])
}

/** A list of a summary, as `jsonb`; empty if the document has none. */
export const listOf = (name: string): Sql =>
  sql`case ${typeOf([name])} when 'array' then s.document -> ${name}::text else '[]'::jsonb end`

/** A field of an element `e.value` of a list, as the SQL type of its kind. */
export function elementField(kind: Scalar, field: string): Sql {
  const text = field === 'element' ? sql`(e.value #>> '{}')` : sql`(e.value ->> ${field}::text)`
  switch (kind) {
    case 'int':
    case 'double':
      return sql`${text}::float8`
    case 'bool':
      return sql`${text}::boolean`
    case 'date':
      return sql`left(${text}, 10)::date`
    case 'time':
      return sql`(${text}::timestamptz at time zone 'UTC')`
    case 'text':
      return sql`${text} collate "C"`
  }
}
