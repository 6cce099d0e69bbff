import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import { createDeliveryWorker } from './cell-dispatcher.ts'
import type { DeliveryOptions } from './dispatch-options.ts'

/** @param options called when the dispatcher is created */
export const dispatch = (cells: Cells, options: () => DeliveryOptions): Module => ({
  name: 'events/dispatch',
  about: 'webhooks in three parts: claim, send within limits, record outcomes',
  workers: [() => createDeliveryWorker(cells, options())],
})
