// Integration-managed members: the organization's own backend manages them, and they reach the dashboard only through launch URLs. Source:
// management-auth.md 16.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { T } from '../../platform/schema/schema.ts'
import { join, sql, type Sql } from '../../platform/db/sql.ts'
import { EmbeddedMember, type CreateEmbeddedMember, type PatchEmbeddedMember } from './schema.ts'
import { lockOrg } from '../organizations/organizations.ts'
import { assertTeams } from '../teams/role-bindings.ts'

const memberColumns = sql`
  id, integration_member_id, name, email, avatar,
  case when team_ids is not null then to_json(array(
    select json_build_object('team_id', bound) from unnest(team_ids) bound order by bound)) end as team_role_bindings`

const Listed = T.Intersect([EmbeddedMember, T.Object({ created_at: T.String() })])

/** Members, newest first, 50 per page. 400: a cursor of another list. */
export async function listEmbeddedMembers(tx: PlainTx, org_id: string, next_cursor?: string) {
  const pages = new Pages(`embedded members ${org_id}`, { next_cursor }, byCreation())
  const rows = await tx.many(
    Listed,
    sql`
    select ${memberColumns}, created_at from integration_member
    where org_id = ${org_id} and ${pages.afterCursor} ${pages.order}`,
  )
  const cut = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { data: cut.page.map(({ created_at: _at, ...member }) => member), next_cursor: cut.next_cursor }
}

/** The teams of a request, each once; undefined if it names none. 404: a team that the organization does not have. */
async function memberTeams(
  tx: PlainTx,
  org_id: string,
  bindings: { team_id: string }[] | undefined,
): Promise<string[] | undefined> {
  if (!bindings) return undefined
  const teams = [...new Set(bindings.map(({ team_id }) => team_id))]
  await assertTeams(tx, org_id, teams)
  return teams
}

const Found = T.Object({ id: T.String() })

/**
 * Adds a member; without bindings it belongs to every team. Writes integration_member. 404: a team that the organization does not have. 409:
 * the reference is in use, with the `member_id` of its member.
 */
export async function createEmbeddedMember(tx: PlainTx, org_id: string, body: CreateEmbeddedMember): Promise<EmbeddedMember> {
  await lockOrg(tx, org_id)
  const taken = await tx.maybe(
    Found,
    sql`select id from integration_member where org_id = ${org_id} and integration_member_id = ${body.integration_member_id}`,
  )
  if (taken) throw new Problem(409, { member_id: taken.id, detail: 'A member with this reference already exists' })
  const teams = await memberTeams(tx, org_id, body.team_role_bindings)
  return tx.one(
    EmbeddedMember,
    sql`
    insert into integration_member (id, org_id, integration_member_id, name, email, avatar, team_ids, created_at)
    values (${tx.uuid()}, ${org_id}, ${body.integration_member_id}, ${body.name}, ${body.email}, ${body.avatar ?? null},
            ${teams ?? null}::uuid[], ${tx.now})
    returning ${memberColumns}`,
  )
}

async function findMember(tx: PlainTx, org_id: string, condition: Sql): Promise<EmbeddedMember> {
  const found = await tx.maybe(
    EmbeddedMember,
    sql`select ${memberColumns} from integration_member where org_id = ${org_id} and ${condition}`,
  )
  if (!found) throw notFound('Member not found')
  return found
}

/** Reads a member. 404: the organization has no such member. */
export const getEmbeddedMember = (tx: PlainTx, org_id: string, member_id: string): Promise<EmbeddedMember> =>
  findMember(tx, org_id, sql`id = ${member_id}`)

/** Reads the member with the caller's own reference. 404: none. */
export const resolveEmbeddedMember = (tx: PlainTx, org_id: string, reference: string): Promise<EmbeddedMember> =>
  findMember(tx, org_id, sql`integration_member_id = ${reference}`)

/**
 * Changes a member: absent and null leave a field, but null clears the avatar. Bindings replace the previous ones, also for open sessions.
 * Writes integration_member. 404: no such member or team.
 */
export async function patchEmbeddedMember(
  tx: PlainTx,
  org_id: string,
  member_id: string,
  body: PatchEmbeddedMember,
): Promise<EmbeddedMember> {
  const teams = await memberTeams(tx, org_id, body.team_role_bindings)
  const changes: Sql[] = []
  if (body.name !== undefined) changes.push(sql`name = ${body.name}`)
  if (body.email !== undefined) changes.push(sql`email = ${body.email}`)
  if (body.avatar !== undefined) changes.push(sql`avatar = ${body.avatar}`)
  if (teams) changes.push(sql`team_ids = ${teams}::uuid[]`)
  if (changes.length)
    await tx.run(sql`update integration_member set ${join(changes, ', ')} where id = ${member_id} and org_id = ${org_id}`)
  return getEmbeddedMember(tx, org_id, member_id)
}

/** Removes a member: its launch URLs become invalid and its sessions end at once. Writes integration_member. 404: no such member. */
export async function deleteEmbeddedMember(tx: PlainTx, org_id: string, member_id: string): Promise<void> {
  if (!(await tx.run(sql`delete from integration_member where id = ${member_id} and org_id = ${org_id}`)))
    throw notFound('Member not found')
}

/** Removes the bindings to a deleted team; a member without another binding is bound to no team. Writes integration_member. */
export const unbindEmbeddedMembers = async (tx: PlainTx, team_id: string): Promise<void> =>
  void (await tx.run(
    sql`update integration_member set team_ids = array_remove(team_ids, ${team_id}::uuid) where ${team_id}::uuid = any (team_ids)`,
  ))
