// The job of an operation on many users: it stores imported grants one user at a time, and asks for histories a few users at a time, so that
// the requests stay within the limits of the application. Source: users-wearables.md 2.5, 5.
import { lockUser } from '../../people/users/connected-sources.ts'
import type { OAuthProvider } from '../../people/users/sources.ts'
import { VaultError } from '../../platform/crypto/vault.ts'
import { defineHandler, enqueue, enqueueAgain, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { connectedTo } from '../connections/connections.ts'
import type { Grant } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { findVendor, type VendorAccess } from '../grants/access.ts'
import { isAccountTaken, saveGrant } from '../grants/grants.ts'
import { getScopes } from '../link/oauth.ts'
import { askedResources, scheduleHistory } from '../pulls/pull-jobs.ts'
import { usersWithPulls } from '../../wearables/ingestion/historical-pulls.ts'
import {
  endBulkOperation,
  lastDone,
  nextItems,
  decryptRecipe,
  recordResult,
  runBulkOperation,
  unfinishedOperation,
  type BulkItem,
} from './bulk-operations.ts'
import { NEVER_EXPIRES, type ConnectionRecipe } from './schema.ts'

/** A job ends after this time and continues in another one. */
const WORK_MS = 60_000
/** Users whose histories are asked for at once: the next ones follow when these are done. */
export const HISTORIES_AT_ONCE = 20
const HISTORY_PAUSE_S = 5

interface Operation {
  id: string
  provider: OAuthProvider
}

/** A grant as a team gives it for import. */
const grantOf = ({ access_token, refresh_token, provider_id, expires_at, oauth_scopes = null }: ConnectionRecipe): Grant => ({
  access_token,
  refresh_token: refresh_token || null,
  expires_at_ms: expires_at === NEVER_EXPIRES ? null : expires_at * 1000,
  scopes: oauth_scopes,
  external_user_id: provider_id || null,
})

/**
 * Stores the grants of an import, each in a transaction of its own, as after the consent of its user, without asking for the history. Writes
 * what saveGrant writes, bulk_operation, bulk_operation_user. Emits provider.connection.created if a connection begins.
 * @returns whether all users are processed
 */
async function importConnections(
  { tx, tenant }: JobContext,
  access: VendorAccess,
  { id, provider }: Operation,
  isTimeUp: () => boolean,
): Promise<boolean> {
  const { requiredScopes } = await getScopes(access.cells, tenant.team, connectorOf(provider)!)
  const importNext = async (): Promise<boolean> => {
    let tried: BulkItem | undefined
    try {
      await tx(async (current) => {
        ;[tried] = await nextItems(current, id, 1)
        if (!tried) return
        const { user_id, position } = tried
        const grant = readGrant(access, id, tried)
        const isAccepted =
          grant !== undefined &&
          (grant.scopes === null || requiredScopes.every((scope) => grant.scopes!.includes(scope))) &&
          (await lockUser(current, user_id)) !== undefined &&
          !(await isAccountTaken(current, { user_id, provider }, grant.external_user_id))
        if (isAccepted) await saveGrant(current, access.vault, user_id, provider, grant, { asksForHistory: false })
        await recordResult(current, id, position, isAccepted ? 'done' : 'failed')
      })
    } catch (error) {
      // The user has demo connections, for example: the transaction has stored nothing.
      if (!(error instanceof Problem) || !tried) throw error
      const { position } = tried
      await tx((current) => recordResult(current, id, position, 'failed'))
    }
    return tried !== undefined
  }
  while (!isTimeUp()) if (!(await importNext())) return true
  return false
}

/** Undefined for tokens that this server cannot decrypt any more. */
function readGrant({ vault }: VendorAccess, id: string, item: BulkItem): Grant | undefined {
  try {
    return grantOf(decryptRecipe(vault, id, item))
  } catch (error) {
    if (error instanceof VaultError) return undefined
    throw error
  }
}

/**
 * Asks for the histories of the next users, unless those of the users before are still asked for. Writes what scheduleHistory writes,
 * bulk_operation, bulk_operation_user.
 * @returns whether all users are processed
 */
const triggerHistories = ({ tx }: JobContext, { id, provider }: Operation): Promise<boolean> =>
  tx(async (current) => {
    const before = await connectedTo(current, await lastDone(current, id, HISTORIES_AT_ONCE), provider)
    const busy = await usersWithPulls(current, [...before.keys()], provider)
    const items = busy.length ? [] : await nextItems(current, id, HISTORIES_AT_ONCE)
    const connected = await connectedTo(
      current,
      items.map(({ user_id }) => user_id),
      provider,
    )
    for (const { position, user_id } of items) {
      const connection_id = connected.get(user_id)
      if (connection_id !== undefined)
        await scheduleHistory(current, { user_id, provider, connection_id }, await askedResources(current, { user_id, provider }))
      await recordResult(current, id, position, connection_id === undefined ? 'failed' : 'done')
    }
    return !busy.length && items.length < HISTORIES_AT_ONCE
  })

/** The handler of the job of an operation. */
export const bulkHandler = (access: VendorAccess): Handler =>
  defineHandler(runBulkOperation, async (context, payload) => {
    const { tx } = context
    const started_ms = performance.now()
    const begun = await tx(async (current) => {
      const operation = await unfinishedOperation(current, payload.operation_id)
      return operation && { operation, vendor: await findVendor(current, access, operation.provider) }
    })
    if (!begun) return
    const { operation, vendor } = begun
    if (!vendor) return tx((current) => endBulkOperation(current, operation.id, { isAborted: true }))
    const isImport = operation.type === 'link_bulk_import'
    const isTimeUp = () => performance.now() - started_ms > WORK_MS
    const isDone = isImport
      ? await importConnections(context, access, operation, isTimeUp)
      : await triggerHistories(context, operation)
    await tx(async (current) => {
      if (isDone) await endBulkOperation(current, operation.id, { isAborted: false })
      else if (isImport) enqueue(current, runBulkOperation, payload)
      else enqueueAgain(current, runBulkOperation, payload, addSeconds(current.now, HISTORY_PAUSE_S))
    })
  })
