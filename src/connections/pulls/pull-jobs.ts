// The jobs that ask vendors for data, and when they are queued. Source: users-wearables.md 4, 5, 6.
import type { User } from '../../people/users/schema.ts'
import { getUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineJob, enqueue, enqueueAgain } from '../../platform/queue/outbox.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { Maybe, OpenEnum, T, type Static } from '../../platform/schema/schema.ts'
import { schedulePull } from '../../wearables/ingestion/historical-pulls.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { withCompanions } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import type { SavedGrant, UserProvider } from '../grants/grants.ts'
import { daysToPull } from '../pull-preferences/pull-preferences.ts'
import { forgetPulls, type TimeRange } from './ledger.ts'
import { historyName } from './stored.ts'
import { availableResources } from '../connections/availability.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const Pull = T.Object({
  user_id: T.String(),
  provider: T.String(),
  connection_id: T.String(),
  resource: T.String(),
  from_ms: T.Number(),
  to_ms: T.Number(),
  reason: OpenEnum(['history', 'poll', 'notice', 'refresh']),
  /** Failed attempts so far. */
  attempt: T.Integer(),
  /** Rejections by the vendor since something was stored last, and when the first of them came. */
  rejections: Maybe(T.Integer()),
  rejected_ms: Maybe(T.Number()),
  ids: Maybe(T.Array(T.String())),
  refresh_id: Maybe(T.String()),
  /** The notification that leads to it was verified. */
  verified: Maybe(T.Boolean()),
})
export type PullPayload = Static<typeof Pull>
export const pullResource = defineJob('pulls.pull_resource', Pull, { timeout_s: 240 })

const Connection = T.Object({ user_id: T.String(), provider: T.String(), connection_id: T.String() })
export const poll = defineJob('pulls.poll', Connection)

export const subscribe = defineJob('pulls.subscribe', T.Object({ provider: T.String(), user_id: Maybe(T.String()) }), {
  attempts_max: 20,
})

/** Notices of the same data within this time become one pull. */
const NOTICE_S = 5
/** The user's day may be behind the day in UTC, or ahead of it. */
const SLACK_MS = DAY_MS

/** The resources to request: the allowed ones, without the ones that come with others. */
export async function askedResources(tx: Tx, { user_id, provider }: UserProvider): Promise<Resource[]> {
  const connector = connectorOf(provider)
  if (!connector) return []
  const [found] = await availableResources(tx, [user_id], provider)
  const { comesWith = {} } = connector
  return [...new Set((found?.resources as Resource[] | undefined)?.map((resource) => comesWith[resource] ?? resource))]
}

/** The times of a user's data that may be stored, within a range. Source: users-wearables.md 6 I1. */
export function withinBounds({ ingestion_start, ingestion_end }: User, { from_ms, to_ms }: TimeRange): TimeRange {
  return {
    from_ms: ingestion_start === null ? from_ms : Math.max(from_ms, Date.parse(ingestion_start) - SLACK_MS),
    to_ms: ingestion_end === null ? to_ms : Math.min(to_ms, Date.parse(ingestion_end) + 2 * SLACK_MS),
  }
}

/**
 * Schedules the history of a user's resources at a provider: the days of the team's preferences, within the user's bounds of ingestion.
 * Writes historical_pull, job.
 */
export async function scheduleHistory(tx: Tx, grant: Omit<SavedGrant, 'began'>, resources: Resource[]): Promise<void> {
  const { user_id, provider, connection_id } = grant
  const user = await getUser(tx, user_id)
  const days = await daysToPull(tx, provider)
  const now_ms = tx.now.getTime()
  for (const resource of resources) {
    const range = withinBounds(user, { from_ms: now_ms - days(resource) * DAY_MS, to_ms: now_ms })
    if (range.from_ms >= range.to_ms) continue
    for (const name of withCompanions(connectorOf(provider), resource))
      await schedulePull(tx, { user_id, provider, resource: historyName(name) }, range)
    enqueue(tx, pullResource, { user_id, provider, connection_id, resource, ...range, reason: 'history', attempt: 0 })
  }
}

/** A grant was stored: its history is asked for, notifications are subscribed to, and it is polled from now on. Writes job, … */
export async function startPulls(
  tx: Tx,
  { isOther, asksForHistory, began, ...grant }: SavedGrant & { isOther: boolean; asksForHistory: boolean },
  poll_s: number,
): Promise<void> {
  const { user_id, provider, connection_id } = grant
  const connector = connectorOf(provider)
  if (!connector) return
  if (isOther) await forgetPulls(tx, user_id, provider)
  // Also for a user who consents again: the vendor is asked for gaps alone, and each resource is reported again. Source: events.md 4.11 H8.
  if (asksForHistory) await scheduleHistory(tx, grant, await askedResources(tx, grant))
  if (connector.subscribe) {
    const payload = connector.subscribes === 'user' ? { provider, user_id } : { provider }
    enqueueAgain(tx, subscribe, payload, addSeconds(tx.now, NOTICE_S))
  }
  if (began) enqueueAgain(tx, poll, { user_id, provider, connection_id }, addSeconds(tx.now, poll_s))
}

/** Queues a pull that a notification asks for. Notices of the same within a few seconds become one. Writes job. */
export const pullAfterNotice = (tx: Tx, payload: Omit<PullPayload, 'reason' | 'attempt'>): void =>
  enqueueAgain(tx, pullResource, { ...payload, reason: 'notice', attempt: 0 }, addSeconds(tx.now, NOTICE_S))
