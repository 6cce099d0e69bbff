import { operation } from '../../platform/http/operation.ts'
import { introspectHistoricalPulls, introspectResources } from './introspection.ts'
import { introspectDays } from './days.ts'
import { listRejectedPosts, listRepeatedPosts, listSyncReports } from './post-lists.ts'
import {
  DayQuery,
  PullQuery,
  RejectedPosts,
  RepeatedPosts,
  RepeatedPostsQuery,
  ResourceQuery,
  SyncReportQuery,
  SyncReports,
  UserDays,
  UserHistoricalPulls,
  UserResources,
} from './schema.ts'

const report = { logsAccess: true, method: 'GET' } as const

export const introspectionRoutes = [
  operation({
    ...report,
    id: 'introspect_resources',
    path: '/v2/introspect/resources',
    summary: 'List the newest and oldest data and the last attempt by user, provider and resource',
    description:
      '`last_attempt` is null where nothing was sent yet; `sent_count` counts records that were new or changed. Pages are of users, in the order of their ids.',
    query: ResourceQuery,
    reply: UserResources,
    run: (tx, { query }) => introspectResources(tx, query),
  }),
  operation({
    ...report,
    id: 'introspect_historical_pulls',
    path: '/v2/introspect/historical_pull',
    summary: 'List how far histories were received, by user, provider and resource',
    description:
      '`days_with_data` counts days in UTC and is 0 until the history is complete. Pages are of users, in the order of their ids.',
    query: PullQuery,
    reply: UserHistoricalPulls,
    run: (tx, { query }) => introspectHistoricalPulls(tx, query),
  }),
  operation({
    ...report,
    id: 'introspect_repeated_posts',
    path: '/v2/introspect/repeated_posts',
    summary: 'List clients that send the same data again and again',
    description:
      'By user, provider and resource: 100 posts or more within a day that had data and changed nothing, the last of them within a day.',
    query: RepeatedPostsQuery,
    reply: RepeatedPosts,
    run: (tx, { query }) => listRepeatedPosts(tx, query),
  }),
  operation({
    ...report,
    id: 'introspect_rejected_posts',
    path: '/v2/introspect/rejected_posts',
    summary: 'List posts of health data that were rejected, whole or in part',
    description:
      'Within 30 days, at most the 20 newest different ones of each user, provider and resource, with the first fault and the number of identical posts.',
    query: RepeatedPostsQuery,
    reply: RejectedPosts,
    run: (tx, { query }) => listRejectedPosts(tx, query),
  }),
  operation({
    ...report,
    id: 'introspect_sync_progress',
    path: '/v2/introspect/sync_progress',
    summary: 'List what phones report about their own synchronization',
    description:
      'By user and provider, the newest report: for each kind of data when the phone was asked for it, and its last attempts with their statuses, as the phone numbers them.',
    query: SyncReportQuery,
    reply: SyncReports,
    run: (tx, { query }) => listSyncReports(tx, query),
  }),
  operation({
    ...report,
    id: 'introspect_days',
    path: '/v2/introspect/days',
    summary: "Show what is known of each day of a user's resources: why a day is empty",
    description:
      'By provider and resource, for at most 92 days, by default the last 31: `not_asked`; `asked`, without an answer so far; `empty`, the source has no data of the day; `failed`, with the last error; `received`, but not stored; `stored`. `contact_days` are those on which the client of the provider sent or asked anything. `notified_at` is when a notification of a cloud last brought data, `polled_at` when the cloud was last asked because none had come for a while.',
    query: DayQuery,
    reply: UserDays,
    run: (tx, { query }) => introspectDays(tx, query),
  }),
]
