// What waits to be sent to brokers, for /metrics.
import type { Db } from '../../platform/db/database.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { COUNTED_MAX } from '../../platform/queue/dead-letters.ts'

const BrokerBacklog = T.Object({ waiting: T.Integer(), waiting_s: T.Number() })
export type BrokerBacklog = Static<typeof BrokerBacklog>

/** The events of a cell that no broker has acknowledged yet, and the age of the oldest. Counts at most 10,000. */
export const countBrokerBacklog = (db: Pick<Db, 'queries'>): Promise<BrokerBacklog> =>
  db.queries.one(
    BrokerBacklog,
    sql`
    select
      (select count(*) from (select from pipeline_delivery limit ${COUNTED_MAX}) waiting) as waiting,
      coalesce(
        (select extract(epoch from ${dbNow} - created_at)::float8 from pipeline_delivery order by created_at limit 1), 0) as waiting_s`,
  )
