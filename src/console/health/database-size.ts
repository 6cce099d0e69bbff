// How the databases grow: a worker notes the size of each once a day. Owns database_size.
import type { Cells } from '../../platform/db/cells.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import type { Service } from '../../platform/module/module.ts'
import { DAY_S, HOUR_MS } from '../../platform/runtime/durations.ts'
import { T } from '../../platform/schema/schema.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'

const RETENTION_S = 400 * DAY_S
const DAYS_SHOWN = 90

/** Deletes sizes after 400 days. Deletes from database_size. */
export const sizeCleanup = cleanup({ table: 'database_size', column: 'day', retention_s: RETENTION_S })

/** Notes the size of the database for the present day, if it is not noted yet. Writes database_size. */
const noteSize = (queries: Queries): Promise<number> =>
  queries.run(sql`
    insert into database_size (day, bytes)
    select (${dbNow} at time zone 'UTC')::date, pg_database_size(current_database())
    on conflict (day) do nothing`)

const Size = T.Object({ date: T.String(), bytes: T.Integer() })

/** The sizes of the last 90 days, oldest first. */
export const listSizes = async (tx: Queries): Promise<{ date: string; bytes: number }[]> => {
  const rows = await tx.many(Size, sql`select day::text as date, bytes from database_size order by day desc limit ${DAYS_SHOWN}`)
  return rows.toReversed()
}

/** Notes the sizes of all cells at the start of a worker, and each hour. */
export function sizeWorker(cells: Cells, log: Log): Service {
  let timer: NodeJS.Timeout | undefined
  let work: Promise<void> = Promise.resolve()
  const noteAll = async () => {
    for (const name of cells.names)
      try {
        await noteSize(cells.db(name).queries)
      } catch (error) {
        log.warn({ cell: name, causes: errorFields(error) }, 'size of the database not noted; will retry')
      }
  }
  const run = () => {
    work = noteAll()
  }
  return {
    start() {
      run()
      timer = setInterval(run, HOUR_MS).unref()
    },
    stop() {
      clearInterval(timer)
      return work
    },
  }
}
