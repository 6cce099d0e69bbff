// Columns of an order `o` that programs before migration 55 do not write. They are true while detail_at is the order's updated_at; otherwise
// such a program has written the order since, and the document tells. To be removed with the release that no such program runs beside.
import type { Db } from '../../platform/db/database.ts'
import { raw, sql, type Sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { KIT_SENT } from './locked-order.ts'

const areTrue = sql`o.detail_at = o.updated_at`
const detailOfDocument = sql`o.document::json -> 'last_event' ->> 'status_detail'`
/** Quotes within values are escaped, so that no value can look like this. */
const kitSentByDocument = sql`o.document like ${raw(`'%"status":"${KIT_SENT}%'`)}`

/** What was said of the order's status last; null when nothing was. */
export const statusDetail: Sql = sql`case when ${areTrue} then o.status_detail else ${detailOfDocument} end`
/** Whether the order's kit has left. */
export const kitSent: Sql = sql`case when ${areTrue} then o.kit_sent else ${kitSentByDocument} end`

/** Orders whose list of work depends on the columns. */
const STATUSES = ['ordered', 'awaiting_registration', 'registered']
const BATCH = 500

const Team = T.Object({ id: T.String() })

/**
 * Fills in the columns of waiting orders that were written by a program that does not know them. Writes lab_order, a batch at a time. Leaves
 * out orders that are locked: they are read from their text until a later start.
 */
export async function fillOrderColumns(db: Db): Promise<void> {
  for (const { id } of await db.queries.many(Team, sql`select id from team`))
    for (let filled = BATCH; filled === BATCH;)
      filled = await db.queries.run(sql`
        update lab_order o
        set status_detail = ${detailOfDocument}, kit_sent = ${kitSentByDocument}, detail_at = o.updated_at
        where o.team_id = ${id} and o.id = any (array(
          select w.id from lab_order w
          where w.team_id = ${id} and w.low_level_status = any (${STATUSES}) and w.detail_at is distinct from w.updated_at
          limit ${BATCH} for update skip locked))`)
}
