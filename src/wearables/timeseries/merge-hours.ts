// Merging samples with the stored ones, hour by hour, and telling which are new or changed.
import { invalidField } from '../../platform/http/errors.ts'
import { HOUR_MS } from '../../platform/runtime/durations.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import {
  chunkKey,
  ChunkWriter,
  findChunks,
  sampleAt,
  storedSizes,
  type Chunk,
  type HourRange,
  type KinChunk,
  type Sample,
} from './chunk-rows.ts'

/** A series, with the series that stands for its kin: all apps and devices of its provider, type, workout and sport. */
interface SeriesIds extends Recorder {
  kin_id: number
}

/** The samples of a series and hour that came in. */
export interface Hour extends SeriesIds {
  hour_ms: number
  samples: Sample[]
  /** The latest end of its samples. */
  last_ms: number
  changes: Changes
}

/** Adds samples of a series to the hours, by `chunkKey`. */
export async function addToHours(hours: Map<string, Hour>, ids: SeriesIds, samples: Sample[], changes: Changes): Promise<void> {
  let hour: Hour | undefined
  for (const sample of samples) {
    const { at_ms } = sample
    // Most samples are of the hour of the one before.
    if (!hour || at_ms < hour.hour_ms || at_ms >= hour.hour_ms + HOUR_MS) {
      const turn = yieldIfLong()
      if (turn) await turn
      const hour_ms = hourOf(at_ms)
      const key = chunkKey({ series_id: ids.series_id, hour_ms })
      hour = hours.get(key) ?? { ...ids, hour_ms, last_ms: at_ms, samples: [], changes }
      hours.set(key, hour)
    }
    hour.samples.push(sample)
    hour.last_ms = Math.max(hour.last_ms, at_ms + (sample.length_ms ?? 0))
  }
}

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS

/** Hours that the samples of all sources are in; intervals of what is counted are in all that they touch. */
export const hoursTouched = (hours: Iterable<Hour>, isCounted: boolean): number =>
  [...hours].reduce((sum, { hour_ms, last_ms }) => sum + (isCounted ? (hourOf(last_ms) - hour_ms) / HOUR_MS : 0) + 1, 0)

interface KinHours extends KinHour {
  /** The series that stands for the kin. */
  kin_id: number
  /** The latest end of its samples. */
  last_ms: number
}

/** Maximum samples of an hour for all apps and devices of a kin: an electrocardiogram has 15,000 in half a minute. */
const HOUR_SAMPLES_MAX = 500_000

interface MergeRules {
  /** The hours of a kin belong to one app and device each. */
  isCounted: boolean
  /** Two devices may have a sample at one instant. */
  isByDevice: boolean
}

/** Hours before those of the samples in which an interval of another source may have begun. */
const LOOK_BACK_HOURS = 24

/** Hours of a kin that are read, merged and written at once, and samples that are stored in them. */
const BATCH_HOURS_MAX = 500
const BATCH_SAMPLES_MAX = 500_000
/** So few hours are one batch, whatever is stored in them. */
const FEW_HOURS = 24
/** Hours whose sizes are read at once. */
const SIZED_HOURS = 5000

/** Merges the hours with the stored chunks, in slices, and writes the changed ones. Errors: 422 an hour of more than 500,000 samples. Writes chunk. */
export async function mergeHours(tx: Tx, user_id: string, hours: Map<string, Hour>, rules: MergeRules): Promise<void> {
  const kins = new Map<string, KinHours>()
  for (const hour of hours.values()) {
    const key = `${hour.kin_id} ${hour.hour_ms}`
    let kin = kins.get(key)
    if (!kin) kins.set(key, (kin = { kin_id: hour.kin_id, hour_ms: hour.hour_ms, last_ms: 0, incoming: [], chunks: [] }))
    kin.last_ms = Math.max(kin.last_ms, hour.last_ms)
    kin.incoming.push({ ...hour, samples: inOrder(hour.samples) })
    const turn = yieldIfLong()
    if (turn) await turn
  }
  const all = [...kins.values()]
  const batches = await splitBatches(tx, user_id, all, rules.isCounted)
  // What is counted belongs to the first app and device, and that is known when all hours have been read.
  if (rules.isCounted) await claim(tx, user_id, batches)
  for (const batch of batches) {
    if (!rules.isCounted || batches.length > 1) await readStored(tx, user_id, batch, rangesToRead(batch, false))
    const writer = new ChunkWriter()
    for (const kin of batch) await mergeKin(kin, writer, rules.isByDevice)
    await writer.write(tx, user_id)
    for (const kin of batch) kin.chunks = kin.incoming = []
  }
}

