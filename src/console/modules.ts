// The modules of the console's own operations, from the bottom up.
import type { Cells } from '../platform/db/cells.ts'
import { eraseTables } from '../platform/db/erasure.ts'
import type { Log } from '../platform/telemetry/log.ts'
import type { Module } from '../platform/module/module.ts'
import type { RequestRecorder } from './request-log/recorder.ts'
import { requestCleanups } from './request-log/requests.ts'
import { requestLogRoutes } from './request-log/routes.ts'
import { sizeCleanup, sizeWorker } from './health/database-size.ts'
import { healthRoutes } from './health/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { savedViewRoutes } from './saved-views/routes.ts'
import { savedViewConstraints } from './saved-views/saved-views.ts'
import { searchRoutes } from './search/routes.ts'

/** What the modules need of the process. */
export interface ConsoleDependencies {
  cells: Cells
  log: Log
  recorder: RequestRecorder
  /** How long requests are listed. */
  request_log_days: number
}

export const consoleModules = ({ cells, log, recorder, request_log_days }: ConsoleDependencies): Module[] => [
  {
    name: 'console/overview',
    about: 'what needs the attention of people, over all domains',
    tag: 'console',
    operations: overviewRoutes,
  },
  {
    name: 'console/request-log',
    about: 'requests of teams, in production too',
    tag: 'console',
    tables: { ofTeams: ['request_log', 'request_count'] },
    operations: requestLogRoutes(recorder),
    services: [recorder],
    periodicTasks: requestCleanups(request_log_days),
    erasers: { team: eraseTables('request_log', 'request_count') },
  },
  {
    name: 'console/search',
    about: 'search by id, over all domains',
    tag: 'console',
    operations: searchRoutes(cells),
  },
  {
    name: 'console/saved-views',
    about: 'saved filters of lists, of a member or of a team',
    tag: 'console',
    tables: { ofTeams: ['saved_view'] },
    operations: savedViewRoutes,
    constraints: savedViewConstraints,
    erasers: { team: eraseTables('saved_view') },
  },
  {
    name: 'console/health',
    about: 'jobs that failed, queues, size of the databases, backups',
    tag: 'management',
    tables: { others: ['database_size', 'completed_backup'] },
    operations: healthRoutes(cells),
    periodicTasks: [sizeCleanup],
    workers: [() => sizeWorker(cells, log)],
  },
]
