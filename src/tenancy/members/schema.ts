// Shapes of members, invites and the audit log. Source: openapi-management.json; management-auth.md 8.
import {
  Email,
  Fields,
  Int,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { Bindings, Creator, Cursor, Environment, NextCursor, TeamRoleBinding } from '../teams/schema.ts'

const roles = ['org_admin', 'team_admin', 'no_role'] as const
export type Role = (typeof roles)[number]
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
    team_role_bindings: Nullable(T.Array(TeamRoleBinding)),
  },
  { title: 'Member' },
)
export type Member = Static<typeof Member>
export const MemberPage = Fields({ members: T.Array(Member), next_cursor: Cursor }, { title: 'MemberPage' })
export const MemberParams = Fields({ org_id: Uuid, member_id: Uuid })
/** Both have to be given; null leaves what is. */
export const UpdateMember = Fields(
  { role: Nullable(RoleValue), team_role_bindings: Nullable(Bindings) },
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
    team_role_bindings: Nullable(T.Array(TeamRoleBinding)),
  },
  { title: 'Invite' },
)
export const InvitePage = Fields({ invites: T.Array(Invite), next_cursor: Cursor }, { title: 'InvitePage' })
export const InviteParams = Fields({ org_id: Uuid, invite_id: Uuid })
export const CreateInvite = Fields(
  { email: Email, role: Maybe(OpenEnum(roles, { default: 'org_admin' })), team_role_bindings: Maybe(Bindings) },
  { title: 'CreateInvite' },
)
export type CreateInvite = Static<typeof CreateInvite>
export const Invited = Fields({ status: OpenEnum(['invite_created', 'invite_resent', 'already_in_org']) }, { title: 'Invited' })
export const AcceptInvite = Fields(
  { token: Text({ minLength: 1, maxLength: 200 }), name: Text({ minLength: 1, maxLength: 100 }) },
  { title: 'AcceptInvite' },
)
export type AcceptInvite = Static<typeof AcceptInvite>

export const AuditLine = Fields(
  {
    id: Uuid,
    created_at: Timestamp,
    key_id: T.String({ description: 'The management key that did it.' }),
    operation: T.String(),
    team_id: Nullable(Uuid),
    object: Nullable(T.String({ description: 'What the path named beside organization and team.' })),
  },
  { title: 'AuditLine' },
)
export const AuditPage = Fields({ data: T.Array(AuditLine), next_cursor: Cursor }, { title: 'AuditPage' })
export const AuditQuery = Fields({
  operation: Maybe(Text({ minLength: 1, maxLength: 100 })),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: NextCursor,
})
export type AuditQuery = Static<typeof AuditQuery>

export const AccessLine = Fields(
  {
    line: Int({ description: 'Its number in the log of the cell.' }),
    created_at: Timestamp,
    request_id: Nullable(
      T.String({ description: 'As the answer named it in `x-request-id`; null for a command of the operator.' }),
    ),
    key_id: T.String({ description: 'The key; `token:`, `link:` or `cli:` and a name where it was none.' }),
    operation: T.String(),
    objects: T.Array(Uuid, { description: 'What it was about beside users: orders, for example.' }),
    address: Nullable(T.String()),
    outcome: Int({ description: 'The status of the answer.' }),
  },
  { title: 'AccessLine' },
)
export const AccessPage = Fields({ data: T.Array(AccessLine), next_cursor: Cursor }, { title: 'AccessPage' })
export const AccessQuery = Fields({
  user_id: Uuid,
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: NextCursor,
})
export type AccessQuery = Static<typeof AccessQuery>
export const TeamAuditParams = Fields({ org_id: Uuid, team_id: Uuid, environment: Environment })
