// Common parts of members and invites: roles, and the teams they are bound to. Source: management-auth.md 4, 8.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { teamRoleOf } from '../roles/roles.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

export const roles = ['org_admin', 'team_admin', 'no_role'] as const
export type Role = (typeof roles)[number]

/** Bindings of a member or an invite in API format: null for roles without teams. */
export const roleBindings = sql`
  case role when 'team_admin' then to_json(array(
    select json_build_object('team_id', bound, 'role', coalesce(team_roles ->> bound::text, 'administrator'))
    from unnest(team_ids) bound order by bound)) end as team_role_bindings`

/** The teams of a role, and the roles in those of them where it is not that of an administrator, as they are stored. */
export interface RoleTeams {
  team_ids: string[]
  /** Team → role. */
  team_roles: Record<string, string>
}

/** The teams of a role: at least one for team_admin (422 otherwise), else none. */
export function resolveRoleTeams(
  role: Role,
  bindings: readonly { team_id: string; role?: string | undefined }[] | undefined,
): RoleTeams {
  if (role !== 'team_admin') return { team_ids: [], team_roles: {} }
  const roleOfTeam = new Map(bindings?.map((binding) => [binding.team_id, teamRoleOf(binding.role)]))
  if (roleOfTeam.size === 0) throw invalidField(['body', 'team_role_bindings'], 'the role team_admin requires at least one team')
  const others = [...roleOfTeam].filter(([, teamRole]) => teamRole !== 'administrator')
  return { team_ids: [...roleOfTeam.keys()], team_roles: Object.fromEntries(others) }
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
