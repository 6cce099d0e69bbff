// Schemas of sign-in and sessions.
import { Email, Fields, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { PASSWORD_LENGTH_MAX } from './passwords.ts'
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

export const SignInSettings = Fields(
  {
    demo: T.Boolean({ description: 'Whether everyone who reaches the server can sign in to its demo data.' }),
    password_length_min: T.Integer(),
    session_idle_s: T.Integer({ description: 'How long a session lasts without a request (`SESSION_IDLE_MINUTES`).' }),
    session_s: T.Integer({ description: 'How long a session lasts in all (`SESSION_HOURS`).' }),
    sends_mail: T.Boolean({ description: 'Whether mails leave the server (`SMTP_URL`).' }),
    oidc: Nullable(
      Fields({
        issuer: T.String(),
        client_id: T.String(),
        has_client_secret: T.Boolean(),
        label: T.String(),
        redirect_uri: T.String({ description: 'What the issuer must allow for the client.' }),
        allowed_domains: T.Array(T.String(), { description: 'Of email addresses. Empty: all that the issuer has verified.' }),
        role_claim: Nullable(T.String()),
        roles: T.Array(Fields({ value: T.String(), role: T.String() }), {
          description: 'Values of the claim and their roles; the first that fits applies at each sign-in.',
        }),
      }),
    ),
  },
  { title: 'SignInSettings' },
)
export type SignInSettings = Static<typeof SignInSettings>

export const SignedOut = Fields(
  { logout_url: Nullable(T.String({ description: 'The page of the OpenID issuer that ends its own session.' })) },
  { title: 'SignedOut' },
)

/** Ids of operations. */
const OperationIds = T.Array(T.String())
const TeamRoleValue = OpenEnum(teamRoles)

/** What the console shows of the session in which a member works. */
export const signedInMember = {
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
}
export const SignedInMember = Fields(signedInMember, { title: 'SignedInMember' })
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

/** Not more than the field of a password manager: a hash of a long text costs time. */
const Password = Text({ minLength: 1, maxLength: PASSWORD_LENGTH_MAX })
const NewPassword = Text({
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  description: 'At least 12 characters, and none of the passwords that are easy to guess.',
})
const LinkToken = Text({ minLength: 1, maxLength: 200 })

export const PasswordSignIn = Fields({ email: Email, password: Password }, { title: 'PasswordSignIn' })
export type PasswordSignIn = Static<typeof PasswordSignIn>
/** Options and answers of WebAuthn, as browsers and their libraries write them. */
const WebAuthnJson = T.Record(T.String(), T.Unknown())
export const PasskeyOptions = Fields(
  { challenge: T.String() },
  { title: 'PasskeyOptions', description: 'As of WebAuthn, in JSON.', additionalProperties: true },
)
export type PasskeyOptions = Static<typeof PasskeyOptions>
export const SignInResult = Fields(
  {
    status: OpenEnum(['signed_in', 'second_factor']),
    options: Maybe(PasskeyOptions),
  },
  {
    title: 'SignInResult',
    description: 'With `second_factor` the member has passkeys, and one of them must answer these options.',
  },
)
export type SignInResult = Static<typeof SignInResult>

export const InspectLink = Fields({ token: LinkToken }, { title: 'InspectOneTimeLink' })
export const LinkOwner = Fields(
  {
    kind: OpenEnum(['setup', 'reset', 'invitation'], {
      description: '`setup`: the first administrator, who gives name and email. `invitation`: a new member, who gives a name.',
    }),
    email: Nullable(T.String()),
    name: Nullable(T.String()),
  },
  { title: 'OneTimeLink' },
)
export type LinkOwner = Static<typeof LinkOwner>
export const UseLink = Fields(
  {
    token: LinkToken,
    name: Maybe(Text({ minLength: 1, maxLength: 100 })),
    email: Maybe(Email),
    password: NewPassword,
  },
  { title: 'UseOneTimeLink' },
)
export type UseLink = Static<typeof UseLink>
export const RequestReset = Fields({ email: Email }, { title: 'RequestPasswordReset' })
export const ChangePassword = Fields({ current_password: Password, password: NewPassword }, { title: 'ChangePassword' })
export type ChangePassword = Static<typeof ChangePassword>

export const PasskeySignIn = Fields({ response: WebAuthnJson }, { title: 'PasskeySignIn' })
export type PasskeySignIn = Static<typeof PasskeySignIn>
export const AddPasskey = Fields(
  { name: Text({ minLength: 1, maxLength: 100 }), response: WebAuthnJson },
  { title: 'AddPasskey' },
)
export type AddPasskey = Static<typeof AddPasskey>
export const Passkey = Fields(
  { id: Uuid, name: T.String(), created_at: Timestamp, last_used_at: Nullable(Timestamp) },
  { title: 'Passkey' },
)
export type Passkey = Static<typeof Passkey>
export const PasskeyList = Fields({ passkeys: T.Array(Passkey) }, { title: 'Passkeys' })
export const PasskeyParams = Fields({ passkey_id: Uuid })
