// The modules of the console's own operations, from the bottom up.
import type { Cells } from '../platform/db/cells.ts'
import { eraseTables } from '../platform/db/erasure.ts'
import type { Module } from '../platform/module/module.ts'
import { overviewRoutes } from './overview/routes.ts'
import { savedViewRoutes } from './saved-views/routes.ts'
import { savedViewConstraints } from './saved-views/saved-views.ts'
import { searchRoutes } from './search/routes.ts'

/** What the modules need of the process. */
export interface ConsoleDependencies {
  cells: Cells
}

export const consoleModules = ({ cells }: ConsoleDependencies): Module[] => [
  {
    name: 'console/overview',
    about: 'what needs the attention of people, over all domains',
    tag: 'console',
    operations: overviewRoutes,
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
]
