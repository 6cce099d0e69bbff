import { CellParams, OrgParams } from '../organizations/management-shapes.ts'
import { managementOperation, multiTransactionManagementOperation, type Operation } from '../../platform/http/operation.ts'
import type { ArchiveSearcher } from '../../platform/access-log/search-archive.ts'
import { listAccess } from './list-accesses.ts'
import { listAudit } from './audit-log.ts'
import { readLastCheck } from './log-check.ts'
import { AccessPage, AccessQuery, AuditPage, AuditQuery, LastAccessLogCheck, TeamAuditParams } from './schema.ts'

const audit = { logsAccess: false, method: 'GET', query: AuditQuery, reply: AuditPage } as const

/** The changes in the name of an organization, and the accesses to patients' data. */
export const auditRoutes = (archive: ArchiveSearcher): Operation[] => [
  managementOperation({
    ...audit,
    id: 'list_org_audit',
    path: '/v1/org/{org_id}/audit',
    scope: 'control',
    keyScope: 'org',
    summary: 'List the audit log of the organization, newest first',
    description: 'Changes within one environment are in the lists of that environment.',
    params: OrgParams,
    run: (tx, { params, query }) => listAudit(tx, params.org_id, undefined, query),
  }),
  managementOperation({
    ...audit,
    id: 'list_cell_audit',
    path: '/v1/org/{org_id}/audit/{env}/{region}',
    scope: 'cell',
    keyScope: 'org',
    summary: 'List the audit log of an environment, newest first',
    description: 'Entries of all teams, including deleted ones, and of no particular team.',
    params: CellParams,
    run: (tx, { params, query }) => listAudit(tx, params.org_id, undefined, query),
  }),
  managementOperation({
    ...audit,
    id: 'list_team_audit',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/audit',
    scope: 'team',
    keyScope: 'bound',
    summary: 'List the audit log of a team in an environment, newest first',
    params: TeamAuditParams,
    run: (tx, { params, query }) => listAudit(tx, params.org_id, params.team_id, query),
  }),
  multiTransactionManagementOperation({
    id: 'list_user_access',
    logsAccess: true,
    method: 'GET',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/access_log',
    scope: 'team',
    keyScope: 'bound',
    summary: 'List who has seen or changed the data of a user, newest first',
    description:
      'Every call that showed, changed or named the user, refused ones included, from a second after it on for as long as the operator keeps the log; also of a user that has been erased. Older lines are read from files: such a page may have fewer lines than its limit, or none, and `next_cursor` leads on. 503: a file cannot be read; the answer names its day.',
    params: TeamAuditParams,
    query: AccessQuery,
    reply: AccessPage,
    run: (steps, { query }) => listAccess(steps, archive, query),
  }),
  managementOperation({
    id: 'get_access_log_check',
    logsAccess: false,
    method: 'GET',
    path: '/v1/org/{org_id}/access_log_check/{env}/{region}',
    scope: 'cell',
    keyScope: 'bound',
    summary: 'Read when the access log of an environment was last checked, and whether it was intact',
    description: 'The operator checks the hashes of all lines with `bin/drawbridge access-log verify`.',
    params: CellParams,
    reply: LastAccessLogCheck,
    run: (tx) => readLastCheck(tx),
  }),
]
