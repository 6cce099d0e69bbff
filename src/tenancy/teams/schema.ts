// Schemas of teams and of keys. Source: openapi-management.json; management-auth.md 5-10.
import { browserAddress, originOf } from '../../platform/net/browser-address.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import {
  Clearable,
  Email,
  Fields,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { teamRoles } from '../roles/roles.ts'
import { Creator, Cursor, Environment, Label, Name, NextCursor, Reference, Region } from '../organizations/management-shapes.ts'

const BrandText = Maybe(Text({ maxLength: 500 }))
const brandFields = {
  company_website: BrandText,
  support_email: Maybe(Email),
  support_contact: Clearable(Text({ maxLength: 500 })),
  company_address: BrandText,
  brand_color: BrandText,
}
const companyName = Text({ maxLength: 200 })
const CreateBrand = Fields({ company_name: companyName, ...brandFields }, { title: 'CreateBrandInformation' })
export const UpdateBrand = Fields({ company_name: Maybe(companyName), ...brandFields }, { title: 'UpdateBrandInformation' })
export type UpdateBrand = Static<typeof UpdateBrand>

const BrandInformation = Fields(
  {
    company_name: T.String(),
    company_website: T.String(),
    support_email: T.String({ description: 'Of the team, else of the installation, else empty.' }),
    support_contact: Nullable(T.String()),
    company_address: T.String(),
    brand_color: T.String(),
  },
  { title: 'BrandInformation' },
)
export type BrandInformation = Static<typeof BrandInformation>

export const Url = Text({
  minLength: 1,
  maxLength: 2083,
  rule: (text) => (URL.canParse(text) && /^https?:/i.test(text) ? text : new RuleError('must be an http or https URL')),
})

const environmentFields = {
  lab_tests_patient_sms_communication_enabled: Maybe(T.Boolean()),
  lab_tests_patient_email_communication_enabled: Maybe(T.Boolean()),
  critical_result_notification_email: Clearable(Email),
  logo_url: Clearable(Url),
  reject_duplicate_connection: Maybe(T.Boolean()),
  sdk_per_device_activity_timeseries: Maybe(T.Boolean()),
  partial_webhooks_enabled: Maybe(T.Boolean()),
  minor_ordering_enabled: Maybe(T.Boolean()),
}
const ANY_ORDER = '00000000-0000-0000-0000-000000000000'
/**
 * A URL for patients, in which `{order_id}` stands for an order. It has no other braces, so that a patient never gets a URL with an
 * unresolved placeholder.
 */
const BookingUrl = Text({
  maxLength: 500,
  description: 'Where patients book at-home appointments, an https URL; `{order_id}` in it stands for the id of their order.',
  rule(text) {
    const example = text.replaceAll('{order_id}', ANY_ORDER)
    return /^https:[/][/][!-z|~]+$/i.test(example) && browserAddress(example)
      ? text
      : new RuleError('must be an https URL in ASCII, without credentials and with no placeholder other than {order_id}')
  },
})

const LINK_REDIRECTS_MAX = 50
/** An origin of a website, or the scheme of an app with its colon. */
const RedirectOrigin = Text({
  minLength: 1,
  maxLength: 300,
  rule(text) {
    const url = browserAddress(/^[a-z][a-z0-9+.-]*:$/i.test(text) ? `${text}//x` : text)
    const origin = url && originOf(url)
    return origin !== undefined && !text.includes('*') && [origin, `${origin}/`].includes(text.toLowerCase())
      ? origin
      : new RuleError('must be an origin, such as https://app.example.com, or the scheme of an app, such as clinic:')
  },
})

const UpdateEnvironment = Fields(
  {
    ...environmentFields,
    brand_information: Clearable(UpdateBrand),
    patient_experience: Maybe(T.Boolean()),
    appointment_booking_url: Clearable(BookingUrl),
    link_redirect_origins: Clearable(
      T.Array(RedirectOrigin, {
        maxItems: LINK_REDIRECTS_MAX,
        description: 'If set, link tokens may return to these origins and apps only; an empty list allows none.',
      }),
    ),
  },
  { title: 'UpdateTeamEnvironment' },
)
export type UpdateEnvironment = Static<typeof UpdateEnvironment>

