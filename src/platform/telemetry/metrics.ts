// The server's metrics, in the Prometheus format. Labels are operation ids, job names and cells: a bounded set.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Cells } from '../db/cells.ts'
import { systemNow } from '../runtime/clock.ts'
import { version } from '../runtime/version.ts'
import type { TraceContext } from './trace-context.ts'
import type { FinishedWork, Tracing } from './tracing.ts'

export interface Metrics {
  registry: Registry
  request(operation: string, status: number, duration_s: number, http?: RequestSpan): void
  countJob(name: string, outcome: 'completed' | 'retried' | 'failed' | 'lost', duration_s: number): void
  countDelivery(cell: string, outcome: 'success' | 'failure', duration_s: number): void
  /** Lines of the access log that could not be recorded. */
  accessLost(lines: number): void
  /** Starts measuring the connections of clients. */
  connections(use: () => { open: number; rejections: number }): void
  /** Events for a broker, by outcome. */
  countPipelineEvents(cell: string, destination: string, counts: Record<string, number>): void
  /** A fault of a connection or a file of a laboratory. */
  countLinkTrouble(kind: string): void
  /** A destination whose secrets cannot be decrypted, so that nothing is sent to it. */
  unreadable(cell: string, kind: 'webhook' | 'pipeline'): void
  /** A client that sends the same health data again and again. */
  countRepeatedPosts(cell: string): void
  countRejectedRecords(cell: string, resource: string, count: number): void
  /** How long the oldest row of a kind has been overdue for deletion at the last check; undefined if none is. */
  overdue(cell: string, kind: string, overdue_s: number | undefined): void
  /** Rows of a kind that were deleted after their retention. */
  countRemovedRows(cell: string, kind: string, rows: number): void
  /** A turn of the event loop: how long it took, and the processor time of the main thread. */
  turn(wall_s: number, processor_s: number): void
  /** A turn of the event loop that took too long, and what computed longest in it. */
  countBlock(kind: 'operation' | 'job' | 'task', name: string): void
}

/** What the span of a request shows besides. */
interface RequestSpan {
  method: string
  /** The template of the path; undefined if no operation has it. */
  route: string | undefined
  /** The span of the caller. */
  caller: TraceContext | undefined
}

