// The log line and the metrics of each response.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { parseTraceparent } from '../telemetry/trace-context.ts'
import { isInjected } from './request-faults.ts'
import type { RecentRequests } from './recent-requests.ts'

/** Writes the log line of a response and counts it. Faults that a sandbox team asked for are not counted: no alert is about them. */
export function logResponse(
  { log, metrics, requests }: { log: Log; metrics: Metrics; requests: RecentRequests },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { id: operation = 'none', path: route } = request.routeOptions.config.operation ?? {}
  const duration_ms = reply.elapsedTime
  const caller = parseTraceparent(request.headers.traceparent)
  if (!isInjected(reply))
    metrics.request(operation, reply.statusCode, duration_ms / 1000, { method: request.method, route, caller })
  log.info(
    {
      'request.id': request.id,
      operation,
      status: reply.statusCode,
      duration_ms: Math.round(duration_ms * 100) / 100,
      ...(request.key_id !== undefined && { 'key.id': request.key_id }),
      ...(request.manager && { 'org.id': request.manager.org }),
      ...(request.tenant && { 'team.id': request.tenant.team, cell: request.tenant.cell }),
      ...(caller !== undefined && { 'trace.id': caller.trace_id }),
    },
    'request',
  )
  requests.keep(request, reply)
}
