// The nutrition of a meal or of a food, as it is read. Source: users-wearables.md 9.9.
import { Fields, Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { fats, macros } from './nutrient-names.ts'

const nullableNumber = Nullable(T.Number())
const numbers = <N extends string>(names: readonly N[]) => Fields(Object.fromEntries(names.map((name) => [name, nullableNumber])))

const amounts = T.Record(T.String(), T.Number())

export const nutrition = {
  energy: Nullable(Fields({ unit: T.Literal('kcal'), value: T.Number() })),
  macros: Nullable(
    Fields(
      { ...Object.fromEntries(macros.map((name) => [name, nullableNumber])), fats: Nullable(numbers(fats)) },
      { description: 'In grams.' },
    ),
  ),
  micros: Nullable(
    Fields(
      { minerals: Nullable(amounts), trace_elements: Nullable(amounts), vitamins: Nullable(amounts) },
      {
        description:
          'Minerals, copper and manganese in mg; other trace elements in μg; vitamins A, B12, D and K, biotin and folic acid in μg, other vitamins in mg.',
      },
    ),
  ),
}
export const Food = Fields(nutrition, { title: 'Food' })
export type Food = Static<typeof Food>
