import type { Module } from '../module/module.ts'
import { eraseTables } from '../db/erasure.ts'

export const queue: Module = {
  name: 'platform/queue',
  tables: { ofTeams: ['event'], others: ['announcement', 'followed_team', 'job'] },
  erasers: { team: eraseTables('announcement', 'followed_team', 'event', 'job') },
}
