import type { Module } from '../module/module.ts'
import { eraseTables } from '../db/erasure.ts'

export const queue: Module = {
  name: 'platform/queue',
  about: 'events, jobs, the worker, retention; not where events are sent',
  tables: { ofTeams: ['event'], others: ['event_outbox', 'event_subscribed_team', 'job'] },
  erasers: { team: eraseTables('event_outbox', 'event_subscribed_team', 'event', 'job') },
}
