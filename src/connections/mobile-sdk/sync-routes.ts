import { Success } from '../../people/users/schema.ts'
import { operation } from '../../platform/http/operation.ts'
import { saveReport } from './sync-reports.ts'
import { HistoricalStage, SyncParams, SyncReport, SyncState, SyncStateRequest } from './sync-schema.ts'
import { startHistoricalStage, syncState } from './sync-state.ts'

const REPORT_BYTES_MAX = 2 * 1024 * 1024

const sync = { logsAccess: true, method: 'POST', userTokens: 'path', params: SyncParams } as const

export const syncRoutes = [
  operation({
    ...sync,
    id: 'get_sdk_sync_state',
    path: '/v2/user/{user_id}/sdk_sync_state/{provider}',
    summary: 'Tell a phone whether it may synchronize, and what',
    description:
      '`error` means that the user has to be connected first, or again. `request_end_date` is the end of ingestion of the user, if there is one, and `request_start_date` is null: the clients take them for bounds of what they send. `granted_permissions` are those of the connection from now on.',
    body: SyncStateRequest,
    reply: SyncState,
    example: {
      tzinfo: 'America/Phoenix',
      request_start_date: '2026-01-01T00:00:00Z',
      request_end_date: '2026-01-31T00:00:00Z',
      granted_permissions: ['activity', 'heartrate'],
    },
    run: (tx, { params, body }) => syncState(tx, params.user_id, params.provider, body),
  }),
  operation({
    ...sync,
    id: 'start_sdk_historical_stage',
    path: '/v2/user/{user_id}/sdk_start_historical_stage/{provider}',
    summary: 'Record that a phone begins to send the history of a kind of data',
    description: 'A kind that is not stored, and a connection that is paused or not there, are not errors.',
    body: HistoricalStage,
    reply: Success,
    example: { range_start: '2026-01-01T00:00:00Z', range_end: '2026-01-31T00:00:00Z', backfill_type: 'heartrate' },
    run: (tx, { params, body }) => startHistoricalStage(tx, params.user_id, params.provider, body),
  }),
  operation({
    ...sync,
    id: 'post_sdk_sync_progress',
    path: '/v2/user/{user_id}/sdk_sync_progress/{provider}',
    summary: 'Store what a phone reports about its own synchronization',
    description:
      'Replaces the report before. The newest entries of each list are kept, at most 128 kB; what is not known is left out. The body may be compressed with gzip.',
    body: SyncReport,
    body_bytes_max: REPORT_BYTES_MAX,
    reply: Success,
    example: {
      sync_progress: {
        backfill_types: {
          heartrate: {
            first_asked: '2026-01-31T09:00:00Z',
            data_count: 61,
            system_events: [],
            syncs: [
              {
                start: '2026-01-31T09:30:00Z',
                end: '2026-01-31T09:30:02Z',
                tags: ['manual'],
                data_count: 61,
                statuses: [{ timestamp: '2026-01-31T09:30:02Z', type: 4, count: 1 }],
              },
            ],
          },
        },
      },
      device_info: {
        os_version: '26.1',
        model: 'iPhone17,1',
        app_bundle: 'com.example.fictional',
        app_version: '1.0',
        app_build: '1',
      },
    },
    run: (tx, { params, body }) => saveReport(tx, params.user_id, params.provider, body),
  }),
]