export const TeamEnvironment = Fields(
  {
    lab_tests_patient_sms_communication_enabled: T.Boolean(),
    lab_tests_patient_email_communication_enabled: T.Boolean(),
    critical_result_notification_email: Nullable(T.String()),
    brand_information: Nullable(BrandInformation),
    logo_url: Nullable(T.String()),
    reject_duplicate_connection: T.Boolean(),
    sdk_per_device_activity_timeseries: T.Boolean(),
    partial_webhooks_enabled: T.Boolean(),
    minor_ordering_enabled: T.Boolean(),
    appointment_booking_url: Nullable(T.String()),
    link_redirect_origins: Nullable(T.Array(T.String())),
  },
  { title: 'TeamEnvironment' },
)
export type TeamEnvironment = Static<typeof TeamEnvironment>

const teamFields = {
  id: Uuid,
  name: T.String(),
  created_on: Timestamp,
  region: OpenEnum(['us', 'eu']),
  integration_team_id: Nullable(T.String()),
}
export const TeamItem = Fields(teamFields, { title: 'TeamItem' })
export type TeamItem = Static<typeof TeamItem>
export const TeamPage = Fields({ teams: T.Array(TeamItem), next_cursor: Cursor }, { title: 'TeamPage' })
export const OrgTeam = Fields(
  {
    ...teamFields,
    environments: T.Array(T.String()),
    sandbox: Nullable(TeamEnvironment),
    production: Nullable(TeamEnvironment),
  },
  { title: 'OrganizationTeam' },
)
export type OrgTeam = Static<typeof OrgTeam>

export const TeamListQuery = Fields({
  team_id: Maybe(Uuid),
  region: Maybe(T.Array(Region, { maxItems: 10 })),
  search_query: Maybe(Name),
  next_cursor: NextCursor,
})
export type TeamListQuery = Static<typeof TeamListQuery>

export const CreateTeam = Fields(
  {
    name: Name,
    region: Region,
    id: Maybe(Uuid),
    integration_team_id: Maybe(Reference),
    ...environmentFields,
    brand_information: Maybe(CreateBrand),
  },
  { title: 'CreateTeam', additionalProperties: false },
)
export type CreateTeam = Static<typeof CreateTeam>

export const UpdateTeam = Fields(
  {
    name: Maybe(Name),
    integration_team_id: Clearable(Reference),
    sandbox: Maybe(UpdateEnvironment),
    production: Maybe(UpdateEnvironment),
  },
  { title: 'UpdateTeam', additionalProperties: false },
)
export type UpdateTeam = Static<typeof UpdateTeam>

export const ResolveTeam = Fields({ integration_team_id: Reference }, { title: 'ResolveTeam' })

export const MintToken = Fields({ env: Environment }, { title: 'CreateAccessToken' })
export const MintTokenMaybe = Fields({ env: Maybe(Environment) }, { title: 'CreateAccessTokenOfOnlyEnvironment' })
export const AccessToken = Fields({ access_token: T.String(), expires_in: T.Integer() }, { title: 'AccessToken' })

/** Further keys, such as the `role` of public samples, are ignored. */
export const TeamRoleBinding = Fields({ team_id: Uuid }, { title: 'TeamRoleBinding' })
export const Bindings = T.Array(TeamRoleBinding, { maxItems: 1000 })

/** The binding of a member, who has a role in the team. */
export const MemberBinding = Fields({ team_id: Uuid, role: OpenEnum(teamRoles) }, { title: 'MemberTeamRole' })
export const MemberBindings = T.Array(
  Fields(
    {
      team_id: Uuid,
      role: Maybe(
        Text({
          maxLength: 100,
          description: `What the member may do in the team: ${teamRoles.join(', ')}. Absent or anything else: administrator.`,
          example: 'viewer',
        }),
      ),
    },
    { title: 'SetMemberTeamRole' },
  ),
  { maxItems: 1000 },
)

/** The person who uses a key. */
const KeyMember = T.String({
  format: 'uuid',
  description: 'The member who uses the key: the access log names this person, and the key is removed with the member.',
})

/** Exact to about a minute. */
const keyUse = {
  last_used_at: Nullable(Timestamp),
  last_used_ip: Nullable(T.String({ description: 'The address from which it was used last.' })),
}

