// Sends events to brokers in every cell of a process; started and stopped with its worker.
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Sink } from '../fan-out/destination.ts'
import { CellPipelineWorker, type PipelineOptions } from './cell-dispatcher.ts'
import { pipelineSink } from './broker-destination.ts'

export interface PipelineWorker {
  /** The destination for the events of a cell. */
  sinks: (cell: CellName) => Sink[]
  start(): void
  /** Waits for the batches in flight. */
  stop(): Promise<void>
  /** Sends what is due and returns; for tests. */
  drain(): Promise<void>
}

export function createPipelineWorker(cells: Cells, options: PipelineOptions): PipelineWorker {
  const all = new Map(cells.names.map((name) => [name, new CellPipelineWorker(name, cells.of(name), options)]))
  const forEachCell = async (call: (cell: CellPipelineWorker) => Promise<void>) =>
    void (await Promise.all([...all.values()].map(call)))
  return {
    sinks: (cell) => [pipelineSink(options.findDeletedUsers, () => all.get(cell)?.wake())],
    start: () => all.forEach((cell) => cell.start()),
    stop: () => forEachCell((cell) => cell.stop()),
    drain: () => forEachCell((cell) => cell.drain()),
  }
}
