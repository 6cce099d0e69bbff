import { managementOperation, multiTransactionManagementOperation, type Operation } from '../../platform/http/operation.ts'
import * as shapes from './schema.ts'
import {
  createDomain,
  deleteDomain,
  getDomain,
  listDomains,
  sendInstructions,
  verifyDomain,
  type DomainDependencies,
} from './domains.ts'
import { Nothing, OrgParams } from '../organizations/management-shapes.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

const DOMAINS = '/v1/org/{org_id}/domain' as const
const DOMAIN = `${DOMAINS}/{domain_id}` as const
const orgScope = { logsAccess: false, scope: 'control', keyScope: 'org' } as const
const ofDomain = { ...orgScope, params: shapes.DomainParams } as const

/** Names that an organization uses as its own. */
export const domainsRoutes = (dependencies: DomainDependencies): Operation[] => [
  managementOperation({
    ...orgScope,
    id: 'list_org_domains',
    method: 'GET',
    path: DOMAINS,
    summary: 'List white-label domains, newest first',
    params: OrgParams,
    reply: shapes.DomainList,
    run: (tx, { params }) => listDomains(tx, dependencies, params.org_id),
  }),
  managementOperation({
    ...orgScope,
    id: 'create_org_domain',
    method: 'POST',
    path: DOMAINS,
    summary: 'Register a white-label domain',
    description: 'The answer says which DNS records prove it. A name belongs to one organization. At most 100.',
    params: OrgParams,
    body: shapes.CreateDomain,
    reply: shapes.Domain,
    success: 201,
    idempotency: { scope: 'create_org_domain', retention_s: DAY_S },
    example: { domain: 'clinic.example.com' },
    run: (tx, { params, body }) => createDomain(tx, dependencies, params.org_id, body.domain),
  }),
  managementOperation({
    ...ofDomain,
    id: 'get_org_domain',
    method: 'GET',
    path: DOMAIN,
    summary: 'Read a white-label domain',
    reply: shapes.Domain,
    run: (tx, { params }) => getDomain(tx, dependencies, params.org_id, params.domain_id),
  }),
  managementOperation({
    ...ofDomain,
    id: 'delete_org_domain',
    method: 'DELETE',
    path: DOMAIN,
    summary: 'Delete a white-label domain',
    reply: Nothing,
    run: async (tx, { params }) => {
      await deleteDomain(tx, params.org_id, params.domain_id)
      return {}
    },
  }),
  multiTransactionManagementOperation({
    ...ofDomain,
    id: 'verify_org_domain',
    method: 'POST',
    path: `${DOMAIN}/verify`,
    summary: 'Verify the DNS records of a domain',
    description:
      '`pending` when a record is missing or no name server answers. A verified domain whose records are gone is not verified any more; one that cannot be asked for stays verified.',
    reply: shapes.VerifiedDomain,
    run: (steps, { params }) => verifyDomain(steps, dependencies, params.org_id, params.domain_id),
  }),
  managementOperation({
    ...ofDomain,
    id: 'send_org_domain_instructions',
    method: 'POST',
    path: `${DOMAIN}/send_domain_instructions`,
    summary: 'Email the required DNS records of a domain',
    description: '`sent` means that the email is in the email outbox. At most 30 in an hour.',
    body: shapes.SendInstructions,
    reply: shapes.SentInstructions,
    idempotency: { scope: 'send_org_domain_instructions', retention_s: DAY_S },
    example: { to_email: 'testa@example.com' },
    run: (tx, { params, body }) => sendInstructions(tx, dependencies, params.org_id, params.domain_id, body.to_email),
  }),
]
