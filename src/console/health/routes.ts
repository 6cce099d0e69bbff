import type { Cells } from '../../platform/db/cells.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { pageFailedJobs, retryJobs } from './failed-jobs.ts'
import { countTeamJobs } from './job-counts.ts'
import {
  CellParams,
  FailedJobPage,
  FailedJobParams,
  FailedJobQuery,
  RetriedJobs,
  RetryFailedJobs,
  ServerHealth,
  TeamJobCounts,
} from './schema.ts'
import { readServerHealth } from './server-health.ts'

const FAILED_JOBS = '/v1/org/{org_id}/team/{team_id}/{environment}/failed_job' as const

const ofTeam = { logsAccess: false, scope: 'team', keyScope: 'bound', params: FailedJobParams } as const

export const healthRoutes = (cells: Cells): Operation[] => [
  managementOperation({
    ...ofTeam,
    id: 'list_failed_jobs',
    method: 'GET',
    path: FAILED_JOBS,
    summary: 'List jobs of a team that failed, newest first',
    description: 'Names and codes of errors, without the data of the jobs.',
    query: FailedJobQuery,
    reply: FailedJobPage,
    run: (tx, { query }) => pageFailedJobs(tx, query),
  }),
  managementOperation({
    ...ofTeam,
    id: 'count_team_jobs',
    method: 'GET',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/job_count',
    summary: 'Count the jobs of a team by name',
    reply: TeamJobCounts,
    run: (tx) => countTeamJobs(tx),
  }),
  managementOperation({
    ...ofTeam,
    id: 'retry_failed_jobs',
    method: 'POST',
    path: `${FAILED_JOBS}/retry`,
    summary: 'Retry jobs of a team that are tried no more',
    description: 'At once, with all their attempts.',
    body: RetryFailedJobs,
    reply: RetriedJobs,
    example: { failed_job_ids: ['00000000-0000-7000-8000-000000000009'] },
    run: (tx, { body }) => retryJobs(tx, { ids: body.failed_job_ids, name: body.name }),
  }),
  managementOperation({
    id: 'get_server_health',
    logsAccess: false,
    method: 'GET',
    path: '/v1/org/{org_id}/health/{env}/{region}',
    scope: 'cell',
    keyScope: 'org',
    summary: 'Read the health of the server in an environment',
    description:
      "Queues of the organization's teams, and of the whole server the size and growth of the database, versions and the last backup. For keys of the organization and its administrators.",
    params: CellParams,
    reply: ServerHealth,
    run: (tx, { params }) => readServerHealth(tx, cells.control.queries, params.org_id),
  }),
]
