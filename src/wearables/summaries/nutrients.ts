// Where the nutrients that phones and clouds send stand in a meal, and their units. Source: users-wearables.md 9.9, 16.7.
import { fats, macros, minerals, traceElements, vitamins } from './nutrient-names.ts'
import type { Food } from './nutrition.ts'

type Unit = 'g' | 'mg' | 'mcg' | 'kcal'
type Part = 'energy' | 'macros' | 'fats' | 'minerals' | 'trace_elements' | 'vitamins'

/** A nutrient as a phone sends it: its place in a meal, and the unit in which phones send it. */
interface Nutrient {
  part: Part
  name: string
  sent: Unit
}

const nutrient = (part: Part, name: string, sent: Unit): Nutrient => ({ part, name, sent })
const all = <N extends string>(part: Part, sent: Unit, names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, nutrient(part, name, sent)])) as Record<N, Nutrient>

/** Shown in μg; the others of their lists in mg. */
const inMicrograms = new Set<string>([
  'chromium',
  'iodine',
  'molybdenum',
  'selenium',
  'vitamin_a',
  'vitamin_b12',
  'vitamin_d',
  'vitamin_k',
  'biotin',
  'folic_acid',
])

const micros = {
  ...all('minerals', 'mg', ['calcium', 'chloride', 'iron', 'magnesium', 'phosphorus', 'potassium', 'sodium', 'zinc']),
  ...all('trace_elements', 'mg', ['copper', 'manganese']),
  ...all('trace_elements', 'mcg', ['chromium', 'iodine', 'molybdenum', 'selenium']),
  ...all('vitamins', 'mg', ['riboflavin', 'niacin', 'pantothenic_acid', 'vitamin_b6', 'vitamin_c', 'vitamin_e']),
  ...all('vitamins', 'mcg', ['vitamin_a', 'biotin', 'vitamin_b12', 'vitamin_d', 'vitamin_k', 'folic_acid']),
}

export const healthKitNutrients = {
  energy_total: nutrient('energy', 'energy', 'kcal'),
  carbohydrates: nutrient('macros', 'carbs', 'g'),
  fiber: nutrient('macros', 'fibre', 'g'),
  sugar: nutrient('macros', 'sugar', 'g'),
  protein: nutrient('macros', 'protein', 'g'),
  cholesterol: nutrient('macros', 'cholesterol', 'mg'),
  // In mL, of which each is a gram.
  water: nutrient('macros', 'water', 'g'),
  fat_total: nutrient('fats', 'total', 'g'),
  fat_monounsaturated: nutrient('fats', 'monounsaturated', 'g'),
  fat_polyunsaturated: nutrient('fats', 'polyunsaturated', 'g'),
  fat_saturated: nutrient('fats', 'saturated', 'g'),
  vitamin_b1: nutrient('vitamins', 'vitamin_b1', 'mg'),
  ...micros,
}

export const healthConnectNutrients = {
  energy: nutrient('energy', 'energy', 'kcal'),
  total_carbohydrate: nutrient('macros', 'carbs', 'g'),
  dietary_fiber: nutrient('macros', 'fibre', 'g'),
  sugar: nutrient('macros', 'sugar', 'g'),
  protein: nutrient('macros', 'protein', 'g'),
  cholesterol: nutrient('macros', 'cholesterol', 'mg'),
  total_fat: nutrient('fats', 'total', 'g'),
  monounsaturated_fat: nutrient('fats', 'monounsaturated', 'g'),
  polyunsaturated_fat: nutrient('fats', 'polyunsaturated', 'g'),
  saturated_fat: nutrient('fats', 'saturated', 'g'),
  thiamin: nutrient('vitamins', 'vitamin_b1', 'mg'),
  ...micros,
}

/** Masses in micrograms, by the names that phones give their units, in lower case. */
const micrograms: Record<string, number> = { g: 1e6, mg: 1e3, mcg: 1, μg: 1, µg: 1, ug: 1, kg: 1e9, ml: 1e6, l: 1e9 }

/** The unit in which a nutrient is shown. */
function shownIn({ part, name }: Nutrient): Unit {
  if (part === 'energy') return 'kcal'
  if (part === 'macros' || part === 'fats') return 'g'
  return inMicrograms.has(name) ? 'mcg' : 'mg'
}

/**
 * The amount of a nutrient in the unit of meals.
 * @param unit as the phone names it; a name that is not known counts as the unit in which phones send the nutrient
 */
function amountOf(one: Nutrient, value: number, unit: string | undefined): number {
  const shown = shownIn(one)
  if (shown === 'kcal') return value
  const named = unit?.trim().toLowerCase() ?? ''
  const sent = Object.hasOwn(micrograms, named) ? micrograms[named]! : micrograms[one.sent]!
  const factor = micrograms[shown]!
  return sent === factor ? value : (value * sent) / factor
}

/** Adds up nutrients. */
export class Nutrition {
  readonly #sums = new Map<Part, Map<string, number>>()

  add(one: Nutrient, value: number, unit?: string): void {
    const sums = this.#sums.get(one.part) ?? new Map<string, number>()
    this.#sums.set(one.part, sums)
    sums.set(one.name, (sums.get(one.name) ?? 0) + amountOf(one, value, unit))
  }

  /** The nutrition as it is shown: parts without a nutrient are null. */
  shown(): Food {
    const known = (part: Part, names: readonly string[]) => {
      const sums = this.#sums.get(part)
      if (!sums) return null
      return Object.fromEntries(names.flatMap((name) => (sums.has(name) ? [[name, sums.get(name)!]] : [])))
    }
    const every = (part: Part, names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, this.#sums.get(part)?.get(name) ?? null]))
    const energy = this.#sums.get('energy')?.get('energy')
    const hasMacros = this.#sums.has('macros') || this.#sums.has('fats')
    const micros = {
      minerals: known('minerals', minerals),
      trace_elements: known('trace_elements', traceElements),
      vitamins: known('vitamins', vitamins),
    }
    return {
      energy: energy === undefined ? null : { unit: 'kcal', value: energy },
      macros: hasMacros ? { ...every('macros', macros), fats: every('fats', fats) } : null,
      micros: Object.values(micros).every((list) => list === null) ? null : micros,
    }
  }
}
