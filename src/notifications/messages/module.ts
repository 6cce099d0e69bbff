import type { Module } from '../../platform/module/module.ts'
import { eraseMessages, eraseTeamMessages } from './erase.ts'
import { routes } from './routes.ts'

export const messages: Module = {
  name: 'notifications/messages',
  about: 'kinds, templates and settings of messages, sent messages; not their times',
  tag: 'messages',
  tables: { others: ['patient_message'] },
  operations: routes,
  erasers: { user: eraseMessages, team: eraseTeamMessages },
}
