// From what a phone sends of nutrition to meals, and to the caffeine in them. Source: users-wearables.md 9.9, 16.6, 16.7.
import { flatMapInSlices, yieldIfLong } from '../../platform/runtime/loop-work.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { localDate } from '../../wearables/resources/zones.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { readFood, MEAL, mealDocument, UNNAMED, type Meal } from '../../wearables/summaries/meals.ts'
import { toAmount, healthConnectNutrients, healthKitNutrients, Nutrition } from '../../wearables/summaries/nutrients.ts'
import type { NutritionRecord, SentMeal } from './record-schema.ts'
import { placesOf } from './faults.ts'
import { incoming, intervalFault, sourceTypeOf, type ExampleContext } from './phone-samples.ts'
import type { Quantity } from './schema.ts'

type Place = (string | number)[]

type Context = Omit<ExampleContext, 'location'>

interface PhoneMeal extends Meal {
  app_id: string
  source: Pick<Quantity, 'type' | 'product_type'>
}

/** By the numbers of Health Connect. */
const mealNames = [MEAL, 'Breakfast', 'Lunch', 'Dinner', 'Snack']

/** No zone is farther from UTC. */
const OFFSET_S_MAX = 18 * 3600

/** The seconds east of UTC in a text such as `+02:00`, at most 18 hours either way; null if it is none. */
function offsetOf(text: string | undefined): number | null {
  if (text === 'Z') return 0
  const [, sign, hours, minutes] = /^([+-])(\d\d):?([0-5]\d)$/.exec(text ?? '') ?? []
  if (!sign) return null
  const size = Number(hours) * 3600 + Number(minutes) * 60
  if (size > OFFSET_S_MAX) return null
  return sign === '-' ? -size : size
}

/** The local day of a record: that of its own offset, else of the phone's zone. */
function localDay({ start_zone_offset }: NutritionRecord, at_ms: number, { zones }: Context): string {
  const offset_s = offsetOf(start_zone_offset)
  return offset_s === null ? localDate(zones.zoneAt({}), at_ms) : new Date(at_ms + offset_s * 1000).toISOString().slice(0, 10)
}

const foodName = ({ metadata }: Quantity): string =>
  typeof metadata?.HKFoodType === 'string' && metadata.HKFoodType.isWellFormed() && !metadata.HKFoodType.includes('\0')
    ? metadata.HKFoodType.slice(0, 300).toWellFormed() || UNNAMED
    : UNNAMED

/** Nutrients of Apple Health: what one app has recorded for one instant is a meal, since an app sends all its meals together. */
async function addHealthKit(
  meals: Map<string, PhoneMeal>,
  nutrition: NonNullable<SentMeal['healthkit']>,
  context: Context,
  location: Place,
): Promise<void> {
  for (const [list, nutrient] of Object.entries(healthKitNutrients))
    for (const { sample, at_ms } of await nutrientSamples(nutrient, nutrition[list as keyof typeof healthKitNutrients], context, [
      ...location,
      list,
    ])) {
      const turn = yieldIfLong()
      if (turn) await turn
      const key = `${new Date(at_ms).toISOString()} ${nutrition.source_bundle}`
      const meal = meals.get(key) ?? {
        app_id: nutrition.source_bundle,
        at_ms,
        calendar_date: localDate(context.zones.zoneAt(sample), at_ms),
        name: MEAL,
        source: sample,
        whole: new Nutrition(),
        foods: new Map<string, Nutrition>(),
      }
      meals.set(key, meal)
      meal.whole.add(nutrient, sample.value, sample.unit)
      readFood(meal, foodName(sample)).add(nutrient, sample.value, sample.unit)
    }
}

