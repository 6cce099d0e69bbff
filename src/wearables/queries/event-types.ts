// The events of continuous queries, with samples. Nothing emits them yet. Source: events.md 4.
import { SAMPLE_OBJECT, type EventType } from '../../platform/queue/event-type.ts'

export const eventTypes: readonly EventType[] = [
  {
    name: 'continuous_query.result_table.changed',
    family: 'query',
    sample: ({ at_text }) => [
      {
        query_id: SAMPLE_OBJECT,
        query_slug: 'a-fictional-query',
        data: { day: [at_text.slice(0, 10)], value: [1] },
      },
    ],
  },
]
