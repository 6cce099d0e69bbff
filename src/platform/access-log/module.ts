import type { Module } from '../module/module.ts'
import { accessCleanups } from './access-archive.ts'

export interface AccessLogDependencies {
  /** How many days lines are kept. */
  days_max: number
}

export const accessLog = ({ days_max }: AccessLogDependencies): Module => ({
  name: 'platform/access-log',
  tables: { views: ['access_log_of_team'], others: ['access_day', 'access_line', 'access_log'] },
  periodicTasks: accessCleanups(days_max),
})