/** Reads the stored chunks of hours; those of a batch are added to it. */
async function readStored(
  tx: Tx,
  user_id: string,
  batch: KinHours[],
  ranges: HourRange[],
  onChunk?: (chunk: KinChunk) => void,
): Promise<void> {
  const kins = new Map(batch.map((kin) => [`${kin.kin_id} ${kin.hour_ms}`, kin]))
  // The first app and device of an hour have the first series.
  for (const found of (await findChunks(tx, user_id, ranges)).toSorted((a, b) => a.series_id - b.series_id)) {
    const { kin_id, chunk, ...recorder } = found
    kins.get(`${kin_id} ${chunk.hour_ms}`)?.chunks.push({ ...recorder, chunk })
    onChunk?.(found)
    const turn = yieldIfLong()
    if (turn) await turn
  }
}

/** Leaves out what belongs to others. A single batch has its stored chunks then. */
async function claim(tx: Tx, user_id: string, batches: KinHours[][]): Promise<void> {
  const owners = new Map<number, Owners>()
  const all = batches.flat()
  for (const { kin_id } of all) if (!owners.has(kin_id)) owners.set(kin_id, new Owners())
  for (const batch of batches)
    await readStored(tx, user_id, batches.length > 1 ? [] : batch, rangesToRead(batch, true), ({ kin_id, chunk, ...recorder }) =>
      owners.get(kin_id)?.addChunk(recorder, chunk),
    )
  await claimHours(all, owners)
}

/** Divides hours into batches by what is stored in the hours that are read for them. */
async function splitBatches(tx: Tx, user_id: string, kinHours: KinHours[], isCounted: boolean): Promise<KinHours[][]> {
  const read = rangesToRead(kinHours, isCounted).reduce((sum, { from_ms, to_ms }) => sum + (to_ms - from_ms) / HOUR_MS + 1, 0)
  if (read <= (isCounted ? FEW_HOURS * LOOK_BACK_HOURS : FEW_HOURS)) return [kinHours]
  const batches: KinHours[][] = []
  let [batch, samples] = [[] as KinHours[], 0]
  for (let from = 0; from < kinHours.length; from += SIZED_HOURS) {
    const part = kinHours.slice(from, from + SIZED_HOURS)
    const sizes = await storedSizes(tx, user_id, rangesToRead(part, isCounted))
    for (const kin of part) {
      const turn = yieldIfLong()
      if (turn) await turn
      const { from_ms, to_ms, kin_id } = rangeToRead(kin, isCounted)
      let size = 0
      for (let hour_ms = from_ms; hour_ms <= to_ms; hour_ms += HOUR_MS) size += sizes.get(`${kin_id} ${hour_ms}`) ?? 0
      if (batch.length && (batch.length === BATCH_HOURS_MAX || samples + size > BATCH_SAMPLES_MAX)) {
        batches.push(batch)
        ;[batch, samples] = [[], 0]
      }
      batch.push(kin)
      samples += size
    }
  }
  return [...batches, batch]
}

/** Omits counted samples of hours that belong to another app or device. If one post has several, the one with the highest count comes first. */
async function claimHours(kinHours: KinHours[], owners: Map<number, Owners>): Promise<void> {
  const totals = new Map<number, number>()
  for (const { incoming } of kinHours)
    for (const { series_id, samples } of incoming)
      totals.set(
        series_id,
        samples.reduce((sum, { value }) => sum + value, totals.get(series_id) ?? 0),
      )
  const order = kinHours
    .flatMap(({ kin_id, incoming }) => incoming.map((series) => ({ one: series, ofKin: owners.get(kin_id)! })))
    .toSorted((a, b) => totals.get(b.one.series_id)! - totals.get(a.one.series_id)! || a.one.series_id - b.one.series_id)
  for (const { one, ofKin } of order) {
    const admitted: Sample[] = []
    for (const sample of one.samples) {
      if (ofKin.admits(one, sample)) admitted.push(sample)
      const turn = yieldIfLong()
      if (turn) await turn
    }
    if (admitted.length < one.samples.length) one.samples = admitted
    for (const sample of admitted) {
      ofKin.add(one, sample)
      const turn = yieldIfLong()
      if (turn) await turn
    }
  }
}

/** The hours to read: those of the samples; of what is counted also those around them, in which intervals may reach. */
function rangeToRead({ kin_id, hour_ms, last_ms }: KinHours, isCounted: boolean): HourRange {
  return isCounted
    ? { kin_id, from_ms: hour_ms - LOOK_BACK_HOURS * HOUR_MS, to_ms: hourOf(last_ms) }
    : { kin_id, from_ms: hour_ms, to_ms: hour_ms }
}

