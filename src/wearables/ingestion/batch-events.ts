// Events about samples: batches of one source. Source: events.md 2, 4.2 P10-P12, 4.11.
import { emit } from '../../platform/queue/outbox.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { UserIdentity } from '../../people/users/users.ts'
import { wireSourceId } from '../resources/data-source.ts'
import { servesLegacy } from '../resources/legacy.ts'
import { timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import type { MergedSamples, Sample } from '../timeseries/chunks.ts'
import { sampleFormatter, sampleSource } from '../timeseries/samples.ts'
import { wireTime } from '../../platform/runtime/clock.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'

const BATCH_MAX = 10_000
/** The smallest limit of a destination is 1 MiB; the rest of an event takes less than 2 kB. */
const BATCH_BYTES_MAX = 1024 * 1024 - 2048

/** Emits what of the samples was new and what was changed, in batches, in slices. Emits daily.data.{resource}.created and .updated. */
export async function emitBatches(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  resource: TimeseriesName,
  merged: MergedSamples[],
  { historical }: { historical: boolean },
): Promise<void> {
  const { event } = timeseriesOf(resource)
  if (event === null) return
  const format = sampleFormatter(resource)
  for (const { source, created, updated } of merged) {
    const around = `"source":${JSON.stringify(sampleSource(tx, source))},"source_id":${wireSourceId(source.provider)},"user_id":"${user_id}"`
    const send = async (kind: string, samples: Sample[]) => {
      for await (const batch of batchesOf(samples, (sample) => format(sample, source))) {
        const type = `daily.data.${event}.${kind}`
        emit(tx, { type, object_id: user_id, user_id, client_user_id, data: `{"data":[${batch}],${around}}`, historical })
      }
    }
    await send('created', created)
    await send('updated', updated)
  }
}

/** Samples whose size is measured at once. */
const SLICE = 100

/** Samples in batches, each as the JSON text of its samples with their commas. In slices. */
async function* batchesOf(samples: Sample[], format: (sample: Sample) => object): AsyncGenerator<string> {
  let texts: string[] = []
  let bytes = 0
  for (let from = 0; from < samples.length; from += SLICE) {
    const turn = yieldIfLong()
    if (turn) await turn
    const text = JSON.stringify(samples.slice(from, from + SLICE).map(format)).slice(1, -1)
    const size = Buffer.byteLength(text) + 1
    if (texts.length === BATCH_MAX / SLICE || bytes + size > BATCH_BYTES_MAX) {
      yield texts.join()
      texts = []
      bytes = 0
    }
    texts.push(text)
    bytes += size
  }
  if (texts.length) yield texts.join()
}

/** Emits that the history of a resource is complete. Emits historical.data.{resource}.created. */
export function emitHistoryComplete(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  event: string,
  { provider, from_ms, to_ms }: { provider: string; from_ms: number; to_ms: number },
): void {
  const range = { start_date: wireTime(from_ms), end_date: wireTime(to_ms) }
  const data = { user_id, ...range, provider, ...(servesLegacy(tx) && { is_final: true }) }
  emit(tx, { type: `historical.data.${event}.created`, object_id: user_id, user_id, client_user_id, data: JSON.stringify(data) })
}
