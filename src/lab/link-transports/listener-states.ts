// Whether laboratories can connect to the ports of this server, process by process: the table lab_listener. Makes no decisions.
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'

const ListenerState = T.Object({
  port: T.Integer(),
  is_tls: T.Boolean(),
  /** Why laboratories cannot connect; null if they can. */
  reason: Nullable(T.String()),
})
type ListenerState = Static<typeof ListenerState>
/** A port of a process. */
export type OwnListener = ListenerState & { host: string }

/** A process writes its states at least three times in this time. */
const FRESH_S = 60
const STALE_S = 3600

/** Writes the states of the ports of a process, and deletes those of processes that were killed. Writes lab_listener. */
export async function saveListeners(db: Queries, owner: string, listeners: readonly OwnListener[]): Promise<void> {
  await db.run(sql`
    insert into lab_listener (owner, host, port, is_tls, reason, seen_at)
    select ${owner}, l.host, l.port, l.is_tls, l.reason, ${dbNow}
    from unnest(${listeners.map(({ host }) => host)}::text[], ${listeners.map(({ port }) => port)}::int[],
                ${listeners.map(({ is_tls }) => is_tls)}::boolean[], ${listeners.map(({ reason }) => reason)}::text[])
         as l (host, port, is_tls, reason)
    on conflict (owner, host, port) do update set is_tls = excluded.is_tls, reason = excluded.reason, seen_at = excluded.seen_at`)
  await db.run(sql`delete from lab_listener where seen_at < ${dbNowPlus(-STALE_S)}`)
}

/** Deletes the states of a process that ends. Writes lab_listener. */
export const deleteListeners = (db: Queries, owner: string): Promise<number> =>
  db.run(sql`delete from lab_listener where owner = ${owner}`)

/** The processes that have, or should have, a port open; those that were killed are left out within a minute. */
export const listListeners = (db: Queries, port: number): Promise<ListenerState[]> =>
  db.many(
    ListenerState,
    sql`select port, is_tls, reason from lab_listener where port = ${port} and seen_at > ${dbNowPlus(-FRESH_S)}`,
  )
