// TCX and GPX files: activities and tracks as workouts with their streams, and the heart rates at their points. Extensions stand under several namespaces, so
// that elements are known by their local names.
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { StreamList } from '../../../wearables/streams/workout-streams.ts'
import { ReadError, type ReadContext } from '../reading.ts'
import type { Batches } from '../batches.ts'
import { localName, readXml, type XmlHandler } from '../xml.ts'
import { passOn, providerOf, type Activity } from './activities.ts'
import { emptyLap, lapEnd, movingOf, ratesOfLaps, type Lap, type Segment } from './track-laps.ts'
import { instantOf, numberOf, rateOf } from './track-values.ts'

const roots = { tcx: /<(?:[\w-]+:)?TrainingCenterDatabase[\s>]/, gpx: /<(?:[\w-]+:)?gpx[\s>]/ }
export type TrackFormat = keyof typeof roots

/** Which of the two a text is. */
export const trackFormat = (text: string): TrackFormat | undefined =>
  (Object.keys(roots) as TrackFormat[]).find((format) => roots[format].test(text))

const ACTIVITIES_MAX = 1000
const POINTS_MAX = 1_000_000
const TEXT_MAX = 10_000

const add = (a: number | undefined, b: number | undefined): number | undefined => (b === undefined ? a : (a ?? 0) + b)

interface Found extends Omit<Activity, 'provider'> {
  laps: Lap[]
  segments: Segment[]
}

const empty = (points: StreamPoints): Found => ({
  app: undefined,
  sport: '',
  start_ms: Infinity,
  end_ms: -Infinity,
  zone_s: null,
  rates: [],
  points,
  laps: [],
  segments: [],
})

/** What elements inside a point fill, by their names in small letters; vendors have names of their own. */
const elements: ReadonlyMap<string, StreamList> = new Map([
  ['latitudedegrees', 'lat'],
  ['longitudedegrees', 'lng'],
  ['altitudemeters', 'altitude'],
  ['ele', 'altitude'],
  ['distancemeters', 'distance'],
  ['cadence', 'cadence'],
  ['runcadence', 'cadence'],
  ['cad', 'cadence'],
  ['watts', 'power'],
  ['power', 'power'],
  ['powerinwatts', 'power'],
  ['speed', 'velocity_smooth'],
  ['atemp', 'temperature'],
  ['temp', 'temperature'],
])
/** What programs call a heart rate, in small letters. */
const RATE_NAMES = new Set(['hr', 'heartrate', 'heart_rate', 'heartratebpm', 'bpm', 'pulse'])
/** Seconds between two laps from which on they do not follow each other. */
const PAUSE_MS_MIN = 30_000

const isPointName = (name: string | undefined): boolean => name === 'Trackpoint' || name === 'trkpt'

/** Collects the activities of a file; each format says which elements mean what. */
class Track implements XmlHandler {
  readonly activities: Found[] = []
  readonly #format: TrackFormat
  readonly #path: string[] = []
  #text = ''
  #points = 0
  #creator: string | undefined
  #current: Found | undefined
  #isNewLap = false
  #at: number | undefined
  #bpm: number | undefined
  /** The segment that is open: whether it has no point so far, and whether the activity went on from the one before. */
  #segment: { isEmpty: boolean; goesOn: boolean } | undefined
  /** Of the point that is open. */
  #values: Map<StreamList, number> | undefined
  readonly #points_of_all: StreamPoints | undefined
  faults = 0

  /** @param points for the points of all tracks; without it each has its own */
  constructor(format: TrackFormat, points?: StreamPoints) {
    this.#format = format
    this.#points_of_all = points
  }

  get creator(): string | undefined {
    return this.#creator
  }

  fault(): void {
    this.faults++
  }

  open(name: string, attributes: Record<string, string>): void {
    this.#path.push(name)
    this.#text = ''
    if (name === 'gpx') this.#creator = attributes.creator
    if (name === 'Activity' || name === 'trk') {
      if (this.activities.length === ACTIVITIES_MAX) throw new ReadError('too_large')
      this.#current = { ...empty(this.#points_of_all ?? new StreamPoints()), sport: attributes.Sport ?? '' }
      this.activities.push(this.#current)
    }
    if (name === 'Lap') this.#openLap(instantOf(attributes.StartTime))
    if (name === 'trkseg' || name === 'Track') this.#segment = { isEmpty: true, goesOn: this.#goesOn() }
    if (isPointName(name)) {
      if (++this.#points > POINTS_MAX) throw new ReadError('too_large')
      this.#at = undefined
      this.#bpm = undefined
      this.#values = new Map()
      this.#note('lat', attributes.lat)
      this.#note('lng', attributes.lon)
    } else if (this.#values) this.#readRates(name, attributes)
  }

  /** Some programs write a heart rate as an attribute: `<TrackPointExtension hr="90"/>`, `<HeartRate value="90"/>`. */
  #readRates(name: string, attributes: Record<string, string>): void {
    for (const [attribute, value] of Object.entries(attributes)) {
      const small = localName(attribute).toLowerCase()
      if (RATE_NAMES.has(small === 'value' ? name.toLowerCase() : small)) this.#bpm = rateOf(value) ?? this.#bpm
    }
  }

  #openLap(start_ms: number | undefined): void {
    const into = this.#current
    if (!into) return
    into.laps.push(emptyLap(start_ms))
    if (start_ms !== undefined) into.start_ms = Math.min(into.start_ms, start_ms)
    this.#isNewLap = true
  }

  /** Whether the track that begins goes on from the one before: it does where a lap follows another without a pause. */
  #goesOn(): boolean {
    const into = this.#current
    const isFirstOfLap = this.#isNewLap
    this.#isNewLap = false
    const start_ms = into?.laps.at(-1)?.start_ms
    if (!into || !isFirstOfLap || start_ms === undefined) return false
    const before = into.laps.at(-2)
    return before !== undefined && start_ms - Math.max(lapEnd(before) ?? -Infinity, into.end_ms) < PAUSE_MS_MIN
  }

