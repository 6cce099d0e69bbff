// Which teams a management key reaches in a cell, where the path of a request names none.
import type { PlainTx } from '../platform/db.ts'
import { notFound } from '../platform/errors.ts'
import type { Manager } from '../platform/operation.ts'
import { T } from '../platform/schema.ts'
import { sql, type Sql } from '../platform/sql.ts'

/** What knows of every team, in whatever region. */
export interface Reach {
  /** 404: a team that the organization does not have. 403: one that the key is not bound to. 400: one of another region. */
  reach(manager: Manager, region: string, team_ids: readonly string[]): Promise<void>
}

/** Holds for a row `t` of `team` that the key reaches and, when some are asked for, that is one of those. */
export function reached(manager: Manager, team_ids?: readonly string[]): Sql {
  const bound = manager.teams ? sql` and t.id = any (${[...manager.teams]}::uuid[])` : sql``
  const asked = team_ids?.length ? sql` and t.id = any (${[...team_ids]}::uuid[])` : sql``
  return sql`t.org_id = ${manager.org} and t.deleted_at is null${bound}${asked}`
}

const Locked = T.Object({ id: T.String() })

/** Keep others from changing what teams have until the commit. 404: one of them is not in this cell. */
export async function lockTeams(tx: PlainTx, team_ids: readonly string[]): Promise<void> {
  const asked = [...new Set(team_ids)]
  const locked = await tx.many(Locked, sql`select id from team where id = any (${asked}::uuid[]) order by id for no key update`)
  if (locked.length < asked.length) throw notFound('Team not found')
}
