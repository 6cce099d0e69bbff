// Schemas of members and invites. Source: openapi-management.json; management-auth.md 8.
import { Email, Fields, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { Creator, Cursor, NextCursor } from '../organizations/management-shapes.ts'
import { roles } from '../teams/role-bindings.ts'
import { MemberBinding, MemberBindings } from '../teams/schema.ts'

const RoleValue = OpenEnum(roles)
/** Free text: part of a name or of an address. */
export const PeopleQuery = Fields({ search_query: Maybe(Text({ maxLength: 200 })), next_cursor: NextCursor })
export type PeopleQuery = Static<typeof PeopleQuery>

export const Member = Fields(
  {
    id: Uuid,
    name: T.String(),
    email: T.String(),
    created_on: Timestamp,
    role: RoleValue,
    team_role_bindings: Nullable(T.Array(MemberBinding)),
  },
  { title: 'Member' },
)
export type Member = Static<typeof Member>
export const MemberPage = Fields({ members: T.Array(Member), next_cursor: Cursor }, { title: 'MemberPage' })
export const MemberParams = Fields({ org_id: Uuid, member_id: Uuid })
/** Both are required; null leaves the current value. */
export const UpdateMember = Fields(
  { role: Nullable(RoleValue), team_role_bindings: Nullable(MemberBindings) },
  { title: 'UpdateMember' },
)
export type UpdateMember = Static<typeof UpdateMember>

export const Invite = Fields(
  {
    id: Uuid,
    email: T.String(),
    invited_at: Timestamp,
    resent_at: Nullable(Timestamp),
    creator: Creator,
    role: RoleValue,
    team_role_bindings: Nullable(T.Array(MemberBinding)),
  },
  { title: 'Invite' },
)
export const InvitePage = Fields({ invites: T.Array(Invite), next_cursor: Cursor }, { title: 'InvitePage' })
export const InviteParams = Fields({ org_id: Uuid, invite_id: Uuid })
export const CreateInvite = Fields(
  { email: Email, role: Maybe(OpenEnum(roles, { default: 'org_admin' })), team_role_bindings: Maybe(MemberBindings) },
  { title: 'CreateInvite' },
)
export type CreateInvite = Static<typeof CreateInvite>
export const Invited = Fields({ status: OpenEnum(['invite_created', 'invite_resent', 'already_in_org']) }, { title: 'Invited' })
export const InviteLink = Fields(
  { email: T.String(), url: T.String({ description: 'Shown in this answer only.' }), expires_at: Timestamp },
  { title: 'InviteLink' },
)
export type InviteLink = Static<typeof InviteLink>
export const AcceptInvite = Fields(
  { token: Text({ minLength: 1, maxLength: 200 }), name: Text({ minLength: 1, maxLength: 100 }) },
  { title: 'AcceptInvite' },
)
export type AcceptInvite = Static<typeof AcceptInvite>
