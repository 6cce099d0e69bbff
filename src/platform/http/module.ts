import type { Module } from '../module/module.ts'
import { eraseTeamAnswers, idempotencyCleanup } from './idempotency.ts'

export const http: Module = {
  name: 'platform/http',
  tables: { ofTeams: ['idempotency'], others: ['audit'] },
  periodicTasks: [idempotencyCleanup],
  erasers: { team: eraseTeamAnswers },
}
