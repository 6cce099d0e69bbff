import { eraseTables, eraseTablesOfUser, inOrder } from '../../platform/db/erasure.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseMessages, eraseTeamMessages } from './erase.ts'
import { messagesRoutes } from './routes.ts'

const eraseOptOuts = eraseTablesOfUser('patient_message_opt_out')

export const messages: Module = {
  name: 'notifications/messages',
  about: 'kinds, templates, settings, sent messages',
  tag: 'messages',
  tables: { ofTeams: ['patient_message_opt_out'], others: ['patient_message'] },
  operations: messagesRoutes,
  erasers: {
    user: async (tx, user_id) => {
      await eraseMessages(tx, user_id)
      await eraseOptOuts(tx, user_id)
    },
    team: inOrder(eraseTeamMessages, eraseTables('patient_message_opt_out')),
  },
}
