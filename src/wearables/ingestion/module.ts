import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { forgetHistory } from './historical-pulls.ts'
import { eraseStates } from './resource-states.ts'

export const ingestion: Module = {
  name: 'wearables/ingestion',
  about: 'the one way in: bounds, units, merge, events',
  tables: { ofTeams: ['historical_pull', 'resource_state'] },
  erasers: {
    user: async (tx, user_id) => {
      await forgetHistory(tx, user_id)
      await eraseStates(tx, user_id)
    },
    team: eraseTables('historical_pull', 'resource_state'),
  },
}
