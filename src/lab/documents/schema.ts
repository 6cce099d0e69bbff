import { Fields, Int, Maybe, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

export const OrderParams = Fields({ order_id: Uuid })
export const LabTestParams = Fields({ lab_test_id: Uuid })

/** Maximum number of labels in one request. */
const LABELS_MAX = 50

export const LabelsQuery = Fields({
  number_of_labels: Maybe(Int({ minimum: 1, maximum: LABELS_MAX, default: 3 })),
  collection_date: T.String({
    ...Timestamp,
    description:
      'Printed in the time zone of the collection site. Midnight UTC, or a date alone, is a day there, printed without a time.',
    example: '2030-01-02T09:30:00+00:00',
  }),
})
export type LabelsQuery = Static<typeof LabelsQuery>
