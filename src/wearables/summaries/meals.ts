// Meals whose nutrients are added up from what was eaten. Source: users-wearables.md 9.9.
import { iso } from '../../platform/runtime/clock.ts'
import { Nutrition } from './nutrients.ts'
import type { Document } from './schema.ts'

/** A meal whose nutrients are being added up. */
export interface Meal {
  at_ms: number
  calendar_date: string
  name: string
  whole: Nutrition
  foods: Map<string, Nutrition>
}

/** Foods without a name, and foods above the limit. */
export const UNNAMED = 'Food'
/** Foods in one meal. */
const FOODS_MAX = 200

/** The part of a meal that one food has; those of one name are one food. Foods beyond the limit count as one without a name. */
export function readFood({ foods }: Meal, name: string): Nutrition {
  const free = FOODS_MAX - foods.size - (foods.has(UNNAMED) ? 0 : 1)
  const shown = foods.has(name) || free > 0 ? name : UNNAMED
  const food = foods.get(shown) ?? new Nutrition()
  foods.set(shown, food)
  return food
}

/** Name of a meal whose source does not name it. */
export const MEAL = 'Meal'

/** A meal as it is stored. */
export const mealDocument = ({ at_ms, calendar_date, name, whole, foods }: Meal): Document<'meal'> => ({
  timestamp: iso(new Date(at_ms)),
  calendar_date,
  name,
  ...whole.toFood(),
  data: Object.fromEntries([...foods].map(([food, nutrition]) => [food, nutrition.toFood()])),
})
