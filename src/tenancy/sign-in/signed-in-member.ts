// What the console shows of the member who has signed in: teams, roles, and what the roles permit.
import type { PlainTx } from '../../platform/db/transaction.ts'
import type { MemberSession, Operation } from '../../platform/http/operation.ts'
import { unauthorized } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { isPermitted, teamRoleOf, type Environment, type TeamRole } from '../roles/roles.ts'
import type { Role } from '../teams/role-bindings.ts'
import type { SignedInMember } from './schema.ts'
import { SESSION_ENDED } from './sessions.ts'

const TEAMS_MAX = 1000

const MemberRow = T.Object({
  id: T.String(),
  name: T.String(),
  email: T.String(),
  role: T.String(),
  expires_at: T.String(),
  idle_expires_at: T.String(),
  org_id: T.String(),
  org_name: T.String(),
})
const TeamRow = T.Object({ id: T.String(), name: T.String(), region: T.String() })

/** What the server says of itself to every member. */
export interface ServerFacts {
  cells: string[]
  demo: boolean
  operations: readonly Operation[]
}

/** Reads the member of a session, with the teams and what is permitted in them. 401: the session has ended. */
export async function readSignedInMember(tx: PlainTx, session: MemberSession, facts: ServerFacts): Promise<SignedInMember> {
  const row = await tx.maybe(
    MemberRow,
    sql`
    select m.id, m.name, m.email, m.role, s.expires_at, s.idle_expires_at, o.id as org_id, o.name as org_name
    from console_session s join member m on m.id = s.member_id join org o on o.id = m.org_id where s.id = ${session.session_id}`,
  )
  // It ended in another process, a moment ago.
  if (!row) throw unauthorized(SESSION_ENDED)
  const { org_id, org_name, role, expires_at, idle_expires_at, ...member } = row
  const bound = session.teams ? sql` and id = any (${[...session.teams.keys()]}::uuid[])` : sql``
  const rows = await tx.many(
    TeamRow,
    sql`
    select id, name, region from team where org_id = ${session.org} and deleted_at is null${bound}
    order by name, id limit ${TEAMS_MAX}`,
  )
  const teams = rows.map((team) => ({ ...team, role: session.teams ? teamRoleOf(session.teams.get(team.id)) : 'administrator' }))
  return {
    session_id: session.session_id,
    member,
    org: { id: org_id, name: org_name },
    role: role as Role,
    teams: teams as SignedInMember['teams'],
    cells: facts.cells,
    demo: facts.demo,
    permissions: permissionsByRole(new Set(teams.map((team) => team.role as TeamRole)), facts.operations),
    org_permissions: session.teams === null ? idsOf(facts.operations.filter(({ keyScope }) => keyScope === 'org')) : [],
    expires_at,
    idle_expires_at,
  }
}

const idsOf = (operations: readonly Operation[]): string[] => operations.map(({ id }) => id)

/** Role → ids of the operations that it permits in each environment. */
export function permissionsByRole(roles: ReadonlySet<TeamRole>, operations: readonly Operation[]): SignedInMember['permissions'] {
  const ofTeams = operations.filter(({ auth }) => auth === 'team' || auth === 'management')
  const permitted = (role: TeamRole, environment: Environment) =>
    idsOf(ofTeams.filter((operation) => isPermitted(operation, role, environment)))
  return Object.fromEntries(
    [...roles].map((role) => [role, { sandbox: permitted(role, 'sandbox'), production: permitted(role, 'production') }]),
  )
}
