import type { Module } from '../module/module.ts'
import { accessCleanups } from './access-archive.ts'

export const accessLog: Module = {
  name: 'platform/access-log',
  about: 'the record of who read or changed the data of which patient: lines, their hash chain, the archive',
  tables: { views: ['access_log_of_team'], others: ['access_day', 'access_line', 'access_log', 'access_log_retention'] },
  periodicTasks: accessCleanups,
}
