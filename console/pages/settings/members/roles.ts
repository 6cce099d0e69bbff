// The roles of members, in words.
import type { Session } from '../../../session/session.ts'
import type { Member, OrgRole, TeamRole } from './member-queries.ts'

export const ORG_ROLES: Record<OrgRole, string> = {
  org_admin: 'Administrator of the organization',
  team_admin: 'A role in each team',
  no_role: 'No access',
}

export const TEAM_ROLES: Record<TeamRole, { label: string; description: string }> = {
  administrator: { label: 'Administrator', description: 'everything in the team' },
  developer: {
    label: 'Developer',
    description: 'everything in the sandbox but its settings; in production settings alone, no patients',
  },
  staff: { label: 'Staff', description: 'patients, orders and their work; no keys' },
  reviewer: { label: 'Reviewer', description: 'reads patients and orders, and reviews results' },
  viewer: { label: 'Viewer', description: 'reads patients and orders, and changes nothing' },
}

/** For example `Developer in North, viewer in South`. */
export function roleInWords(
  { role, team_role_bindings }: Pick<Member, 'role' | 'team_role_bindings'>,
  teams: Session['teams'],
): string {
  if (role !== 'team_admin') return ORG_ROLES[role]
  const texts = (team_role_bindings ?? []).map(({ team_id, role: inTeam }) => {
    const name = teams.find(({ id }) => id === team_id)?.name ?? team_id
    return `${TEAM_ROLES[inTeam].label} in ${name}`
  })
  return texts.join(', ') || 'No team any more'
}
