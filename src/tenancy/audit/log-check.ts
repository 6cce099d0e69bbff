// The last check of the hashes of the access log, which a command makes. Owns access_log_check.
import type { Verification } from '../../platform/access-log/access-archive.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { AccessLogCheck, type LastAccessLogCheck } from './schema.ts'

/** Records what a check of the whole log of a cell found. Writes access_log_check. */
export const recordCheck = (cell: Queries, { lines, head, fault }: Verification): Promise<number> =>
  cell.run(sql`
    insert into access_log_check (checked_at, lines, last_line, fault) values (${dbNow}, ${lines}, ${head.seq}, ${fault ?? null})
    on conflict (id) do update
    set checked_at = excluded.checked_at, lines = excluded.lines, last_line = excluded.last_line, fault = excluded.fault`)

/** The last check of the log of the cell of the transaction. */
export const readLastCheck = async (tx: PlainTx): Promise<LastAccessLogCheck> => ({
  last_check:
    (await tx.maybe(
      AccessLogCheck,
      sql`
      select date_trunc('second', checked_at) as checked_at, lines, last_line, fault is null as is_intact, fault from access_log_check`,
    )) ?? null,
})
