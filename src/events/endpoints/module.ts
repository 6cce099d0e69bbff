import type { Module } from '../../platform/module/module.ts'
import { encryptedHeadersColumn } from './custom-headers.ts'
import { eraseTeamWebhooks } from './erase.ts'
import { routes, type EndpointNeeds } from './routes.ts'
import { encryptedSecretsColumn } from './signing-secrets.ts'

export const endpoints = (needs: EndpointNeeds): Module => ({
  name: 'events/endpoints',
  tag: 'webhooks',
  tables: { others: ['webhook', 'webhook_secret'] },
  operations: routes(needs),
  sealedColumns: [encryptedHeadersColumn, encryptedSecretsColumn],
  erasers: { team: eraseTeamWebhooks },
})