const managementKey = {
  id: Uuid,
  label: T.String(),
  created_at: Timestamp,
  creator: Creator,
  ...keyUse,
  role: OpenEnum(['org_admin', 'team_admin']),
  team_role_bindings: Nullable(T.Array(TeamRoleBinding)),
  member_id: Nullable(Uuid),
}
export const ManagementKey = Fields(managementKey, { title: 'ManagementKey' })
export type ManagementKey = Static<typeof ManagementKey>
export const NewManagementKey = Fields({ ...managementKey, key: T.String() }, { title: 'NewManagementKey' })
export const ManagementKeyPage = Fields({ data: T.Array(ManagementKey), next_cursor: Cursor }, { title: 'ManagementKeyPage' })
export const ManagementKeyQuery = Fields({
  team_id: Maybe(Uuid),
  role: Maybe(OpenEnum(['org_admin', 'team_admin'])),
  next_cursor: NextCursor,
})
export type ManagementKeyQuery = Static<typeof ManagementKeyQuery>
export const CreateManagementKey = Fields(
  {
    label: Label,
    role: Maybe(OpenEnum(['org_admin', 'team_admin'])),
    team_role_bindings: Maybe(Bindings),
    team_id: Maybe(T.String({ format: 'uuid', description: 'Without a role: a key of this one team.' })),
    member_id: Maybe(KeyMember),
  },
  { title: 'CreateManagementKey' },
)
export type CreateManagementKey = Static<typeof CreateManagementKey>
export const PatchManagementKey = Fields(
  { label: Maybe(Label), team_role_bindings: Maybe(Bindings) },
  { title: 'PatchManagementKey' },
)
export type PatchManagementKey = Static<typeof PatchManagementKey>
export const RotateManagementKey = Fields(
  {
    overlap_seconds: Maybe(
      T.Integer({ minimum: 0, maximum: 86_400, description: 'How long the former text goes on working; a day when not given.' }),
    ),
  },
  { title: 'RotateManagementKey' },
)
export const ManagementKeyParams = Fields({ org_id: Uuid, key_id: Uuid })

export const TeamApiKey = Fields(
  {
    id: Uuid,
    label: T.String(),
    value: T.String({ description: 'Whole in the answer that creates it, masked ever after.' }),
    team_id: Uuid,
    member_id: Nullable(Uuid),
    creator: Creator,
    created_at: Timestamp,
    ...keyUse,
  },
  { title: 'TeamApiKey' },
)
export type TeamApiKey = Static<typeof TeamApiKey>
export const TeamApiKeyPage = Fields({ api_keys: T.Array(TeamApiKey), next_cursor: Cursor }, { title: 'TeamApiKeyPage' })
export const TeamApiKeyQuery = Fields({ team_id: Maybe(Uuid), next_cursor: NextCursor })
export const CreateTeamApiKey = Fields(
  { label: Label, team_id: Uuid, member_id: Maybe(KeyMember) },
  { title: 'CreateTeamApiKey' },
)
export const DeleteTeamApiKeysQuery = Fields({ api_key_id: T.Array(Uuid, { minItems: 1, maxItems: 200 }) })
const Ids = T.Array(Uuid)
export const DeletedTeamApiKeys = Fields({ success: Ids, failure: Ids, not_found: Ids }, { title: 'DeletedTeamApiKeys' })

const Absent = T.Null()
export const OwnTeam = Fields(
  {
    id: Uuid,
    org_id: Uuid,
    name: T.String(),
    svix_app_id: Absent,
    client_id: Absent,
    client_secret: Absent,
    airtable_api_key: Absent,
    airtable_base_id: Absent,
    webhook_secret: Absent,
    api_key: Absent,
    api_keys: Absent,
    configuration: Absent,
    testkits_texts_enabled: T.Boolean(),
    lab_tests_patient_communication_enabled: T.Boolean(),
    lab_tests_patient_sms_communication_enabled: T.Boolean(),
    lab_tests_patient_email_communication_enabled: T.Boolean(),
    logo_url: Nullable(T.String()),
    delegated_flow: T.String(),
    critical_result_notification_email: Nullable(T.String()),
  },
  { title: 'Team' },
)
export type OwnTeam = Static<typeof OwnTeam>
export const PriorityQuery = Fields({
  data_type: Maybe(OpenEnum(['workouts', 'activity', 'sleep', 'body', 'timeseries'])),
})
export const Priorities = T.Array(T.Record(T.String(), T.Unknown()), { maxItems: 500 })
