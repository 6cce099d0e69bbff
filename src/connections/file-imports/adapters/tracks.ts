// TCX and GPX files: activities and tracks as workouts with their streams, and the heart rates at their points. Extensions stand under several namespaces, so
// that elements are known by their local names.
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { StreamList } from '../../../wearables/streams/workout-streams.ts'
import { ReadError, type ReadContext } from '../reading.ts'
import type { Batches } from '../batches.ts'
import { localName, readXml, type XmlHandler } from '../xml.ts'
import { passOn, providerOf, type Activity } from './activities.ts'

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
  /** Values of the current point. */
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

  #read(track: Found, name: string, parent: string | undefined, text: string): void {
    const small = name.toLowerCase()
    if (isPointName(parent) && small === 'time') this.#at = instantOf(text)
    else if (this.#values && RATE_NAMES.has(name === 'Value' && parent ? parent.toLowerCase() : small))
      this.#bpm = rateOf(text) ?? this.#bpm
    else if (isPointName(name)) this.#endPoint(track)
    else if (this.#values) {
      const list = elements.get(small)
      if (list) this.#note(list, text)
    } else if (this.#format === 'gpx' && parent === 'trk' && name === 'type') track.sport = text
    else if (parent === 'Lap') this.#readLap(track, name, text)
    else if (name === 'Value' && parent) this.#readLapRate(track, parent, text)
  }

  #endPoint(track: Found): void {
    const values = this.#values
    this.#values = undefined
    if (this.#at === undefined) return
    this.#segmentTakes(track, this.#at)
    track.start_ms = Math.min(track.start_ms, this.#at)
    track.end_ms = Math.max(track.end_ms, this.#at)
    if (this.#bpm !== undefined) track.rates.push([this.#at, this.#bpm])
    track.points.put('heartrate', this.#at, this.#bpm)
    for (const [list, value] of values ?? []) track.points.put(list, this.#at, value)
  }

  #segmentTakes(track: Found, at_ms: number): void {
    const segment = this.#segment
    if (!segment || segment.isEmpty) {
      if (segment && track.segments.length && !segment.goesOn) track.points.breakBefore(at_ms)
      if (!track.segments.length || (segment && !segment.goesOn)) track.segments.push([at_ms, at_ms])
      if (segment) segment.isEmpty = false
    }
    const last = track.segments.at(-1)!
    last[0] = Math.min(last[0], at_ms)
    last[1] = Math.max(last[1], at_ms)
  }

  #readLapRate(track: Found, parent: string, text: string): void {
    const lap = track.laps.at(-1)
    if (!lap) return
    if (parent === 'AverageHeartRateBpm') lap.mean_bpm = rateOf(text)
    else if (parent === 'MaximumHeartRateBpm') lap.max_bpm = rateOf(text)
  }

  #readLap(track: Found, name: string, text: string): void {
    const lap = track.laps.at(-1)
    if (name === 'TotalTimeSeconds') {
      track.moving_s = add(track.moving_s, numberOf(text))
      if (lap) lap.total_s = numberOf(text)
    } else if (name === 'DistanceMeters') track.distance_m = add(track.distance_m, numberOf(text))
    else if (name === 'Calories') track.calories = add(track.calories, numberOf(text))
  }
}

const toTitle = (text: string): string => text.replaceAll('_', ' ').replace(/(^|\s)([a-z])/g, (letter) => letter.toUpperCase())

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
    const named = { sport: toTitle(found.sport), app: track.creator, provider: providerOf(track.creator) }
    await passOn({ ...found, ...summed, ...named, end_ms }, batches, context)
  }
  if (error) throw error
  if (!track.activities.length) batches.skip('unsupported', known)
}

/** Date and time, with `T` or a blank between them, and a zone: `Z`, `UTC`, or an offset of hours and perhaps minutes. */
const INSTANT =
  /^(\d{4})[-/]?(\d\d?)[-/]?(\d\d?)(?:T|\s)\s*(\d\d?):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+\-\u2212]\d\d?(?::?\d\d)?)?$/i
