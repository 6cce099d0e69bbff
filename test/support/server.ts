// What tests stand on (test-server.ts), loaded with what Node has made of the sources before: static imports would be read before the
// cache is turned on, and a file that runs alone would need a second of a processor more.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import './relative-imports.js'

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/drawbridge-tests/compiled', import.meta.url)))

export const {
  access,
  asOwner,
  assembleProcess,
  cells,
  client,
  clocks,
  connection,
  createTestTeam,
  expire,
  guard,
  guards,
  hosts,
  metrics,
  MOVE_JOBS_MAX,
  newCells,
  provider_retention,
  pubsub_projects,
  runner,
  settings,
  targets,
  url,
  vault,
} = await import('./test-server.ts')
export type { Reply, TestTeam } from './test-server.ts'
