// The members of an OpenID issuer. An identity, the issuer and its subject, belongs to one member: at the first sign-in to the member with its
// address, or to a new member if the settings map a role.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { forbidden } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { addMember, updateMember, type KeyCaches } from '../members/members.ts'
import { roles, type Role } from '../teams/role-bindings.ts'
import type { OpenIdPerson } from './openid.ts'
import { findAccountByEmail } from './passwords.ts'

const IdentifiedMember = T.Object({ member_id: T.String(), org_id: T.String() })
interface MemberOfOrg {
  member_id: string
  org_id: string
}
const Id = T.Object({ id: T.String() })
const Count = T.Object({ n: T.Integer() })

/**
 * The member whom an issuer has signed in, with the role that the settings map. Writes member, member_identity. 403: nobody has the address
 * and no role is mapped, or the address belongs to a member with another identity.
 */
export async function identifyMember(tx: PlainTx, sessions: KeyCaches['sessions'], person: OpenIdPerson): Promise<MemberOfOrg> {
  const { issuer, subject, role } = person
  const known = await tx.maybe(
    IdentifiedMember,
    sql`
    select i.member_id, m.org_id from member_identity i join member m on m.id = i.member_id
    where i.issuer = ${issuer} and i.subject = ${subject}`,
  )
  const member = known ?? (await linkMember(tx, person))
  if (role !== undefined) await applyRole(tx, sessions, member, role)
  return member
}

async function linkMember(tx: PlainTx, person: OpenIdPerson): Promise<MemberOfOrg> {
  const { issuer, subject, email } = person
  const member = (await findAccountByEmail(tx, email)) ?? (await addMappedMember(tx, person))
  const { member_id, org_id } = member
  const { n } = await tx.one(
    Count,
    sql`select count(*) as n from member_identity where issuer = ${issuer} and member_id = ${member_id}`,
  )
  if (n > 0) throw forbidden('The email address belongs to another person of the issuer')
  await tx.run(sql`
    insert into member_identity (issuer, subject, member_id, created_at) values (${issuer}, ${subject}, ${member_id}, ${tx.now})`)
  return { member_id, org_id }
}

/** Adds a member to the oldest organization. Writes member. */
async function addMappedMember(tx: PlainTx, { name, email, role }: OpenIdPerson): Promise<MemberOfOrg> {
  const org = await tx.maybe(Id, sql`select id from org order by created_at, id limit 1`)
  if (role === undefined || !org) throw forbidden('No member has this email address: ask for an invitation')
  const { id } = await addMember(tx, { org_id: org.id, name, email, role: 'no_role', team_ids: [], team_roles: {} })
  return { member_id: id, org_id: org.id }
}

/** Gives a member a role of the organization, or a role in all of its teams. The last administrator stays one. Writes member. */
async function applyRole(
  tx: PlainTx,
  sessions: KeyCaches['sessions'],
  { member_id, org_id }: MemberOfOrg,
  role: string,
): Promise<void> {
  const ofOrg = roles.find((name): name is Role => name === role && name !== 'team_admin')
  const teams = await tx.many(Id, sql`select id from team where org_id = ${org_id} and deleted_at is null order by id limit 1000`)
  const bindings = teams.map(({ id }) => ({ team_id: id, role }))
  const change =
    ofOrg !== undefined || bindings.length === 0
      ? { role: ofOrg ?? ('no_role' as const), team_role_bindings: [] }
      : { role: 'team_admin' as const, team_role_bindings: bindings }
  try {
    await updateMember(tx, { sessions }, org_id, member_id, change)
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error
  }
}
