import type { Module } from '../module/module.ts'
import { eraseTeamQueues } from './erase.ts'

export const queue: Module = {
  name: 'platform/queue',
  tables: { ofTeams: ['event'], others: ['announcement', 'followed_team', 'job'] },
  erasers: { team: eraseTeamQueues },
}
