// Delivery in every cell of a process, started and stopped with its worker.
import type { Cells } from '../../platform/db/cells.ts'
import { CellDelivery } from './cell-dispatcher.ts'
import type { DeliveryOptions } from './dispatch-options.ts'

export interface DeliveryWorker {
  start(): void
  /** Waits for the attempts in flight. */
  stop(): Promise<void>
  /** Delivers what is due and returns; for tests. */
  drain(): Promise<void>
}

export function createDeliveryWorker(cells: Cells, options: DeliveryOptions): DeliveryWorker {
  const all = cells.names.map((name) => new CellDelivery(name, cells.of(name), options))
  const forEachCell = async (call: (cell: CellDelivery) => Promise<void>) => void (await Promise.all(all.map(call)))
  return {
    start: () => all.forEach((cell) => cell.start()),
    stop: () => forEachCell((cell) => cell.stop()),
    drain: () => forEachCell((cell) => cell.drain()),
  }
}
