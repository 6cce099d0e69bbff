// Shapes of the retention of health data.
import { Fields, Int, Nullable, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { resources } from '../resources/resources.ts'

/** A hundred years. */
const DAYS_MAX = 36_500

export const TeamScopeParams = Fields({ org_id: Uuid, team_id: Uuid, environment: OpenEnum(['sandbox', 'production']) })

const Rule = Fields(
  {
    /** Null: every resource without a rule of its own. */
    resource: Nullable(OpenEnum(resources)),
    days: Int({
      minimum: 1,
      maximum: DAYS_MAX,
      description: 'Data is deleted so many days after the day or the hour that it is about.',
    }),
  },
  { title: 'DataRetentionRule' },
)
type Rule = Static<typeof Rule>

export const Rules = Fields(
  { rules: T.Array(Rule, { maxItems: resources.length + 1 }) },
  {
    title: 'DataRetentionRules',
    finish: (value) => {
      const named = (value.rules as Rule[]).map(({ resource }) => resource)
      return new Set(named).size === named.length
        ? value
        : { field: 'rules', refusal: new RuleError('has two rules for one resource') }
    },
  },
)
export type Rules = Static<typeof Rules>

export const DataRetention = Fields(
  {
    rules: T.Array(Rule),
    provider_limits: T.Array(Fields({ provider: T.String(), days: T.Integer() }), {
      description: 'What the operator of the server permits for data of a provider, whatever the rules say.',
    }),
  },
  { title: 'DataRetention' },
)
export type DataRetention = Static<typeof DataRetention>

/** Users that a preview counts. */
export const PREVIEWED_USERS_MAX = 1000
/** Rows of each table that a preview counts. */
export const COUNTED_MAX = 100_000

export const RetentionPreview = Fields(
  {
    data: T.Array(
      Fields(
        {
          resource: OpenEnum(resources),
          count: T.Integer({ description: 'Summaries or streams; of samples the hours that have some, for each source.' }),
          first_day: T.String({ format: 'date' }),
          last_day: T.String({ format: 'date' }),
        },
        { title: 'ExpiredResource' },
      ),
      { description: 'What has expired by the rules; resources of which nothing has expired are left out.' },
    ),
    users: T.Integer({ description: `Users whose data was counted, at most ${PREVIEWED_USERS_MAX}.` }),
    is_complete: T.Boolean({
      description: `False: there are further users, or counting has stopped at ${COUNTED_MAX} rows, so more than this would be deleted.`,
    }),
  },
  { title: 'RetentionPreview' },
)
export type RetentionPreview = Static<typeof RetentionPreview>
