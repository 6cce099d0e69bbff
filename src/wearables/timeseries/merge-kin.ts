// Merging an hour that several apps or devices of one provider, type, workout and sport have recorded. Source: events.md 5: a sample is
// known by its resource, provider, type and instant. Unsourced: which app or device counts.
import { HOUR_MS } from '../../platform/runtime/durations.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { sampleAt, type Chunk, type ChunkWriter, type Sample } from './chunk-rows.ts'

/** Where the samples of an hour that are new, and those that replaced another value, are added. */
export interface Changes {
  created: Sample[]
  updated: Sample[]
}

/** The app and the device of a series. */
export interface Recorder {
  series_id: number
  app_id: string | null
  device_id: string | null
}

/** An hour of a kin: what came in, by series, and what is stored of it. */
export interface KinHour {
  hour_ms: number
  incoming: (Recorder & { samples: Sample[]; into: Changes })[]
  stored: (Recorder & { chunk: Chunk })[]
}

/** Whether two are one recorder: of one app, one device, which may not be named. */
const isOne = (a: Recorder, b: Recorder): boolean =>
  a.app_id === b.app_id && (a.device_id === b.device_id || a.device_id === null || b.device_id === null)

/** Whether a sample gives way to one that is there: it names no device, and that of its app does. */
const givesWay = (sample: Recorder, there: Recorder): boolean =>
  sample.device_id === null && there.device_id !== null && sample.app_id === there.app_id

/** Which apps and devices the hours of a kin belong to. */
export class Owners {
  /** By hour, those who have counted something in it. */
  readonly #hours = new Map<number, Recorder[]>()
  /** The hours that were admitted last, and those that were added: neighboring samples touch the same ones. */
  #admitted: Touched | undefined
  #added: Touched | undefined

  /** Adds the samples of a stored chunk, of those that share an hour with others that come before by series. */
  addChunk(recorder: Recorder, chunk: Chunk): void {
    for (let i = 0; i < chunk.at.length; i++) {
      const sample = sampleAt(chunk, i)
      if (this.admits(recorder, sample)) this.add(recorder, sample)
    }
  }

