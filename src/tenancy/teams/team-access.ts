// The teams that a management key may access. The guard checks the team of the path; this file looks up teams in the body or query, and
// determines the teams of a cell if a request names none. Source: management-auth.md 4, E7.
import type { Queries } from '../../platform/db/transaction.ts'
import { badRequest, forbidden, notFound } from '../../platform/http/errors.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'

const Found = T.Object({ id: T.String(), region: T.String() })
export interface AuthorizedTeam {
  id: string
  region: string
}

/**
 * The teams with these ids, each once, in the given order. 404: the organization does not have all of them. 403: the key is not bound to
 * all of them.
 * @param control the control plane, in a transaction of any scope
 */
async function authorizedTeams(
  control: Queries,
  manager: ManagementPrincipal,
  ids: readonly string[],
): Promise<AuthorizedTeam[]> {
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

/** As `authorizedTeams`, for one team. */
export const authorizedTeam = async (control: Queries, manager: ManagementPrincipal, id: string): Promise<AuthorizedTeam> =>
  (await authorizedTeams(control, manager, [id]))[0]!

/** As `authorizedTeams`, for teams of one region. 400: a team of another region. */
export async function authorizedTeamsInRegion(
  control: Queries,
  manager: ManagementPrincipal,
  region: string,
  ids: readonly string[],
): Promise<string[]> {
  const teams = await authorizedTeams(control, manager, ids)
  const elsewhere = teams.find((team) => team.region !== region)
  if (elsewhere) throw badRequest(`Team ${elsewhere.id} is in region ${elsewhere.region}`)
  return teams.map(({ id }) => id)
}

/** True for a row `t` of `team` in a cell that the key may access and, if ids are given, that is one of those. */
export function teamAccessCondition(manager: ManagementPrincipal, ids?: readonly string[]): Sql {
  const bound = manager.teams ? sql` and t.id = any (${[...manager.teams]}::uuid[])` : sql``
  const asked = ids?.length ? sql` and t.id = any (${[...ids]}::uuid[])` : sql``
  return sql`t.org_id = ${manager.org} and t.deleted_at is null${bound}${asked}`
}
