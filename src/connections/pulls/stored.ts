// Storing what a connector yields. Source: users-wearables.md 7-10.
import type { User } from '../../people/users/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { ingestSamples, ingestSummaries } from '../../wearables/ingestion/ingest.ts'
import { ingestWorkoutStreams } from '../../wearables/ingestion/ingest-streams.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { resourceNameOf, timeseriesNames, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import { deleteSummaries, summaryIds, type IncomingSummary } from '../../wearables/summaries/summaries.ts'
import type { Pulled } from '../connectors/connector.ts'
import { deletePieces, wholeNights } from './night-pieces.ts'

const timeseriesByResource = new Map<Resource, TimeseriesName>(timeseriesNames.map((name) => [resourceNameOf(name), name]))

/** The name by which the history of a resource is recorded. */
export const historyName = (resource: Resource): TimeseriesName | SummaryKind | 'workout_stream' =>
  timeseriesByResource.get(resource) ?? (resource as SummaryKind | 'workout_stream')

/** Numbers of records and samples. */
export interface Stored {
  received_count: number
  /** Number of new and changed records, and of deleted ones. */
  changed_count: number
}

/**
 * Stores a part of what a vendor has answered. Writes series, chunk, summary, workout_stream, device,
 * resource_state. Emits daily.data.*.
 */
export async function storePulled(tx: Tx, user: User, provider: string, part: Pulled, historical: boolean): Promise<Stored> {
  if ('resource' in part) {
    const { resource, samples } = part
    if (!samples.length) return { received_count: 0, changed_count: 0 }
    const { created, updated } = await ingestSamples(tx, user, resource, { provider, samples, historical })
    return { received_count: samples.length, changed_count: created + updated }
  }
  if ('streams' in part) {
    const { streams } = part
    if (streams.length) await ingestWorkoutStreams(tx, user, { provider, streams, historical })
    // Their workouts are counted.
    return { received_count: streams.length, changed_count: 0 }
  }
  const { kind } = part
  if ('deleted_keys' in part) {
    // The stages of a night have the key of the night.
    const kinds: SummaryKind[] = kind === 'sleep' ? ['sleep', 'sleep_cycle'] : [kind]
    const deleted = await deleteSummaries(tx, user.user_id, kinds, provider, part.deleted_keys)
    return { received_count: deleted, changed_count: deleted }
  }
  const records = kind === 'sleep_cycle' ? await withSleepIds(tx, user.user_id, provider, part.records) : part.records
  if (!records.length) return { received_count: 0, changed_count: 0 }
  const whose = { user_id: user.user_id, provider }
  const nights = kind === 'sleep' ? await wholeNights(tx, whose, records) : { records, replacements: [] }
  const { created, updated } = await ingestSummaries(tx, user, kind, { provider, records: nights.records, historical })
  await deletePieces(tx, whose, nights.replacements)
  return { received_count: records.length, changed_count: created + updated }
}

/** Stages name the night to which they belong; stages of a night that is not stored are left out. */
async function withSleepIds(tx: Tx, user_id: string, provider: string, records: IncomingSummary[]): Promise<IncomingSummary[]> {
  const ids = await summaryIds(
    tx,
    user_id,
    'sleep',
    provider,
    records.map(({ key }) => key),
  )
  return records.flatMap((record) => {
    const sleep_id = ids.get(record.key)
    return sleep_id === undefined ? [] : { ...record, document: { ...record.document, sleep_id } as IncomingSummary['document'] }
  })
}