function rangesToRead(hours: KinHours[], isCounted: boolean): HourRange[] {
  const ranges = hours.map((kin) => rangeToRead(kin, isCounted)).toSorted((a, b) => a.kin_id - b.kin_id || a.from_ms - b.from_ms)
  const joined: HourRange[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last?.kin_id === range.kin_id && range.from_ms <= last.to_ms + HOUR_MS) last.to_ms = Math.max(last.to_ms, range.to_ms)
    else joined.push({ ...range })
  }
  return joined
}

/** The samples of an hour, oldest first. The last of several at one instant counts. */
const inOrder = (samples: Sample[]): Sample[] =>
  [...new Map(samples.map((sample) => [sample.at_ms, sample])).values()].sort((a, b) => a.at_ms - b.at_ms)

// Merging an hour that several apps or devices of one provider, type, workout and sport have recorded. Source: events.md 5: a sample is
// known by its resource, provider, type and instant. Unsourced: which app or device counts.

/** Where the samples of an hour that are new, and the samples that replaced another value, are added. */
interface Changes {
  createdSamples: Sample[]
  updatedSamples: Sample[]
}

/** The app and the device of a series. */
interface Recorder {
  series_id: number
  app_id: string | null
  device_id: string | null
}

/** An hour of a kin: what came in, by series, and what is stored of it. */
interface KinHour {
  hour_ms: number
  incoming: (Recorder & { samples: Sample[]; changes: Changes })[]
  chunks: (Recorder & { chunk: Chunk })[]
}

/** Whether two are one recorder: of one app, one device, which may not be named. */
const isOne = (a: Recorder, b: Recorder): boolean =>
  a.app_id === b.app_id && (a.device_id === b.device_id || a.device_id === null || b.device_id === null)

/** Whether a sample gives way to one that is there: it names no device, and that of its app does. */
const givesWay = (recorder: Recorder, rival: Recorder): boolean =>
  recorder.device_id === null && rival.device_id !== null && recorder.app_id === rival.app_id

/** Which apps and devices the hours of a kin belong to. */
class Owners {
  /** By hour, those who have counted something in it. */
  readonly #hours = new Map<number, Recorder[]>()
  /** The hours that were last admitted, and the added hours: neighboring samples touch the same ones. */
  #admitted: Touched | undefined
  #added: Touched | undefined

  /** Adds the samples of a stored chunk, of those that share an hour with others that come before by series. */
  addChunk(recorder: Recorder, chunk: Chunk): void {
    for (let i = 0; i < chunk.at.length; i++) {
      const sample = sampleAt(chunk, i)
      if (this.admits(recorder, sample)) this.add(recorder, sample)
    }
  }

