import { operation, multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import type { FindDeletedUsers } from './feed.ts'
import type { FeedWaiters } from './feed-waiters.ts'
import { followEvents } from './follow.ts'
import { listEvents, type NotDeleted } from './list-events.ts'
import { EventPage, EventQuery, FeedEventPage, FeedQuery } from './schema.ts'

/** The dependencies of operations on the feed. */
export interface FeedDependencies {
  findDeletedUsers: FindDeletedUsers
  notDeleted: NotDeleted
  /** The requests that wait for events. */
  watch: FeedWaiters
}

export const feedRoutes = ({ findDeletedUsers, notDeleted, watch }: FeedDependencies): Operation[] => [
  operation({
    id: 'list_events',
    logsAccess: true,
    method: 'GET',
    path: '/v1/events',
    summary: 'List events, newest first',
    description:
      'Events of the team, as emitted: those of health data and connections for 30 days, all others without an end. `object_id` is the id of the order, user or job.',
    query: EventQuery,
    reply: EventPage,
    run: (tx, { query }) => listEvents(tx, notDeleted, query),
  }),
  multiTransactionOperation({
    id: 'follow_events',
    logsAccess: true,
    method: 'GET',
    path: '/v1/events/follow',
    summary: 'Read the event feed, oldest first',
    description:
      'Events in the order in which they became known, each once, from the first such request, endpoint or pipeline of the team on (`list_events` has earlier ones): ask again with `next_cursor` for later events. With `wait_s` the answer waits for an event. Events are kept here for 30 days; those of deleted users are left out. At most 20 requests of a team wait at a time.',
    query: FeedQuery,
    reply: FeedEventPage,
    run: ({ tenant, cells }, { query }) => followEvents({ tenant, db: cells.db(tenant.cell), watch, findDeletedUsers }, query),
  }),
]
