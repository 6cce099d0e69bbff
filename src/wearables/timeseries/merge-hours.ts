// Merging samples with the stored ones, hour by hour, and telling which are new or changed.
import { HOUR_MS } from '../../platform/runtime/durations.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { chunkKey, findChunks, sampleAt, type Chunk, type ChunkWriter, type HourRange, type Sample } from './chunk-rows.ts'
import { inStoredZone, isSame, mergeKin, Owners, type Changes, type KinHour, type Recorder } from './merge-kin.ts'

/** A series, with the series that stands for its kin: all apps and devices of its provider, type, workout and sport. */
interface SeriesIds extends Recorder {
  kin_id: number
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

interface MergeRules {
  /** The hours of a kin belong to one app and device each. */
  isCounted: boolean
  /** Two devices may have a sample at one instant. */
  isByDevice: boolean
}

/** Hours before those of the samples in which an interval of another source may have begun. */
const LOOK_BACK_MS = 24 * HOUR_MS

/** Merges the hours with the stored chunks, and gives the writer those that change. */
export async function mergeHours(
  tx: Tx,
  user_id: string,
  hours: Map<string, Hour>,
  writer: ChunkWriter,
  { isCounted, isByDevice }: MergeRules,
): Promise<void> {
  const kins = new Map<string, KinHour>()
  const kinHour = (kin_id: number, hour_ms: number): KinHour => {
    const key = `${kin_id} ${hour_ms}`
    let known = kins.get(key)
    if (!known) kins.set(key, (known = { hour_ms, incoming: [], stored: [] }))
    return known
  }
  for (const hour of hours.values()) kinHour(hour.kin_id, hour.hour_ms).incoming.push({ ...hour, samples: ascending(hour) })
  const owners = new Map<number, Owners>()
  for (const { kin_id } of hours.values()) if (isCounted && !owners.has(kin_id)) owners.set(kin_id, new Owners())
  for (const { kin_id, chunk, ...recorder } of await findChunks(tx, user_id, rangesOf([...hours.values()], isCounted))) {
    owners.get(kin_id)?.addChunk(recorder, chunk)
    if (kins.has(`${kin_id} ${chunk.hour_ms}`)) kinHour(kin_id, chunk.hour_ms).stored.push({ ...recorder, chunk })
  }
  const kinIds = new Map([...hours.values()].map(({ series_id, kin_id }) => [series_id, kin_id]))
  if (isCounted) claimHours([...kins.values()], owners, kinIds)
  for (const { hour_ms, incoming, stored } of kins.values()) {
    const [first, ...others] = incoming
    const own = stored.find(({ series_id }) => series_id === first!.series_id)?.chunk
    // Most hours have one source.
    if (!others.length && stored.length === (own ? 1 : 0)) mergeHour(own, { ...first!, hour_ms }, writer)
    else mergeKin({ hour_ms, incoming, stored }, writer, isByDevice)
  }
}

/** Of what is counted, leaves out the samples of hours that belong to another app or device. Of several in one post the one with most comes first. */
function claimHours(all: KinHour[], owners: Map<number, Owners>, kinIds: Map<number, number>): void {
  const totals = new Map<number, number>()
  for (const { incoming } of all)
    for (const { series_id, samples } of incoming)
      totals.set(
        series_id,
        samples.reduce((sum, { value }) => sum + value, totals.get(series_id) ?? 0),
      )
  const order = all
    .flatMap(({ incoming }) => incoming)
    .toSorted((a, b) => totals.get(b.series_id)! - totals.get(a.series_id)! || a.series_id - b.series_id)
  for (const one of order) {
    const ofKin = owners.get(kinIds.get(one.series_id)!)!
    const isWhole = one.samples.every((sample) => ofKin.admits(one, sample))
    if (!isWhole) one.samples = one.samples.filter((sample) => ofKin.admits(one, sample))
    for (const sample of one.samples) ofKin.add(one, sample)
  }
}

/** The hours to read: those of the samples; of what is counted also those around them, in which intervals may reach. */
function rangesOf(hours: Hour[], isCounted: boolean): HourRange[] {
  const ranges = hours
    .map(({ kin_id, hour_ms, samples }): HourRange => {
      if (!isCounted) return { kin_id, from_ms: hour_ms, to_ms: hour_ms }
      const to_ms = samples.reduce((latest, { at_ms, length_ms }) => Math.max(latest, at_ms + (length_ms ?? 0)), hour_ms)
      return { kin_id, from_ms: hour_ms - LOOK_BACK_MS, to_ms: Math.floor(to_ms / HOUR_MS) * HOUR_MS }
    })
    .toSorted((a, b) => a.kin_id - b.kin_id || a.from_ms - b.from_ms)
  const joined: HourRange[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last?.kin_id === range.kin_id && range.from_ms <= last.to_ms + HOUR_MS) last.to_ms = Math.max(last.to_ms, range.to_ms)
    else joined.push({ ...range })
  }
  return joined
}

/** The samples of an hour, oldest first. The last of several at one instant counts. */
function ascending({ samples, isAscending }: Hour): Sample[] {
  if (isAscending) return samples
  return [...new Map(samples.map((sample) => [sample.at_ms, sample])).values()].sort((a, b) => a.at_ms - b.at_ms)
}

/** Tells which samples are new or changed; if any are, the whole hour is written. */
function mergeHour(
  stored: Chunk | undefined,
  { hour_ms, samples, into, series_id }: Pick<Hour, 'hour_ms' | 'samples' | 'into' | 'series_id'>,
  writer: ChunkWriter,
): void {
  const before = into.created.length + into.updated.length
  const count = stored?.at.length ?? 0
  let i = 0
  const kept = samples
  for (const [n, sample] of samples.entries()) {
    const at = sample.at_ms - hour_ms
    while (i < count && stored!.at[i]! < at) i++
    if (i === count || stored!.at[i] !== at) into.created.push(sample)
    else {
      const known = sampleAt(stored!, i)
      kept[n] = inStoredZone(sample, known)
      if (!isSame(known, kept[n])) into.updated.push(kept[n])
    }
  }
  if (into.created.length + into.updated.length === before) return
  i = 0
  for (const sample of kept) {
    const at = sample.at_ms - hour_ms
    for (; i < count && stored!.at[i]! < at; i++) writer.add(sampleAt(stored!, i), stored!.at[i]!)
    if (i < count && stored!.at[i] === at) i++
    writer.add(sample, at)
  }
  for (; i < count; i++) writer.add(sampleAt(stored!, i), stored!.at[i]!)
  writer.end({ series_id, hour_ms })
}
