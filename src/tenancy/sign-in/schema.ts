// Schemas of sign-in and sessions.
import { Fields, Maybe, Nullable, OpenEnum, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { roles } from '../teams/role-bindings.ts'
import { teamRoles } from '../roles/roles.ts'

export const Nothing = Fields({}, { title: 'Nothing' })

export const SignInOptions = Fields(
  {
    version: T.String(),
    demo: T.Boolean({ description: 'Whether `POST /console/api/sign-in/demo` signs in with one click.' }),
    cells: T.Array(T.String(), { description: 'The cells that this server serves.' }),
    methods: Fields({
      password: T.Boolean(),
      passkey: T.Boolean(),
      oidc: Nullable(Fields({ label: T.String() })),
    }),
  },
  { title: 'SignInOptions' },
)

/** Ids of operations. */
const OperationIds = T.Array(T.String())
const TeamRoleValue = OpenEnum(teamRoles)

export const SignedInMember = Fields(
  {
    session_id: Uuid,
    member: Fields({ id: Uuid, name: T.String(), email: T.String() }),
    org: Fields({ id: Uuid, name: T.String() }),
    role: OpenEnum(roles),
    teams: T.Array(Fields({ id: Uuid, name: T.String(), region: T.String(), role: TeamRoleValue }), {
      description: 'By name, at most 1,000.',
    }),
    cells: T.Array(T.String()),
    demo: T.Boolean(),
    permissions: T.Record(T.String(), Fields({ sandbox: OperationIds, production: OperationIds }), {
      description:
        'Role in a team → ids of the operations that it permits in a sandbox and in production. Only the roles among `teams` are there.',
    }),
    org_permissions: T.Array(T.String(), {
      description: 'Ids of the permitted operations that concern the organization and no single team.',
    }),
    expires_at: Timestamp,
    idle_expires_at: Timestamp,
  },
  { title: 'SignedInMember' },
)
export type SignedInMember = Static<typeof SignedInMember>

export const Session = Fields(
  {
    id: Uuid,
    method: T.String({ description: 'How the member signed in.' }),
    address: T.String(),
    user_agent: T.String({ description: 'What the browser said about itself.' }),
    created_at: Timestamp,
    last_seen_at: Timestamp,
    idle_expires_at: Timestamp,
    expires_at: Timestamp,
    is_current: T.Boolean(),
  },
  { title: 'ConsoleSession' },
)
export type Session = Static<typeof Session>
export const SessionList = Fields({ sessions: T.Array(Session) }, { title: 'ConsoleSessions' })
export const SessionParams = Fields({ session_id: Uuid })
export const EndSessionsQuery = Fields({
  keep_current: Maybe(T.Boolean({ default: false, description: 'Whether the session of the request goes on.' })),
})
