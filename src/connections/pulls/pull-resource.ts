// Asks a vendor for a resource of one user and stores what it answers: one window after the other, each recorded when all of it is stored.
// Source: users-wearables.md 5; events.md 4.5, 4.11.
import type { User } from '../../people/users/schema.ts'
import { findUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineHandler, enqueue, type Handler, type JobContext } from '../../platform/queue/outbox.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { completeHistory } from '../../wearables/ingestion/ingest.ts'
import { daysBetween, recordDays } from '../../wearables/ingestion/day-records.ts'
import { beginPull, failPull, type PullError } from '../../wearables/ingestion/historical-pulls.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { findConnection, failConnection } from '../connections/connections.ts'
import { VendorError, withCompanions, type Connector, type Pulled, type VendorFailure } from '../connectors/connector.ts'
import { freshGrant, vendorHttp, findVendor, type Vendor, type VendorAccess } from '../grants/access.ts'
import { pullResource, type PullPayload } from './pull-jobs.ts'
import { findGaps, recordPullOutcome, recordNotified, type TimeRange } from './ledger.ts'
import { OwnLimitError, limitedHttp, noteRejection, pauseAfter } from './limits.ts'
import type { AnswerReader } from './read-parts.ts'
import { historyName, storePulled, type Stored } from './stored.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** A job ends after this time and continues in another one. */
const WORK_MS = 60_000
/** The vendor's days may be behind those in UTC, or ahead; storing the same data twice changes nothing. */
const OVERLAP_MS = DAY_MS

interface Retry {
  attempts_max: number
  pause_s: (attempt: number) => number
  error: PullError
}
const doubling = (first_s: number, max_s: number) => (attempt: number) => Math.min(max_s, first_s * 2 ** attempt)
const retries: Partial<Record<VendorFailure, Retry>> = {
  unavailable: { attempts_max: 12, pause_s: doubling(30, 3600), error: 'provider_unavailable' },
  not_ready: { attempts_max: 6, pause_s: doubling(10, 600), error: 'provider_unavailable' },
  unexpected: { attempts_max: 3, pause_s: doubling(60, 3600), error: 'unexpected_error' },
}

const failureMessages: Record<VendorFailure | 'no_application', string> = {
  invalid_grant: 'The provider does not accept the token',
  scope_missing: 'The user has not granted what the resource needs',
  rate_limited: 'The limit of requests to the provider is used up',
  unavailable: 'The provider does not answer',
  not_ready: 'The provider has announced a record that cannot be read yet',
  unexpected: 'The provider answers in a form that it does not describe',
  no_application: 'The team has no application at the provider',
}

export interface PullAccess {
  access: VendorAccess
  reader: AnswerReader
}

interface Start {
  user: User
  vendor: Vendor | undefined
  windows: Window[]
}
interface Window {
  /** What is asked for. */
  requestRange: TimeRange
  /** What is recorded as asked for. */
  recordedRange: TimeRange
}

/** The requests for some ranges, newest first: with a day of overlap at either end, none longer than the vendor allows. */
export function createWindows(ranges: readonly TimeRange[], { days_per_request }: Connector, until_ms: number): Window[] {
  const length = Math.max(1, days_per_request) * DAY_MS
  const windows: Window[] = []
  for (const { from_ms, to_ms } of ranges)
    for (let end = to_ms + OVERLAP_MS; end > from_ms - OVERLAP_MS; end -= length) {
      const begin = Math.max(from_ms - OVERLAP_MS, end - length)
      const recordedRange = { from_ms: Math.max(begin, from_ms), to_ms: Math.min(end, to_ms, until_ms) }
      windows.push({ requestRange: { from_ms: begin, to_ms: end }, recordedRange })
    }
  return windows
}

/** The connection of a job is the one for which it was queued, and connected. */
async function isCurrent(tx: Tx, { user_id, provider, connection_id }: PullPayload): Promise<boolean> {
  const connection = await findConnection(tx, user_id, provider)
  return connection?.id === connection_id && connection.status === 'connected'
}

async function begin(tx: Tx, access: VendorAccess, payload: PullPayload): Promise<Start | undefined> {
  const { user_id, provider, reason, from_ms, to_ms, ids } = payload
  const user = await findUser(tx, user_id)
  if (!user || !(await isCurrent(tx, payload))) return undefined
  const vendor = await findVendor(tx, access, provider)
  if (!vendor) return { user, vendor, windows: [] }
  if (reason === 'history') {
    const names = withCompanions(vendor.connector, payload.resource as Resource)
    for (const name of names) await beginPull(tx, { user_id, provider, resource: historyName(name) })
  }
  const range = { from_ms, to_ms }
  const now_ms = tx.now.getTime()
  if (ids) return { user, vendor, windows: [{ requestRange: range, recordedRange: { from_ms: now_ms, to_ms: now_ms } }] }
  const ranges = reason === 'history' ? await findGaps(tx, payload, range) : [range]
  return { user, vendor, windows: createWindows(ranges, vendor.connector, now_ms) }
}

