// Events about samples: batches of one source. Source: events.md 2, 4.2 P10-P12, 4.11.
import { emit } from '../../platform/queue/outbox.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { UserIdentity } from '../../people/users/users.ts'
import { wireSourceId } from '../resources/data-source.ts'
import { timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import type { MergedSamples, Sample } from '../timeseries/chunks.ts'
import { sampleWriter, sampleSource, wireTime } from '../timeseries/samples.ts'

const BATCH_MAX = 10_000
/** The smallest limit of a destination is 1 MiB; the rest of an event takes less than 2 kB. */
const BATCH_BYTES_MAX = 1024 * 1024 - 2048

/** Emits what of the samples was new and what was changed, in batches. Emits daily.data.{resource}.created and .updated. */
export function emitBatches(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  resource: TimeseriesName,
  merged: MergedSamples[],
  { historical }: { historical: boolean },
): void {
  const { event } = timeseriesOf(resource)
  if (event === null) return
  const write = sampleWriter(resource)
  for (const { source, created, updated } of merged) {
    const around = `"source":${JSON.stringify(sampleSource(source))},"source_id":${wireSourceId(source.provider)},"user_id":"${user_id}"`
    const send = (kind: string, samples: Sample[]) => {
      for (const batch of batchesOf(samples.map((sample) => write(sample, source)))) {
        const type = `daily.data.${event}.${kind}`
        emit(tx, { type, object_id: user_id, user_id, client_user_id, data: `{"data":[${batch.join()}],${around}}`, historical })
      }
    }
    send('created', created)
    send('updated', updated)
  }
}

function* batchesOf(texts: string[]): Generator<string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const text of texts) {
    const size = Buffer.byteLength(text) + 1
    if (batch.length === BATCH_MAX || bytes + size > BATCH_BYTES_MAX) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(text)
    bytes += size
  }
  if (batch.length) yield batch
}

/** Emits that the history of a resource is complete. Emits historical.data.{resource}.created. */
export function emitHistoryComplete(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  event: string,
  { provider, from_ms, to_ms }: { provider: string; from_ms: number; to_ms: number },
): void {
  const data = { user_id, start_date: wireTime(from_ms), end_date: wireTime(to_ms), provider, is_final: true }
  emit(tx, { type: `historical.data.${event}.created`, object_id: user_id, user_id, client_user_id, data: JSON.stringify(data) })
}