  #note(list: StreamList, text: string | undefined): void {
    const value = numberOf(text)
    if (value !== undefined) this.#values?.set(list, value)
  }

  text(text: string): void {
    if (this.#text.length < TEXT_MAX) this.#text += text
  }

  close(name: string): void {
    this.#path.pop()
    const text = this.#text.trim()
    this.#text = ''
    const parent = this.#path.at(-1)
    if (name === 'Activity' || name === 'trk') this.#current = undefined
    else if (parent === 'Creator' && name === 'Name') this.#creator = text
    else if (this.#current) this.#read(this.#current, name, parent, text)
  }

  #read(into: Found, name: string, parent: string | undefined, text: string): void {
    const small = name.toLowerCase()
    if (isPointName(parent) && small === 'time') this.#at = instantOf(text)
    else if (this.#values && RATE_NAMES.has(name === 'Value' && parent ? parent.toLowerCase() : small))
      this.#bpm = rateOf(text) ?? this.#bpm
    else if (isPointName(name)) this.#endPoint(into)
    else if (this.#values) {
      const list = elements.get(small)
      if (list) this.#note(list, text)
    } else if (this.#format === 'gpx' && parent === 'trk' && name === 'type') into.sport = text
    else if (parent === 'Lap') this.#readLap(into, name, text)
    else if (name === 'Value' && parent) this.#readLapRate(into, parent, text)
  }

  #endPoint(into: Found): void {
    const values = this.#values
    this.#values = undefined
    if (this.#at === undefined) return
    this.#segmentTakes(into, this.#at)
    into.start_ms = Math.min(into.start_ms, this.#at)
    into.end_ms = Math.max(into.end_ms, this.#at)
    if (this.#bpm !== undefined) into.rates.push([this.#at, this.#bpm])
    into.points.put('heartrate', this.#at, this.#bpm)
    for (const [list, value] of values ?? []) into.points.put(list, this.#at, value)
  }

  #segmentTakes(into: Found, at_ms: number): void {
    const segment = this.#segment
    if (!segment || segment.isEmpty) {
      if (segment && into.segments.length && !segment.goesOn) into.points.breakBefore(at_ms)
      if (!into.segments.length || (segment && !segment.goesOn)) into.segments.push([at_ms, at_ms])
      if (segment) segment.isEmpty = false
    }
    const last = into.segments.at(-1)!
    last[0] = Math.min(last[0], at_ms)
    last[1] = Math.max(last[1], at_ms)
  }

  #readLapRate(into: Found, parent: string, text: string): void {
    const lap = into.laps.at(-1)
    if (!lap) return
    if (parent === 'AverageHeartRateBpm') lap.mean_bpm = rateOf(text)
    else if (parent === 'MaximumHeartRateBpm') lap.max_bpm = rateOf(text)
  }

  #readLap(into: Found, name: string, text: string): void {
    const lap = into.laps.at(-1)
    if (name === 'TotalTimeSeconds') {
      into.moving_s = add(into.moving_s, numberOf(text))
      if (lap) lap.total_s = numberOf(text)
    } else if (name === 'DistanceMeters') into.distance_m = add(into.distance_m, numberOf(text))
    else if (name === 'Calories') into.calories = add(into.calories, numberOf(text))
  }
}

const titled = (text: string): string => text.replaceAll('_', ' ').replace(/(^|\s)([a-z])/g, (found) => found.toUpperCase())

/** Reads the bytes of a file, and returns the error that ended it. */
async function parse(format: TrackFormat, bytes: Buffer, track: Track): Promise<unknown> {
  const blocks = (async function* () {
    const SIZE = 64 * 1024
    for (let at = 0; at < bytes.length; at += SIZE) yield bytes.subarray(at, at + SIZE)
  })()
  try {
    await readXml(blocks, roots[format], track, () => Promise.resolve())
    return undefined
  } catch (thrown) {
    return thrown
  }
}

/** Adds the points of a GPX file that is the way of a workout. Errors: ReadError; points before a fault have been added. */
export async function readRoute(bytes: Buffer, points: StreamPoints): Promise<void> {
  const error = await parse('gpx', bytes, new Track('gpx', points))
  if (error) throw error
}

/** Reads a file of either format. Errors: ReadError; activities that ended before a fault have been read. */
export async function readTrack(
  format: TrackFormat | string,
  bytes: Buffer,
  batches: Batches,
  context: ReadContext,
): Promise<void> {
  const known = format as TrackFormat
  const track = new Track(known)
  const error = await parse(known, bytes, track)
  for (const activity of track.activities) {
    if (!Number.isFinite(activity.start_ms)) {
      batches.skip('invalid_time', 'workouts')
      continue
    }
    const { laps, segments, ...found } = activity
    const end_ms = laps.reduce((end, lap) => Math.max(end, lapEnd(lap) ?? end), Math.max(found.end_ms, found.start_ms))
    const summed = { moving_s: found.moving_s ?? movingOf(segments), ...ratesOfLaps(laps, found.rates.length > 0) }
    const named = { sport: titled(found.sport), app: track.creator, provider: providerOf(track.creator) }
    await passOn({ ...found, ...summed, ...named, end_ms }, batches, context)
  }
  if (error) throw error
  if (!track.activities.length) batches.skip('unsupported', known)
}
