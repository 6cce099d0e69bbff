import { LRUCache } from 'lru-cache'
import { birthDateChanged } from '../../people/users/users.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { on } from '../../platform/db/hooks.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { Metrics } from '../../platform/telemetry/metrics.ts'
import { eraseDays } from './day-records.ts'
import { forgetHistory } from './historical-pulls.ts'
import { eraseRepeatedPosts, postsRepeated } from './repeated-posts.ts'
import { eraseStates } from './resource-states.ts'
import { unitsUnknown } from './units.ts'
import { recomputeZones, updateAllZonesHandler } from './zone-recomputation.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

export interface IngestionDependencies {
  log: Log
  metrics: Metrics
}

/** Other texts could say anything of a patient. */
const UNIT = /^[a-zA-Z%°µμ·*/^0-9().]{1,12}$/

/** Says once a day of each unit that it is not known. */
function unitLog(log: Log) {
  const said = new LRUCache<string, true>({ max: 10_000, ttl: DAY_MS })
  return (team: string, cell: string, provider: string, resource: string, units: string[]): void => {
    for (const text of units) {
      const unit = UNIT.test(text) ? text : 'other'
      const key = JSON.stringify([team, cell, provider, resource, unit])
      if (said.has(key)) continue
      said.set(key, true)
      log.warn({ cell, 'team.id': team, provider, resource, unit }, 'a unit is not known; its values were stored as they are')
    }
  }
}

export const ingestion = ({ log, metrics }: IngestionDependencies, logUnits = unitLog(log)): Module => ({
  name: 'wearables/ingestion',
  about: 'the one way in: bounds, units, merge, events',
  tables: { ofTeams: ['historical_pull', 'resource_state', 'repeated_post', 'day_record'] },
  jobs: [updateAllZonesHandler],
  hooks: [
    on(birthDateChanged, recomputeZones),
    on(unitsUnknown, (tx, provider, resource, units) =>
      tx.afterCommit(() => logUnits(tx.team, tx.tenant.cell, provider, resource, units)),
    ),
    on(postsRepeated, (tx, provider, posts) => {
      const { cell } = tx.tenant
      tx.afterCommit(() => {
        metrics.countRepeatedPosts(cell)
        log.warn({ cell, 'team.id': tx.team, provider, posts }, 'a client sends the same data again and again')
      })
    }),
  ],
  erasers: {
    user: async (tx, user_id) => {
      await forgetHistory(tx, user_id)
      await eraseStates(tx, user_id)
      await eraseRepeatedPosts(tx, user_id)
      await eraseDays(tx, user_id)
    },
    team: eraseTables('historical_pull', 'resource_state', 'repeated_post', 'day_record'),
  },
})
