import type { Module } from '../../platform/module/module.ts'
import { encryptedHeadersColumn } from './custom-headers.ts'
import { eraseTeamEndpoints } from './endpoints.ts'
import { endpointsRoutes, type EndpointDependencies } from './routes.ts'
import { encryptedSecretsColumn } from './signing-secrets.ts'

export const endpoints = (dependencies: EndpointDependencies): Module => ({
  name: 'events/endpoints',
  about: 'webhook endpoints, headers, secrets, signature',
  tag: 'webhooks',
  tables: { others: ['webhook', 'webhook_secret'] },
  operations: endpointsRoutes(dependencies),
  encryptedColumns: [encryptedHeadersColumn, encryptedSecretsColumn],
  erasers: { team: eraseTeamEndpoints },
})
