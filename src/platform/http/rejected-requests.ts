// Requests that were rejected, for operations that record them.
import type { FastifyRequest } from 'fastify'
import type { Cells } from '../db/cells.ts'
import type { Problem } from '../runtime/problem.ts'
import { errorFields, type Log } from '../telemetry/log.ts'

/** What is wrong with the request itself: its form, its size, its values. */
const REJECTED = new Set([400, 413, 422])

/**
 * Calls `onRejected` of the operation in a transaction of the team, also for a body that was not read. The response is that of the rejected request,
 * whether it could be recorded or not.
 */
export async function recordRejection(
  { cells, log }: { cells: Cells; log: Log },
  request: FastifyRequest,
  problem: Problem,
): Promise<void> {
  const { tenant, values } = request
  const { operation } = request.routeOptions.config
  const { onRejected } = operation ?? {}
  if (!onRejected || !tenant || values === undefined || !REJECTED.has(problem.status)) return
  const bytes = Buffer.isBuffer(request.body) ? request.body : undefined
  try {
    await cells.of(tenant.cell).tx(tenant, (tx) => onRejected(tx, { params: values, bytes, problem }))
  } catch (error) {
    log.error({ 'request.id': request.id, operation: operation?.id, causes: errorFields(error) }, 'rejected request not recorded')
  }
}