/** The connection has ended while its data was read. */
class ConnectionEnded extends Error {}

/** Asks for one window and stores the answer. @returns what was stored; undefined: the connection has ended meanwhile */
async function pullWindow(
  { tenant, tx }: JobContext,
  { access, reader }: PullAccess,
  payload: PullPayload,
  { user, vendor }: { user: User; vendor: Vendor },
  requestRange: TimeRange,
  rejectedVersion?: number,
): Promise<Stored | undefined> {
  const { provider, resource, ids, reason } = payload
  const { connector, app } = vendor
  const isHistory = reason === 'history'
  const grant = await freshGrant(tenant, access, vendor, payload, rejectedVersion)
  if (!grant) return undefined
  const httpFor = (bytes_max: number) =>
    limitedHttp(access.cells, tenant, connector, vendorHttp(access, tenant, bytes_max), { isHistory })
  const time_zone = user.fallback_time_zone?.id ?? null
  const request = { resource: resource as Resource, ...requestRange, time_zone, ...(ids && { ids }) }
  const stored: Stored = { received_count: 0, changed_count: 0 }
  const store = async (part: Pulled) => {
    const more = await tx(async (current) =>
      (await isCurrent(current, payload)) ? storePulled(current, user, provider, part, isHistory) : undefined,
    )
    if (!more) throw new ConnectionEnded()
    stored.received_count += more.received_count
    stored.changed_count += more.changed_count
  }
  try {
    await reader.read({ team: tenant.team, connector, app, access_token: grant.grant.access_token, request }, httpFor, store)
  } catch (error) {
    if (error instanceof ConnectionEnded) return undefined
    const isRefused = error instanceof VendorError && error.failure === 'invalid_grant'
    if (!isRefused || rejectedVersion !== undefined) throw error
    // The vendor may have ended the token before its time.
    return pullWindow({ tenant, tx }, { access, reader }, payload, { user, vendor }, requestRange, grant.version)
  }
  return stored
}

/**
 * Records that a window was asked for and stored: its days are answered, with data or without. Writes provider_pull,
 * provider_watermark, day_record.
 */
async function recordWindow(
  tx: Tx,
  payload: PullPayload,
  connector: Connector,
  recordedRange: TimeRange,
  { received_count, changed_count }: Stored,
): Promise<void> {
  const { user_id, provider, verified = false } = payload
  await recordPullOutcome(tx, payload, { result: received_count ? 'data' : 'empty', covered: recordedRange })
  // A notification that is sent again brings no new data, and keeps no connection from being polled.
  if (verified && changed_count) await recordNotified(tx, payload)
  if (recordedRange.from_ms >= recordedRange.to_ms) return
  const days = daysBetween(recordedRange.from_ms, recordedRange.to_ms)
  for (const resource of withCompanions(connector, payload.resource as Resource))
    for (const outcome of ['asked', 'answered'] as const) recordDays(tx, { user_id, provider, resource, outcome, days })
}

/** Records that everything was asked for. */
async function finish(tx: Tx, payload: PullPayload, user: User, connector: Connector, hasData: boolean): Promise<void> {
  const { provider, resource, reason, from_ms, to_ms, refresh_id } = payload
  await recordPullOutcome(tx, payload, { result: hasData ? 'data' : 'empty', refresh_id })
  if (reason !== 'history') return
  for (const name of withCompanions(connector, resource as Resource))
    await completeHistory(tx, user, historyName(name), { provider, from_ms, to_ms, is_whole: true })
}

