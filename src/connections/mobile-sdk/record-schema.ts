// What phones send of meals, menstrual cycles and electrocardiograms. Source: users-wearables.md 16.5, 16.6.
import { DateOnly, Fields, Maybe, OpenEnum, T, Text, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { cycleLists, type CycleList } from '../../wearables/summaries/cycle-lists.ts'
import { healthConnectNutrients, healthKitNutrients } from '../../wearables/summaries/nutrients.ts'
import { envelope, Quantity, SAMPLES_MAX } from './schema.ts'
import { optionalNumber, optionalText, RECORDS_MAX, SENT_SAMPLES_MAX } from './summary-schema.ts'

/** Entries of one kind in a cycle, which has one a day. */
const ENTRIES_MAX = 400
/** Voltages of one electrocardiogram: a recording of 30 seconds has 15,360. */
const VOLTAGES_MAX = SAMPLES_MAX

const quantities = Maybe(T.Array(Quantity, { maxItems: SENT_SAMPLES_MAX, leavesOutFaulty: true }))
const bundle = Text({ maxLength: 300 })

const fieldsFor = <N extends string, S extends T.TSchema>(names: N[], schema: S) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<N, S>

const HealthKitNutrition = Fields(
  { source_bundle: bundle, ...fieldsFor(Object.keys(healthKitNutrients) as (keyof typeof healthKitNutrients)[], quantities) },
  { title: 'HealthKitNutrition', description: 'The nutrients of all that one app has recorded.' },
)

const NutritionRecord = Fields(
  {
    start_time: Timestamp,
    start_zone_offset: optionalText(10),
    end_time: Timestamp,
    end_zone_offset: optionalText(10),
    name: optionalText(300),
    meal_type: Maybe(T.Integer({ minimum: 0, maximum: 100 })),
    caffeine: optionalNumber,
    ...fieldsFor(Object.keys(healthConnectNutrients) as (keyof typeof healthConnectNutrients)[], optionalNumber),
  },
  { title: 'NutritionRecord' },
)
export type NutritionRecord = Static<typeof NutritionRecord>

const SentMeal = Fields(
  {
    healthkit: Maybe(HealthKitNutrition),
    health_connect: Maybe(
      Fields(
        { source_bundle: bundle, nutrition_records: T.Array(NutritionRecord, { maxItems: RECORDS_MAX, leavesOutFaulty: true }) },
        { title: 'HealthConnectNutrition' },
      ),
    ),
  },
  { title: 'SentMeal' },
)
export type SentMeal = Static<typeof SentMeal>

const sentLists = Object.fromEntries(
  Object.entries(cycleLists).map(([name, { items }]) => [name, Maybe(T.Array(items, { maxItems: ENTRIES_MAX }))]),
) as unknown as { [L in Exclude<CycleList, 'sexual_activity'>]: T.TOptional<(typeof cycleLists)[L]> }
const SexualActivity = Fields({ date: DateOnly, protection_used: Maybe(T.Boolean()) })

const SentCycle = Fields(
  {
    source_bundle: optionalText(300),
    cycle: Fields({
      period_start: DateOnly,
      period_end: Maybe(DateOnly),
      cycle_end: Maybe(DateOnly),
      is_predicted: Maybe(T.Boolean()),
      ...sentLists,
      sexual_activity: Maybe(T.Array(SexualActivity, { maxItems: ENTRIES_MAX })),
    }),
  },
  { title: 'SentMenstrualCycle' },
)
export type SentCycle = Static<typeof SentCycle>

const SentElectrocardiogram = Fields(
  {
    electrocardiogram: Fields({
      id: Text({ minLength: 1, maxLength: 200 }),
      session_start: Timestamp,
      session_end: Timestamp,
      voltage_sample_count: T.Integer({ minimum: 0, maximum: VOLTAGES_MAX }),
      heart_rate_mean: optionalNumber,
      sampling_frequency_hz: optionalNumber,
      classification: Maybe(OpenEnum(['sinus_rhythm', 'atrial_fibrillation', 'inconclusive'])),
      inconclusive_cause: Maybe(OpenEnum(['high_heart_rate', 'low_heart_rate', 'poor_reading'])),
      algorithm_version: optionalText(100),
      source_bundle: optionalText(300),
      product_type: optionalText(100),
      device_model: optionalText(200),
      metadata: Quantity.properties.metadata,
    }),
    voltage_data: Maybe(
      Fields({
        session_start_offset_millisecond: T.Array(T.Integer({ minimum: 0, maximum: 86_400_000 }), { maxItems: VOLTAGES_MAX }),
        lead1: T.Array(T.Union([T.Number(), T.Null()]), { maxItems: VOLTAGES_MAX }),
      }),
    ),
  },
  { title: 'SentElectrocardiogram' },
)
export type SentElectrocardiogram = Static<typeof SentElectrocardiogram>

const post = <S extends T.TSchema>(item: S, title: string) =>
  Fields({ ...envelope, data: T.Array(item, { maxItems: RECORDS_MAX, leavesOutFaulty: true }) }, { title })
export const MealPost = post(SentMeal, 'MealPost')
export const MenstrualCyclePost = post(SentCycle, 'MenstrualCyclePost')
export const ElectrocardiogramPost = post(SentElectrocardiogram, 'ElectrocardiogramPost')
