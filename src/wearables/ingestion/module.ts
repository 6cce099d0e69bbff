import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { forgetHistory } from './ingest.ts'

export const ingestion: Module = {
  name: 'wearables/ingestion',
  about: 'the one way in: bounds, units, merge, events',
  tables: { ofTeams: ['historical_pull'] },
  erasers: {
    user: async (tx, user_id) => void (await forgetHistory(tx, user_id)),
    team: eraseTables('historical_pull'),
  },
}
