import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { eraseSamples } from './chunks.ts'
import { routes } from './routes.ts'

export const timeseries: Module = {
  name: 'wearables/timeseries',
  about: 'samples in chunks, grouped and plain reads',
  tag: 'timeseries',
  tables: { ofTeams: ['series', 'chunk'] },
  operations: routes,
  erasers: { user: async (tx, user_id) => void (await eraseSamples(tx, user_id)), team: eraseTables('chunk', 'series') },
}
