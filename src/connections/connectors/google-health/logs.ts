// What users of the Google Health API eat and drink, and alerts of irregular rhythms. Source: discovery document of v4, NutritionLog, HydrationLog,
// IrregularRhythmNotification.
import { readFood, MEAL, mealDocument, UNNAMED, type Meal } from '../../../wearables/summaries/meals.ts'
import { healthConnectNutrients, Nutrition } from '../../../wearables/summaries/nutrients.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { localDay } from '../answers.ts'
import { instantOfText, readList, numberOrText, objectOrEmpty, ownValue, readText, type Values } from '../reading.ts'
import { toDevice, type SampleBatches } from '../vendor-records.ts'
import { offsetOf, sourceOf, type Source } from './data-points.ts'

interface Logged extends Source {
  at_ms: number
  end_ms: number
  offset_s: number | null
}

/** When something was logged, and by what; undefined without a time. */
function loggedIn(point: Values, { interval }: Values): Logged | undefined {
  const { startTime, startUtcOffset, endTime } = objectOrEmpty(interval)
  const at_ms = instantOfText(startTime)
  if (at_ms === null) return undefined
  return { ...sourceOf(point), at_ms, end_ms: instantOfText(endTime) ?? at_ms, offset_s: offsetOf(startUtcOffset) }
}

/** Amounts that are added up by instant and source: of two glasses at one time, one sample alone would be kept. */
export class LoggedAmounts {
  readonly #sums = new Map<string, Logged & { resource: 'water' | 'carbohydrates' | 'caffeine'; value: number }>()

  add(resource: 'water' | 'carbohydrates' | 'caffeine', entry: Logged, value: number | null): void {
    if (value === null || value < 0) return
    const key = [resource, entry.at_ms, entry.source_type, entry.app_id].join(' ')
    const sum = this.#sums.get(key) ?? { ...entry, resource, value: 0 }
    this.#sums.set(key, { ...sum, end_ms: Math.max(sum.end_ms, entry.end_ms), value: sum.value + value })
  }

  addTo(batches: SampleBatches): void {
    for (const { resource, ...sample } of this.#sums.values()) batches.add(resource, sample)
  }
}

export function addWater(amounts: LoggedAmounts, point: Values): void {
  const values = objectOrEmpty(point.hydrationLog)
  const logged = loggedIn(point, values)
  if (logged) amounts.add('water', logged, numberOrText(objectOrEmpty(values.amountConsumed).milliliters))
}

const mealNames: Readonly<Record<string, string>> = {
  BEFORE_BREAKFAST: 'Before breakfast',
  BREAKFAST: 'Breakfast',
  BEFORE_LUNCH: 'Before lunch',
  LUNCH: 'Lunch',
  BEFORE_DINNER: 'Before dinner',
  DINNER: 'Dinner',
  AFTER_DINNER: 'After dinner',
  SNACK: 'Snack',
}

type NutrientName = keyof typeof healthConnectNutrients

/** The nutrients of a food: the energy in kcal, all others in grams. Those whose names Google does not share with Health Connect have no field. */
function nutrientsIn(values: Values): Map<NutrientName, number> {
  const grams = (quantity: unknown) => numberOrText(objectOrEmpty(quantity).grams)
  const listed = new Map(readList(values.nutrients).map(({ nutrient, quantity }) => [readText(nutrient) ?? '', grams(quantity)]))
  const named = [...listed].map(([name, amount]) => [name.toLowerCase(), amount] as const)
  const amounts = new Map<string, number | null | undefined>([
    ...named,
    ['folic_acid', listed.get('FOLIC_ACID') ?? listed.get('FOLATE')],
    ['total_carbohydrate', grams(values.totalCarbohydrate) ?? listed.get('CARBOHYDRATES')],
    ['total_fat', grams(values.totalFat)],
    ['energy', numberOrText(objectOrEmpty(values.energy).kcal)],
  ])
  return new Map(
    [...amounts].flatMap(([name, amount]): [NutrientName, number][] =>
      typeof amount === 'number' && amount >= 0 && ownValue(healthConnectNutrients, name) ? [[name as NutrientName, amount]] : [],
    ),
  )
}

interface LoggedMeal extends Meal {
  source: Source
}

/** The foods of one pull as meals: those of one app, local day and kind of meal are a meal, as those of Health Connect are. */
export class LoggedMeals {
  readonly #meals = new Map<string, LoggedMeal>()
  readonly #amounts = new LoggedAmounts()

  add(point: Values): void {
    const values = objectOrEmpty(point.nutritionLog)
    const logged = loggedIn(point, values)
    if (!logged) return
    const { at_ms, offset_s, source_type, app_id, device } = logged
    const meal = this.#mealOf({ source_type, app_id, device }, localDay(at_ms, offset_s), readText(values.mealType) ?? '', at_ms)
    meal.at_ms = Math.min(meal.at_ms, at_ms)
    const nutrients = nutrientsIn(values)
    for (const part of [meal.whole, readFood(meal, readText(values.foodDisplayName) ?? UNNAMED)])
      for (const [name, amount] of nutrients) part.add(healthConnectNutrients[name], amount, name === 'energy' ? 'kcal' : 'g')
    this.#amounts.add('carbohydrates', logged, nutrients.get('total_carbohydrate') ?? null)
    const caffeine = readList(values.nutrients).find(({ nutrient }) => nutrient === 'CAFFEINE')
    this.#amounts.add('caffeine', logged, numberOrText(objectOrEmpty(caffeine?.quantity).grams))
  }

  #mealOf(source: Source, calendar_date: string, type: string, at_ms: number): LoggedMeal {
    const name = ownValue(mealNames, type) ?? MEAL
    const key = `${calendar_date} ${name} ${source.app_id ?? ''}`
    const known = this.#meals.get(key)
    if (known) return known
    const meal = { source, at_ms, calendar_date, name, whole: new Nutrition(), foods: new Map<string, Nutrition>() }
    this.#meals.set(key, meal)
    return meal
  }

  records(): IncomingSummary<'meal'>[] {
    return [...this.#meals].map(([key, { source, ...meal }]) => ({
      key,
      ...source,
      calendar_date: meal.calendar_date,
      document: mealDocument(meal),
    }))
  }

  addTo(batches: SampleBatches): void {
    this.#amounts.addTo(batches)
  }
}

/** An alert of an irregular rhythm, from the first to the last window that was evaluated. Its device is named by the measurement. */
export function addAlert(batches: SampleBatches, point: Values): void {
  const values = objectOrEmpty(point.irregularRhythmNotification)
  const logged = loggedIn(point, values)
  if (!logged) return
  const { deviceModel, firmwareVersion } = objectOrEmpty(values.medicalDeviceInfo)
  const { device, source_type } = logged
  const named = { manufacturer: device?.manufacturer, model: deviceModel ?? device?.model, version: firmwareVersion }
  batches.add('heart_rate_alert', { ...logged, device: toDevice(source_type, named), value: 1, type: 'irregular_rhythm' })
}
