// Erasing the endpoints of a deleted team and what was sent to them.
import { eraseInOrder } from '../../platform/db/erasure.ts'
import { sql } from '../../platform/db/sql.ts'

export const eraseTeamWebhooks = eraseInOrder(
  (team, max) =>
    sql`delete from delivery_attempt where id = any (array(select id from delivery_attempt where team_id = ${team} limit ${max}))`,
  (team, max) => sql`
    delete from delivery where (webhook_id, message_id) in (
      select webhook_id, message_id from delivery
      where webhook_id in (
        select id from webhook where team_id = ${team} union all select webhook_id from deleted_webhook where team_id = ${team})
      limit ${max})`,
  (team, max) => sql`
    delete from delivery_tally where team_id = ${team} and at in (select at from delivery_tally where team_id = ${team} limit ${max})`,
  (team, max) =>
    sql`delete from webhook_message where id = any (array(select id from webhook_message where team_id = ${team} limit ${max}))`,
  (team, max) =>
    sql`delete from webhook_secret where id = any (array(select id from webhook_secret where team_id = ${team} limit ${max}))`,
  (team, max) =>
    sql`delete from webhook_lane where webhook_id = any (array(select webhook_id from webhook_lane where team_id = ${team} limit ${max}))`,
  (team, max) =>
    sql`delete from lane_recall where webhook_id = any (array(select webhook_id from lane_recall where team_id = ${team} limit ${max}))`,
  (team, max) => sql`delete from webhook where id = any (array(select id from webhook where team_id = ${team} limit ${max}))`,
  // The rows that the statement before has left.
  (team, max) => sql`
    delete from deleted_webhook where webhook_id = any (array(select webhook_id from deleted_webhook where team_id = ${team} limit ${max}))`,
)
