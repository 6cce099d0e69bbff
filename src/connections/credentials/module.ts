import type { Module } from '../../platform/module/module.ts'
import { encryptedCredentialsColumn } from './credentials.ts'
import { eraseTeamCredentials } from './erase.ts'
import { routes, type CredentialNeeds } from './routes.ts'

export const credentials = (needs: CredentialNeeds): Module => ({
  name: 'connections/credentials',
  tag: 'connections',
  tables: { ofTeams: ['scope_requirement'], others: ['custom_credential'] },
  operations: routes(needs),
  sealedColumns: encryptedCredentialsColumn,
  erasers: { team: eraseTeamCredentials },
})