const OFFSET = /^([+\-\u2212])(\d\d?):?(\d\d)?$/
const OFFSET_MINUTES_MAX = 15 * 60

/** An instant. A text without a zone is meant in UTC; undefined for what is not a date and time. */
export function instantOf(text: string | undefined): number | undefined {
  const [, year, month, day, hour, minute, second = '0', fraction = '0', zone = 'Z'] = INSTANT.exec((text ?? '').trim()) ?? []
  if (year === undefined) return undefined
  const [h, m, s] = [Number(hour), Number(minute), Number(second)]
  // 24:00 is the end of a day, and a leap second its last one.
  if (h > 24 || (h === 24 && m + s > 0) || m > 59 || s > 60) return undefined
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (midnight.getUTCMonth() !== Number(month) - 1 || midnight.getUTCDate() !== Number(day)) return undefined
  const [, sign, hours = '0', minutes = '0'] = OFFSET.exec(zone) ?? []
  const offset = Number(hours) * 60 + Number(minutes)
  if (offset > OFFSET_MINUTES_MAX || Number(minutes) > 59) return undefined
  const east_s = (sign === '+' ? offset : -offset) * 60
  return midnight.getTime() + (h * 3600 + m * 60 + s - east_s) * 1000 + Math.floor(Number(`0.${fraction}`) * 1000)
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** A heart rate, which some programs write with its unit. */
function rateOf(text: string | undefined): number | undefined {
  const bpm = numberOf(text?.trim().replace(/\s*bpm$/i, ''))
  return bpm !== undefined && bpm > 0 && bpm < 300 ? bpm : undefined
}

/** A lap of a TCX file. */
interface Lap {
  start_ms: number | undefined
  /** Without pauses. */
  total_s: number | undefined
  mean_bpm: number | undefined
  max_bpm: number | undefined
}

const emptyLap = (start_ms: number | undefined): Lap => ({
  start_ms,
  total_s: undefined,
  mean_bpm: undefined,
  max_bpm: undefined,
})

/** When a lap ends at the earliest; undefined if it does not say when it began. */
const lapEnd = ({ start_ms, total_s }: Lap): number | undefined =>
  start_ms === undefined ? undefined : start_ms + Math.max(0, total_s ?? 0) * 1000

/**
 * The heart rates of laps: the mean of each counts for its time. Undefined where no lap has one, and the mean also if only some have it and
 * there are points that say more.
 */
function ratesOfLaps(laps: Lap[], hasRates: boolean): { mean_bpm?: number; max_bpm?: number } {
  const timed = laps.filter(({ total_s }) => total_s === undefined || total_s > 0)
  const known = timed.filter(({ mean_bpm }) => mean_bpm !== undefined)
  const maxima = laps.flatMap(({ max_bpm }) => max_bpm ?? [])
  const weights = known.map(({ total_s }) => total_s ?? 1)
  const seconds = weights.reduce((sum, weight) => sum + weight, 0)
  const isWhole = known.length > 0 && (known.length === timed.length || !hasRates)
  const areMaxima = maxima.length > 0 && (maxima.length >= timed.length || !hasRates)
  return {
    ...(isWhole && { mean_bpm: known.reduce((sum, { mean_bpm }, i) => sum + mean_bpm! * weights[i]!, 0) / seconds }),
    ...(areMaxima && { max_bpm: maxima.reduce((a, b) => Math.max(a, b)) }),
  }
}

/** From the first to the last point of a segment. */
type Segment = [first_ms: number, last_ms: number]

/** Seconds in which there were points; undefined for a single segment, which says nothing about pauses. */
const movingOf = (segments: Segment[]): number | undefined =>
  segments.length < 2 ? undefined : segments.reduce((sum, [first, last]) => sum + (last - first) / 1000, 0)
