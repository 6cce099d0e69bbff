// Shapes of operations on the connections of many users. Source: users-wearables.md 2.5; openapi.
import { OAuthProvider, providers } from '../../people/users/sources.ts'
import {
  Clearable,
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

/** Connections of one import. */
const IMPORTED_MAX = 2000
export const IMPORT_BYTES_MAX = 8 * 1024 * 1024
/** Users of one request. */
const USERS_MAX = 10_000
export const USERS_BYTES_MAX = 512 * 1024
const TOKEN_MAX = 8000
const SCOPES_MAX = 100

/** What stands for "does not expire": the time that tokens of OAuth 1 are given with. */
export const NEVER_EXPIRES = 2_147_483_647

const bulkTypes = ['link_bulk_import', 'link_bulk_historical_trigger'] as const
export type BulkType = (typeof bulkTypes)[number]
const bulkStatuses = ['in_progress', 'success', 'failure', 'aborted'] as const
export type BulkStatus = (typeof bulkStatuses)[number]

const users = T.Array(Uuid, { maxItems: USERS_MAX })
const wait_for_completion = Maybe(
  T.Boolean({ description: 'Waits 20 seconds at most for the end: then the answer is 200, else 202. Default false.' }),
)

export const ConnectionRecipe = Fields(
  {
    user_id: Uuid,
    access_token: Text({ minLength: 1, maxLength: TOKEN_MAX }),
    refresh_token: Text({ maxLength: TOKEN_MAX, description: 'Empty if the provider gave none.' }),
    provider_id: Text({ maxLength: 200, description: "The user's id at the provider; empty if it is not known." }),
    expires_at: Int({
      minimum: 0,
      maximum: 253_402_300_799,
      description: 'When the access token expires, in seconds since 1970; 2147483647: never.',
    }),
    oauth_scopes: Clearable(
      T.Array(Text({ minLength: 1, maxLength: 200 }), { maxItems: SCOPES_MAX, description: 'Null: not known.' }),
    ),
  },
  { title: 'ConnectionRecipe' },
)
export type ConnectionRecipe = Static<typeof ConnectionRecipe>

export const BulkImport = Fields(
  {
    provider: OAuthProvider,
    connections: T.Array(ConnectionRecipe, { maxItems: IMPORTED_MAX }),
    wait_for_completion,
  },
  { title: 'BulkImportConnectionsBody' },
)
export type BulkImport = Static<typeof BulkImport>

const ids = (description: string) => T.Array(Uuid, { description })
export const BulkImported = Fields(
  {
    user_ids_imported: ids('Users who are connected so far.'),
    user_ids_failed: ids(
      'Users who are not there, have demo connections, have not granted a required scope, or whose account another user has connected where the team allows one.',
    ),
  },
  { title: 'BulkImportConnectionsResponse' },
)

export const BulkTrigger = Fields(
  { user_ids: users, provider: OAuthProvider, wait_for_completion },
  { title: 'BulkTriggerHistoricalPullBody' },
)
export const BulkTriggered = Fields(
  {
    user_ids_triggered: ids('Users whose history is asked for so far.'),
    user_ids_failed: ids('Users who are not connected to the provider, or whose connection is paused or in error.'),
  },
  { title: 'BulkTriggerHistoricalPullResponse' },
)

export const BulkPause = Fields({ user_ids: users, provider: OAuthProvider }, { title: 'BulkPauseConnectionsBody' })
export const BulkPaused = Fields(
  { user_ids_paused: ids('Users whose connection is paused; the others are not connected to the provider.') },
  { title: 'BulkPauseConnectionsResponse' },
)

export const BulkExport = Fields(
  {
    provider: OAuthProvider,
    user_ids: Clearable(users),
    next_token: Clearable(Text({ minLength: 1, maxLength: 500 })),
  },
  { title: 'BulkExportConnectionsBody' },
)
export type BulkExport = Static<typeof BulkExport>
export const BulkExported = Fields(
  {
    data: T.Array(
      Fields({ ...ConnectionRecipe.properties, oauth_scopes: Nullable(T.Array(T.String())) }, { title: 'ExportedConnection' }),
    ),
    next_token: Nullable(T.String()),
  },
  { title: 'BulkExportConnectionsResponse' },
)
export type BulkExported = Static<typeof BulkExported>

export const BulkOperation = Fields(
  {
    type: OpenEnum(bulkTypes),
    status: OpenEnum(bulkStatuses, {
      description:
        '`success`: at least one user was processed with success; `failure`: none was; `aborted`: the team has no application at the provider any more.',
    }),
    provider: OpenEnum(providers),
    pending: T.Integer(),
    processed: T.Integer(),
    started_at: Timestamp,
    ended_at: Nullable(Timestamp),
  },
  { title: 'BulkOp' },
)
export type BulkOperation = Static<typeof BulkOperation>
export const BulkOperations = Fields(
  { data: T.Array(BulkOperation), next_cursor: Nullable(T.String()) },
  { title: 'BulkOpsResponse' },
)
export const BulkOperationsQuery = Fields({
  next_cursor: Maybe(Text({ minLength: 1, maxLength: 500 })),
  page_size: Maybe(Int({ minimum: 0, maximum: 50, description: 'Default 10.' })),
})
