import { providers } from '../../people/users/sources.ts'
import { ConfigError } from '../../settings/config.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { dataArrives } from '../ingestion/ingest.ts'
import { expiredDataCleanup, type RetentionDependencies } from './expired-data.ts'
import { limitRetention, type ProviderLimits } from './retention-rules.ts'
import { retentionRoutes } from './routes.ts'

/** Errors: a limit of a provider that there is none of. */
function assertProviders(limits: ProviderLimits): void {
  const known: readonly string[] = providers
  const unknown = [...limits.keys()].filter((name) => !known.includes(name))
  if (unknown.length) throw new ConfigError(`PROVIDER_RETENTION names ${unknown.join()}, which is not a provider.`)
}

export const retention = ({ cells, provider_retention }: RetentionDependencies): Module => ({
  name: 'wearables/retention',
  about: 'retention of health data',
  tag: 'wearables',
  tables: { ofTeams: ['data_retention', 'data_retention_check'] },
  operations: retentionRoutes(provider_retention),
  hooks: [defineHook(dataArrives, limitRetention(provider_retention))],
  periodicTasks: [expiredDataCleanup({ cells, provider_retention })],
  // The start of the process fails when the setting is wrong.
  services: [{ start: () => assertProviders(provider_retention), stop: async () => {} }],
  erasers: { team: eraseTables('data_retention', 'data_retention_check') },
})
