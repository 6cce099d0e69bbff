// The end of grants at their vendors. Source: users-wearables.md 1, 4.
import { teamNow } from '../../platform/db/database.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { VendorError } from '../connectors/connector.ts'
import { vendorHttp, findVendor, type VendorAccess } from './access.ts'
import { deleteGrant, endedGrant, hasCurrentGrant, replaceTokens } from './grants.ts'

/**
 * Revokes a grant that has ended at its vendor, unless a current grant of the account would end with it, and forgets it. Tokens that are
 * refreshed for it are stored before they are used, so that another attempt has them. Writes provider_grant. Errors: VendorError, if another
 * attempt may succeed.
 */
export async function revokeAtVendor(access: VendorAccess, tenant: Tenant, grant_id: string): Promise<void> {
  // Not the transactions of a job, which commit nothing once the job has lost its lease: new tokens would be lost with it.
  const db = access.cells.db(tenant.cell)
  const found = await db.tx(tenant, async (tx) => {
    const ended = await endedGrant(tx, access.vault, grant_id)
    return ended && { ended, isShared: await hasCurrentGrant(tx, ended), vendor: await findVendor(tx, access, ended.provider) }
  })
  if (!found) return
  const { ended, isShared, vendor } = found
  if (!isShared && vendor) {
    const { connector, app } = vendor
    try {
      await connector.revoke(vendorHttp(access, tenant), app, ended.grant, teamNow(tenant).getTime(), (grant) =>
        db.tx(tenant, (tx) => replaceTokens(tx, access.vault, ended, grant)),
      )
    } catch (error) {
      // A vendor that refuses the token has no grant to revoke.
      if (!(error instanceof VendorError) || (error.failure !== 'invalid_grant' && error.failure !== 'unexpected')) throw error
    }
  }
  await db.tx(tenant, (tx) => deleteGrant(tx, grant_id))
}