  /** Nothing counted claims nothing. */
  add(recorder: Recorder, sample: Sample): void {
    if (sample.value === 0) return
    const touched = touchedBy(recorder, sample)
    const { first, last } = unlike(this.#added, touched)
    this.#added = touched
    this.#admitted = undefined
    for (let hour = first; hour <= last; hour++) {
      const there = this.#hours.get(hour)
      if (!there) this.#hours.set(hour, [recorder])
      else if (!there.some(({ series_id }) => series_id === recorder.series_id)) there.push(recorder)
    }
  }

  /** Whether no hour of a sample belongs to another one. */
  admits(recorder: Recorder, sample: Sample): boolean {
    const touched = touchedBy(recorder, sample)
    const { first, last } = unlike(this.#admitted, touched)
    for (let hour = first; hour <= last; hour++)
      for (const there of this.#hours.get(hour) ?? []) if (!isOne(there, recorder)) return false
    this.#admitted = touched
    return true
  }
}

interface Touched {
  series_id: number
  first: number
  last: number
}

/** The hours that a sample touches, of which an interval does not include its end. */
const touchedBy = ({ series_id }: Recorder, { at_ms, length_ms }: Sample): Touched => ({
  series_id,
  first: Math.floor(at_ms / HOUR_MS),
  last: Math.floor((at_ms + Math.max(0, (length_ms ?? 0) - 1)) / HOUR_MS),
})

/** The hours of a sample without those of the one before it, as far as these are its first ones. */
const unlike = (previous: Touched | undefined, current: Touched): Touched =>
  previous?.series_id === current.series_id && current.first >= previous.first && current.first <= previous.last
    ? { ...current, first: previous.last + 1 }
    : current

interface Owned {
  recorder: Recorder
  sample: Sample
  changes?: Changes
}

/** The samples of an hour of a kin: one at each instant, or one of each device. */
class Places {
  readonly #places = new Map<number | string, Owned>()
  /** By instant and app, the samples of devices, in the order of `#places`. */
  readonly #ofDevices = new Map<string, Set<Owned>>()
  readonly #isByDevice: boolean

  constructor(isByDevice: boolean) {
    this.#isByDevice = isByDevice
  }

  #key({ device_id }: Recorder, at_ms: number): number | string {
    return this.#isByDevice && device_id !== null ? `${at_ms} ${device_id}` : at_ms
  }

  /** The sample that one would replace, or give way to. */
  findRival(recorder: Recorder, at_ms: number): Owned | undefined {
    const there = this.#places.get(this.#key(recorder, at_ms))
    if (there || !this.#isByDevice) return there
    if (recorder.device_id === null) return this.#ofDevices.get(appKey(recorder, at_ms))?.values().next().value
    const unnamed = this.#places.get(at_ms)
    return unnamed?.recorder.app_id === recorder.app_id ? unnamed : undefined
  }

  set(entry: Owned, instead: Owned | undefined): void {
    if (instead) {
      this.#places.delete(this.#key(instead.recorder, instead.sample.at_ms))
      this.#ofDevices.get(appKey(instead.recorder, instead.sample.at_ms))?.delete(instead)
    }
    const { recorder, sample } = entry
    this.#places.set(this.#key(recorder, sample.at_ms), entry)
    if (!this.#isByDevice || recorder.device_id === null) return
    const key = appKey(recorder, sample.at_ms)
    const others = this.#ofDevices.get(key)
    if (others) others.add(entry)
    else this.#ofDevices.set(key, new Set([entry]))
  }

  values(): Iterable<Owned> {
    return this.#places.values()
  }
}

const appKey = ({ app_id }: Recorder, at_ms: number): string => `${at_ms} ${app_id}`

/** What came in: of several at one instant the last counts, but one of a device before one of its app without a device. */
async function latestPlaces(incoming: KinHour['incoming'], isByDevice: boolean): Promise<Places> {
  const latest = new Places(isByDevice)
  for (const one of incoming)
    for (const sample of one.samples) {
      const turn = yieldIfLong()
      if (turn) await turn
      const there = latest.findRival(one, sample.at_ms)
      if (!there || !givesWay(one, there.recorder)) latest.set({ recorder: one, sample, changes: one.changes }, there)
    }
  return latest
}

async function storedPlaces(chunks: KinHour['chunks'], isByDevice: boolean): Promise<Places> {
  const places = new Places(isByDevice)
  for (const { chunk, ...recorder } of chunks)
    for (let i = 0; i < chunk.at.length; i++) {
      const turn = yieldIfLong()
      if (turn) await turn
      places.set({ recorder, sample: sampleAt(chunk, i) }, undefined)
    }
  return places
}

/** Tells which samples are new or changed, and writes the hour of each series that has changed. In slices. Errors: 422 too many samples. */
async function mergeKin({ hour_ms, incoming, chunks: stored }: KinHour, writer: ChunkWriter, isByDevice: boolean): Promise<void> {
  const sizes = [...incoming.map(({ samples }) => samples.length), ...stored.map(({ chunk }) => chunk.at.length)]
  if (sizes.reduce((sum, size) => sum + size, 0) > HOUR_SAMPLES_MAX)
    throw invalidField(['body', 'data'], `has an hour that would have more than ${HOUR_SAMPLES_MAX} samples`)
  const places = await storedPlaces(stored, isByDevice)
  const changed = new Set<number>()
  for (const { recorder, sample, changes: into } of (await latestPlaces(incoming, isByDevice)).values()) {
    const turn = yieldIfLong()
    if (turn) await turn
    const there = places.findRival(recorder, sample.at_ms)
    const merged = there ? inStoredZone(sample, there.sample) : sample
    if (there) {
      // A device takes a sample that its app has sent without it.
      const isTaken = recorder.device_id !== null && there.recorder.device_id === null
      const isOwn = there.recorder.series_id === recorder.series_id
      if (isSame(there.sample, merged) && (isOwn || !isTaken)) continue
      if (!isOwn && givesWay(recorder, there.recorder)) continue
      changed.add(there.recorder.series_id)
    }
    into![there ? 'updatedSamples' : 'createdSamples'].push(merged)
    changed.add(recorder.series_id)
    places.set({ recorder, sample: merged }, there)
  }
  const bySeries = new Map<number, Sample[]>([...changed].map((series_id) => [series_id, []]))
  for (const { recorder, sample } of places.values()) bySeries.get(recorder.series_id)?.push(sample)
  for (const [series_id, samples] of bySeries)
    await writer.put(
      { series_id, hour_ms },
      samples.toSorted((a, b) => a.at_ms - b.at_ms),
    )
}

/** A sample that takes the place of a stored one, in its zone if its own is only that of the client. */
const inStoredZone = (sample: Sample, { zone_s }: Sample): Sample =>
  sample.isZoneAssumed && zone_s !== null && zone_s !== sample.zone_s ? { ...sample, zone_s } : sample

const isSame = (a: Sample, b: Sample): boolean =>
  a.value === b.value && a.second === b.second && a.length_ms === b.length_ms && a.zone_s === b.zone_s && a.type === b.type
