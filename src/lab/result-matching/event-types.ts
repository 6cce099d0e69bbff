// The events of reviews, with samples. Source: lab-testing.md 14; events.md 4.10.
import { EXAMPLE_OBJECT, type EventType } from '../../platform/queue/event-type.ts'

export const eventTypes: readonly EventType[] = ['labtest.match_review.created', 'labtest.match_review.updated'].map((name) => ({
  name,
  family: 'lab',
  namesNoUser: true,
  example: () => ({
    id: EXAMPLE_OBJECT,
    status: 'pending_customer_review',
    decision_code: 'no_match',
    sub_reason_codes: [],
    resolved_user_id: null,
    resolved_order_id: null,
    resolution_action: null,
  }),
}))