  /** Whether a stored sample counts. Earlier programs have stored what several apps counted in one hour. */
  counts(recorder: Recorder, sample: Sample): boolean {
    return sample.value === 0 || this.admits(recorder, sample)
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
const unlike = (before: Touched | undefined, touched: Touched): Touched =>
  before?.series_id === touched.series_id && touched.first >= before.first && touched.first <= before.last
    ? { ...touched, first: before.last + 1 }
    : touched

interface Owned {
  recorder: Recorder
  sample: Sample
  into?: Changes
}

/** The samples of an hour of a kin: one at each instant, or one of each device. */
class Places {
  readonly #places = new Map<string, Owned>()
  /** By instant and app, the samples of devices, in the order of `#places`. */
  readonly #ofDevices = new Map<string, Set<Owned>>()
  readonly #isByDevice: boolean

  constructor(isByDevice: boolean) {
    this.#isByDevice = isByDevice
  }

  #key({ device_id }: Recorder, at_ms: number): string {
    return this.#isByDevice && device_id !== null ? `${at_ms} ${device_id}` : String(at_ms)
  }

  /** The sample that one would replace, or give way to. */
  rivalOf(recorder: Recorder, at_ms: number): Owned | undefined {
    const there = this.#places.get(this.#key(recorder, at_ms))
    if (there || !this.#isByDevice) return there
    if (recorder.device_id === null) return this.#ofDevices.get(appKey(recorder, at_ms))?.values().next().value
    const unnamed = this.#places.get(String(at_ms))
    return unnamed?.recorder.app_id === recorder.app_id ? unnamed : undefined
  }

  set(owned: Owned, instead: Owned | undefined): void {
    if (instead) {
      this.#places.delete(this.#key(instead.recorder, instead.sample.at_ms))
      this.#ofDevices.get(appKey(instead.recorder, instead.sample.at_ms))?.delete(instead)
    }
    const { recorder, sample } = owned
    this.#places.set(this.#key(recorder, sample.at_ms), owned)
    if (!this.#isByDevice || recorder.device_id === null) return
    const key = appKey(recorder, sample.at_ms)
    const others = this.#ofDevices.get(key)
    if (others) others.add(owned)
    else this.#ofDevices.set(key, new Set([owned]))
  }

  values(): Iterable<Owned> {
    return this.#places.values()
  }
}

const appKey = ({ app_id }: Recorder, at_ms: number): string => `${at_ms} ${app_id}`

/** What came in: of several at one instant the last counts, but one of a device before one of its app without a device. */
async function latestOf(incoming: KinHour['incoming'], isByDevice: boolean): Promise<Places> {
  const latest = new Places(isByDevice)
  for (const one of incoming)
    for (const sample of one.samples) {
      const turn = yieldIfLong()
      if (turn) await turn
      const there = latest.rivalOf(one, sample.at_ms)
      if (!there || !givesWay(one, there.recorder)) latest.set({ recorder: one, sample, into: one.into }, there)
    }
  return latest
}

/** What is stored, and the series of which a part does not count: earlier programs have stored the samples of several apps at one instant. */
async function storedPlaces(
  stored: KinHour['stored'],
  isByDevice: boolean,
  owners: Owners | undefined,
): Promise<{ places: Places; changed: Set<number> }> {
  const places = new Places(isByDevice)
  const changed = new Set<number>()
  for (const { chunk, ...recorder } of stored)
    for (let i = 0; i < chunk.at.length; i++) {
      const turn = yieldIfLong()
      if (turn) await turn
      const sample = sampleAt(chunk, i)
      if (owners && !owners.counts(recorder, sample)) {
        changed.add(recorder.series_id)
        continue
      }
      const there = places.rivalOf(recorder, sample.at_ms)
      if (there) changed.add((givesWay(recorder, there.recorder) ? recorder : there.recorder).series_id)
      if (!there || !givesWay(recorder, there.recorder)) places.set({ recorder, sample }, there)
    }
  return { places, changed }
}

/**
 * Tells which samples are new or changed, and writes the hour of each series that has changed. In slices.
 * @param owners of what is counted: stored samples of hours that belong to others are deleted
 */
export async function mergeKin(
  { hour_ms, incoming, stored }: KinHour,
  writer: ChunkWriter,
  { isByDevice, owners }: { isByDevice: boolean; owners: Owners | undefined },
): Promise<void> {
  const { places, changed } = await storedPlaces(stored, isByDevice, owners)
  for (const { recorder, sample, into } of (await latestOf(incoming, isByDevice)).values()) {
    const turn = yieldIfLong()
    if (turn) await turn
    const there = places.rivalOf(recorder, sample.at_ms)
    const merged = there ? inStoredZone(sample, there.sample) : sample
    if (there) {
      // A device takes a sample that its app has sent without it.
      const isTaken = recorder.device_id !== null && there.recorder.device_id === null
      const isOwn = there.recorder.series_id === recorder.series_id
      if (isSame(there.sample, merged) && (isOwn || !isTaken)) continue
      if (!isOwn && givesWay(recorder, there.recorder)) continue
      changed.add(there.recorder.series_id)
    }
    into![there ? 'updated' : 'created'].push(merged)
    changed.add(recorder.series_id)
    places.set({ recorder, sample: merged }, there)
  }
  const bySeries = new Map<number, Sample[]>([...changed].map((series_id) => [series_id, []]))
  for (const { recorder, sample } of places.values()) bySeries.get(recorder.series_id)?.push(sample)
  for (const [series_id, samples] of bySeries) {
    const turn = yieldIfLong()
    if (turn) await turn
    for (const sample of samples.toSorted((a, b) => a.at_ms - b.at_ms)) writer.add(sample, sample.at_ms - hour_ms)
    writer.end({ series_id, hour_ms })
  }
}

/** A sample that takes the place of a stored one, in its zone if its own is only that of the client. */
export const inStoredZone = (sample: Sample, { zone_s }: Sample): Sample =>
  sample.isZoneAssumed && zone_s !== null && zone_s !== sample.zone_s ? { ...sample, zone_s } : sample

export const isSame = (a: Sample, b: Sample): boolean =>
  a.value === b.value && a.second === b.second && a.length_ms === b.length_ms && a.zone_s === b.zone_s && a.type === b.type
