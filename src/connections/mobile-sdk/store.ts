// Storing what a phone posts: its user and connection, the data, the end of a history. Source: users-wearables.md 4 C4, 16.5; events.md 4.11.
import type { User } from '../../people/users/schema.ts'
import { findUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import {
  completeHistory,
  ingestSamples,
  ingestSummaries,
  type Ingested,
  type IncomingSample,
} from '../../wearables/ingestion/ingest.ts'
import { CONTACT, dayOf, daysBetween, localDayOf, recordDays, type DayNumber } from '../../wearables/ingestion/day-records.ts'
import { ingestWorkoutStreams } from '../../wearables/ingestion/ingest-streams.ts'
import { countRepeatedPost } from '../../wearables/ingestion/repeated-posts.ts'
import { pullsInProgress, startPull } from '../../wearables/ingestion/historical-pulls.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { resourceNameOf, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { IncomingStream } from '../../wearables/streams/workout-streams.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { connectManually } from '../connections/connections.ts'
import { connectionTo, mixedConnections } from '../connections/demo.ts'
import { Faults } from './faults.ts'
import type { Envelope } from './schema.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

export interface SampleBatch {
  resource: TimeseriesName
  samples: IncomingSample[]
  /** They came with something else, and have a history of their own. */
  isBeside?: true
}
interface SummaryBatch {
  kind: SummaryKind
  records: IncomingSummary[]
  /** Streams of the workouts; a batch of `next` stores them. */
  streams?: IncomingStream[]
  /** Timeseries whose samples come with such records: their histories end with that of the records. */
  derivedResources?: readonly (TimeseriesName | 'workout_stream')[]
  /** What needs the ids of these records. */
  next?: () => Promise<Batch[]>
}
interface StreamBatch {
  streams: IncomingStream[]
}
export type Batch = SampleBatch | SummaryBatch | StreamBatch

/** What became of a post. */
export interface Stored extends Ingested {
  success: true
}

const isOfStreams = (batch: Batch): batch is StreamBatch => 'streams' in batch && !('kind' in batch)

function resourceName(batch: Batch): TimeseriesName | SummaryKind | 'workout_stream' {
  if (isOfStreams(batch)) return 'workout_stream'
  return 'kind' in batch ? batch.kind : batch.resource
}

/** Instants of a batch, for a history whose range the phone does not name. */
const instantsOf = (batch: Batch): number[] => {
  if (isOfStreams(batch)) return batch.streams.flatMap(({ time }) => (time.length ? [time[0]! * 1000, time.at(-1)! * 1000] : []))
  return 'kind' in batch
    ? batch.records.flatMap(({ calendar_date }) => (calendar_date === null ? [] : [Date.parse(calendar_date)]))
    : batch.samples.map(({ at_ms }) => at_ms)
}

/** The resource of a batch, by its name among all resources. */
const fullNameOf = (batch: Batch): Resource =>
  'resource' in batch ? resourceNameOf(batch.resource) : (resourceName(batch) as Resource)

const daysOf = (batch: Batch): DayNumber[] => ('resource' in batch ? batch.samples.map(localDayOf) : instantsOf(batch).map(dayOf))

function sizeOf(batch: Batch): number {
  if (isOfStreams(batch)) return batch.streams.length
  return ('kind' in batch ? batch.records : batch.samples).length
}

function ingest(tx: Tx, user: User, batch: Batch, options: { provider: string; historical: boolean }): Promise<Ingested> {
  if (isOfStreams(batch)) return ingestWorkoutStreams(tx, user, { streams: batch.streams, ...options })
  if ('kind' in batch)
    return ingestSummaries(tx, user, batch.kind, { records: batch.records, streams: batch.streams, ...options })
  return ingestSamples(tx, user, batch.resource, { samples: batch.samples, ...options })
}

/**
 * Stores what a phone posts, in batches of one resource each. The last post of a history completes that of each resource in it. A phone
 * that goes on sending after its connection was ended has been connected again by its user; while the connection is paused everything is
 * dropped. A post that has data and changes nothing is counted under its first resource. Errors: 400 the user has demo connections; 404 unknown user;
 * 422 the post has faults and nothing good.
 * @param faults what was left out of the post
 */
export async function store(
  tx: Tx,
  user_id: string,
  envelope: Envelope,
  batches: Batch[],
  faults = new Faults(),
): Promise<Stored> {
  const { provider, stage } = envelope
  const user = await findUser(tx, user_id)
  if (!user) throw notFound('User not found')
  tx.concerns(user_id)
  const connection = await connectionTo(tx, user_id, provider)
  if (connection?.is_demo) throw mixedConnections(false)
  const status = connection?.status
  const total = { accepted: 0, created: 0, updated: 0, dropped: 0, rejected: faults.count }
  let fault = faults.message
  const sent = batches.reduce((sum, batch) => sum + sizeOf(batch), 0)
  const countIfRepeated = async () => {
    const [first] = batches
    if (!first || !sent || total.created || total.updated) return
    await countRepeatedPost(tx, { user_id, provider, resource: resourceName(first) })
  }
  recordDays(tx, { user_id, provider, resource: CONTACT, outcome: 'received', days: [dayOf(tx.now.getTime())] })
  if (!sent && faults.count) faults.reject()
  if (status === 'paused') {
    for (const batch of batches)
      recordDays(tx, { user_id, provider, resource: fullNameOf(batch), outcome: 'received', days: daysOf(batch) })
    await countIfRepeated()
    await faults.record(tx, user_id, provider)
    return { success: true, ...total, dropped: sent, fault }
  }
  if (!status) await connectManually(tx, provider, { user_id })
  const historical = stage === 'historical'
  const waiting = [...batches]
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    const ingested = await ingest(tx, user, batch, { provider, historical })
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += ingested[name]
    fault ??= ingested.fault
    if (historical) await recordHistory(tx, user, envelope, batch)
    if ('kind' in batch && batch.next) waiting.push(...(await batch.next()))
  }
  if (total.rejected && !total.accepted && !total.dropped) throw invalidField(['body', 'data'], fault ?? 'has no good record')
  await faults.record(tx, user_id, provider)
  await countIfRepeated()
  return { success: true, ...total, fault }
}

