// The events of continuous queries, with samples. Source: events.md 4.
import { EXAMPLE_OBJECT, type EventType } from '../../platform/queue/event-type.ts'

export const eventTypes: readonly EventType[] = [
  {
    name: 'continuous_query.result_table.changed',
    family: 'query',
    example: ({ at_text }) => [
      {
        query_id: EXAMPLE_OBJECT,
        query_slug: 'a-fictional-query',
        data: { 'group_key.0': [at_text.slice(0, 19)], 'mean.value': [61] },
      },
    ],
  },
]
