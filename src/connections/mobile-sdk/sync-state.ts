// What a phone asks before it synchronizes, and what it announces. Source: users-wearables.md 4 C4, 5, 6, 16.3.
import { iso } from '../../platform/runtime/clock.ts'
import { findUser } from '../../people/users/users.ts'
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

/** Bounds before and after these say nothing that a phone could send differently; a year of five digits is none of the clients' dates. */
const EARLIEST_MS = Date.UTC(1900, 0)
const LATEST_MS = Date.UTC(9999, 0)
const bound = (ms: number): string | null => (ms > EARLIEST_MS && ms < LATEST_MS ? iso(new Date(ms)) : null)

/**
 * How many days of history a phone reads. It reads up to the end of ingestion, so a range of fewer days than have passed since then would
 * end before it starts, which stops the published client for iOS.
 */
async function readPreferences(tx: Tx, provider: ManualProvider, to_ms: number): Promise<SyncState['pull_preferences']> {
  if (!isPulled(provider)) return null
  const days_min = Math.ceil(Math.max(0, tx.now.getTime() - to_ms) / DAY_MS) + 1
  const days = (days_wanted: number) => ({ historical_days_to_pull: Math.max(days_wanted, days_min) })
  const { default: usual, resource_overrides } = await pullOfTeam(tx, provider)
  const overrides = Object.entries(resource_overrides ?? {}).map(([resource, override]) => [
    resource,
    days(override.historical_days_to_pull),
  ])
  return {
    ...days(usual.historical_days_to_pull),
    backfill_type_overrides: Object.fromEntries(overrides) as Record<string, { historical_days_to_pull: number }>,
  }
}

/**
 * Tells a phone whether it may synchronize, and what. `error` means that its user has to be connected first, or again; a demo connection is
 * paused for phones, and so is every connection before the start of ingestion. The published clients read `request_end_date` as the end of
 * ingestion and reckon the days of history from `request_start_date`: the range that a phone proposes is not returned.
 * Permissions that it names are those of the connection from now on. Writes connection, day_record. Errors: 404 unknown user.
 */
export async function syncState(tx: Tx, user_id: string, provider: ManualProvider, body: SyncStateRequest): Promise<SyncState> {
  const user = await findUser(tx, user_id)
  if (!user) throw notFound('User not found')
  const connection = await connectionTo(tx, user_id, provider)
  const { from_ms, to_ms } = ingestionBounds(user)
  const wait_s = Math.ceil((from_ms - tx.now.getTime()) / 1000)
  const status = connection && (connection.is_demo || wait_s > 0) ? 'paused' : connection?.status
  if (status) recordDays(tx, { user_id, provider, resource: CONTACT, outcome: 'received', days: [dayOf(tx.now.getTime())] })
  if (status && body.granted_permissions) await savePermissions(tx, user_id, provider, body.granted_permissions)
  return {
    status: status ? statuses[status] : 'error',
    // The client for iOS keeps a start until it gets another, and cannot read from one that is ahead.
    ingestion_start: wait_s > 0 ? null : bound(from_ms),
    request_start_date: null,
    request_end_date: bound(to_ms),
    per_device_activity_ts: tx.tenant.settings.sdk_per_device_activity_timeseries === true,
    expires_in: wait_s > 0 ? Math.min(wait_s, EXPIRES_IN_S) : EXPIRES_IN_S,
    pull_preferences: await readPreferences(tx, provider, to_ms),
  }
}

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
 * paused or not there, are not errors, and nothing is recorded of them. A range that ends with the user's ingestion, which may be ahead, ends
 * now. Writes historical_pull, day_record.
 * Errors: 404 unknown user; 422 the range ends before it starts, starts before 1900, or ends more than a day ahead.
 */
export async function startHistoricalStage(
  tx: Tx,
  user_id: string,
  provider: ManualProvider,
  { range_start, range_end, backfill_type }: HistoricalStage,
): Promise<{ success: boolean }> {
  const user = await findUser(tx, user_id)
  if (!user) throw notFound('User not found')
  const now_ms = tx.now.getTime()
  const [from_ms, end_ms] = [Date.parse(range_start), Date.parse(range_end)]
  const to_ms = end_ms === ingestionBounds(user).to_ms ? Math.min(end_ms, now_ms) : end_ms
  if (from_ms < EARLIEST_MS || to_ms > now_ms + DAY_MS)
    throw invalidField(['body', 'range_start'], 'must be after 1900 and not in the future')
  if (to_ms < from_ms) throw invalidField(['body', 'range_end'], 'must not be before range_start')
  const resource = storedAs(backfill_type)
  if (resource !== undefined && (await connectionStatus(tx, user_id, provider)) === 'connected') {
    await startPull(tx, { user_id, provider, resource }, { from_ms, to_ms, is_whole: true })
    const name = isTimeseries(resource) ? resourceNameOf(resource) : resource
    recordDays(tx, { user_id, provider, resource: name, outcome: 'asked', days: daysBetween(from_ms, to_ms) })
  }
  return { success: true }
}
