import { requiredPlan } from '../../tenancy/organizations/plans.ts'
import { CellParams } from '../../tenancy/organizations/management-shapes.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { deletePipelines, listPipelines, upsertPipelines, type PipelineDependencies } from './pipelines.ts'
import { DeletePipelinesQuery, Pipeline, PipelinePage, PipelineQuery, UpsertPipelines } from './schema.ts'

const ofCell = {
  logsAccess: false,
  path: '/v1/org/{org_id}/team_etl_pipelines/{env}/{region}',
  params: CellParams,
  scope: 'control',
  keyScope: 'bound',
  entitlement: requiredPlan.etl,
} as const

export const brokersRoutes = (dependencies: PipelineDependencies): Operation[] => [
  managementOperation({
    ...ofCell,
    id: 'get_team_etl_pipelines',
    method: 'GET',
    summary: 'List pipelines, newest first, without their secrets',
    query: PipelineQuery,
    reply: PipelinePage,
    run: (tx, { manager, params, query }) => listPipelines(tx, dependencies, manager, params, query),
  }),
  managementOperation({
    ...ofCell,
    id: 'upsert_team_etl_pipelines',
    idempotency: 'none',
    method: 'POST',
    summary: 'Create or update event pipelines',
    description:
      'Makes a pipeline for each team, or changes the one it has: what is absent or null stays. It works as soon as it is answered.',
    body: UpsertPipelines,
    reply: T.Array(Pipeline),
    example: {
      team_ids: ['01890000-0000-7000-8000-000000000001'],
      preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq', 'svix'] },
      rabbitmq: { uri: 'amqps://events:fictional@broker.example.com/clinic', exchange: 'events' },
      event_type_prefixes: ['labtest.'],
    },
    run: (tx, { manager, params, body, recordAuditSubject }) =>
      upsertPipelines(tx, dependencies, manager, params, body, recordAuditSubject),
  }),
  managementOperation({
    ...ofCell,
    id: 'delete_team_etl_pipelines',
    method: 'DELETE',
    summary: 'Delete the pipelines of teams',
    description: 'Returns the deleted pipelines. Events that wait for their brokers are not sent.',
    query: DeletePipelinesQuery,
    reply: T.Array(Pipeline),
    run: (tx, { manager, params, query, recordAuditSubject }) =>
      deletePipelines(tx, dependencies, manager, params, query.team_id, recordAuditSubject),
  }),
]
