// Shapes of lab accounts. Source: openapi-management.json; management-auth.md 12; lab-testing.md 4.
import { Fields, Maybe, Nullable, OpenEnum, T, Text, Uuid, type Static } from '../../platform/schema/schema.ts'
import { Environment, Region } from '../../tenancy/organizations/management-shapes.ts'
import { billingTypes, type Billing } from '../catalog/enums.ts'
import { usStates } from '../../people/person/countries.ts'

/** Only an active account accepts orders. */
export const accountStatuses = ['active', 'pending', 'suspended', 'ready_to_launch'] as const
export const AccountStatus = OpenEnum(accountStatuses)
export type AccountStatus = Static<typeof AccountStatus>

/** Which of ordering and following up critical results the customer does itself. */
export const delegatedFlows = ['order_delegated', 'result_delegated', 'fully_delegated', 'not_delegated'] as const
const DelegatedFlow = OpenEnum(delegatedFlows)

const AllowedBilling = T.Record(T.String(), T.Array(T.String()))
export type AllowedBilling = Static<typeof AllowedBilling>

export const LabAccount = Fields(
  {
    id: Uuid,
    lab: T.String({ description: 'Slug of the laboratory.' }),
    org_id: Nullable(T.String({ format: 'uuid', description: "Null: the platform's own account, which every team may use." })),
    status: AccountStatus,
    delegated_flow: DelegatedFlow,
    provider_account_id: T.String({ description: 'Account number at the lab.' }),
    account_name: Nullable(T.String()),
    default_clinical_notes: Nullable(T.String()),
    business_units: Nullable(T.Array(T.String())),
    allowed_billing: T.Record(T.String(), T.Array(T.String()), {
      description: 'Billing type: the US states where it is offered. An absent billing type is not offered.',
    }),
    team_id_allowlist: T.Array(Uuid, { description: 'Linked teams, as far as the key may access them.' }),
  },
  { title: 'LabAccount' },
)
export type LabAccount = Static<typeof LabAccount>

export const LabAccounts = Fields({ data: T.Array(LabAccount) }, { title: 'LabAccounts' })
export const LabAccountReply = Fields({ lab_account: LabAccount }, { title: 'LabAccountReply' })

const filter = { lab_account_id: Maybe(Uuid), status: Maybe(AccountStatus) }
export const TeamAccountsQuery = Fields(filter)
export const AccountsQuery = Fields({ ...filter, team_id: Maybe(Uuid) })
export type AccountsQuery = Static<typeof AccountsQuery>

/** Maximum number of teams linked to one account. */
export const TEAMS_MAX = 1000
export const LinkTeams = Fields({ team_id_allowlist: T.Array(Uuid, { maxItems: TEAMS_MAX }) }, { title: 'LinkTeams' })

const cellFields = { org_id: Uuid, env: Environment, region: Region }
export const AccountsParams = Fields(cellFields)
export const AccountParams = Fields({ ...cellFields, account_id: Uuid })

const States = T.Array(OpenEnum(usStates, { title: 'UsState' }), { maxItems: 100 })
const BillingOffered = Fields(
  Object.fromEntries(billingTypes.map((type) => [type, Maybe(States)])) as Record<
    Billing,
    ReturnType<typeof Maybe<typeof States>>
  >,
  { title: 'LabAccountBilling', additionalProperties: false },
)

export const UpsertAccount = Fields(
  {
    lab: Text({ minLength: 1, maxLength: 100, description: 'Slug of a laboratory of the cell; it cannot be changed.' }),
    provider_account_id: Text({ minLength: 1, maxLength: 100, description: 'Account number at the lab.' }),
    status: Maybe(AccountStatus),
    delegated_flow: Maybe(DelegatedFlow),
    account_name: Maybe(Text({ minLength: 1, maxLength: 200 })),
    default_clinical_notes: Maybe(Text({ minLength: 1, maxLength: 1000 })),
    business_units: Maybe(T.Array(Text({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
    allowed_billing: Maybe(BillingOffered),
    team_id_allowlist: Maybe(T.Array(Uuid, { maxItems: TEAMS_MAX })),
  },
  { title: 'UpsertLabAccount' },
)
export type UpsertAccount = Static<typeof UpsertAccount>
