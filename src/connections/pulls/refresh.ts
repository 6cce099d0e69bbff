// Asks the clouds of vendors for the last day of a user now. Source: users-wearables.md 1.
import { getUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { OutsideRequest } from '../../platform/http/operation.ts'
import { StatusReply } from '../../platform/http/operation.ts'
import { FixedWindowLimiter } from '../../platform/http/rate-limits.ts'
import { enqueue } from '../../platform/queue/outbox.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { summaryKinds } from '../../wearables/summaries/schema.ts'
import { selectConnections } from '../connections/connections.ts'
import { availableResources } from '../connections/availability.ts'
import { withCompanions } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { askedResources, pullResource, withinBounds } from './pull-jobs.ts'
import { listPulls } from './ledger.ts'
import type { Refreshed } from './schema.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const CALLS_PER_HOUR = 8
const WINDOW_S = 3600
const PAUSE_MS = 200

/** Counts the calls of each user, in this process. */
export const refreshLimiter = (): FixedWindowLimiter => new FixedWindowLimiter({ max: CALLS_PER_HOUR, window_s: WINDOW_S })

interface Source {
  provider: string
  /** What is asked for. */
  resource: Resource
  /** What comes with it, of that which the user allows; itself is the first. */
  names: Resource[]
}

const isSummary = (resource: string): boolean =>
  resource === 'workout_stream' || (summaryKinds as readonly string[]).includes(resource)
/** As `oura/sleep`, `withings/vitals/blood_pressure`. */
const resourcePaths = ({ provider, names }: Source): string[] =>
  names.map((resource) => `${provider}/${isSummary(resource) ? '' : 'vitals/'}${resource}`)

/**
 * Asks all clouds that a user is connected to for the last day, and waits for them as long as is asked. Phones send by themselves and are
 * left out. Writes job. Errors: 400 the user has no connections; 404 unknown user; 429 more than 8 calls for a user within an hour.
 * @returns 200 if all sources have answered, 202 if some have not; each resource is named, also one that comes with another
 */
export async function refreshUser(
  { cells, tenant, changes }: OutsideRequest,
  limiter: FixedWindowLimiter,
  given_user_id: string,
  timeout_s: number,
): Promise<StatusReply<Refreshed>> {
  const { user_id } = await cells.db(tenant.cell).read(tenant, (tx) => getUser(tx, given_user_id))
  const tooMany = limiter.hit(`${tenant.cell} ${tenant.team} ${user_id}`, 'A user can be refreshed 8 times an hour')
  if (tooMany) throw tooMany
  const refresh_id = uuid()
  const sources = await changes.make((tx) => enqueuePulls(tx, user_id, refresh_id))
  const { finishedSources, failedSources, pendingSources } = await waitForPulls(
    { cells, tenant },
    { user_id, refresh_id, sources },
    performance.now() + timeout_s * 1000,
  )
  return new StatusReply(pendingSources.length ? 202 : 200, {
    success: true,
    user_id,
    refreshed_sources: finishedSources.flatMap(resourcePaths),
    in_progress_sources: pendingSources.flatMap(resourcePaths),
    failed_sources: failedSources.flatMap(resourcePaths),
  })
}

/** Enqueues a pull of the last day for each resource of each connected cloud. Writes job. Errors: 400 the user has no connections. */
async function enqueuePulls(tx: Tx, user_id: string, refresh_id: string): Promise<Source[]> {
  tx.concerns(user_id)
  const user = await getUser(tx, user_id)
  const connections = await selectConnections(tx, user_id)
  if (!connections.length) {
    const error = 'user has no connected sources'
    throw new Problem(400, { detail: error, success: false, user_id, error, failed_sources: [] } as never)
  }
  const now_ms = tx.now.getTime()
  const range = withinBounds(user, { from_ms: now_ms - DAY_MS, to_ms: now_ms })
  if (range.from_ms >= range.to_ms) return []
  const sources: Source[] = []
  for (const { provider, id: connection_id, status } of connections) {
    if (status !== 'connected' || !connectorOf(provider)) continue
    const [allowed] = await availableResources(tx, [user_id], provider)
    for (const resource of await askedResources(tx, { user_id, provider })) {
      const pull = { user_id, provider, connection_id, resource, ...range, refresh_id }
      enqueue(tx, pullResource, { ...pull, reason: 'refresh', attempt: 0 })
      const names = withCompanions(connectorOf(provider), resource).filter((name) => allowed?.resources.includes(name))
      sources.push({ provider, resource, names })
    }
  }
  return sources
}

interface Refresh {
  user_id: string
  refresh_id: string
  sources: Source[]
}

/** Waits until the pulls of a refresh have ended, or until the deadline. */
async function waitForPulls(
  { cells, tenant }: Pick<OutsideRequest, 'cells' | 'tenant'>,
  { user_id, refresh_id, sources }: Refresh,
  end_ms: number,
): Promise<{ finishedSources: Source[]; failedSources: Source[]; pendingSources: Source[] }> {
  const pending = new Set(sources)
  const [finishedSources, failedSources]: [Source[], Source[]] = [[], []]
  for (;;) {
    const results = await cells
      .db(tenant.cell)
      .read(tenant, (tx) => readResults(tx, { user_id, refresh_id, sources: [...pending] }))
    for (const source of pending) {
      const result = results.get(resultKey(source))
      if (result === undefined) continue
      pending.delete(source)
      ;(result === 'failed' ? failedSources : finishedSources).push(source)
    }
    if (!pending.size || performance.now() + PAUSE_MS > end_ms)
      return { finishedSources, failedSources, pendingSources: [...pending] }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** The results of the pulls of a refresh that have ended, by provider and resource. */
async function readResults(tx: Tx, { user_id, refresh_id, sources }: Refresh): Promise<Map<string, string | null>> {
  const results = new Map<string, string | null>()
  for (const provider of new Set(sources.map((source) => source.provider)))
    for (const pull of await listPulls(tx, { user_id, provider }))
      if (pull.refresh_id === refresh_id) results.set(resultKey({ provider, resource: pull.resource }), pull.result)
  return results
}

const resultKey = ({ provider, resource }: { provider: string; resource: string }): string => `${provider} ${resource}`
