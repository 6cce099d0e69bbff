import { defineHook } from '../../platform/db/hooks.ts'
import type { Module, Service } from '../../platform/module/module.ts'
import { errorFields, type Log } from '../../platform/telemetry/log.ts'
import { teamDeleted } from '../teams/team-hooks.ts'
import type { KeyUsageTracker } from './key-use.ts'
import { keyConstraints } from './keys.ts'
import { unbindKeys } from './management-keys.ts'
import { keysRoutes, type KeyDependencies } from './routes.ts'
import { deleteKeysOfTeam } from './team-keys.ts'

/** Records regularly when keys were used. */
const recording = (use: KeyUsageTracker, log: Log): Service => ({
  start: () => use.start((error) => log.error({ causes: errorFields(error) }, 'failed to record key usage')),
  stop: () => use.stop(),
})

export const keys = ({ use, log, ...dependencies }: KeyDependencies & { use: KeyUsageTracker; log: Log }): Module => ({
  name: 'tenancy/keys',
  about: 'team keys, management keys, access tokens, key usage',
  tag: 'management',
  tables: { others: ['api_key', 'management_key', 'management_key_team'] },
  operations: keysRoutes(dependencies),
  constraints: keyConstraints,
  hooks: [defineHook(teamDeleted, deleteKeysOfTeam), defineHook(teamDeleted, unbindKeys)],
  services: [recording(use, log)],
})
