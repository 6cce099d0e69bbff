// What the queue of jobs says of itself in /metrics: read from the database when somebody asks, at most every 5 s, and left out when the
// database does not answer.
import { Gauge, type Registry } from 'prom-client'
import type { Cells } from '../db/cells.ts'
import type { CellName } from '../db/cell-names.ts'
import { JOBS_COUNTED_MAX, countJobs, type JobCounts } from './failed-jobs.ts'

const FRESH_MS = 5000
const WAIT_MS = 2000

export interface JobGaugeOptions {
  registry: Registry
  cells: Cells
  /** Names of jobs that are tried until they are done. */
  unlimited: readonly string[]
  /** How old what is shown may be, for tests. */
  fresh_ms?: number
}

/** Adds the gauges of jobs to a registry. */
export function addJobGauges({ registry, cells, unlimited, fresh_ms = FRESH_MS }: JobGaugeOptions): void {
  let reading: Promise<Map<CellName, JobCounts>> | undefined
  let read_ms = -Infinity
  const counts = () => {
    if (performance.now() - read_ms >= fresh_ms) reading = undefined
    if (!reading) {
      read_ms = performance.now()
      reading = readAll(cells, unlimited)
    }
    return reading
  }
  const gauge = (name: string, help: string, value: (counts: JobCounts) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['cell'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const [cell, found] of await counts()) this.set({ cell }, value(found))
      },
    })
  const most = `at most ${JOBS_COUNTED_MAX} are counted`
  gauge(
    'drawbridge_jobs_failed',
    `Jobs that are tried no more: "bin/drawbridge jobs list" shows them; ${most}.`,
    ({ failed }) => failed,
  )
  gauge(
    'drawbridge_jobs_retrying',
    `Jobs whose last attempt failed and that are tried again; ${most}.`,
    ({ retrying }) => retrying,
  )
  gauge(
    'drawbridge_jobs_overdue',
    `Jobs that have been due for a minute and that no worker has; ${most}.`,
    ({ overdue }) => overdue,
  )
  gauge(
    'drawbridge_jobs_overdue_seconds',
    'For how long the oldest of them has been due; 0 when there is none.',
    ({ overdue_s }) => overdue_s,
  )
  gauge(
    'drawbridge_erasure_jobs_failing',
    `Jobs that are tried until they are done (${unlimited.join(', ')}) and have failed eight times or more, among the ${JOBS_COUNTED_MAX} that are tried again next.`,
    ({ unlimited_failing }) => unlimited_failing,
  )
}

/** The counts of the cells that answer in time. */
async function readAll(cells: Cells, unlimited: readonly string[]): Promise<Map<CellName, JobCounts>> {
  const found = new Map<CellName, JobCounts>()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAIT_MS)))
  const all = cells.names.map(async (name) => {
    const counts = await countJobs(cells.of(name), unlimited).catch(() => undefined)
    if (counts) found.set(name, counts)
  })
  await Promise.race([Promise.all(all), late])
  clearTimeout(timer)
  return new Map(found)
}