/** @param tracing where requests, jobs and webhook attempts are recorded as spans too */
export function createMetrics(cells: () => Cells | undefined, tracing?: Tracing): Metrics {
  const registry = new Registry()
  // The default of 10 ms would wake an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1000 })
  // Sums of gauges whose names say that they are counters.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  new Gauge({
    name: 'drawbridge_build_info',
    help: 'Always 1; the label has the version of the program.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1)
  const requests = new Histogram({
    name: 'drawbridge_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its response.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const jobs = new Counter({
    name: 'drawbridge_jobs_total',
    help: 'Job attempts by outcome.',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  })
  const jobSeconds = new Counter({
    name: 'drawbridge_job_duration_seconds_total',
    help: 'Total time spent executing jobs.',
    labelNames: ['job'],
    registers: [registry],
  })
  const deliveries = new Histogram({
    name: 'drawbridge_webhook_attempt_duration_seconds',
    help: 'Webhook delivery attempts by outcome.',
    labelNames: ['cell', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [registry],
  })
  const pipelines = new Counter({
    name: 'drawbridge_pipeline_events_total',
    help: 'Events sent to brokers by outcome.',
    labelNames: ['cell', 'destination', 'outcome'],
    registers: [registry],
  })
  const linkTroubles = new Counter({
    name: 'drawbridge_lab_link_troubles_total',
    help: 'Faults of connections and files of laboratories: refused connections, incomplete messages, bytes outside of messages.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const unreadable = new Counter({
    name: 'drawbridge_unreadable_receivers_total',
    help: 'Pauses of webhook endpoints and brokers whose secrets cannot be decrypted.',
    labelNames: ['cell', 'kind'],
    registers: [registry],
  })
  const repeated = new Counter({
    name: 'drawbridge_repeated_posts_total',
    help: 'Clients that began to send the same health data again and again: by user, provider and resource, at most one a day.',
    labelNames: ['cell'],
    registers: [registry],
  })
  const rejected = new Counter({
    name: 'drawbridge_rejected_health_records_total',
    help: 'Samples, records and fields of health data that were rejected, by resource; with a whole post its faulty ones.',
    labelNames: ['cell', 'resource'],
    registers: [registry],
  })
  const removed = new Counter({
    name: 'drawbridge_retention_deleted_rows_total',
    help: 'Rows deleted after their retention.',
    labelNames: ['cell', 'kind'],
    registers: [registry],
  })
  const checked = new Gauge({
    name: 'drawbridge_retention_last_check_timestamp_seconds',
    help: 'Time of the last check of this process for rows whose retention is over.',
    labelNames: ['cell', 'kind'],
    registers: [registry],
  })
  const overdue = new Map<string, { cell: string; kind: string; overdue_s: number | undefined; seen_ms: number }>()
  new Gauge({
    name: 'drawbridge_retention_overdue_seconds',
    help: 'Time since the oldest overdue row of the last check should have been deleted; 0 if there was none.',
    labelNames: ['cell', 'kind'],
    registers: [registry],
    collect() {
      for (const { cell, kind, overdue_s, seen_ms } of overdue.values())
        this.set({ cell, kind }, overdue_s === undefined ? 0 : overdue_s + (performance.now() - seen_ms) / 1000)
    },
  })
  const blocks = new Counter({
    name: 'drawbridge_event_loop_blocks_total',
    help: 'Turns of the event loop of more than 250 ms, by the operation, job or periodic task that computed longest in them.',
    labelNames: ['kind', 'name'],
    registers: [registry],
  })
  const longest = { wall: 0, processor: 0 }
  new Gauge({
    name: 'drawbridge_event_loop_longest_turn_seconds',
    help: 'The longest turn of the event loop since the metrics were last read, by its duration (wall) and by the processor time of the main thread (processor).',
    labelNames: ['clock'],
    registers: [registry],
    collect() {
      for (const clock of ['wall', 'processor'] as const) {
        this.set({ clock }, longest[clock])
        longest[clock] = 0
      }
    },
  })
  const accessLost = new Counter({
    name: 'drawbridge_access_log_lines_lost_total',
    help: 'Lines of the access log that were not written: of rejected requests when the buffer was full, and of reads when the process stopped.',
    registers: [registry],
  })
  new Gauge({
    name: 'drawbridge_database_connections',
    help: 'Database connections of this process by schema and state.',
    labelNames: ['schema', 'state'],
    registers: [registry],
    collect() {
      const all = cells()
      if (!all) return
      for (const [schema, db] of [['control', all.control] as const, ...all.names.map((name) => [name, all.db(name)] as const)]) {
        for (const [state, n] of Object.entries(db.poolStats)) this.set({ schema, state }, n)
      }
    },
  })
  return {
    registry,
    request: (operation, status, duration_s, http) => {
      requests.observe({ operation, status }, duration_s)
      if (http) tracing?.record(spanOfRequest(operation, status, duration_s, http))
    },
    countJob: (name, outcome, duration_s) => {
      jobs.inc({ job: name, outcome })
      jobSeconds.inc({ job: name }, duration_s)
      const hasFailed = outcome !== 'completed'
      const attributes = { 'drawbridge.job': name, 'drawbridge.outcome': outcome }
      tracing?.record({ name: `job ${name}`, kind: 'consumer', duration_s, attributes, hasFailed })
    },
    countDelivery: (cell, outcome, duration_s) => {
      deliveries.observe({ cell, outcome }, duration_s)
      const hasFailed = outcome === 'failure'
      const attributes = { 'drawbridge.cell': cell, 'drawbridge.outcome': outcome }
      tracing?.record({ name: 'webhook attempt', kind: 'client', duration_s, attributes, hasFailed })
    },
    accessLost: (lines) => accessLost.inc(lines),
    connections: (use) => {
      new Gauge({
        name: 'drawbridge_http_connections',
        help: 'Open connections of clients.',
        registers: [registry],
        collect() {
          this.set(use().open)
        },
      })
      let counted = 0
      new Counter({
        name: 'drawbridge_http_connections_refused_total',
        help: 'Connections closed at once because the limit was reached.',
        registers: [registry],
        collect() {
          const { rejections: refused } = use()
          this.inc(refused - counted)
          counted = refused
        },
      })
    },
    countPipelineEvents: (cell, destination, counts) => {
      for (const [outcome, n] of Object.entries(counts)) if (n) pipelines.inc({ cell, destination, outcome }, n)
    },
    countLinkTrouble: (kind) => linkTroubles.inc({ kind }),
    unreadable: (cell, kind) => unreadable.inc({ cell, kind }),
    countRepeatedPosts: (cell) => repeated.inc({ cell }),
    countRejectedRecords: (cell, resource, count) => rejected.inc({ cell, resource }, count),
    overdue: (cell, kind, overdue_s) => {
      checked.set({ cell, kind }, systemNow().getTime() / 1000)
      overdue.set(`${cell} ${kind}`, { cell, kind, overdue_s, seen_ms: performance.now() })
    },
    countRemovedRows: (cell, kind, rows) => removed.inc({ cell, kind }, rows),
    turn: (wall_s, processor_s) => {
      if (wall_s > longest.wall) longest.wall = wall_s
      if (processor_s > longest.processor) longest.processor = processor_s
    },
    countBlock: (kind, name) => blocks.inc({ kind, name }),
  }
}

/** Methods of HTTP that the server has; others are one value. Source: OpenTelemetry's semantic conventions for HTTP. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function spanOfRequest(operation: string, status: number, duration_s: number, http: RequestSpan): FinishedWork {
  const method = METHODS.has(http.method) ? http.method : '_OTHER'
  return {
    name: http.route === undefined ? method : `${method} ${http.route}`,
    kind: 'server',
    duration_s,
    attributes: {
      'http.request.method': method,
      'http.response.status_code': status,
      'drawbridge.operation': operation,
      ...(http.route !== undefined && { 'http.route': http.route }),
    },
    hasFailed: status >= 500,
    caller: http.caller,
  }
}
