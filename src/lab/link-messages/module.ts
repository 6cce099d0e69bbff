import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { ordersErased } from '../orders/order-hooks.ts'
import { resultAssigned } from '../result-matching/matching-hooks.ts'
import { issueCleanup } from './issues.ts'
import { LinkAlerts, type LinkAlertOptions } from './link-alerts.ts'
import { linkMessagesRoutes } from './routes.ts'
import { MessageProcessor, type MessageProcessorOptions } from './message-processing.ts'
import {
  assignMessages,
  eraseMessages,
  eraseMessagesOfOrders,
  messageCleanup,
  unassignedMessageCleanup,
} from './message-store.ts'

/** What the module needs of its process. */
export type LinkMessagesDependencies = MessageProcessorOptions & LinkAlertOptions

export const linkMessages = (dependencies: LinkMessagesDependencies): Module => ({
  name: 'lab/link-messages',
  about: 'messages over links: storage, processing, issues',
  tag: 'labs',
  tables: { others: ['lab_message', 'lab_message_result', 'lab_link_issue'] },
  operations: linkMessagesRoutes(),
  hooks: [defineHook(resultAssigned, assignMessages), defineHook(ordersErased, eraseMessagesOfOrders)],
  workers: [() => new MessageProcessor(dependencies), () => new LinkAlerts(dependencies)],
  periodicTasks: [messageCleanup, unassignedMessageCleanup, issueCleanup],
  erasers: { user: eraseMessages, team: eraseTables('lab_message_result', 'lab_message') },
})