/** Records that a part of a history came in, or the last part of it and of what comes with it. */
async function recordHistory(tx: Tx, user: User, envelope: Envelope, batch: Batch): Promise<void> {
  if ('resource' in batch && batch.isBeside) return
  const { provider, start_date, end_date } = envelope
  const instants = instantsOf(batch)
  const bound = (instant: string | undefined, choose: (a: number, b: number) => number) =>
    instant === undefined ? (instants.length ? instants.reduce(choose) : tx.now.getTime()) : Date.parse(instant)
  const from_ms = bound(start_date, (a, b) => Math.min(a, b))
  const end_ms = bound(end_date, (a, b) => Math.max(a, b))
  // A phone names the end of the user's ingestion, which may be ahead.
  const to_ms = Math.max(from_ms, end_ms > tx.now.getTime() + DAY_MS ? tx.now.getTime() : end_ms)
  const isUnknown = start_date === undefined && end_date === undefined && !instants.length
  const range = { from_ms, to_ms, is_whole: start_date !== undefined && end_date !== undefined, is_empty: isUnknown }
  const resource = resourceName(batch)
  const key = { user_id: user.user_id, provider }
  if (envelope.is_final_chunk === false) {
    await startPull(tx, { ...key, resource }, range)
    const days = daysBetween(from_ms, to_ms)
    return recordDays(tx, { ...key, resource: fullNameOf(batch), outcome: 'asked', days })
  }
  await completeHistory(tx, user, resource, { provider, ...range })
  const derived = 'kind' in batch ? (batch.derivedResources ?? []) : []
  if (!derived.length) return
  const begun = await pullsInProgress(tx, key, derived)
  for (const name of derived) if (begun.has(name)) await completeHistory(tx, user, name, { provider, ...range })
}
