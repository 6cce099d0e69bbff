// The events of results, with samples. Source: lab-testing.md 22; events.md 4.10.
import { EXAMPLE_OBJECT, EXAMPLE_USER, type EventType } from '../../platform/queue/event-type.ts'

export const eventTypes: readonly EventType[] = [
  {
    name: 'labtest.result.critical',
    family: 'lab',
    example: ({ at_text, team_id }) => ({
      order_id: EXAMPLE_OBJECT,
      sample_id: '0000000000',
      status: 'final',
      interpretation: 'critical',
      team_id,
      user_id: EXAMPLE_USER,
      created_at: at_text,
      updated_at: at_text,
    }),
  },
]
