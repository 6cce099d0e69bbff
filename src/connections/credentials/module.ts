import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { encryptedCredentialsColumn } from './credentials.ts'
import { credentialsRoutes, type CredentialDependencies } from './routes.ts'

export const credentials = (dependencies: CredentialDependencies): Module => ({
  name: 'connections/credentials',
  about: "a team's own credentials at providers, OAuth scopes",
  tag: 'connections',
  tables: { ofTeams: ['scope_requirement'], others: ['custom_credential'] },
  operations: credentialsRoutes(dependencies),
  encryptedColumns: encryptedCredentialsColumn,
  erasers: { team: eraseTables('custom_credential') },
})