/** The good samples of a nutrient, with their instants. */
async function nutrientSamples(
  nutrient: (typeof healthKitNutrients)[keyof typeof healthKitNutrients],
  list: Quantity[] | undefined,
  { faults, now_ms }: Context,
  location: Place,
): Promise<{ sample: Quantity; at_ms: number }[]> {
  if (!list) return []
  await faults.addLeftOut('meal', list)
  const placeOf = placesOf(list)
  return flatMapInSlices(list, (sample, i) => {
    const [start_ms, end_ms] = [wholeSecond(sample.start_date), wholeSecond(sample.end_date)]
    const ofInterval = intervalFault(start_ms, end_ms, now_ms)
    const fault = ofInterval ?? (toAmount(nutrient, sample.value, sample.unit) === undefined ? UNKNOWN_UNIT : undefined)
    if (!fault) return { sample, at_ms: start_ms }
    faults.add('meal', [...location, placeOf(i), fault[0]], fault[1], ofInterval ? undefined : start_ms)
    return []
  })
}

const UNKNOWN_UNIT = ['unit', 'is not a known unit of the nutrient'] as const
const wholeSecond = (text: string): number => Math.floor(Date.parse(text) / 1000) * 1000

/** Records of Health Connect: those of one app, day and kind of meal are a meal. */
async function addHealthConnect(
  meals: Map<string, PhoneMeal>,
  caffeine: IncomingSample[],
  nutrition: NonNullable<SentMeal['health_connect']>,
  context: Context,
  location: Place,
): Promise<void> {
  const placeOf = placesOf(nutrition.nutrition_records)
  await context.faults.addLeftOut('meal', nutrition.nutrition_records)
  for (const [i, record] of nutrition.nutrition_records.entries()) {
    const turn = yieldIfLong()
    if (turn) await turn
    const quantity = {
      unit: 'mg',
      start_date: record.start_time,
      end_date: record.end_time,
      source_bundle: nutrition.source_bundle,
    }
    const sample = incoming(
      'caffeine',
      { ...quantity, value: record.caffeine ?? 0 },
      { ...context, location: [...location, placeOf(i)] },
    )
    if (!sample) continue
    if (record.caffeine !== undefined) caffeine.push({ ...sample, zone_s: offsetOf(record.start_zone_offset) ?? sample.zone_s })
    const calendar_date = localDay(record, sample.at_ms, context)
    const meal_type = record.meal_type ?? 0
    const key = `${calendar_date} ${meal_type} ${nutrition.source_bundle}`
    const meal = meals.get(key) ?? {
      app_id: nutrition.source_bundle,
      at_ms: sample.at_ms,
      calendar_date,
      name: mealNames[meal_type] ?? MEAL,
      source: {},
      whole: new Nutrition(),
      foods: new Map<string, Nutrition>(),
    }
    meals.set(key, meal)
    meal.at_ms = Math.min(meal.at_ms, sample.at_ms)
    const food = readFood(meal, record.name || UNNAMED)
    for (const [field, nutrient] of Object.entries(healthConnectNutrients)) {
      const value = record[field as keyof typeof healthConnectNutrients]
      if (value === undefined) continue
      meal.whole.add(nutrient, value)
      food.add(nutrient, value)
    }
  }
}

/** The meals that a phone sends, and the caffeine of Health Connect's, which has no post of its own. Faulty parts are left out. In slices. */
export async function buildMeals(
  data: SentMeal[],
  context: Context,
): Promise<{ records: IncomingSummary<'meal'>[]; caffeine: IncomingSample[] }> {
  const meals = new Map<string, PhoneMeal>()
  const caffeine: IncomingSample[] = []
  const placeOf = placesOf(data)
  await context.faults.addLeftOut('meal', data)
  for (const [i, { healthkit, health_connect }] of data.entries()) {
    const at = ['body', 'data', placeOf(i)]
    if (healthkit) await addHealthKit(meals, healthkit, context, [...at, 'healthkit'])
    if (health_connect)
      await addHealthConnect(meals, caffeine, health_connect, context, [...at, 'health_connect', 'nutrition_records'])
  }
  const records = await flatMapInSlices([...meals], ([key, { app_id, source, ...meal }]) => ({
    key,
    source_type: sourceTypeOf({ ...source, source_bundle: app_id }),
    app_id,
    calendar_date: meal.calendar_date,
    document: mealDocument(meal),
  }))
  return { records, caffeine }
}
