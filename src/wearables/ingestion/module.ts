import { birthDateChanged } from '../../people/users/users.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { postsRepeated } from './repeated-posts.ts'
import { recordsRejected } from './rejected-posts.ts'
import { eraseArrivals } from './provider-data.ts'
import { logUnits, unitsUnknown } from './phone-units.ts'
import { recomputeZones, updateAllZonesHandler } from './zone-recomputation.ts'

export interface IngestionDependencies {
  log: Log
  metrics: Metrics
}

export const ingestion = ({ log, metrics }: IngestionDependencies): Module => ({
  name: 'wearables/ingestion',
  about: 'the only way in: bounds, units, merge, events',
  tables: { ofTeams: ['historical_pull', 'resource_state', 'repeated_post', 'rejected_post', 'day_record'] },
  jobs: [updateAllZonesHandler],
  hooks: [
    defineHook(birthDateChanged, recomputeZones),
    defineHook(unitsUnknown, logUnits(log)),
    defineHook(recordsRejected, (tx, _provider, resource, count) => {
      const { cell } = tx.tenant
      tx.afterCommit(() => metrics.countRejectedRecords(cell, resource, count))
    }),
    defineHook(postsRepeated, (tx, provider, posts) => {
      const { cell } = tx.tenant
      tx.afterCommit(() => {
        metrics.countRepeatedPosts(cell)
        log.warn({ cell, 'team.id': tx.team, provider, posts }, 'client repeats the same health data')
      })
    }),
  ],
  erasers: {
    user: eraseArrivals,
    team: eraseTables('historical_pull', 'resource_state', 'repeated_post', 'rejected_post', 'day_record'),
  },
})
