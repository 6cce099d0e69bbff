// What waits to be sent to webhook endpoints, for /metrics.
import type { Db } from '../../platform/db/database.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { COUNTED_MAX } from '../../platform/queue/dead-letters.ts'

const DeliveryBacklog = T.Object({ waiting: T.Integer(), waiting_s: T.Number(), outbox: T.Integer() })
export type DeliveryBacklog = Static<typeof DeliveryBacklog>

/**
 * The deliveries of a cell that are due and not being sent, for how long the oldest has been due, and outbox entries that wait for the
 * fan-out. Deliveries to disabled endpoints do not count, those to paused ones do. Reads at most 10,000 rows of each.
 */
export const countDeliveryBacklog = (db: Pick<Db, 'queries'>): Promise<DeliveryBacklog> =>
  db.queries.one(
    DeliveryBacklog,
    sql`
    with waiting as (
      select d.due_at from webhook_lease l
      join webhook w on w.id = l.webhook_id and w.team_id = l.team_id and not w.disabled
      cross join lateral (
        select due_at from delivery
        where webhook_id = l.webhook_id and team_id = l.team_id and due_at <= ${dbNow}
          and (leased_until is null or leased_until <= ${dbNow})
        order by due_at limit ${COUNTED_MAX}) d
      limit ${COUNTED_MAX})
    select
      (select count(*) from waiting) as waiting,
      coalesce((select extract(epoch from ${dbNow} - min(due_at))::float8 from waiting), 0) as waiting_s,
      (select count(*) from (select from event_outbox limit ${COUNTED_MAX}) outbox) as outbox`,
  )
