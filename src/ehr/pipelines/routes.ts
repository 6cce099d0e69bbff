import type { Cells } from '../../platform/db/cells.ts'
import { Nothing } from '../../tenancy/organizations/management-shapes.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { deletePipelines, listPipelines, upsertPipelines } from './pipelines.ts'
import * as shapes from './schema.ts'

/** Dependencies of the operations on pipelines. */
export interface PipelineDependencies {
  cells: Cells
  vault: Vault
}

const shared = {
  logsAccess: false,
  path: '/v1/org/{org_id}/team_ehr_pipelines/{environment}/{region}',
  scope: 'cell',
  keyScope: 'bound',
  params: shapes.PipelinesParams,
} as const

export const pipelinesRoutes = (dependencies: PipelineDependencies): Operation[] => [
  managementOperation({
    ...shared,
    id: 'get_team_ehr_pipelines',
    method: 'GET',
    summary: 'List EHR pipelines of teams, newest first',
    description: 'Secrets are masked. The next page starts from `next_token`, given as `next_cursor`.',
    query: shapes.PipelinesQuery,
    reply: shapes.PipelinePage,
    run: (tx, { manager, params, query }) => listPipelines(tx, dependencies.cells.control.queries, manager, params, query),
  }),
  managementOperation({
    ...shared,
    id: 'upsert_team_ehr_pipelines',
    idempotency: 'none',
    method: 'POST',
    summary: 'Create or replace EHR pipelines',
    description:
      'Without `team_ids` for all accessible teams in this environment and region. Drawbridge does not send data there yet.',
    body: shapes.UpsertPipelines,
    reply: T.Array(shapes.Pipeline),
    example: {
      team_ids: ['01890000-0000-7000-8000-000000000001'],
      ehr_type: 'fhir',
      base_url: 'https://ehr.example.com/fhir',
      authentication: {
        type: 'client_credentials',
        client_id: 'fictional-clinic',
        client_secret: 'not-a-real-secret',
        token_url: 'https://ehr.example.com/token',
      },
    },
    run: (tx, { manager, params, body, recordAuditSubject }) =>
      upsertPipelines(
        tx,
        { control: dependencies.cells.control.queries, vault: dependencies.vault },
        manager,
        params,
        body,
        recordAuditSubject,
      ),
  }),
  managementOperation({
    ...shared,
    id: 'delete_team_ehr_pipelines',
    method: 'DELETE',
    summary: 'Delete the EHR pipelines of one type of teams',
    description: 'Without `team_id` for all accessible teams in this environment and region. Inaccessible teams are skipped.',
    query: shapes.DeletePipelinesQuery,
    reply: Nothing,
    run: async (tx, { manager, query, recordAuditSubject }) => {
      await deletePipelines(tx, manager, query, recordAuditSubject)
      return {}
    },
  }),
]
