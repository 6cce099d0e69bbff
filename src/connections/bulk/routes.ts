import type { OAuthProvider } from '../../people/users/sources.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { OutsideRequest } from '../../platform/http/operation.ts'
import { multiTransactionOperation, operation, StatusReply, type Operation } from '../../platform/http/operation.ts'
import { pauseConnections } from '../connections/connections.ts'
import { findVendor, type VendorAccess } from '../grants/access.ts'
import { beginBulkOperation, listBulkOperations, getBulkState, waitForEnd, type BulkState } from './bulk-operations.ts'
import { exportConnections } from './export.ts'
import {
  BulkExport,
  BulkExported,
  BulkImport,
  BulkImported,
  BulkOperations,
  BulkOperationsQuery,
  BulkPause,
  BulkPaused,
  BulkTrigger,
  BulkTriggered,
  IMPORT_BYTES_MAX,
  USERS_BYTES_MAX,
  type BulkType,
  type ConnectionRecipe,
} from './schema.ts'

const user_id = '01890000-0000-7000-8000-000000000001'
const provider = 'dexcom_v3'

export function bulkRoutes(access: VendorAccess): Operation[] {
  /** 400: the server has no connector to the provider, or the team no application there. */
  async function assertApplication(tx: Tx, slug: OAuthProvider): Promise<void> {
    if (!(await findVendor(tx, access, slug)))
      throw badRequest('This server has no connector to the provider, or the team no credentials for it')
  }

  /** Queues an operation, and waits for it if that is asked for. */
  async function queued(
    { tenant, cells, changes }: OutsideRequest,
    { type, slug, user_ids, recipes }: { type: BulkType; slug: OAuthProvider; user_ids: string[]; recipes?: ConnectionRecipe[] },
    waits = false,
  ): Promise<{ status: 200 | 202; state: BulkState }> {
    const id = await changes.make(async (tx) => {
      await assertApplication(tx, slug)
      return beginBulkOperation(tx, type, slug, user_ids, recipes && { vault: access.vault, recipes })
    })
    const state = await (waits ? waitForEnd(cells, tenant, id) : cells.db(tenant.cell).read(tenant, (tx) => getBulkState(tx, id)))
    return { status: state.is_over && waits ? 200 : 202, state }
  }

  return [
    multiTransactionOperation({
      id: 'bulk_import_connections',
      logsAccess: true,
      method: 'POST',
      path: '/v2/link/bulk_import',
      summary: 'Connect many users with tokens that they have granted before',
      description:
        'For teams that move here from another system, with the same application at the provider. The users are connected in the background, as after their consent, but their histories are not asked for (`bulk_trigger_historical_pull`). The tokens of a connection that exists are replaced, and a paused one continues. 202: the operation is in progress (`bulk_op`); 200 if it ended while this call waited. 400: the team has no credentials for the provider, or 50 operations that have not ended.',
      body: BulkImport,
      body_bytes_max: IMPORT_BYTES_MAX,
      reply: BulkImported,
      success: 202,
      idempotency: { scope: 'bulk_import_connections', retention_s: 86_400, bindsToBody: true },
      example: {
        provider,
        connections: [
          {
            user_id,
            access_token: 'fictional-access-token',
            refresh_token: 'fictional-refresh-token',
            provider_id: 'fictional-account',
            expires_at: 4_102_444_800,
          },
        ],
      },
      async run(context, { body }) {
        const { connections: recipes } = body
        const user_ids = recipes.map((connection) => connection.user_id)
        const work = { type: 'link_bulk_import' as const, slug: body.provider, user_ids, recipes }
        const { status, state } = await queued(context, work, body.wait_for_completion)
        return new StatusReply(status, { user_ids_imported: state.done, user_ids_failed: state.failed })
      },
    }),
    multiTransactionOperation({
      id: 'bulk_trigger_historical_pull',
      logsAccess: true,
      method: 'POST',
      path: '/v2/link/bulk_trigger_historical_pull',
      summary: 'Ask a provider for the histories of many users',
      description:
        'A few users at a time, within the limits of the application; of each user only what was not asked for before. A user counts as processed when the history is queued. 202: the operation is in progress (`bulk_op`); 200 if it ended while this call waited. 400: the team has no credentials for the provider, or 50 operations that have not ended.',
      body: BulkTrigger,
      body_bytes_max: USERS_BYTES_MAX,
      reply: BulkTriggered,
      success: 202,
      idempotency: { scope: 'bulk_trigger_historical_pull', retention_s: 86_400, bindsToBody: true },
      example: { provider, user_ids: [user_id] },
      async run(context, { body }) {
        const work = { type: 'link_bulk_historical_trigger' as const, slug: body.provider, user_ids: body.user_ids }
        const { status, state } = await queued(context, work, body.wait_for_completion)
        return new StatusReply(status, { user_ids_triggered: state.done, user_ids_failed: state.failed })
      },
    }),
    operation({
      id: 'bulk_export_connections',
      logsAccess: true,
      method: 'POST',
      path: '/v2/link/bulk_export',
      summary: 'Read the tokens of the users who are connected to a provider',
      description:
        'For teams that move elsewhere with their application at the provider. A refresh on one side makes the tokens of the other side invalid, so pause the connections first (`bulk_pause`). At most 100 connections in a page; `next_token` leads to the next one. Each page is in the audit log.',
      body: BulkExport,
      body_bytes_max: USERS_BYTES_MAX,
      reads: true,
      auditsRead: true,
      reply: BulkExported,
      example: { provider },
      async run(tx, { body, recordAuditSubject }) {
        recordAuditSubject(tx.team, body.provider)
        return exportConnections(tx, access.vault, body)
      },
    }),
    operation({
      id: 'bulk_pause_connections',
      logsAccess: true,
      method: 'POST',
      path: '/v2/link/bulk_pause',
      summary: 'Pause the connections of many users to a provider',
      description:
        'Nothing is asked for until the user connects again, or the connection is imported again. The tokens are kept. Connections in error become paused ones.',
      body: BulkPause,
      body_bytes_max: USERS_BYTES_MAX,
      reply: BulkPaused,
      example: { provider, user_ids: [user_id] },
      async run(tx, { body }) {
        for (const id of body.user_ids) tx.concerns(id)
        return { user_ids_paused: await pauseConnections(tx, body.user_ids, body.provider) }
      },
    }),
    operation({
      id: 'list_bulk_ops',
      logsAccess: false,
      method: 'GET',
      path: '/v2/link/bulk_op',
      summary: 'List the operations on many users, newest first',
      description: 'They are kept for 90 days after their end.',
      query: BulkOperationsQuery,
      reply: BulkOperations,
      run: (tx, { query }) => listBulkOperations(tx, query),
    }),
  ]
}
