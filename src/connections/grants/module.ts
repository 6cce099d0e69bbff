import { eraseTables } from '../../platform/db/erasure.ts'
import { on } from '../../platform/db/hooks.ts'
import type { Module, Service } from '../../platform/module/module.ts'
import { defineHandler } from '../../platform/queue/outbox.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { connectionEnded } from '../connections/connections.ts'
import { VendorError } from '../connectors/connector.ts'
import { httpOf, vendorOf, type VendorAccess } from './access.ts'
import { deleteGrant, encryptedTokenColumns, endedGrant, endGrants, eraseGrants, hasCurrentGrant, revokeGrant } from './grants.ts'

/** A grant that could not be revoked is forgotten after a week. */
const ENDED_S = 7 * 86_400

export function grants(access: VendorAccess): Module {
  const connections: Service = { start() {}, stop: () => access.client.close() }
  /** Revokes a grant at its vendor, as well as that is possible and no current grant of the account would end with it, and forgets it. Writes provider_grant. */
  const revoke = defineHandler(revokeGrant, async ({ tenant, tx }, { grant_id }) => {
    const found = await tx(async (current) => {
      const ended = await endedGrant(current, access.vault, grant_id)
      return (
        ended &&
        !(await hasCurrentGrant(current, ended)) && {
          grant: ended.grant,
          now_ms: current.now.getTime(),
          vendor: await vendorOf(current, access, ended.provider),
        }
      )
    })
    if (found && found.vendor) {
      const { connector, app } = found.vendor
      try {
        await connector.revoke(httpOf(access, tenant), app, found.grant, found.now_ms)
      } catch (error) {
        // A vendor that refuses the token has no grant to revoke.
        if (!(error instanceof VendorError) || (error.failure !== 'invalid_grant' && error.failure !== 'unexpected')) throw error
      }
    }
    await tx((current) => deleteGrant(current, grant_id))
  })
  return {
    name: 'connections/grants',
    about: "users' grants at clouds of vendors: their tokens, stored encrypted",
    tables: { ofTeams: ['provider_grant'] },
    jobs: [revoke],
    hooks: [on(connectionEnded, endGrants)],
    services: [connections],
    periodicTasks: [cleanup({ table: 'provider_grant', column: 'ended_at', retention_s: ENDED_S })],
    encryptedColumns: encryptedTokenColumns,
    erasers: { user: eraseGrants, team: eraseTables('provider_grant') },
  }
}
