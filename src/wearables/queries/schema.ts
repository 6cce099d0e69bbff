// Shapes of continuous queries. Source: openapi-management.json; management-auth.md 5, 15.
import {
  Clearable,
  Fields,
  Int,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Uuid,
  type Static,
  Timestamp,
} from '../../platform/schema/schema.ts'
import { labSlugs, providers } from '../../people/users/sources.ts'
import { resources } from '../resources/resources.ts'
import { Query } from './query-language.ts'
import { observationMappers } from './result-observations.ts'
import { Timeframe } from './timeframe.ts'

const place = { org_id: Uuid, team_id: Uuid, environment: OpenEnum(['sandbox', 'production']) }
export const TeamScopeParams = Fields(place)
export const QueryScopeParams = Fields({ ...place, query_id: Uuid })

const Slug = Text({
  maxLength: 128,
  pattern: '^(?!.*--)(?!.*-$)(?!-.*$)[a-z0-9-]{1,128}$',
  says: 'have only small letters, digits and single hyphens between them',
  description: 'Lower-case letters, digits and single hyphens between them.',
})
const Title = Text({
  maxLength: 50,
  pattern: '^[A-Za-zÀ-ÖØ-öø-ÿ0-9()&_\\-.\\s]{0,50}$',
  says: 'have only letters, digits, spaces and ( ) & _ - .',
})

const Source = OpenEnum([...new Set([...providers, ...labSlugs])], { title: 'ProviderOrLab' })

const QueryConfig = Fields(
  { provider_priority_overrides: Clearable(T.Array(Source, { maxItems: 100 })) },
  { title: 'QueryConfig' },
)

const Gap = Int({ minimum: 1800, description: 'Minimum number of seconds between two runs for one user.' })
const Scheduling = Fields({ minimum_gap_duration_second: Clearable(Gap) }, { title: 'ContinuousQuerySchedulingPreferences' })

export const CreateQuery = Fields(
  {
    slug: Slug,
    title: Title,
    query: Query,
    query_config: Maybe(QueryConfig),
    scheduling_preferences: Maybe(Scheduling),
    export_preferences: Maybe(
      Fields(
        {
          data_events: Maybe(
            Fields({ enabled: Maybe(T.Boolean({ default: true })) }, { title: 'ContinuousQueryDataEventPreferences' }),
          ),
          fhir_observations: Maybe(T.Boolean({ default: false })),
        },
        { title: 'ContinuousQueryExportPreferences' },
      ),
    ),
  },
  { title: 'CreateContinuousQueryBody' },
)
export type CreateQuery = Static<typeof CreateQuery>

export const UpdateQuery = Fields(
  { title: Maybe(Title), scheduling_preferences: Maybe(Scheduling) },
  { title: 'UpdateContinuousQueryBody' },
)
export type UpdateQuery = Static<typeof UpdateQuery>

export const QueryType = Fields({ query_type: Maybe(OpenEnum(['team', 'platform'], { default: 'team' })) })

const ResultColumns = T.Record(T.String(), OpenEnum(['int64', 'double', 'string', 'bool']))
const Dependencies = T.Array(OpenEnum(resources))

export const ContinuousQuery = Fields(
  {
    id: Uuid,
    status: OpenEnum(['active', 'archived']),
    slug: T.String(),
    title: T.String(),
    team_id: Nullable(Uuid),
    query: Query,
    query_config: Fields({ provider_priority_overrides: Nullable(T.Array(Source)) }),
    scheduling_preferences: Fields({ minimum_gap_duration_second: Nullable(T.Integer()) }),
    result_table_schema: ResultColumns,
    resource_dependencies: Dependencies,
    export_preferences: Fields({ data_events: Fields({ enabled: T.Boolean() }), fhir_observations: T.Boolean() }),
    fhir_observation_mappers: T.Array(OpenEnum(observationMappers), {
      description: 'The mappings by which results are sent to FHIR servers; none without `export_preferences.fhir_observations`.',
    }),
  },
  { title: 'ContinuousQuery' },
)
export type ContinuousQuery = Static<typeof ContinuousQuery>

export const QueryList = Fields(
  { data: T.Array(ContinuousQuery), next_cursor: Nullable(T.String()) },
  { title: 'ContinuousQueryResponse' },
)
export const ListQuery = Fields({ next_cursor: Maybe(Text({ maxLength: 1000 })) })

export const Validated = Fields(
  {
    result_table_schema: ResultColumns,
    resource_dependencies: Dependencies,
    fhir_observation_previews: Nullable(
      T.Record(T.String(), T.Unknown(), {
        description:
          'With `export_preferences.fhir_observations`: for each mapping that applies, an Observation with an invented value. Null if none applies.',
      }),
    ),
  },
  { title: 'ValidateContinuousQueryResponse' },
)

// Shapes of running queries over the data of one user. Source: users-wearables.md 15.1; openapi-0.4.687.json, QueryBatch.

const QUERIES_MAX = 20

export const UserParams = Fields({ user_id: Uuid })

export const QueryBatch = Fields(
  { timeframe: Timeframe, queries: T.Array(Query, { maxItems: QUERIES_MAX }), config: Maybe(QueryConfig) },
  { title: 'QueryBatch' },
)
export type QueryBatch = Static<typeof QueryBatch>

export const ResultTable = Fields(
  {
    table: T.Record(T.String(), T.Array(T.Unknown()), {
      description: 'Columns by name, in the order of `select`; each has one value for each row.',
    }),
  },
  { title: 'AggregationResult' },
)
export const QueryResults = Fields({ results: T.Array(ResultTable) }, { title: 'AggregationResponse' })

export const QueryOfUserParams = Fields({
  user_id: Uuid,
  query_id_or_slug: Text({
    maxLength: 128,
    pattern: '^[A-Za-z0-9-]{1,128}$',
    says: 'be an id or a slug',
    example: 'weekly-sleep',
  }),
})
export const HistoryQuery = Fields({
  limit: Maybe(Int({ minimum: 1, maximum: 100, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
})

export const Task = Fields(
  {
    query_id: Uuid,
    user_id: Uuid,
    status: OpenEnum(['scheduled', 'started', 'completed', 'error', 'skipped']),
    scheduled_at: Timestamp,
    started_at: Nullable(Timestamp),
    ended_at: Nullable(Timestamp),
    error_details: Nullable(T.String()),
  },
  { title: 'ContinuousQueryTaskHistoryEntry' },
)
export const TaskHistory = Fields(
  { data: T.Array(Task), next_cursor: Nullable(T.String()) },
  { title: 'ContinuousQueryTaskHistoryResponse' },
)
