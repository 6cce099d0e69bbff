import type { Module } from '../module/module.ts'
import { eraseTables } from '../db/erasure.ts'
import { idempotencyCleanup } from './idempotency.ts'

export const http: Module = {
  name: 'platform/http',
  about: 'operations, the server, errors, idempotency, cursors, limits, the OpenAPI document',
  tables: { ofTeams: ['idempotency_key'], others: ['audit_log'] },
  periodicTasks: [idempotencyCleanup],
  erasers: { team: eraseTables('idempotency_key') },
}
