import { Fields, OpenEnum, T, type Static } from '../../platform/schema/schema.ts'

/** The number at which things of one kind are no longer counted. */
export const COUNTED_MAX = 1000

export const attentionKinds = [
  'endpoints_failing',
  'endpoints_disabled',
  'deliveries_failed',
  'jobs_failed',
  'results_to_review',
  'lab_reports_to_review',
  'orders_waiting_for_staff',
  'connections_failing',
  'messages_failed',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

export const Attention = Fields(
  {
    data: T.Array(
      Fields(
        {
          kind: OpenEnum(attentionKinds),
          count: T.Integer({ description: `Counting stops at ${COUNTED_MAX}.` }),
          is_exact: T.Boolean({ description: 'False if counting has stopped.' }),
        },
        { title: 'AttentionCount' },
      ),
      { description: 'Every kind, also those that count nothing.' },
    ),
  },
  { title: 'Attention' },
)
export type Attention = Static<typeof Attention>
