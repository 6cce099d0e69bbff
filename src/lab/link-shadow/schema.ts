// Shapes of the comparison of results in mode `shadow`.
import { Fields, Nullable, OpenEnum, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'

const FieldDifference = Fields(
  {
    field: OpenEnum(['result', 'unit', 'reference_range', 'flag']),
    laboratory: Nullable(T.String()),
    staff: Nullable(T.String()),
  },
  { title: 'ShadowFieldDifference' },
)

const ShadowOrder = Fields(
  {
    order_id: Uuid,
    user_id: Uuid,
    message_ids: T.Array(Uuid, { description: "The laboratory's messages, oldest first." }),
    outcome: OpenEnum(['same', 'different', 'not_entered'], { description: '`not_entered`: staff have entered no result yet.' }),
    compared_results: T.Integer({ description: 'Number of results that were compared.' }),
    differences: T.Array(
      Fields(
        {
          name: T.String(),
          // `different`: both have the result. `laboratory_only`: staff did not enter it. `staff_only`: the laboratory did not report it.
          kind: OpenEnum(['different', 'laboratory_only', 'staff_only']),
          fields: T.Array(FieldDifference),
        },
        { title: 'ShadowDifference' },
      ),
    ),
    same_results: T.Array(
      Fields(
        { name: T.String(), laboratory: Nullable(T.String()), staff: Nullable(T.String()), unit: Nullable(T.String()) },
        { title: 'ShadowSameResult' },
      ),
      { description: 'Results in which the laboratory and staff agree, but for spaces and zeros at the end.' },
    ),
  },
  { title: 'ShadowOrder' },
)
export type ShadowOrder = Static<typeof ShadowOrder>

export const ShadowComparison = Fields(
  {
    totals: Fields(
      {
        same: T.Integer(),
        different: T.Integer(),
        not_entered: T.Integer(),
        compared_results: T.Integer(),
        different_results: T.Integer(),
      },
      { title: 'ShadowTotals' },
    ),
    orders: T.Array(ShadowOrder),
    unmatched: T.Array(Fields({ message_id: Uuid, mismatch: T.String(), created_at: Timestamp }, { title: 'ShadowUnmatched' }), {
      description: 'Messages of the team for which no order is certain.',
    }),
  },
  { title: 'ShadowComparison' },
)
export type ShadowComparison = Static<typeof ShadowComparison>

export const ShadowParams = Fields({ ...teamInEnvironment, account_id: Uuid })
