import type { Module } from '../module/module.ts'
import { eraseTables } from '../db/erasure.ts'
import { idempotencyCleanup } from './idempotency.ts'

export const http: Module = {
  name: 'platform/http',
  tables: { ofTeams: ['idempotency'], others: ['audit'] },
  periodicTasks: [idempotencyCleanup],
  erasers: { team: eraseTables('idempotency') },
}
