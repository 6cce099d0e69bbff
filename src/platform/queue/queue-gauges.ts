// The gauges of the queues in /metrics.
import type { Registry } from 'prom-client'
import type { Cells } from '../db/cells.ts'
import { addCellGauges } from './cell-gauges.ts'
import { COUNTED_MAX, countQueue, type RetryableQueue } from './dead-letters.ts'

export interface QueueGaugeOptions {
  registry: Registry
  cells: Cells
  /** In the names of the gauges: `drawbridge_jobs_failed`. */
  prefix: string
  /** The name of the rows in the descriptions of the gauges: `Jobs`. */
  rows: string
  /** The command that lists dead letters. */
  command: string
  queue: RetryableQueue
  /** Whether the control plane has such a queue too. */
  isInControl?: boolean
  /** Names of jobs that are retried until they complete. */
  unlimited?: readonly string[]
  /** The maximum age of the reported values, for tests. */
  fresh_ms?: number
}

/** Adds the gauges of a queue to a registry. */
export function addQueueGauges({ prefix, rows, command, queue, unlimited = [], ...options }: QueueGaugeOptions): void {
  const most = `at most ${COUNTED_MAX} are counted`
  addCellGauges({
    ...options,
    read: (db) => countQueue(db, queue, unlimited),
    gauges: [
      {
        name: `${prefix}_failed`,
        help: `${rows} that are tried no more: "${command}" shows them; ${most}.`,
        value: ({ failed }) => failed,
      },
      {
        name: `${prefix}_retrying`,
        help: `${rows} whose last attempt failed and that are tried again; ${most}.`,
        value: ({ retrying }) => retrying,
      },
      {
        name: `${prefix}_waiting`,
        help: `${rows} that are due and that no worker has; ${most}.`,
        value: ({ waiting }) => waiting,
      },
      {
        name: `${prefix}_waiting_seconds`,
        help: `For how long the oldest of the waiting ${rows.toLowerCase()} has been due; 0 when there is none.`,
        value: ({ waiting_s }) => waiting_s,
      },
      {
        name: `${prefix}_overdue`,
        help: `${rows} that have been due for a minute and that no worker has; ${most}.`,
        value: ({ overdue }) => overdue,
      },
      {
        name: `${prefix}_overdue_seconds`,
        help: `For how long the oldest of the overdue ${rows.toLowerCase()} has been due; 0 when there is none.`,
        value: ({ overdue_s }) => overdue_s,
      },
      ...(unlimited.length
        ? [
            {
              name: 'erasure_jobs_failing',
              help: `${rows} that are tried until they are done (${unlimited.join(', ')}) and have failed eight times or more, among the ${COUNTED_MAX} that are tried again next.`,
              value: ({ unlimited_failing }: { unlimited_failing: number }) => unlimited_failing,
            },
          ]
        : []),
    ],
  })
}
