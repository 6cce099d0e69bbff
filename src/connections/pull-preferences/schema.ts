// Shapes of data pull preferences. Source: openapi-management.json; management-auth.md 14.
import { NextCursor } from '../../tenancy/organizations/management-shapes.ts'
import { RuleError, type FinalizeObject } from '../../platform/schema/request-validation.ts'
import { Clearable, Fields, Int, Maybe, Nullable, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'
import { resources } from '../../wearables/resources/resources.ts'
import { DAYS_MAX, pulledProviders } from './pull-defaults.ts'
import { TEAMS_MAX, TeamIds } from '../credentials/schema.ts'

/** Number of teams a page; each has all providers. */
export const PAGE = 5

const Pulled = OpenEnum(pulledProviders, { title: 'PulledProvider' })

const Days = Fields({ historical_days_to_pull: Int({ minimum: 1, maximum: DAYS_MAX }) }, { title: 'DefaultConfiguration' })
const DaysWithLimit = Fields(
  { historical_days_to_pull: T.Integer(), historical_days_to_pull_limit: T.Integer() },
  { title: 'DefaultConfigurationWithLimit' },
)

const resourceNames: ReadonlySet<string> = new Set(resources)

const rejectUnknownResources: FinalizeObject = (value) => {
  const unknown = Object.keys(value.resource_overrides ?? {}).find((name) => !resourceNames.has(name))
  return unknown === undefined
    ? value
    : { field: 'resource_overrides', refusal: new RuleError('contains an unrecognized resource') }
}

const Pull = Fields(
  { default: Days, resource_overrides: Clearable(T.Record(T.String(), Days)) },
  { title: 'SingleProviderDataPullPreferences', finish: rejectUnknownResources },
)
export type Pull = Static<typeof Pull>

export const UpsertPulls = Fields(
  {
    team_ids: T.Array(Uuid, { minItems: 1, maxItems: TEAMS_MAX }),
    providers: T.Record(T.String(), Pull, { propertyNames: { enum: [...pulledProviders] } }),
  },
  { title: 'UpsertTeamDataPullPreferencesBody' },
)
export type UpsertPulls = Static<typeof UpsertPulls>

const PullWithLimit = Fields(
  { default: DaysWithLimit, resource_overrides: Nullable(T.Record(T.String(), DaysWithLimit)) },
  { title: 'SingleProviderDataPullPreferencesWithLimit' },
)
export type PullWithLimit = Static<typeof PullWithLimit>

export const PullPage = Fields(
  {
    data_pull_preferences: T.Array(
      Fields({ team_id: Uuid, providers: T.Record(T.String(), PullWithLimit) }, { title: 'TeamDataPullPreferencesWithLimit' }),
    ),
    next_cursor: Nullable(T.String()),
  },
  { title: 'TeamDataPullPreferencesResponse' },
)

export const PullQuery = Fields({
  team_id: Maybe(TeamIds),
  provider: Maybe(T.Array(Pulled, { maxItems: TEAMS_MAX })),
  next_cursor: NextCursor,
  limit: Maybe(Int({ minimum: 1, maximum: 50, default: PAGE })),
})
export type PullQuery = Static<typeof PullQuery>

export const RevertPullsQuery = Fields({
  team_id: Maybe(T.Array(Uuid, { maxItems: TEAMS_MAX, example: ['01890000-0000-7000-8000-000000000001'] })),
  provider: Maybe(T.Array(Pulled, { maxItems: TEAMS_MAX, example: ['oura'] })),
})
export type RevertPullsQuery = Static<typeof RevertPullsQuery>
