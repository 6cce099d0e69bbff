// Traces for OpenTelemetry: a span for each request, job and webhook attempt, sent to a collector by OTLP over HTTP. Off unless a setting
// names the collector. A span has the same labels as the metrics, no ids of patients, no URL and no address: of a path its template alone.
import type { Attributes, Context, SpanKind } from '@opentelemetry/api'
import { systemNow } from '../runtime/clock.ts'
import { version } from '../runtime/version.ts'
import type { Log } from './log.ts'
import type { TraceContext } from './trace-context.ts'

export interface FinishedWork {
  name: string
  kind: 'server' | 'consumer' | 'client'
  duration_s: number
  attributes: Attributes
  hasFailed: boolean
  /** The span of the caller. */
  caller?: TraceContext | undefined
}

export interface Tracing {
  /** Adds a span that ends now. */
  record(work: FinishedWork): void
  /** Sends what waits, for at most five seconds. */
  stop(): Promise<void>
}

const STOP_MS_MAX = 5000
/** A collector that is away is named in the log once in this time. */
const LOGGED_EVERY_MS = 60_000

/** The packages, which are optional. Errors: one is not installed. */
async function load() {
  try {
    return await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  } catch (cause) {
    throw new Error(
      'OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages for it are not installed: run "npm install @opentelemetry/api @opentelemetry/sdk-trace-base @opentelemetry/exporter-trace-otlp-http @opentelemetry/resources", or "npm ci" without --omit=optional.',
      { cause },
    )
  }
}

/**
 * Starts to send spans to a collector, in groups; what does not fit a queue of 2,048 spans is dropped. The other variables of OpenTelemetry
 * (`OTEL_SERVICE_NAME`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER`, …) are read by its packages. Errors: a package is missing.
 * @param endpoint the base URL of the collector, without a final slash
 */
export async function openTracing(endpoint: string, log: Log): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await load()
  let logged_ms = -Infinity
  const failed = () => {
    if (performance.now() - logged_ms < LOGGED_EVERY_MS) return
    logged_ms = performance.now()
    log.warn('spans could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT')
  }
  const silent = () => {}
  api.diag.setLogger({ error: failed, warn: silent, info: silent, debug: silent, verbose: silent }, api.DiagLogLevel.ERROR)
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': process.env.OTEL_SERVICE_NAME ?? 'drawbridge',
      'service.version': version,
    }),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))],
  })
  const tracer = provider.getTracer('drawbridge', version)
  const kinds: Record<FinishedWork['kind'], SpanKind> = {
    server: api.SpanKind.SERVER,
    consumer: api.SpanKind.CONSUMER,
    client: api.SpanKind.CLIENT,
  }
  const contextOf = (caller: TraceContext | undefined): Context =>
    caller === undefined
      ? api.ROOT_CONTEXT
      : api.trace.setSpanContext(api.ROOT_CONTEXT, {
          traceId: caller.trace_id,
          spanId: caller.span_id,
          traceFlags: caller.flags,
          isRemote: true,
        })
  return {
    record({ name, kind, duration_s, attributes, hasFailed, caller }) {
      const end = systemNow()
      const startTime = new Date(end.getTime() - duration_s * 1000)
      const span = tracer.startSpan(name, { kind: kinds[kind], startTime, attributes }, contextOf(caller))
      if (hasFailed) span.setStatus({ code: api.SpanStatusCode.ERROR })
      span.end(end)
    },
    async stop() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS_MAX).unref())
      await Promise.race([provider.shutdown().catch(failed), late])
    },
  }
}
