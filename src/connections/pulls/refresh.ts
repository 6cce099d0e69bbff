// Asks the clouds of vendors for the last day of a user now. Source: users-wearables.md 1.
import { getUser } from '../../people/users/users.ts'
import type { OutsideRequest } from '../../platform/http/operation.ts'
import { StatusReply } from '../../platform/http/operation.ts'
import { FixedWindowLimiter } from '../../platform/http/rate-limits.ts'
import { enqueue } from '../../platform/queue/outbox.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { summaryKinds } from '../../wearables/summaries/schema.ts'
import { connectedProviders } from '../connections/connections.ts'
import { availableResources } from '../connections/availability.ts'
import { withCompanions } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { askedResources, pullResource, withinBounds } from './jobs.ts'
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
  const db = cells.db(tenant.cell)
  const { user_id } = await db.read(tenant, (tx) => getUser(tx, given_user_id))
  const tooMany = limiter.hit(`${tenant.cell} ${tenant.team} ${user_id}`, 'A user can be refreshed 8 times an hour')
  if (tooMany) throw tooMany
  const refresh_id = uuid()
  const sources = await changes.make(async (tx): Promise<Source[]> => {
    tx.concerns(user_id)
    const user = await getUser(tx, user_id)
    const connections = await connectedProviders(tx, user_id)
    if (!connections.length) {
      const error = 'user has no connected sources'
      throw new Problem(400, { detail: error, success: false, user_id, error, failed_sources: [] } as never)
    }
    const queued: Source[] = []
    for (const { provider, id: connection_id, status } of connections) {
      if (status !== 'connected' || !connectorOf(provider)) continue
      const now_ms = tx.now.getTime()
      const range = withinBounds(user, { from_ms: now_ms - DAY_MS, to_ms: now_ms })
      if (range.from_ms >= range.to_ms) continue
      const [allowed] = await availableResources(tx, [user_id], provider)
      for (const resource of await askedResources(tx, { user_id, provider })) {
        enqueue(tx, pullResource, {
          user_id,
          provider,
          connection_id,
          resource,
          ...range,
          reason: 'refresh',
          attempt: 0,
          refresh_id,
        })
        const names = withCompanions(connectorOf(provider), resource).filter((name) => allowed?.resources.includes(name))
        queued.push({ provider, resource, names })
      }
    }
    return queued
  })
  const waiting = new Set(sources)
  const [refreshed, failed]: [Source[], Source[]] = [[], []]
  const end_ms = performance.now() + timeout_s * 1000
  for (;;) {
    const done = await db.read(tenant, async (tx) => {
      const pulls = new Map<string, string | null>()
      for (const provider of new Set([...waiting].map((source) => source.provider)))
        for (const { resource, refresh_id: of, result } of await listPulls(tx, { user_id, provider }))
          if (of === refresh_id) pulls.set(`${provider} ${resource}`, result)
      return pulls
    })
    for (const source of waiting) {
      const result = done.get(`${source.provider} ${source.resource}`)
      if (result === undefined) continue
      waiting.delete(source)
      ;(result === 'failed' ? failed : refreshed).push(source)
    }
    if (!waiting.size || performance.now() + PAUSE_MS > end_ms) break
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return new StatusReply(waiting.size ? 202 : 200, {
    success: true,
    user_id,
    refreshed_sources: refreshed.flatMap(resourcePaths),
    in_progress_sources: [...waiting].flatMap(resourcePaths),
    failed_sources: failed.flatMap(resourcePaths),
  })
}
