import { managementOperation, multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import { acceptInvite, createInviteLink, invite, listInvites, revokeInvite, type InviteDependencies } from './invites.ts'
import { listMembers, removeMember, updateMember, type KeyCaches } from './members.ts'
import * as shapes from './schema.ts'
import { Nothing, OrgParams } from '../organizations/management-shapes.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

/** What the operations need in addition to invites: the guards that cache keys of teams and organizations. */
export type MemberDependencies = InviteDependencies & KeyCaches

const ofOrg = { logsAccess: false, scope: 'control', keyScope: 'org' } as const

/** The people of an organization. */
export const membersRoutes = ({ teams, orgs, sessions, ...dependencies }: MemberDependencies): Operation[] => [
  managementOperation({
    ...ofOrg,
    id: 'list_members_in_org',
    method: 'GET',
    path: '/v1/org/{org_id}/member',
    summary: 'List members, newest first',
    params: OrgParams,
    query: shapes.PeopleQuery,
    reply: shapes.MemberPage,
    run: (tx, { params, query }) => listMembers(tx, params.org_id, query),
  }),
  managementOperation({
    ...ofOrg,
    id: 'update_member',
    method: 'PATCH',
    path: '/v1/org/{org_id}/member/{member_id}',
    summary: "Change a member's role and teams; null leaves them",
    params: shapes.MemberParams,
    body: shapes.UpdateMember,
    reply: Nothing,
    example: { role: 'org_admin', team_role_bindings: null },
    run: async (tx, { params, body }) => {
      await updateMember(tx, { sessions }, params.org_id, params.member_id, body)
      return {}
    },
  }),
  managementOperation({
    ...ofOrg,
    id: 'remove_member_from_org',
    method: 'DELETE',
    path: '/v1/org/{org_id}/member/{member_id}',
    summary: 'Remove a member',
    description: 'The keys that were created for this person stop working.',
    params: shapes.MemberParams,
    reply: Nothing,
    run: async (tx, { params }) => {
      await removeMember(tx, { teams, orgs, sessions }, params.org_id, params.member_id)
      return {}
    },
  }),
  managementOperation({
    ...ofOrg,
    id: 'list_invites_in_org',
    method: 'GET',
    path: '/v1/org/{org_id}/invite',
    summary: 'List pending invites, newest first',
    params: OrgParams,
    query: shapes.PeopleQuery,
    reply: shapes.InvitePage,
    run: (tx, { params, query }) => listInvites(tx, params.org_id, query),
  }),
  managementOperation({
    ...ofOrg,
    id: 'create_or_resend_invite_in_org',
    method: 'POST',
    path: '/v1/org/{org_id}/invite',
    summary: 'Create or renew an invite',
    description:
      'The token that accepts it is sent by email if the installation has an SMTP server; otherwise the operator passes it on. The default role is org_admin.',
    params: OrgParams,
    body: shapes.CreateInvite,
    reply: shapes.Invited,
    idempotency: { scope: 'create_or_resend_invite_in_org', retention_s: DAY_S },
    example: { email: 'testa@example.com', role: 'no_role' },
    run: (tx, { manager, body }) => invite(tx, dependencies, manager, body),
  }),
  managementOperation({
    ...ofOrg,
    id: 'create_invite_link',
    method: 'POST',
    path: '/v1/org/{org_id}/invite/{invite_id}/link',
    summary: 'Create a link that accepts a pending invite',
    description:
      'Our own, for a person whom no mail reaches. The links before stop working, and the invite is valid for seven days from now. Whoever has the link becomes the member.',
    params: shapes.InviteParams,
    reply: shapes.InviteLink,
    idempotency: { scope: 'create_invite_link', retention_s: DAY_S, secret: true },
    run: (tx, { params }) => createInviteLink(tx, dependencies, params.org_id, params.invite_id),
  }),
  managementOperation({
    ...ofOrg,
    id: 'revoke_invite_in_org',
    method: 'DELETE',
    path: '/v1/org/{org_id}/invite/{invite_id}',
    summary: 'Revoke an invite',
    params: shapes.InviteParams,
    reply: Nothing,
    run: async (tx, { params }) => {
      await revokeInvite(tx, params.org_id, params.invite_id)
      return {}
    },
  }),
  multiTransactionOperation({
    id: 'accept_invite',
    logsAccess: false,
    method: 'POST',
    path: '/v1/invite/accept',
    auth: 'none',
    summary: 'Accept an invite',
    description: 'Makes the holder of the token a member, without a password. The console does both with a one-time link.',
    body: shapes.AcceptInvite,
    reply: shapes.Member,
    example: { token: 'inv_of-the-mail', name: 'Testa Fictional' },
    run: ({ address }, { body }) => acceptInvite(dependencies, address, body),
  }),
]
