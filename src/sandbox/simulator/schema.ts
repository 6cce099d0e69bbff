import { Fields, Int, Maybe, OpenEnum, T, Text, type Static } from '../../platform/schema/schema.ts'
import { Interpretation } from '../../lab/orders/schema.ts'

export const SimulateQuery = Fields({
  final_status: Maybe(
    Text({
      minLength: 1,
      maxLength: 120,
      description: 'The final status, `<top-level>.<method>.<low-level>`; default: completed.',
    }),
  ),
  delay: Maybe(Int({ minimum: 0, maximum: 3600, default: 0, description: 'Seconds between steps.' })),
})

export const SimulationFlags = Fields(
  {
    interpretation: Maybe(Interpretation),
    result_types: Maybe(
      T.Array(OpenEnum(['numeric', 'range', 'comment', 'coded_value']), {
        maxItems: 10,
        description: 'Types of the results, in turn. Default: the type that each analyte has at a laboratory.',
      }),
    ),
    has_missing_results: Maybe(T.Boolean()),
  },
  { title: 'SimulationFlags' },
)
export type SimulationFlags = Static<typeof SimulationFlags>

export const SimulationStarted = Fields({ status: T.String(), message: T.String() }, { title: 'SimulationStarted' })
