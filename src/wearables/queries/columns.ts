// The tables that queries read: their columns and types. Only values. Names differ from those of summaries.
// Source: openapi-management.json, *ColumnExpr; users-wearables.md 9, 10, 15.2-15.4. Unsourced: `power_source` is text, and scores are
// integers except strain.
import { intervalTimeseries, pointTimeseries, type Resource } from '../resources/resources.ts'

/** Type of a column. `date` and `time` are in the user's local time. */
export type Scalar = 'int' | 'double' | 'text' | 'bool' | 'date' | 'time'
/** A list in every row, of plain values or of objects with fields. It cannot be selected, only counted and aggregated per row. */
export interface List {
  elements: Scalar | Readonly<Record<string, Scalar>>
}
export type Kind = Scalar | List
export type Columns = Readonly<Record<string, Kind>>

const columnsOfKind = <K extends Kind>(kind: K, names: string): Record<string, K> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, kind]))

const source = columnsOfKind('text', 'source_type source_provider source_app_id source_device_id')

const sleep: Columns = {
  id: 'text',
  ...columnsOfKind('time', 'session_start session_end'),
  ...columnsOfKind('text', 'state type'),
  ...columnsOfKind('int', 'duration_second stage_asleep_second stage_awake_second stage_light_second stage_rem_second'),
  ...columnsOfKind('int', 'stage_deep_second stage_unknown_second latency_second'),
  ...columnsOfKind('int', 'heart_rate_minimum heart_rate_mean heart_rate_maximum'),
  heart_rate_dip: 'double',
  heart_rate_resting: 'int',
  ...columnsOfKind('double', 'efficiency hrv_mean_rmssd hrv_mean_sdnn skin_temperature skin_temperature_delta respiratory_rate'),
  ...columnsOfKind('int', 'score recovery_readiness_score'),
  ...source,
  time_zone: 'text',
}

const activity: Columns = {
  date: 'date',
  ...columnsOfKind('double', 'calories_total calories_active'),
  steps: 'int',
  distance_meter: 'double',
  floors_climbed: 'int',
  ...columnsOfKind('int', 'duration_active_second intensity_sedentary_second intensity_low_second'),
  ...columnsOfKind('int', 'intensity_medium_second intensity_high_second'),
  ...columnsOfKind('double', 'heart_rate_mean heart_rate_minimum heart_rate_maximum heart_rate_resting heart_rate_mean_walking'),
  wheelchair_use: 'bool',
  wheelchair_push: 'int',
  ...source,
  time_zone: 'text',
  time_zone_offset: 'int',
}

const workout: Columns = {
  ...columnsOfKind('time', 'session_start session_end'),
  ...columnsOfKind('text', 'title sport_name sport_slug'),
  ...columnsOfKind('int', 'duration_active_second heart_rate_mean heart_rate_minimum heart_rate_maximum'),
  ...columnsOfKind(
    'int',
    'heart_rate_zone_1 heart_rate_zone_2 heart_rate_zone_3 heart_rate_zone_4 heart_rate_zone_5 heart_rate_zone_6',
  ),
  ...columnsOfKind('double', 'distance_meter calories elevation_gain_meter elevation_maximum_meter elevation_minimum_meter'),
  ...columnsOfKind('double', 'speed_mean speed_maximum'),
  power_source: 'text',
  ...columnsOfKind('double', 'power_mean power_maximum power_weighted_mean'),
  steps: 'int',
  ...columnsOfKind('text', 'map_polyline map_summary_polyline'),
  ...source,
  ...columnsOfKind('text', 'external_id time_zone'),
}

const body: Columns = {
  measured_at: 'time',
  ...columnsOfKind('double', 'weight_kilogram fat_mass_percentage water_percentage muscle_mass_percentage visceral_fat_index'),
  ...columnsOfKind('double', 'bone_mass_percentage body_mass_index lean_body_mass_kilogram waist_circumference_centimeter'),
  ...source,
  time_zone: 'text',
}

const meal: Columns = {
  calories: 'double',
  ...columnsOfKind('double', 'carbohydrate_gram protein_gram alcohol_gram water_gram fibre_gram sugar_gram cholesterol_gram'),
  ...columnsOfKind(
    'double',
    'saturated_fat_gram monounsaturated_fat_gram polyunsaturated_fat_gram omega3_fat_gram omega6_fat_gram',
  ),
  ...columnsOfKind('double', 'total_fat_gram sodium_milligram potassium_milligram calcium_milligram phosphorus_milligram'),
  ...columnsOfKind('double', 'magnesium_milligram iron_milligram zinc_milligram fluoride_milligram chloride_milligram'),
  ...columnsOfKind('double', 'vitamin_a_milligram vitamin_b1_milligram riboflavin_milligram niacin_milligram'),
  ...columnsOfKind('double', 'pantothenic_acid_milligram vitamin_b6_milligram biotin_microgram vitamin_b12_microgram'),
  ...columnsOfKind(
    'double',
    'vitamin_c_milligram vitamin_d_microgram vitamin_e_milligram vitamin_k_microgram folic_acid_microgram',
  ),
  ...columnsOfKind('double', 'chromium_microgram copper_milligram iodine_microgram manganese_milligram molybdenum_microgram'),
  selenium_microgram: 'double',
  date: 'date',
  name: 'text',
  ...source,
}

