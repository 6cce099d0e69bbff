import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Module, Service } from '../../platform/module/module.ts'
import { defineHandler } from '../../platform/queue/outbox.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { connectionEnded } from '../connections/connections.ts'
import type { VendorAccess } from './access.ts'
import { revocationForDeletedTeams } from './deleted-teams.ts'
import { encryptedTokenColumns, endGrants, revokeGrant } from './grants.ts'
import { revokeAtVendor } from './revocation.ts'

/** A grant that could not be revoked is forgotten after a week. */
const ENDED_S = 7 * 86_400

export function grants(access: VendorAccess): Module {
  const connections: Service = { start() {}, stop: () => access.client.close() }
  const revoke = defineHandler(revokeGrant, ({ tenant }, { grant_id }) => revokeAtVendor(access, tenant, grant_id))
  return {
    name: 'connections/grants',
    about: "encrypted tokens of users at vendors' clouds",
    tables: { ofTeams: ['provider_grant'] },
    jobs: [revoke],
    hooks: [defineHook(connectionEnded, endGrants)],
    services: [connections],
    periodicTasks: [
      revocationForDeletedTeams(access),
      cleanup({ table: 'provider_grant', column: 'ended_at', retention_s: ENDED_S }),
    ],
    encryptedColumns: encryptedTokenColumns,
    erasers: { user: eraseTablesOfUser('provider_grant'), team: eraseTables('provider_grant') },
  }
}
