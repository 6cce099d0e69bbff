// What the server measures of itself, in the Prometheus format. Labels are operation ids, job names and cells: a bounded set.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Cells } from './cells.ts'

export interface Metrics {
  registry: Registry
  request(operation: string, status: number, duration_s: number): void
  job(name: string, outcome: 'done' | 'retry' | 'failed', duration_s: number): void
  delivery(cell: string, outcome: 'success' | 'failure', duration_s: number): void
  /** Events for a broker, by what became of them. */
  pipeline(cell: string, destination: string, counts: Record<string, number>): void
}

export function createMetrics(cells: () => Cells | undefined): Metrics {
  const registry = new Registry()
  // The default of 10 ms would wake an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, prefix: 'drawbridge_', eventLoopMonitoringPrecision: 1000 })
  const requests = new Histogram({
    name: 'drawbridge_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its answer.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const jobs = new Counter({
    name: 'drawbridge_jobs_total',
    help: 'Attempts of jobs, by outcome.',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  })
  const jobSeconds = new Counter({
    name: 'drawbridge_job_seconds_total',
    help: 'Time spent in jobs.',
    labelNames: ['job'],
    registers: [registry],
  })
  const deliveries = new Histogram({
    name: 'drawbridge_delivery_duration_seconds',
    help: 'Attempts to deliver a webhook, by outcome.',
    labelNames: ['cell', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [registry],
  })
  const pipelines = new Counter({
    name: 'drawbridge_pipeline_events_total',
    help: 'Attempts to send an event to a broker, by outcome.',
    labelNames: ['cell', 'destination', 'outcome'],
    registers: [registry],
  })
  new Gauge({
    name: 'drawbridge_database_connections',
    help: 'Connections of this process, by schema and state.',
    labelNames: ['schema', 'state'],
    registers: [registry],
    collect() {
      const all = cells()
      if (!all) return
      for (const [schema, db] of [['control', all.control] as const, ...all.names.map((name) => [name, all.of(name)] as const)]) {
        for (const [state, n] of Object.entries(db.use)) this.set({ schema, state }, n)
      }
    },
  })
  return {
    registry,
    request: (operation, status, duration_s) => requests.observe({ operation, status }, duration_s),
    job: (name, outcome, duration_s) => {
      jobs.inc({ job: name, outcome })
      jobSeconds.inc({ job: name }, duration_s)
    },
    delivery: (cell, outcome, duration_s) => deliveries.observe({ cell, outcome }, duration_s),
    pipeline: (cell, destination, counts) => {
      for (const [outcome, n] of Object.entries(counts)) if (n) pipelines.inc({ cell, destination, outcome }, n)
    },
  }
}