const withDates = (columns: Record<string, Scalar> = {}): List => ({ elements: { date: 'date', ...columns } })

const menstrual_cycle: Columns = {
  ...columnsOfKind('date', 'period_start period_end cycle_end'),
  is_predicted: 'bool',
  menstrual_flow: withDates({ flow: 'text' }),
  cervical_mucus: withDates({ quality: 'text' }),
  intermenstrual_bleeding: withDates(),
  contraceptive: withDates({ type: 'text' }),
  detected_deviations: withDates({ deviation: 'text' }),
  ovulation_test: withDates({ test_result: 'text' }),
  home_pregnancy_test: withDates({ test_result: 'text' }),
  home_progesterone_test: withDates({ test_result: 'text' }),
  sexual_activity: withDates({ protection_used: 'bool' }),
  basal_body_temperature: withDates({ value: 'double' }),
  ...source,
}

const profile: Columns = {
  height_centimeter: 'int',
  birth_date: 'date',
  wheelchair_use: 'bool',
  ...columnsOfKind('text', 'gender sex'),
  ...source,
  ...columnsOfKind('time', 'created_at updated_at'),
}

const derived_readiness: Columns = {
  date: 'date',
  chronotype: 'text',
  ...columnsOfKind('int', 'sleep_score recovery_score'),
  recovery_zone: 'text',
  stress_score: 'int',
  strain_score: 'double',
  strain_zone: 'text',
}

export const tables = { sleep, derived_readiness, activity, workout, body, meal, menstrual_cycle, profile } as const
export type TableName = keyof typeof tables
export const tableNames = Object.keys(tables) as TableName[]

/** The resources of each table; a change of one of them is a reason to run a query again. */
export const dependencies: Readonly<Record<TableName, readonly Resource[]>> = {
  sleep: ['sleep'],
  derived_readiness: ['sleep'],
  activity: ['activity'],
  workout: ['workouts'],
  body: ['body'],
  meal: ['meal'],
  menstrual_cycle: ['menstrual_cycle'],
  profile: ['profile'],
}

/** Values that are computed from a sleep session. The last two require the sleep stages. */
export const macros: Readonly<Record<string, { kind: Scalar; dependencies: readonly Resource[] }>> = {
  sleep_score: { kind: 'int', dependencies: ['sleep'] },
  chronotype: { kind: 'text', dependencies: ['sleep'] },
  asleep_at: { kind: 'time', dependencies: ['sleep'] },
  awake_at: { kind: 'time', dependencies: ['sleep', 'sleep_cycle'] },
  awakenings: { kind: 'int', dependencies: ['sleep', 'sleep_cycle'] },
}

/** Source of a row; the last two exist only for single samples. */
export const sourceColumns = {
  ...columnsOfKind('text', 'source_provider source_type source_app_id source_workout_id source_sport'),
}
export const sampleSources: ReadonlySet<string> = new Set(['source_workout_id', 'source_sport'])

const sampleColumns: Columns = { ...sourceColumns, timezone_offset: 'int', type: 'text' }
const intervalColumns: Columns = { ...sampleColumns, duration: 'int', value: 'double' }

/** Timeseries by the fields of their samples. */
export const sampleGroups: readonly { title: string; resources: readonly Resource[]; fields: Columns }[] = [
  { title: 'DiscreteTimeseriesExpr', resources: pointTimeseries, fields: { ...sampleColumns, value: 'double' } },
  { title: 'IntervalTimeseriesExpr', resources: intervalTimeseries, fields: intervalColumns },
  {
    title: 'InsulinInjectionTimeseriesExpr',
    resources: ['insulin_injection'],
    fields: { ...intervalColumns, ...columnsOfKind('text', 'delivery_mode delivery_form bolus_purpose') },
  },
  {
    title: 'BloodPressureTimeseriesExpr',
    resources: ['blood_pressure'],
    fields: { ...sampleColumns, ...columnsOfKind('double', 'systolic diastolic') },
  },
  {
    title: 'TemperatureTimeseriesExpr',
    resources: ['body_temperature', 'body_temperature_delta'],
    fields: { ...intervalColumns, sensor_location: 'text' },
  },
  {
    title: 'WorkoutDurationTimeseriesExpr',
    resources: ['workout_duration'],
    fields: { ...intervalColumns, intensity: 'text' },
  },
  {
    title: 'NoteTimeseriesExpr',
    resources: ['note'],
    fields: { ...sampleColumns, tags: { elements: 'text' }, content: 'text' },
  },
]

const sampleFields = new Map(sampleGroups.flatMap((group) => group.resources.map((name) => [name as string, group.fields])))

/** Returns the fields of a timeseries' samples; undefined for an unknown timeseries. */
export const fieldsOf = (resource: string): Columns | undefined => sampleFields.get(resource)
