// The messages that a laboratory sent over a link in mode `test`.
import type { Queries } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

const MESSAGES_MAX = 1000

/** The bytes of the messages since a time, oldest first; at most 1,000. */
export async function listTestMessages(db: Queries, account_id: string, start: string): Promise<Buffer[]> {
  const rows = await db.many(
    T.Object({ bytes: T.Unsafe<Buffer>({}) }),
    sql`
    select bytes from lab_message
    where link_account_id = ${account_id} and direction = 'in' and state = 'test' and created_at >= ${start}
    order by created_at, id limit ${MESSAGES_MAX}`,
  )
  return rows.map(({ bytes }) => bytes)
}