/** Decides whether to try again after a failure. Writes provider_pull, historical_pull, connection, job. */
async function fail(tx: Tx, payload: PullPayload, connector: Connector | undefined, error: VendorError | undefined) {
  const { user_id, provider, resource, reason, attempt, ids, refresh_id } = payload
  // Without an application nothing can be asked for.
  const { failure = 'no_application', retry_after_ms = null } = error ?? {}
  const connection = await findConnection(tx, user_id, provider)
  if (connection?.id !== payload.connection_id || connection.status === 'paused') return
  const isConnected = connection.status === 'connected'
  const again = (changes: Partial<PullPayload>, pause_s: number) =>
    enqueue(tx, pullResource, { ...payload, ...changes }, new Date(tx.now.getTime() + Math.ceil(pause_s) * 1000))
  const names = withCompanions(connector, resource as Resource)
  const history = async (error: PullError, isFinal: boolean) => {
    if (reason !== 'history') return
    for (const name of names) await failPull(tx, { user_id, provider, resource: historyName(name) }, error, isFinal)
  }
  const days = daysBetween(payload.from_ms, payload.to_ms)
  const problem = { type: failure, message: failureMessages[failure] }
  for (const name of names) recordDays(tx, { user_id, provider, resource: name, outcome: 'failed', days, error: problem })
  if (failure === 'invalid_grant') await failConnection(tx, user_id, provider, 'provider_credential_error')
  const limited = failure === 'rate_limited' && isConnected ? afterRejection(payload, error!, tx.now.getTime()) : undefined
  if (limited) {
    await history('provider_rate_limit_exceeded', false)
    // Many jobs wait for the same limit: they do not all come back at once.
    again(limited.counted, limited.wait_s + spread(payload) * Math.min(30, limited.wait_s))
    return
  }
  const retry = failure === 'no_application' || !isConnected ? undefined : retries[failure]
  if (retry && attempt + 1 < retry.attempts_max) {
    await history(retry.error, false)
    // An announced record that cannot be read yet is nothing unusual.
    if (failure !== 'not_ready') await recordPullOutcome(tx, payload, { result: 'failed', error: failure })
    again({ attempt: attempt + 1 }, Math.max(retry.pause_s(attempt), (retry_after_ms ?? 0) / 1000))
    return
  }
  if (failure === 'not_ready' && ids && isConnected) {
    // The record never became readable by its id: the range has whatever there is.
    const { ids: _, ...range } = payload
    enqueue(tx, pullResource, { ...range, attempt: 0 })
    return
  }
  const hasTried = retry !== undefined || (failure === 'rate_limited' && isConnected)
  const last = failure === 'unexpected' ? 'unexpected_error' : 'retry_quota_exhausted'
  const reported = hasTried ? last : 'non_retriable_error'
  await history(reported, true)
  await recordPullOutcome(tx, payload, { result: 'failed', error: failure, refresh_id })
}

/** How long a pull waits for a limit, and what its job counts; undefined if the vendor has rejected it too often. The server's own limits end nothing. */
function afterRejection(payload: PullPayload, error: VendorError, now_ms: number) {
  if (error instanceof OwnLimitError) return { wait_s: Math.max(1, (error.retry_after_ms ?? 0) / 1000), counted: {} }
  const wait_s = pauseAfter(payload, error, now_ms)
  const counted = { rejections: (payload.rejections ?? 0) + 1, rejected_ms: payload.rejected_ms ?? now_ms }
  return wait_s === undefined ? undefined : { wait_s, counted }
}

/** Between 0 and 1, the same for a user and resource. */
const spread = ({ user_id, resource }: PullPayload): number =>
  [...`${user_id} ${resource}`].reduce((sum, char) => (sum * 31 + char.codePointAt(0)!) % 1000, 7) / 1000

/** The handler of the job that asks for one resource. */
export const pullHandler = ({ access, reader }: PullAccess): Handler =>
  defineHandler(pullResource, async (context, payload) => {
    const { tenant, tx } = context
    const started_ms = performance.now()
    const start = await tx((current) => begin(current, access, payload))
    if (!start) return
    const { user, vendor, windows } = start
    if (!vendor) {
      await tx((current) => fail(current, payload, undefined, undefined))
      return
    }
    let stored = 0
    const { rejections: _, rejected_ms: __, ...uncounted } = payload
    let asked: PullPayload = payload
    try {
      for (const window of windows) {
        if (performance.now() - started_ms > WORK_MS) {
          await tx(async (current) => enqueue(current, pullResource, { ...asked, attempt: 0 }))
          return
        }
        const pulled = await pullWindow(context, { access, reader }, payload, { user, vendor }, window.requestRange)
        if (!pulled) return
        stored += pulled.received_count
        await tx((current) => recordWindow(current, payload, vendor.connector, window.recordedRange, pulled))
        // Only a history goes on after what was stored; other pulls ask for everything again.
        if (payload.reason === 'history' && window.recordedRange.from_ms < window.recordedRange.to_ms) asked = uncounted
      }
      await tx((current) => finish(current, payload, user, vendor.connector, stored > 0))
    } catch (error) {
      const reason = failureOf(error)
      await noteRejection(access.cells, tenant, vendor.connector, reason, asked)
      await tx((current) => fail(current, asked, vendor.connector, reason))
    }
  })

/** Data that cannot be stored is the vendor's mistake; errors of ours are retried by the queue. */
function failureOf(error: unknown): VendorError {
  if (error instanceof VendorError) return error
  if (error instanceof Problem && error.status < 500) return new VendorError('unexpected')
  throw error
}
