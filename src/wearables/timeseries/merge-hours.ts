// Merging samples with the stored ones, hour by hour, and telling which are new or changed.
import type { Tx } from '../../platform/db/transaction.ts'
import { chunkKey, findChunks, sampleAt, withoutSamples, type Chunk, type ChunkWriter, type Sample } from './chunk-rows.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'

/** Where the samples of an hour that are new, and those that replaced another value, are added. */
interface Changes {
  created: Sample[]
  updated: Sample[]
}

/** A series, and that of its source without a device, which may be itself. */
interface SeriesIds {
  series_id: number
  unnamed_id: number
}

/** The samples of a series and hour that came in. */
export interface Hour extends SeriesIds {
  hour_ms: number
  samples: Sample[]
  /** Each sample is later than the one before. */
  isAscending: boolean
  into: Changes
}

/** Adds samples of a series to the hours, by `chunkKey`. */
export function addToHours(hours: Map<string, Hour>, ids: SeriesIds, samples: Sample[], into: Changes): void {
  let hour: Hour | undefined
  for (const sample of samples) {
    const { at_ms } = sample
    // Most samples are of the hour of the one before.
    if (!hour || at_ms < hour.hour_ms || at_ms >= hour.hour_ms + HOUR_MS) {
      const hour_ms = Math.floor(at_ms / HOUR_MS) * HOUR_MS
      const key = chunkKey({ series_id: ids.series_id, hour_ms })
      hour = hours.get(key) ?? { ...ids, hour_ms, samples: [], isAscending: true, into }
      hours.set(key, hour)
    }
    const before = hour.samples.at(-1)
    if (before && before.at_ms >= at_ms) hour.isAscending = false
    hour.samples.push(sample)
  }
}

/**
 * Merges the hours with the stored chunks, and gives the writer those that change. Hours of devices come first: their samples are removed
 * from the series without a device, and that series takes none that a device has.
 */
export async function mergeHours(tx: Tx, user_id: string, hours: Map<string, Hour>, writer: ChunkWriter): Promise<void> {
  const all = [...hours.values()]
  const ofDevices = all.filter(({ series_id, unnamed_id }) => series_id !== unnamed_id)
  const unnamed = all.filter(({ series_id, unnamed_id }) => series_id === unnamed_id)
  const others = new Map<string, Hour>()
  for (const { unnamed_id: series_id, hour_ms } of ofDevices) {
    const key = chunkKey({ series_id, hour_ms })
    if (!hours.has(key))
      others.set(key, {
        series_id,
        unnamed_id: series_id,
        hour_ms,
        samples: [],
        isAscending: true,
        into: { created: [], updated: [] },
      })
  }
  const unnamedIds = [...new Set(unnamed.map(({ series_id }) => series_id))]
  const found = await findChunks(tx, user_id, [...all, ...others.values()], unnamedIds)
  const named = new Map<string, Set<number>>()
  for (const [key, chunks] of found.ofDevices) named.set(key, new Set(chunks.flatMap(({ at }) => [...at])))
  const shortened = new Set<string>()
  for (const hour of ofDevices) {
    const { unnamed_id, hour_ms, samples } = hour
    const key = chunkKey({ series_id: unnamed_id, hour_ms })
    const withoutDevice = found.stored.get(key)
    mergeHour(found.stored.get(chunkKey(hour)), hour, writer, { withoutDevice })
    if (!withoutDevice && !hours.has(key)) continue
    const places = named.get(key) ?? new Set()
    for (const { at_ms } of samples) places.add(at_ms - hour_ms)
    named.set(key, places)
    // Of two devices that name a sample the first one takes it; the other one's is new.
    if (withoutDevice) {
      const rest = withoutSamples(withoutDevice, places)
      if (rest === withoutDevice) continue
      found.stored.set(key, rest)
      shortened.add(key)
    }
  }
  for (const hour of [...unnamed, ...others.values()]) {
    const key = chunkKey(hour)
    const places = named.get(key)
    let stored = found.stored.get(key)
    let isShortened = shortened.has(key)
    if (places) {
      hour.samples = hour.samples.filter(({ at_ms }) => !places.has(at_ms - hour.hour_ms))
      const rest = stored && withoutSamples(stored, places)
      if (rest !== stored) isShortened = true
      stored = rest
    }
    mergeHour(stored, hour, writer, { isShortened })
  }
}

/** The samples of an hour, oldest first. The last of several at one instant counts. */
function ascending({ samples, isAscending }: Hour): Sample[] {
  if (isAscending) return samples
  return [...new Map(samples.map((sample) => [sample.at_ms, sample])).values()].sort((a, b) => a.at_ms - b.at_ms)
}

interface HourState {
  /** What the same source has recorded without naming a device: there a sample is not new. */
  withoutDevice?: Chunk | undefined
  /** The stored chunk has more samples than the one that is given here. */
  isShortened?: boolean
}

/** Tells which samples are new or changed; if any are, the whole hour is written. */
function mergeHour(
  stored: Chunk | undefined,
  hour: Hour,
  writer: ChunkWriter,
  { withoutDevice, isShortened = false }: HourState,
): void {
  const { hour_ms, into } = hour
  const samples = ascending(hour)
  const before = into.created.length + into.updated.length
  const count = stored?.at.length ?? 0
  let [i, j] = [0, 0]
  for (const sample of samples) {
    const at = sample.at_ms - hour_ms
    while (i < count && stored!.at[i]! < at) i++
    if (withoutDevice) while (withoutDevice.at[j]! < at) j++
    if (i === count || stored!.at[i] !== at) (withoutDevice?.at[j] === at ? into.updated : into.created).push(sample)
    else if (!isSame(sampleAt(stored!, i), sample)) into.updated.push(sample)
  }
  if (!isShortened && into.created.length + into.updated.length === before) return
  i = 0
  for (const sample of samples) {
    const at = sample.at_ms - hour_ms
    for (; i < count && stored!.at[i]! < at; i++) writer.add(sampleAt(stored!, i), stored!.at[i]!)
    if (i < count && stored!.at[i] === at) i++
    writer.add(sample, at)
  }
  for (; i < count; i++) writer.add(sampleAt(stored!, i), stored!.at[i]!)
  writer.end(hour)
}

const isSame = (a: Sample, b: Sample): boolean =>
  a.value === b.value && a.second === b.second && a.length_ms === b.length_ms && a.zone_s === b.zone_s && a.type === b.type
