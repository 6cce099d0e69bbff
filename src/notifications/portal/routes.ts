import { operation, type Operation } from '../../platform/http/operation.ts'
import type { PortalDependencies } from './portal-pages.ts'
import { createPortalUrl, PortalTokens } from './portal-links.ts'
import { CreatePortalUrl, PortalParams, PortalUrl } from './schema.ts'

export function portalRoutes({ vault, publicUrl }: Pick<PortalDependencies, 'vault' | 'publicUrl'>): Operation[] {
  const tokens = new PortalTokens(vault)
  return [
    operation({
      id: 'create_user_portal_url',
      logsAccess: true,
      method: 'POST',
      path: '/v2/user/{user_id}/create_portal_url',
      summary: 'Create a link to the portal of a user',
      description:
        'A page for the phone of a patient: the orders in plain words, appointments, the requisition, and the messages about them, which can be turned off. 422: the user has no demographics yet.',
      params: PortalParams,
      body: CreatePortalUrl,
      reply: PortalUrl,
      example: { context: 'communications' },
      // The answer holds a credential: it is not stored, and a repeated key gets 409.
      idempotency: { scope: 'create_user_portal_url', retention_s: 86_400, secret: true },
      run: (tx, { params, body }) => createPortalUrl(tx, { tokens, base: publicUrl() }, params.user_id, body),
    }),
  ]
}
