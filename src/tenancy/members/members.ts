// Members: the people of an organization. They join by accepting an invite. Source: management-auth.md 8.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { likeAnywhere, joinConditions, raw, sql } from '../../platform/db/sql.ts'
import { deleteKeysOfMember } from '../keys/keys.ts'
import { lockOrg } from '../organizations/organizations.ts'
import type { Forgets } from '../teams/teams.ts'
import { assertTeams, roleBindings, type Role, type RoleTeams, resolveRoleTeams } from '../teams/role-bindings.ts'
import { Member, type PeopleQuery, type UpdateMember } from './schema.ts'

/** The constraints of the table and the responses when statements violate them. */
export const memberConstraints = {
  member__email: () => conflict('This address belongs to a member of an organization'),
}

/** Members, newest first, 50 per page. 400: a cursor of another list. */
export async function listMembers(tx: PlainTx, org_id: string, query: PeopleQuery) {
  const pages = new Pages(`members ${org_id} ${query.search_query ?? ''}`, query, byCreation())
  const conditions = [sql`org_id = ${org_id}`, pages.afterCursor]
  if (query.search_query) {
    const pattern = likeAnywhere(query.search_query)
    conditions.push(sql`(name ilike ${pattern} or email ilike ${pattern})`)
  }
  const rows = await tx.many(
    Member,
    sql`
    select id, name, email, created_at as created_on, role, ${roleBindings} from member
    where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ created_on, id }) => [created_on, id])
  return { members: page, next_cursor }
}

/** Adds a member. Writes member. 409: the address belongs to a member of an organization. */
export async function addMember(
  tx: PlainTx,
  member: { org_id: string; name: string; email: string; role: string } & RoleTeams,
): Promise<Member> {
  const { org_id, name, email, role, team_ids, team_roles } = member
  return tx.one(
    Member,
    sql`
    insert into member (id, org_id, name, email, role, team_ids, team_roles, created_at)
    values (${tx.uuid()}, ${org_id}, ${name}, ${email}, ${role}, ${team_ids}, ${JSON.stringify(team_roles)}, ${tx.now})
    returning id, name, email, created_at as created_on, role, ${roleBindings}`,
  )
}

const Found = T.Object({ role: T.String(), team_ids: T.Array(T.String()), team_roles: T.Record(T.String(), T.String()) })

/**
 * Changes a member's role and teams; null leaves them. Writes member. 400: no org_admin would remain. 404: no such member or team. 422: the
 * role team_admin without a team.
 */
export async function updateMember(
  tx: PlainTx,
  { sessions }: Pick<KeyCaches, 'sessions'>,
  org_id: string,
  member_id: string,
  body: UpdateMember,
): Promise<void> {
  const before = await lockMember(tx, org_id, member_id)
  const role = body.role ?? (before.role as Role)
  const former = before.team_ids.map((team_id) => ({ team_id, role: before.team_roles[team_id] }))
  const { team_ids, team_roles } = resolveRoleTeams(role, body.team_role_bindings ?? former)
  if (role !== 'org_admin' && before.role === 'org_admin') await assertAnotherAdmin(tx, org_id, member_id)
  await assertTeams(tx, org_id, team_ids)
  await tx.run(sql`
    update member set role = ${role}, team_ids = ${team_ids}::uuid[], team_roles = ${JSON.stringify(team_roles)} where id = ${member_id}`)
  tx.afterCommit(() => sessions.invalidateMember(member_id))
}

/** What caches keys and sessions of members. */
export interface KeyCaches {
  sessions: { invalidateMember(member_id: string): void }
  teams: { invalidateMember(member_id: string): void }
  orgs: Forgets
}

/**
 * Removes a member and the keys that are for this person. Writes member, api_key, management_key. 400: the last org_admin. 404: no such
 * member.
 */
export async function removeMember(
  tx: PlainTx,
  { teams, orgs, sessions }: KeyCaches,
  org_id: string,
  member_id: string,
): Promise<void> {
  const { role } = await lockMember(tx, org_id, member_id)
  if (role === 'org_admin') await assertAnotherAdmin(tx, org_id, member_id)
  await deleteKeysOfMember(tx, member_id)
  await tx.run(sql`delete from member where id = ${member_id}`)
  tx.afterCommit(() => {
    teams.invalidateMember(member_id)
    sessions.invalidateMember(member_id)
    orgs.invalidate(org_id)
  })
}

/** The lock on the organization ensures that two concurrent requests cannot remove the last two. */
async function lockMember(tx: PlainTx, org_id: string, member_id: string): Promise<Static<typeof Found>> {
  await lockOrg(tx, org_id)
  const found = await tx.maybe(
    Found,
    sql`select role, to_json(team_ids) as team_ids, team_roles from member where id = ${member_id} and org_id = ${org_id}`,
  )
  if (!found) throw notFound('Member not found')
  return found
}

const Count = T.Object({ n: T.Integer() })

async function assertAnotherAdmin(tx: PlainTx, org_id: string, member_id: string): Promise<void> {
  const { n } = await tx.one(
    Count,
    sql`select count(*) as n from member where org_id = ${org_id} and role = 'org_admin' and id <> ${member_id}`,
  )
  if (n === 0) throw badRequest('The organization must have at least one org_admin')
}

/** Removes the bindings to a deleted team; a member without another binding is bound to no team. Writes member, invite. */
export async function unbindMembers(tx: PlainTx, team_id: string): Promise<void> {
  for (const table of ['member', 'invite'])
    await tx.run(sql`
      update ${raw(table)} set team_ids = array_remove(team_ids, ${team_id}::uuid), team_roles = team_roles - ${team_id}::text
      where ${team_id}::uuid = any (team_ids)`)
}
