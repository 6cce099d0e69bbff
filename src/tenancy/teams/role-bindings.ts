// Common parts of members and invites: roles, and the teams they are bound to. Source: management-auth.md 4, 8.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'

export const roles = ['org_admin', 'team_admin', 'no_role'] as const
export type Role = (typeof roles)[number]

/** Bindings in API format: null for roles without teams. */
export const roleBindings = (role: Sql, teams: Sql): Sql => sql`
  case ${role} when 'team_admin' then to_json(array(
    select json_build_object('team_id', bound) from unnest(${teams}) bound order by bound)) end as team_role_bindings`

/** The teams of a role: at least one for team_admin (422 otherwise), else none. */
export function resolveRoleTeams(role: Role, bindings: readonly { team_id: string }[] | undefined): string[] {
  if (role !== 'team_admin') return []
  const teams = [...new Set(bindings?.map(({ team_id }) => team_id))]
  if (teams.length === 0) throw invalidField(['body', 'team_role_bindings'], 'the role team_admin requires at least one team')
  return teams
}

const Count = T.Object({ n: T.Integer() })

/** 404: a team that the organization does not have. The teams are locked against deletion until they are bound. */
export async function assertTeams(tx: PlainTx, org_id: string, teams: string[]): Promise<void> {
  const { n } = await tx.locking.one(
    Count,
    sql`
    with found as (
      select id from team where id = any (${teams}::uuid[]) and org_id = ${org_id} and deleted_at is null for share)
    select count(*) as n from found`,
  )
  if (n < teams.length) throw notFound('Team not found')
}
