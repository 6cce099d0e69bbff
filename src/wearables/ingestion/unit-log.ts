// Units that phones send and that are not known, in the log. Source: users-wearables.md 16.7.
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../platform/db/transaction.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import type { Log } from '../../platform/telemetry/log.ts'

const SAID_MAX = 10_000
/** Other texts could say anything of a patient. */
const UNIT = /^[a-zA-Z%°µμ·*/^0-9().]{1,12}$/

/** Says of each unit of a provider, resource and team once a day that it is not known. */
export function logUnits(log: Log) {
  const said = new LRUCache<string, true>({ max: SAID_MAX, ttl: DAY_MS })
  return (tx: Pick<Tx, 'afterCommit' | 'team' | 'tenant'>, provider: string, resource: string, units: readonly string[]): void =>
    tx.afterCommit(() => {
      const { cell } = tx.tenant
      for (const text of units) {
        const unit = UNIT.test(text) ? text : 'other'
        const key = JSON.stringify([tx.team, cell, provider, resource, unit])
        if (said.has(key)) continue
        said.set(key, true)
        log.warn({ cell, 'team.id': tx.team, provider, resource, unit }, 'a unit is not known; its values were rejected')
      }
    })
}
