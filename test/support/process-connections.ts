// Connections to PostgreSQL, as deployments count them.
import { schemasOf } from '../../src/app/database.ts'
import { connectionsOf } from '../../src/platform/db/connections.ts'
import type { Config } from '../../src/settings/config.ts'

/** How many connections to PostgreSQL a process may open. */
export const connectionsOfProcess = (config: Config): number =>
  schemasOf(config).reduce((sum, { schema }) => sum + connectionsOf({ ...config, schema }), 0)
