// A user's grant at the cloud of a vendor begins or renews a connection.
import type { Tx } from '../../platform/db/transaction.ts'
import type { OAuthProvider } from '../../people/users/sources.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Grant } from '../connectors/connector.ts'

export interface SavedGrant {
  connection_id: string
  /** The user had no connection to the provider, or it was paused or in error. */
  began: boolean
}

/**
 * Stores what a user has granted, connects the user to the provider, and schedules the backfill. Writes connection, provider_grant, "user",
 * job. Emits provider.connection.created when a connection begins, also one that was paused or in error.
 * Errors: 404 unknown user.
 */
export type SaveGrant = (tx: Tx, vault: Vault, user_id: string, provider: OAuthProvider, grant: Grant) => Promise<SavedGrant>
