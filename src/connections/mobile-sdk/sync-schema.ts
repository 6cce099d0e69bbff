// What phones ask and report about their synchronization. Source: users-wearables.md 16.3.
import { Fields, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { ManualProviderSlug, PermissionNames } from '../connections/schema.ts'

export const SyncParams = Fields({ user_id: Uuid, provider: ManualProviderSlug })

export const SyncStateRequest = Fields(
  {
    tzinfo: Maybe(Text({ maxLength: 100, description: 'The time zone of the phone. Posts have their own.' })),
    request_start_date: Maybe(Timestamp),
    request_end_date: Maybe(Timestamp),
    granted_permissions: Maybe(PermissionNames),
  },
  { title: 'SdkSyncStateRequest' },
)
export type SyncStateRequest = Static<typeof SyncStateRequest>

const HistoricalDays = Fields({ historical_days_to_pull: T.Integer() })

export const SyncState = Fields(
  {
    status: OpenEnum(['active', 'paused', 'error']),
    ingestion_start: Nullable(Timestamp),
    request_start_date: Nullable(Timestamp),
    request_end_date: Nullable(Timestamp),
    per_device_activity_ts: T.Boolean(),
    expires_in: T.Integer(),
    pull_preferences: Nullable(
      Fields({ historical_days_to_pull: T.Integer(), backfill_type_overrides: T.Record(T.String(), HistoricalDays) }),
    ),
  },
  { title: 'SdkSyncState' },
)
export type SyncState = Static<typeof SyncState>

export const HistoricalStage = Fields(
  { range_start: Timestamp, range_end: Timestamp, backfill_type: Text({ minLength: 1, maxLength: 100 }) },
  { title: 'SdkHistoricalStage' },
)
export type HistoricalStage = Static<typeof HistoricalStage>

/** Reports are read loosely: a phone takes an error for a reason to send again, and versions of the clients differ. */
export const SyncReport = Fields(
  {
    sync_progress: Fields({ backfill_types: T.Record(T.String(), T.Unknown(), { maxProperties: 1000 }) }),
    device_info: Maybe(T.Record(T.String(), T.Unknown(), { maxProperties: 100 })),
  },
  { title: 'SdkSyncReport' },
)
export type SyncReport = Static<typeof SyncReport>

const count = Nullable(T.Number())
const SyncEvent = Fields({ timestamp: Nullable(Timestamp), type: count, count, error_details: Nullable(T.String()) })
const Sync = Fields({
  start: Nullable(Timestamp),
  end: Nullable(Timestamp),
  tags: T.Array(T.String()),
  statuses: T.Array(SyncEvent),
  data_count: count,
})
const TypeProgress = Fields({
  first_asked: Nullable(Timestamp),
  data_count: count,
  syncs: T.Array(Sync),
  system_events: T.Array(SyncEvent),
})
const nullableText = Nullable(T.String())
const DeviceInfo = Fields({
  os_version: nullableText,
  model: nullableText,
  app_bundle: nullableText,
  app_version: nullableText,
  app_build: nullableText,
})

/** What is kept of a report. */
export const KeptReport = Fields(
  { device_info: DeviceInfo, backfill_types: T.Record(T.String(), TypeProgress) },
  { title: 'SdkSyncProgress' },
)
export type KeptReport = Static<typeof KeptReport>
export type KeptEvent = Static<typeof SyncEvent>
export type KeptType = Static<typeof TypeProgress>
