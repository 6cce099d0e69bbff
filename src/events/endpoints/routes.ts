import { requiredPlan } from '../../tenancy/organizations/plans.ts'
import {
  managementOperation,
  noContent,
  operation,
  multiTransactionManagementOperation,
  type Operation,
} from '../../platform/http/operation.ts'
import { Fields } from '../../platform/schema/schema.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  getHeaders,
  listEndpoints,
  lockEndpoint,
  patchEndpoint,
} from './endpoints.ts'
import { putHeaders, readHeaders, listHeaders } from './custom-headers.ts'
import {
  endpointBodies,
  PutHeaders,
  RotateSecret,
  TeamPath,
  Webhook,
  WebhookHeaders,
  WebhookPage,
  WebhookManagementUrl,
  WebhookPath,
  WebhookQuery,
  WebhookSecret,
} from './schema.ts'
import { newestSecret, rotateSecret } from './signing-secrets.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import type { EventCatalog } from '../catalog/event-catalog.ts'

/** The dependencies of operations on webhooks. */
export interface EndpointDependencies {
  vault: Vault
  targets: TargetPolicy
  catalog: EventCatalog
  /** The public URL of the server, without a final slash. */
  url: () => string
  /** Waits until no request to the former endpoint begins any more, for 5 s at most; `read` runs a transaction of its own. */
  awaitRevocation: (read: <R>(work: (tx: Tx) => Promise<R>) => Promise<R>, webhook_id: string) => Promise<void>
}

const TEAM = '/v1/org/{org_id}/team/{team_id}/{environment}' as const
const bound = { logsAccess: false, scope: 'team', keyScope: 'bound', entitlement: requiredPlan.webhooks } as const
const ofWebhook = { ...bound, params: Fields(WebhookPath) } as const

export function endpointsRoutes({ vault, targets, url, awaitRevocation, catalog }: EndpointDependencies): Operation[] {
  const { CreateWebhook, PatchWebhook } = endpointBodies(catalog)
  return [
    operation({
      id: 'get_svix_webhook_url',
      logsAccess: false,
      method: 'GET',
      path: '/v2/team/svix/url',
      summary: 'Get the webhook management URL',
      description: 'The operations on webhooks of the API page.',
      deprecated: true,
      reply: WebhookManagementUrl,
      run: () => Promise.resolve({ url: `${url()}/docs#/webhooks` }),
    }),
    managementOperation({
      ...bound,
      id: 'list_webhooks',
      method: 'GET',
      path: `${TEAM}/webhook`,
      summary: 'List webhook endpoints, newest first',
      params: Fields(TeamPath),
      query: WebhookQuery,
      reply: WebhookPage,
      run: (tx, { query }) => listEndpoints(tx, query),
    }),
    managementOperation({
      ...bound,
      id: 'create_webhook',
      method: 'POST',
      path: `${TEAM}/webhook`,
      summary: 'Create a webhook endpoint',
      description:
        'Without `secret` one is made; it is read with its own operation. A team has at most 50 endpoints per environment.',
      params: Fields(TeamPath),
      body: CreateWebhook,
      reply: Webhook,
      example: { url: 'https://receiver.example.com/events', filter_types: ['labtest.order.created', 'labtest.order.updated'] },
      run: (tx, { body }) => createEndpoint(tx, vault, targets, body),
    }),
    managementOperation({
      ...ofWebhook,
      id: 'get_webhook',
      method: 'GET',
      path: `${TEAM}/webhook/{webhook_id}`,
      summary: 'Read a webhook endpoint',
      reply: Webhook,
      run: (tx, { params }) => getEndpoint(tx, params.webhook_id),
    }),
    multiTransactionManagementOperation({
      ...ofWebhook,
      id: 'patch_webhook',
      method: 'PATCH',
      path: `${TEAM}/webhook/{webhook_id}`,
      summary: 'Change a webhook endpoint; null clears rate_limit and filter_types',
      description:
        'Disabling stops what is pending: once it is answered no request begins any more, which it waits for at most 5 seconds; enabling does not take it up again, recovering does. After a change of `url` likewise no request to the former address begins; what is pending goes to the new one. An endpoint that failed for five days is disabled by the server.',
      body: PatchWebhook,
      reply: Webhook,
      example: { description: 'The receiver of the fictional clinic' },
      run: async (steps, { params, body }) => {
        const changed = await steps.write((tx) => patchEndpoint(tx, targets, params.webhook_id, body))
        if (body.disabled === true || body.url !== undefined) await awaitRevocation(steps.read, params.webhook_id)
        return changed
      },
    }),
    multiTransactionManagementOperation({
      ...ofWebhook,
      id: 'delete_webhook',
      method: 'DELETE',
      path: `${TEAM}/webhook/{webhook_id}`,
      summary: 'Delete a webhook endpoint and the log of its deliveries',
      description:
        'Once it is answered no request begins any more, which it waits for at most 5 seconds; one that has begun may still end.',
      reply: noContent,
      run: async (steps, { params }) => {
        await steps.write((tx) => deleteEndpoint(tx, params.webhook_id))
        await awaitRevocation(steps.read, params.webhook_id)
      },
    }),
    managementOperation({
      ...ofWebhook,
      id: 'get_webhook_headers',
      auditsRead: true,
      method: 'GET',
      path: `${TEAM}/webhook/{webhook_id}/headers`,
      summary: 'Read custom headers',
      description:
        'Of sensitive headers only the names are shown, so what is read here must not be written back as it is. Reading them is in the audit log.',
      reply: WebhookHeaders,
      run: async (tx, { params }) => listHeaders(await getHeaders(tx, vault, params.webhook_id)),
    }),
    managementOperation({
      ...ofWebhook,
      id: 'update_webhook_headers',
      method: 'PUT',
      path: `${TEAM}/webhook/{webhook_id}/headers`,
      summary: 'Replace all custom headers',
      description: 'At most 50. Headers of the delivery itself and of hop-by-hop transport are refused.',
      body: PutHeaders,
      reply: noContent,
      example: { headers: { 'x-clinic': 'fictional' } },
      run: async (tx, { params, body }) => {
        const { id } = await lockEndpoint(tx, params.webhook_id)
        await putHeaders(tx, vault, id, readHeaders(body.headers))
      },
    }),
    managementOperation({
      ...ofWebhook,
      id: 'get_webhook_secret',
      auditsRead: true,
      method: 'GET',
      path: `${TEAM}/webhook/{webhook_id}/secret`,
      summary: 'Read the newest signing secret',
      description: 'Reading it is in the audit log.',
      reply: WebhookSecret,
      run: async (tx, { params }) => {
        const { id } = await getEndpoint(tx, params.webhook_id)
        return { key: await newestSecret(tx, vault, id) }
      },
    }),
    managementOperation({
      ...ofWebhook,
      id: 'rotate_webhook_secret',
      method: 'POST',
      path: `${TEAM}/webhook/{webhook_id}/secret/rotate`,
      summary: 'Replace the signing secret; the old one signs beside it for 24 h',
      body: RotateSecret,
      reply: noContent,
      example: {},
      run: async (tx, { params, body }) => {
        const { id } = await lockEndpoint(tx, params.webhook_id)
        await rotateSecret(tx, vault, id, body.key)
      },
    }),
  ]
}
