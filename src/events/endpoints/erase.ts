// Erases the deliveries to the endpoints of a deleted team.
import { eraseTables, inOrder, type TeamEraser } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

/** Selects by endpoints, including deleted ones: the table has no index by team. */
const eraseTeamDeliveries: TeamEraser = (tx, team, max) =>
  tx.run(sql`
    delete from delivery where (webhook_id, message_id) in (
      select webhook_id, message_id from delivery
      where webhook_id in (
        select id from webhook where team_id = ${team} union all select webhook_id from deleted_webhook where team_id = ${team})
      limit ${max})`)

export const eraseTeamWebhooks = inOrder(
  eraseTables('delivery_attempt'),
  eraseTeamDeliveries,
  eraseTables('delivery_tally', 'webhook_message', 'webhook_secret', 'webhook_lane', 'lane_recall', 'webhook', 'deleted_webhook'),
)
