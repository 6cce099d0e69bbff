import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { resultAssigned } from '../result-matching/matching-hooks.ts'
import { MessageProcessor, type MessageProcessorOptions } from './message-processing.ts'
import { assignMessages, eraseMessages, messageCleanup, unassignedMessageCleanup } from './message-store.ts'

export const linkMessages = (dependencies: MessageProcessorOptions): Module => ({
  name: 'lab/link-messages',
  about: 'messages over links: storage, processing',
  tables: { others: ['lab_message'] },
  hooks: [defineHook(resultAssigned, assignMessages)],
  workers: [() => new MessageProcessor(dependencies)],
  periodicTasks: [messageCleanup, unassignedMessageCleanup],
  erasers: { user: eraseMessages, team: eraseTables('lab_message') },
})
