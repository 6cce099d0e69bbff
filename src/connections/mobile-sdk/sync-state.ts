// What a phone asks before it synchronizes, and what it announces. Source: users-wearables.md 4 C4, 5, 6, 16.3.
import { iso } from '../../platform/runtime/clock.ts'
import { findUser } from '../../people/users/users.ts'
import type { User } from '../../people/users/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { CONTACT, dayOf, daysBetween, recordDays } from '../../wearables/ingestion/day-records.ts'
import { startPull } from '../../wearables/ingestion/historical-pulls.ts'
import { ingestionBounds } from '../../wearables/ingestion/ingest.ts'
import { summaryKinds, type SummaryKind } from '../../wearables/summaries/schema.ts'
import { isTimeseries, resourceNameOf, timeseriesNames, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { connectionStatus } from '../connections/connections.ts'
import { connectionTo } from '../connections/demo.ts'
import type { ManualProvider } from '../connections/providers.ts'
import { isPulled } from '../pull-preferences/pull-defaults.ts'
import { pullOfTeam } from '../pull-preferences/pull-preferences.ts'
import { resourceOf, sentTimeseries, type SentTimeseries } from './schema.ts'
import type { HistoricalStage, SyncState, SyncStateRequest } from './sync-schema.ts'
import { savePermissions } from '../connections/availability.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** How long a phone may rely on the answer. */
const EXPIRES_IN_S = 14_400

const statuses = { connected: 'active', paused: 'paused', error: 'error' } as const

/** The part of a range that the user's bounds of ingestion allow; nothing of it is an empty range. */
function withinBounds(user: User, { request_start_date, request_end_date }: SyncStateRequest) {
  const { from_ms, to_ms } = ingestionBounds(user)
  const instant = (text: string | undefined) =>
    text === undefined ? null : iso(new Date(Math.min(Math.max(Date.parse(text), from_ms), to_ms)))
  return { request_start_date: instant(request_start_date), request_end_date: instant(request_end_date) }
}

async function preferencesOf(tx: Tx, provider: ManualProvider): Promise<SyncState['pull_preferences']> {
  if (!isPulled(provider)) return null
  const { default: usual, resource_overrides } = await pullOfTeam(tx, provider)
  const overrides = Object.entries(resource_overrides ?? {}).map(([resource, { historical_days_to_pull }]) => [
    resource,
    { historical_days_to_pull },
  ])
  return {
    historical_days_to_pull: usual.historical_days_to_pull,
    backfill_type_overrides: Object.fromEntries(overrides) as Record<string, { historical_days_to_pull: number }>,
  }
}

/**
 * Tells a phone whether it may synchronize, and what. `error` means that its user has to be connected first, or again; a demo connection is
 * paused for phones. Permissions that it names are those of the connection from now on. Writes connection, day_record. Errors: 404 unknown user.
 */
export async function syncState(tx: Tx, user_id: string, provider: ManualProvider, body: SyncStateRequest): Promise<SyncState> {
  const user = await findUser(tx, user_id)
  if (!user) throw notFound('User not found')
  const connection = await connectionTo(tx, user_id, provider)
  const status = connection?.is_demo ? 'paused' : connection?.status
  if (status) recordDays(tx, { user_id, provider, resource: CONTACT, outcome: 'received', days: [dayOf(tx.now.getTime())] })
  if (status && body.granted_permissions) await savePermissions(tx, user_id, provider, body.granted_permissions)
  return {
    status: status ? statuses[status] : 'error',
    ingestion_start: user.ingestion_start,
    ...withinBounds(user, body),
    per_device_activity_ts: tx.tenant.settings.sdk_per_device_activity_timeseries === true,
    expires_in: EXPIRES_IN_S,
    pull_preferences: await preferencesOf(tx, provider),
  }
}

const EARLIEST_MS = Date.UTC(1900, 0)

const isSummaryKind = (name: string): name is SummaryKind => (summaryKinds as string[]).includes(name)
const byResource = new Map<string, TimeseriesName>(timeseriesNames.map((name) => [resourceNameOf(name), name]))
const isSent = (name: string): name is SentTimeseries => (sentTimeseries as readonly string[]).includes(name)

/** What is stored of a kind of data, by the name that a phone has for it; undefined if nothing of it is stored. */
function storedAs(backfill_type: string): TimeseriesName | SummaryKind | undefined {
  if (isSummaryKind(backfill_type) || isTimeseries(backfill_type)) return backfill_type
  return isSent(backfill_type) ? resourceOf(backfill_type) : byResource.get(backfill_type)
}

/**
 * Records that a phone begins to send the history of a kind of data, and its range. A kind that is not stored, and a connection that is
 * paused or not there, are no errors, and nothing is recorded of them. Writes historical_pull, day_record.
 * Errors: 404 unknown user; 422 the range ends before it starts, starts before 1900, or ends more than a day ahead.
 */
export async function startHistoricalStage(
  tx: Tx,
  user_id: string,
  provider: ManualProvider,
  { range_start, range_end, backfill_type }: HistoricalStage,
): Promise<{ success: boolean }> {
  const [from_ms, to_ms] = [Date.parse(range_start), Date.parse(range_end)]
  if (from_ms < EARLIEST_MS || to_ms > tx.now.getTime() + DAY_MS)
    throw invalidField(['body', 'range_start'], 'must be after 1900 and not in the future')
  if (to_ms < from_ms) throw invalidField(['body', 'range_end'], 'must not be before range_start')
  if (!(await findUser(tx, user_id))) throw notFound('User not found')
  const resource = storedAs(backfill_type)
  if (resource !== undefined && (await connectionStatus(tx, user_id, provider)) === 'connected') {
    await startPull(tx, { user_id, provider, resource }, { from_ms, to_ms, is_whole: true })
    const name = isTimeseries(resource) ? resourceNameOf(resource) : resource
    recordDays(tx, { user_id, provider, resource: name, outcome: 'asked', days: daysBetween(from_ms, to_ms) })
  }
  return { success: true }
}
