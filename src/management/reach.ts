// How far a management key reaches: teams that a request names in its body or query are looked up here, those of the path by the guard.
// Source: management-auth.md 4, E7.
import type { Queries } from '../platform/db.ts'
import { forbidden, notFound } from '../platform/errors.ts'
import type { Manager } from '../platform/operation.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'

const Found = T.Object({ id: T.String(), region: T.String() })
export interface ReachedTeam {
  id: string
  region: string
}

/**
 * The teams of these ids, each once, in the order given. 404: the organization does not have all of them. 403: the key is not bound to
 * all of them.
 * @param control the control plane, whatever the transaction is
 */
export async function reachedTeams(control: Queries, manager: Manager, ids: readonly string[]): Promise<ReachedTeam[]> {
  const asked = [...new Set(ids)]
  const rows = await control.many(
    Found,
    sql`select id, region from team where id = any (${asked}::uuid[]) and org_id = ${manager.org} and deleted_at is null`,
  )
  const found = new Map(rows.map((team) => [team.id, team]))
  return asked.map((id) => {
    const team = found.get(id)
    if (!team) throw notFound('Team not found')
    if (manager.teams && !manager.teams.has(id)) throw forbidden('Action forbidden')
    return team
  })
}

/** As `reachedTeams`, of one. */
export const reachedTeam = async (control: Queries, manager: Manager, id: string): Promise<ReachedTeam> =>
  (await reachedTeams(control, manager, [id]))[0]!
