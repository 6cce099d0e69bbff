// Erases the deliveries of a deleted team, with its endpoints.
import { eraseTables, inOrder, type TeamEraser } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'
import { eraseTeamEndpoints } from '../endpoints/endpoints.ts'

/** Selects by endpoints, including deleted ones: the table has no index by team. */
const eraseDeliveriesByEndpoint: TeamEraser = (tx, team, max) =>
  tx.run(sql`
    delete from delivery where (webhook_id, message_id) in (
      select webhook_id, message_id from delivery
      where webhook_id in (
        select id from webhook where team_id = ${team} union all select webhook_id from deleted_webhook where team_id = ${team})
      limit ${max})`)

/** The deletion of an endpoint leaves a row in deleted_webhook: the endpoints are erased in between. */
export const eraseTeamDeliveries = inOrder(
  eraseTables('delivery_attempt'),
  eraseDeliveriesByEndpoint,
  eraseTables('delivery_attempt_count', 'webhook_message', 'webhook_lease', 'revoked_webhook_lease'),
  eraseTeamEndpoints,
  eraseTables('deleted_webhook'),
)
