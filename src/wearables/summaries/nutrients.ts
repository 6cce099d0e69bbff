// Where the nutrients that phones and clouds send are in a meal, and their units. Source: users-wearables.md 9.9, 16.7.
import { dimensions, unitNamed } from '../resources/dimensions.ts'
import { fats, macros, minerals, traceElements, vitamins } from './nutrient-names.ts'
import type { Food } from './nutrition.ts'

type Unit = 'g' | 'mg' | 'mcg' | 'kcal'
type Part = 'energy' | 'macros' | 'fats' | 'minerals' | 'trace_elements' | 'vitamins'

/** A nutrient as a phone sends it: its place in a meal, and the unit in which phones send it. */
interface Nutrient {
  part: Part
  name: string
  sentUnit: Unit
}

const nutrient = (part: Part, name: string, sentUnit: Unit): Nutrient => ({ part, name, sentUnit })
const createNutrients = <N extends string>(part: Part, sentUnit: Unit, names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, nutrient(part, name, sentUnit)])) as Record<N, Nutrient>

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
  ...createNutrients('minerals', 'mg', ['calcium', 'chloride', 'iron', 'magnesium', 'phosphorus', 'potassium', 'sodium', 'zinc']),
  ...createNutrients('trace_elements', 'mg', ['copper', 'manganese']),
  ...createNutrients('trace_elements', 'mcg', ['chromium', 'iodine', 'molybdenum', 'selenium']),
  ...createNutrients('vitamins', 'mg', ['riboflavin', 'niacin', 'pantothenic_acid', 'vitamin_b6', 'vitamin_c', 'vitamin_e']),
  ...createNutrients('vitamins', 'mcg', ['vitamin_a', 'biotin', 'vitamin_b12', 'vitamin_d', 'vitamin_k', 'folic_acid']),
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

/** Masses in micrograms. A milliliter of water is a gram. */
const micrograms: Record<Unit, number> = { g: 1e6, mg: 1e3, mcg: 1, kcal: Number.NaN }

/** In micrograms, or kilocalories: what a unit that a phone names is; undefined for one that is not known, or is not of the nutrient. */
function unitFactor({ part, name, sentUnit: sent }: Nutrient, unit: string | undefined): number | undefined {
  const text = unit?.trim() ?? ''
  const isEnergy = part === 'energy'
  if (text === '') return isEnergy ? 1 : micrograms[sent]
  const dimension = isEnergy ? 'kilocalorie' : 'microgram'
  const named = unitNamed(dimension, text)
  if (named !== undefined && Object.hasOwn(micrograms, named) && !isEnergy) return micrograms[named as Unit]
  if (named !== undefined) return (dimensions[dimension] as Record<string, number>)[named]
  const volume = name === 'water' ? unitNamed('milliliter', text) : undefined
  return volume === undefined ? undefined : (dimensions.milliliter as Record<string, number>)[volume]! * 1e6
}

/** The unit in which a nutrient is shown. */
function shownIn({ part, name }: Nutrient): Unit {
  if (part === 'energy') return 'kcal'
  if (part === 'macros' || part === 'fats') return 'g'
  return inMicrograms.has(name) ? 'mcg' : 'mg'
}

/** The amount of a nutrient in the unit of meals; undefined for a unit that is not known. Without one it is that in which phones send it. */
export function toAmount(nutrient: Nutrient, value: number, unit?: string): number | undefined {
  const size = unitFactor(nutrient, unit)
  if (size === undefined) return undefined
  const shown = shownIn(nutrient)
  const factor = shown === 'kcal' ? 1 : micrograms[shown]
  return size === factor ? value : Number(((value * size) / factor).toPrecision(12))
}

/** Adds up nutrients. */
export class Nutrition {
  readonly #sums = new Map<Part, Map<string, number>>()

  /** Adds an amount. One in a unit that is not known is left out. */
  add(nutrient: Nutrient, value: number, unit?: string): void {
    const amount = toAmount(nutrient, value, unit)
    if (amount === undefined) return
    const sums = this.#sums.get(nutrient.part) ?? new Map<string, number>()
    this.#sums.set(nutrient.part, sums)
    sums.set(nutrient.name, (sums.get(nutrient.name) ?? 0) + amount)
  }

  /** The nutrition as it is shown: parts without a nutrient are null. */
  toFood(): Food {
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
