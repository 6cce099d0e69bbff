// TCX and GPX files: activities and tracks as workouts, and the heart rates at their points. Extensions stand under several namespaces, so
// that elements are known by their local names.
import { ReadError, type ReadContext } from '../reading.ts'
import type { Batches } from '../batches.ts'
import { readXml, type XmlHandler } from '../xml.ts'
import { passOn, providerOf, type Activity } from './activities.ts'

const roots = { tcx: /<(?:[\w-]+:)?TrainingCenterDatabase[\s>]/, gpx: /<(?:[\w-]+:)?gpx[\s>]/ }
export type TrackFormat = keyof typeof roots

/** Which of the two a text is. */
export const trackFormat = (text: string): TrackFormat | undefined =>
  (Object.keys(roots) as TrackFormat[]).find((format) => roots[format].test(text))

const ACTIVITIES_MAX = 1000
const POINTS_MAX = 1_000_000
const TEXT_MAX = 10_000

/** An instant. A text without a zone is meant in UTC. */
function instantOf(text: string | undefined): number | undefined {
  if (!text || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text)) return undefined
  const ms = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`)
  return Number.isFinite(ms) ? ms : undefined
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text === '' ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

const add = (a: number | undefined, b: number | undefined): number | undefined => (b === undefined ? a : (a ?? 0) + b)

type Found = Omit<Activity, 'provider' | 'start_ms' | 'end_ms'> & { start_ms: number; end_ms: number }

const empty = (): Found => ({ app: undefined, sport: '', start_ms: Infinity, end_ms: -Infinity, zone_s: null, rates: [] })

/** Collects the activities of a file; each format says which elements mean what. */
class Track implements XmlHandler {
  readonly activities: Found[] = []
  readonly #format: TrackFormat
  readonly #path: string[] = []
  #text = ''
  #points = 0
  #creator: string | undefined
  #current: Found | undefined
  #at: number | undefined
  #bpm: number | undefined
  faults = 0

  constructor(format: TrackFormat) {
    this.#format = format
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
      this.#current = { ...empty(), sport: attributes.Sport ?? '' }
      this.activities.push(this.#current)
    }
    if (name === 'Lap') {
      const start_ms = instantOf(attributes.StartTime)
      if (this.#current && start_ms !== undefined) this.#current.start_ms = Math.min(this.#current.start_ms, start_ms)
    }
    if (name === 'Trackpoint' || name === 'trkpt') {
      if (++this.#points > POINTS_MAX) throw new ReadError('too_large')
      this.#at = undefined
      this.#bpm = undefined
    }
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
    const isPoint = parent === 'Trackpoint' || parent === 'trkpt'
    if (isPoint && name.toLowerCase() === 'time') this.#at = instantOf(text)
    // Vendors name it `hr` in namespaces of their own; TCX has `HeartRateBpm` with a `Value`.
    else if (name === 'hr' || (name === 'Value' && parent === 'HeartRateBpm')) this.#bpm = numberOf(text)
    else if (name === 'Trackpoint' || name === 'trkpt') this.#endPoint(into)
    else if (this.#format === 'gpx' && parent === 'trk' && name === 'type') into.sport = text
    else if (parent === 'Lap') this.#readLap(into, name, text)
  }

  #endPoint(into: Found): void {
    if (this.#at === undefined) return
    into.start_ms = Math.min(into.start_ms, this.#at)
    into.end_ms = Math.max(into.end_ms, this.#at)
    if (this.#bpm !== undefined) into.rates.push([this.#at, this.#bpm])
  }

  #readLap(into: Found, name: string, text: string): void {
    if (name === 'TotalTimeSeconds') into.moving_s = add(into.moving_s, numberOf(text))
    else if (name === 'DistanceMeters') into.distance_m = add(into.distance_m, numberOf(text))
    else if (name === 'Calories') into.calories = add(into.calories, numberOf(text))
  }
}

const titled = (text: string): string => text.replaceAll('_', ' ').replace(/(^|\s)([a-z])/g, (found) => found.toUpperCase())

/** Reads a file of either format. Errors: ReadError; activities that ended before a fault have been read. */
export async function readTrack(
  format: TrackFormat | string,
  bytes: Buffer,
  batches: Batches,
  context: ReadContext,
): Promise<void> {
  const known = format as TrackFormat
  const track = new Track(known)
  const blocks = (async function* () {
    const SIZE = 64 * 1024
    for (let at = 0; at < bytes.length; at += SIZE) yield bytes.subarray(at, at + SIZE)
  })()
  let error: unknown
  try {
    await readXml(blocks, roots[known], track, () => Promise.resolve())
  } catch (thrown) {
    error = thrown
  }
  for (const activity of track.activities) {
    if (!Number.isFinite(activity.start_ms)) {
      batches.skip('invalid_time', 'workouts')
      continue
    }
    const end_ms = Math.max(
      activity.end_ms,
      activity.start_ms + (activity.end_ms === -Infinity ? (activity.moving_s ?? 0) * 1000 : 0),
    )
    const sport = titled(activity.sport)
    await passOn({ ...activity, end_ms, sport, app: track.creator, provider: providerOf(track.creator) }, batches, context)
  }
  if (error) throw error
  if (!track.activities.length) batches.skip('unsupported', known)
}
