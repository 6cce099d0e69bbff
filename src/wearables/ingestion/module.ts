import { birthDateChanged } from '../../people/users/users.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { eraseDays } from './day-records.ts'
import { forgetHistory } from './historical-pulls.ts'
import { eraseRepeatedPosts, postsRepeated } from './repeated-posts.ts'
import { eraseRejectedPosts, recordsRejected } from './rejected-posts.ts'
import { eraseStates } from './resource-states.ts'
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
    user: async (tx, user_id) => {
      await forgetHistory(tx, user_id)
      await eraseStates(tx, user_id)
      await eraseRepeatedPosts(tx, user_id)
      await eraseRejectedPosts(tx, user_id)
      await eraseDays(tx, user_id)
    },
    team: eraseTables('historical_pull', 'resource_state', 'repeated_post', 'rejected_post', 'day_record'),
  },
})
