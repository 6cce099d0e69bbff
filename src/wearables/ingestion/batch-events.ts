// Events about samples: batches of one source. Source: events.md 2, 4.2 P10-P12, 4.11.
import { emit } from '../../platform/queue/outbox.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { UserIdentity } from '../../people/users/users.ts'
import { wireSourceId } from '../resources/data-source.ts'
import { servesLegacy } from '../resources/legacy.ts'
import { timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import type { MergedSamples, Sample } from '../timeseries/chunks.ts'
import { sampleWriter, sampleSource } from '../timeseries/samples.ts'
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
  const write = sampleWriter(resource)
  for (const { source, created, updated } of merged) {
    const around = `"source":${JSON.stringify(sampleSource(tx, source))},"source_id":${wireSourceId(source.provider)},"user_id":"${user_id}"`
    const send = async (kind: string, samples: Sample[]) => {
      for await (const batch of batchesOf(samples, (sample) => write(sample, source))) {
        const type = `daily.data.${event}.${kind}`
        emit(tx, { type, object_id: user_id, user_id, client_user_id, data: ['{"data":[', ...batch, `],${around}}`], historical })
      }
    }
    await send('created', created)
    await send('updated', updated)
  }
}

/** Samples that are joined at once: garbage collections would move the text of each several times. */
const SLICE = 100

/** The texts of samples in lists of such slices, each of which is a batch with its commas. */
async function* batchesOf(samples: Sample[], write: (sample: Sample) => string): AsyncGenerator<string[]> {
  let slices: string[] = []
  let bytes = 0
  for (let from = 0; from < samples.length; from += SLICE) {
    const turn = yieldIfLong()
    if (turn) await turn
    const slice = samples
      .slice(from, from + SLICE)
      .map(write)
      .join()
    const size = Buffer.byteLength(slice) + 1
    if (slices.length === BATCH_MAX / SLICE || bytes + size > BATCH_BYTES_MAX) {
      yield slices
      slices = []
      bytes = 0
    }
    slices.push(slices.length ? `,${slice}` : slice)
    bytes += size
  }
  if (slices.length) yield slices
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
