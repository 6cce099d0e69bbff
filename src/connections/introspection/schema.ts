// Shapes of introspection. Source: users-wearables.md 5, 13.
import { labSlugs, providers } from '../../people/users/sources.ts'
import {
  DateOnly,
  Fields,
  Int,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { resources } from '../../wearables/resources/resources.ts'
import { pullErrors } from '../../wearables/ingestion/historical-pulls.ts'
import { ProviderSlug } from '../connections/schema.ts'
import { KeptReport } from '../mobile-sdk/sync-schema.ts'

const USERS_MAX = 100
export const USERS = 50

const paging = {
  user_id: Maybe(Uuid),
  user_limit: Maybe(Int({ minimum: 1, maximum: USERS_MAX, default: USERS, description: 'Users in a page.' })),
  next_cursor: Maybe(Text({ maxLength: 300 })),
  cursor: Maybe(Text({ maxLength: 300, description: 'Deprecated: `next_cursor`.' })),
}
export const ResourceQuery = Fields({ provider: Maybe(ProviderSlug), ...paging })
const ProviderOrLab = OpenEnum([...new Set([...providers, ...labSlugs])], { title: 'ProviderOrLab' })
export const PullQuery = Fields({ provider: Maybe(ProviderOrLab), ...paging })
export type UserQuery = Static<typeof PullQuery>

const page = { next: Nullable(T.String()), next_cursor: Nullable(T.String()) }

export const ResourceStatistics = Fields(
  {
    last_attempt: Nullable(Fields({ timestamp: Timestamp, status: OpenEnum(['success', 'failure']) })),
    oldest_data: Nullable(Timestamp),
    newest_data: Nullable(Timestamp),
    sent_count: T.Integer(),
  },
  { title: 'SingleResourceStatistics' },
)
export type ResourceStatistics = Static<typeof ResourceStatistics>

export const UserResources = Fields(
  {
    data: T.Array(
      Fields(
        { user_id: Uuid, provider: T.Record(T.String(), T.Record(T.String(), ResourceStatistics)) },
        { title: 'SingleUserResourceResponse' },
      ),
    ),
    ...page,
  },
  { title: 'UserResourcesResponse' },
)
export type UserResources = Static<typeof UserResources>

const PullStatistics = Fields(
  {
    status: OpenEnum(['success', 'failure', 'in_progress', 'scheduled', 'retrying']),
    range_start: Nullable(Timestamp),
    range_end: Nullable(Timestamp),
    timeline: Fields({ scheduled_at: Timestamp, started_at: Nullable(Timestamp), ended_at: Nullable(Timestamp) }),
    days_with_data: T.Integer(),
    release: T.String(),
    trace_id: Nullable(T.String()),
    error_details: Nullable(OpenEnum(pullErrors)),
  },
  { title: 'SingleHistoricalPullStatistics' },
)

const ProviderPulls = Fields(
  { pulled: T.Record(T.String(), PullStatistics), not_pulled: T.Array(T.String()) },
  { title: 'SingleProviderHistoricalPullResponse' },
)
export type ProviderPulls = Static<typeof ProviderPulls>

export const UserHistoricalPulls = Fields(
  {
    data: T.Array(
      Fields({ user_id: Uuid, provider: T.Record(T.String(), ProviderPulls) }, { title: 'SingleUserHistoricalPullResponse' }),
    ),
    ...page,
  },
  { title: 'UserHistoricalPullsResponse' },
)
export type UserHistoricalPulls = Static<typeof UserHistoricalPulls>

export const RepeatedPosts = Fields(
  {
    data: T.Array(
      Fields(
        {
          user_id: Uuid,
          provider: T.String(),
          resource: T.String(),
          posts: T.Integer(),
          first_post_at: Timestamp,
          last_post_at: Timestamp,
        },
        { title: 'RepeatedPosts' },
      ),
    ),
    next_cursor: Nullable(T.String()),
  },
  { title: 'RepeatedPostsPage' },
)
export type RepeatedPostsPage = Static<typeof RepeatedPosts>
export const RepeatedPostsQuery = Fields({
  user_id: Maybe(Uuid),
  provider: Maybe(ProviderSlug),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 500 })),
})
export type RepeatedPostsQuery = Static<typeof RepeatedPostsQuery>

export const RejectedPosts = Fields(
  {
    data: T.Array(
      Fields(
        {
          user_id: Uuid,
          provider: T.String(),
          resource: T.String(),
          is_whole: T.Boolean(),
          rejected: T.Integer(),
          error_message: T.String(),
          posts: T.Integer(),
          first_post_at: Timestamp,
          last_post_at: Timestamp,
        },
        {
          title: 'RejectedPost',
          description:
            '`is_whole`: nothing of the post was stored, else `rejected` samples, records and fields were left out. `posts` is how often the same bytes came.',
        },
      ),
    ),
    next_cursor: Nullable(T.String()),
  },
  { title: 'RejectedPostsPage' },
)
export type RejectedPostsPage = Static<typeof RejectedPosts>

export const SyncReports = Fields(
  {
    data: T.Array(
      Fields({ user_id: Uuid, provider: T.String(), received_at: Timestamp, report: KeptReport }, { title: 'UserSyncProgress' }),
    ),
    next_cursor: Nullable(T.String()),
  },
  { title: 'UserSyncProgressPage' },
)
export type SyncReportsPage = Static<typeof SyncReports>
export const SyncReportQuery = Fields({
  user_id: Maybe(Uuid),
  provider: Maybe(ProviderSlug),
  limit: Maybe(Int({ minimum: 1, maximum: 20, default: 20 })),
  next_cursor: Maybe(Text({ maxLength: 500 })),
})
export type SyncReportQuery = Static<typeof SyncReportQuery>

const dayStatuses = ['not_asked', 'asked', 'empty', 'failed', 'received', 'stored'] as const
export type DayStatus = (typeof dayStatuses)[number]

export const DayQuery = Fields({
  user_id: Uuid,
  start_date: Maybe(DateOnly),
  end_date: Maybe(DateOnly),
  provider: Maybe(ProviderSlug),
  resource: Maybe(OpenEnum(resources)),
})
export type DayQuery = Static<typeof DayQuery>

export const UserDays = Fields(
  {
    user_id: Uuid,
    start_date: DateOnly,
    end_date: DateOnly,
    data: T.Array(
      Fields(
        {
          provider: T.String(),
          notified_at: Nullable(Timestamp),
          polled_at: Nullable(Timestamp),
          contact_days: T.Array(DateOnly),
          resources: T.Array(
            Fields(
              {
                resource: T.String(),
                days: T.Array(
                  Fields(
                    { date: DateOnly, status: OpenEnum(dayStatuses), asked: T.Boolean(), failed: T.Boolean() },
                    { title: 'ResourceDay' },
                  ),
                ),
                last_error: Nullable(
                  Fields(
                    { error_type: T.String(), error_message: T.String(), errored_at: Timestamp },
                    { title: 'ResourceDayError' },
                  ),
                ),
                rejected_posts: T.Integer({
                  description: 'How often the post came that was rejected last, whole or in part, within 30 days.',
                }),
              },
              { title: 'ResourceDays' },
            ),
          ),
        },
        { title: 'ProviderDays' },
      ),
    ),
  },
  { title: 'UserDays' },
)
export type UserDays = Static<typeof UserDays>
