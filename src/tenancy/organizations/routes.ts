import { OrgParams } from './management-shapes.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { getOrg, updateOrg } from './organizations.ts'
import { Org, UpdateOrg } from './schema.ts'

export const organizationsRoutes: Operation[] = [
  managementOperation({
    id: 'get_org',
    logsAccess: false,
    method: 'GET',
    path: '/v1/org/{org_id}',
    scope: 'control',
    keyScope: 'org',
    summary: 'Read the organization',
    params: OrgParams,
    reply: Org,
    run: (tx, { params }) => getOrg(tx, params.org_id),
  }),
  managementOperation({
    id: 'update_org',
    logsAccess: false,
    method: 'PATCH',
    path: '/v1/org/{org_id}',
    scope: 'control',
    keyScope: 'org',
    summary: 'Rename the organization',
    params: OrgParams,
    body: UpdateOrg,
    reply: Org,
    example: { name: 'Fictional Clinic' },
    run: (tx, { params, body }) => updateOrg(tx, params.org_id, body.name),
  }),
]
