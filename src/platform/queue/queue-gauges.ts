// The gauges of the queues in /metrics. A request reads them from the database, at most every 5 s. They are omitted if the
// database does not respond.
import { Gauge, type Registry } from 'prom-client'
import type { Cells } from '../db/cells.ts'
import type { CellName } from '../db/cell-names.ts'
import { COUNTED_MAX, countQueue, type QueueCounts, type RetryableQueue } from './dead-letters.ts'

const FRESH_MS = 5000
const WAIT_MS = 2000

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

type Counts = Map<CellName | 'control', QueueCounts>

/** Adds the gauges of a queue to a registry. */
export function addQueueGauges({ fresh_ms = FRESH_MS, ...options }: QueueGaugeOptions): void {
  const { registry, prefix, rows, command, unlimited = [] } = options
  let reading: Promise<Counts> | undefined
  let read_ms = -Infinity
  const counts = () => {
    if (performance.now() - read_ms >= fresh_ms) reading = undefined
    if (!reading) {
      read_ms = performance.now()
      reading = readAll(options)
    }
    return reading
  }
  const gauge = (name: string, help: string, value: (counts: QueueCounts) => number) =>
    new Gauge({
      name: `drawbridge_${name}`,
      help,
      labelNames: ['cell'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const [cell, found] of await counts()) this.set({ cell }, value(found))
      },
    })
  const most = `at most ${COUNTED_MAX} are counted`
  gauge(`${prefix}_failed`, `${rows} that are tried no more: "${command}" shows them; ${most}.`, ({ failed }) => failed)
  gauge(`${prefix}_retrying`, `${rows} whose last attempt failed and that are tried again; ${most}.`, ({ retrying }) => retrying)
  gauge(`${prefix}_overdue`, `${rows} that have been due for a minute and that no worker has; ${most}.`, ({ overdue }) => overdue)
  gauge(
    `${prefix}_overdue_seconds`,
    'For how long the oldest of them has been due; 0 when there is none.',
    ({ overdue_s }) => overdue_s,
  )
  if (unlimited.length)
    gauge(
      'erasure_jobs_failing',
      `${rows} that are tried until they are done (${unlimited.join(', ')}) and have failed eight times or more, among the ${COUNTED_MAX} that are tried again next.`,
      ({ unlimited_failing }) => unlimited_failing,
    )
}

/** The counts of the cells that respond in time. */
async function readAll({ cells, queue, isInControl, unlimited }: Omit<QueueGaugeOptions, 'fresh_ms'>): Promise<Counts> {
  const found: Counts = new Map()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)))
  const all = [...(isInControl ? (['control'] as const) : []), ...cells.names].map(async (name) => {
    const db = name === 'control' ? cells.control : cells.of(name)
    const counts = await countQueue(db, queue, unlimited).catch(() => undefined)
    if (counts) found.set(name, counts)
  })
  await Promise.race([Promise.all(all), late])
  clearTimeout(timer)
  return new Map(found)
}
