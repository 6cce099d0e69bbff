import { operation } from '../platform/operation.ts'
import { listEvents } from './events.ts'
import { EventPage, EventQuery } from './schema.ts'

export const routes = [
  operation({
    id: 'list_events',
    method: 'GET',
    path: '/v1/events',
    summary: 'List events, newest first',
    description:
      'Everything that was told to the team, as it was told. `object_id` is the order, user or job the event is about.',
    query: EventQuery,
    reply: EventPage,
    run: (tx, { query }) => listEvents(tx, query),
  }),
]
