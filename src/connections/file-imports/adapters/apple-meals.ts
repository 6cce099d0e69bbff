// Meals from the nutrients of an Apple Health export: what one source has recorded for one instant is a meal, as it is in posts of phones.
import { readFood, MEAL, mealDocument, UNNAMED, type Meal } from '../../../wearables/summaries/meals.ts'
import { healthKitNutrients, Nutrition } from '../../../wearables/summaries/nutrients.ts'
import { storable, type ReadSummary } from '../reading.ts'
import { toCanonical, type Dimension } from '../file-units.ts'
import { exportKey } from './apple-sleep.ts'
import { localDay, sourceKey, type AppleSource, type AppleTime } from './apple-values.ts'

type Nutrient = keyof typeof healthKitNutrients

/** By the part of the type after `HKQuantityTypeIdentifierDietary`. */
const nutrients: Record<string, Nutrient> = {
  EnergyConsumed: 'energy_total',
  Carbohydrates: 'carbohydrates',
  Fiber: 'fiber',
  Sugar: 'sugar',
  Protein: 'protein',
  Cholesterol: 'cholesterol',
  Water: 'water',
  FatTotal: 'fat_total',
  FatMonounsaturated: 'fat_monounsaturated',
  FatPolyunsaturated: 'fat_polyunsaturated',
  FatSaturated: 'fat_saturated',
  Calcium: 'calcium',
  Chloride: 'chloride',
  Iron: 'iron',
  Magnesium: 'magnesium',
  Phosphorus: 'phosphorus',
  Potassium: 'potassium',
  Sodium: 'sodium',
  Zinc: 'zinc',
  Copper: 'copper',
  Manganese: 'manganese',
  Chromium: 'chromium',
  Iodine: 'iodine',
  Molybdenum: 'molybdenum',
  Selenium: 'selenium',
  Thiamin: 'vitamin_b1',
  Riboflavin: 'riboflavin',
  Niacin: 'niacin',
  PantothenicAcid: 'pantothenic_acid',
  VitaminB6: 'vitamin_b6',
  VitaminC: 'vitamin_c',
  VitaminE: 'vitamin_e',
  VitaminA: 'vitamin_a',
  Biotin: 'biotin',
  VitaminB12: 'vitamin_b12',
  VitaminD: 'vitamin_d',
  VitaminK: 'vitamin_k',
  Folate: 'folic_acid',
}
const DIETARY = 'Dietary'
const known = Object.values(nutrients)

/** The nutrient that a type of records has; undefined if it has none that meals show. */
export function nutrientOf(type: string): Nutrient | undefined {
  const name = type.slice(DIETARY.length)
  return type.startsWith(DIETARY) && Object.hasOwn(nutrients, name) ? nutrients[name] : undefined
}

/** The dimension in which a nutrient is read, and the name of its unit among the nutrients of phones. */
const measureOf = (nutrient: Nutrient): [Dimension, unit: string] =>
  nutrient === 'energy_total' ? ['kilocalorie', 'kcal'] : nutrient === 'water' ? ['milliliter', 'ml'] : ['microgram', 'mcg']

const AMOUNTS_MAX = 1_000_000
const MEALS_MAX = 100_000
/** Different names of foods; further ones count as a food without a name. */
const FOODS_MAX = 50_000
const FOOD_LENGTH_MAX = 300

interface Head {
  source: AppleSource
  start: AppleTime
}

/** The meals of an export. Its records are in the order of their types, so that no meal is complete before the end. */
export class AppleMeals {
  readonly #heads: Head[] = []
  readonly #meals = new Map<string, number>()
  readonly #foods = new Map<string, number>([[UNNAMED, 0]])
  /** For each amount the numbers of its meal, food and nutrient: they need less memory than meals do. */
  readonly #of: { meal: number[]; food: number[]; nutrient: number[]; amount: number[] } = {
    meal: [],
    food: [],
    nutrient: [],
    amount: [],
  }
  /** No more amounts fit into memory: meals would lack some of theirs. */
  isIncomplete = false

  /**
   * @param food the name of the food, if it has one
   * @returns false for a unit that is not known
   */
  add(nutrient: Nutrient, value: number, unit: string, { source, start }: Head, food: string | undefined): boolean {
    const amount = toCanonical(measureOf(nutrient)[0], value, unit)
    if (amount === undefined) return false
    const meal = this.#mealOf(source, start)
    if (meal === undefined || this.#of.amount.length === AMOUNTS_MAX) {
      this.isIncomplete = true
      return true
    }
    this.#of.meal.push(meal)
    this.#of.food.push(this.#foodOf(food))
    this.#of.nutrient.push(known.indexOf(nutrient))
    this.#of.amount.push(amount)
    return true
  }

  #mealOf(source: AppleSource, start: AppleTime): number | undefined {
    const key = `${start.at_ms} ${sourceKey(source)}`
    let meal = this.#meals.get(key)
    if (meal === undefined) {
      if (this.#heads.length === MEALS_MAX) return undefined
      meal = this.#heads.push({ source, start }) - 1
      this.#meals.set(key, meal)
    }
    return meal
  }

  #foodOf(text: string | undefined): number {
    const name = storable(text, FOOD_LENGTH_MAX) ?? UNNAMED
    let food = this.#foods.get(name)
    if (food === undefined) {
      if (this.#foods.size === FOODS_MAX) return 0
      this.#foods.set(name, (food = this.#foods.size))
    }
    return food
  }

  /** The meals in the order of time; none if they are incomplete. */
  *meals(): Generator<ReadSummary<'meal'>> {
    if (this.isIncomplete) return
    const { meal, food, nutrient, amount } = this.#of
    const foods = [...this.#foods.keys()]
    const order = new Uint32Array(meal.length).map((_, i) => i)
    const startOf = (i: number): number => this.#heads[meal[i]!]!.start.at_ms
    order.sort((a, b) => startOf(a) - startOf(b) || meal[a]! - meal[b]! || a - b)
    for (let from = 0; from < order.length;) {
      const number = meal[order[from]!]!
      const head = this.#heads[number]!
      const own: Meal = {
        at_ms: head.start.at_ms,
        calendar_date: localDay(head.start),
        name: MEAL,
        whole: new Nutrition(),
        foods: new Map(),
      }
      for (; from < order.length && meal[order[from]!] === number; from++) {
        const i = order[from]!
        const name = known[nutrient[i]!]!
        const [, unit] = measureOf(name)
        for (const part of [own.whole, readFood(own, foods[food[i]!]!)]) part.add(healthKitNutrients[name], amount[i]!, unit)
      }
      yield buildSummary(head.source, own)
    }
  }
}

function buildSummary(source: AppleSource, meal: Meal): ReadSummary<'meal'> {
  const key = exportKey('meal', sourceKey(source), meal.at_ms)
  const { calendar_date } = meal
  return { kind: 'meal', record: { key, ...source, calendar_date, document: mealDocument(meal) } }
}
