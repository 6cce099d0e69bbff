// The stream of a workout from values at instants, and the line on a map that it comes to. Source: users-wearables.md 9.4, 11.
import type { IncomingStream, StreamList } from './workout-streams.ts'

/** Instants in a stream: more than a day, second by second. */
export const STREAM_MAX = 100_000

/** Values that cannot be meant: they count as absent. */
const bounds: Partial<Record<StreamList, readonly [min: number, max: number]>> = {
  heartrate: [1, 300],
  lat: [-90, 90],
  lng: [-180, 180],
  altitude: [-1000, 20_000],
  temperature: [-100, 100],
}
const VALUE_MAX = 1e7

/** Closer to this is the place that stands for none. */
const NO_PLACE = 1e-5

/**
 * Whether a place is one. Devices without a fix write 0° north and 0° east, a pole, or a value beyond the range; no person trains at a pole,
 * where the other coordinate means nothing.
 */
const isPlace = (lat: number, lng: number): boolean =>
  Math.abs(lat) < 90 - NO_PLACE && Math.abs(lng) <= 180 && (Math.abs(lat) > NO_PLACE || Math.abs(lng) > NO_PLACE)

/** Collects the values of one workout. Of several values in one second the last one counts. */
export class StreamPoints {
  /** The place of each second in the lists, which are as compact as a file with a million points needs. */
  readonly #places = new Map<number, number>()
  readonly #lists = new Map<StreamList, number[]>()
  readonly #breaks = new Set<number>()

  /** How many seconds have a value. */
  get size(): number {
    return this.#places.size
  }

  /** Adds a value; absent and impossible ones, and seconds beyond the limit of a stream are left out. */
  put(list: StreamList, at_ms: number, value: number | null | undefined): void {
    const [min, max] = bounds[list] ?? [-VALUE_MAX, VALUE_MAX]
    if (value === null || value === undefined || !(value >= min && value <= max) || !Number.isFinite(at_ms)) return
    const second = Math.floor(at_ms / 1000)
    let place = this.#places.get(second)
    if (place === undefined) {
      if (this.#places.size === STREAM_MAX) return
      this.#places.set(second, (place = this.#places.size))
    }
    let values = this.#lists.get(list)
    if (!values) this.#lists.set(list, (values = []))
    while (values.length < place) values.push(NaN)
    values[place] = list === 'heartrate' ? Math.round(value) : value
  }

  /** Nothing was recorded before an instant, since the values before it: a pause, or the end of a segment. */
  breakBefore(at_ms: number): void {
    if (Number.isFinite(at_ms) && this.#breaks.size < STREAM_MAX) this.#breaks.add(Math.floor(at_ms / 1000))
  }

  /** The seconds before which nothing was recorded, in order. */
  get breaks(): number[] {
    return [...this.#breaks].toSorted((a, b) => a - b)
  }

  /** Multiplies the values of a list that are there. */
  scale(list: StreamList, factor: number): void {
    const values = this.#lists.get(list)
    if (values) for (const [i, value] of values.entries()) values[i] = value * factor
  }

  /** The largest value of a list; undefined without one. */
  largest(list: StreamList): number | undefined {
    let largest: number | undefined
    for (const value of this.#lists.get(list) ?? []) if (value > (largest ?? -Infinity)) largest = value
    return largest
  }

  /** Leaves out what is not a place, and half a place. */
  #dropFalsePlaces(): void {
    const [lat, lng] = [this.#lists.get('lat'), this.#lists.get('lng')]
    if (!lat && !lng) return
    for (let i = 0; i < Math.max(lat?.length ?? 0, lng?.length ?? 0); i++) {
      if (isPlace(lat?.[i] ?? NaN, lng?.[i] ?? NaN)) continue
      if (lat && i < lat.length) lat[i] = NaN
      if (lng && i < lng.length) lng[i] = NaN
    }
    for (const list of ['lat', 'lng'] as const)
      if (this.#lists.get(list)?.every((value) => Number.isNaN(value))) this.#lists.delete(list)
  }

  /** The stream of the workout with this key; undefined without a value. A second whose only value was no place stays. */
  stream(key: string): IncomingStream | undefined {
    this.#dropFalsePlaces()
    if (!this.#places.size || !this.#lists.size) return undefined
    const ordered = [...this.#places].toSorted(([a], [b]) => a - b)
    const lists: IncomingStream['lists'] = {}
    for (const [list, values] of this.#lists)
      lists[list] = ordered.map(([, place]) => {
        const value = values[place]
        return value === undefined || Number.isNaN(value) ? null : value
      })
    return { key, time: ordered.map(([second]) => second), lists }
  }
}

export interface WorkoutMap {
  polyline: string | null
  summary_polyline: string | null
}

/** Points of the two lines: a longer way is drawn with fewer of its points. */
const LINE_POINTS_MAX = 5000
const SUMMARY_POINTS_MAX = 300

type Place = [lat: number, lng: number]

/** At most so many of the places, evenly spread, with the first and the last one. */
function spread(places: Place[], count_max: number): Place[] {
  if (places.length <= count_max) return places
  const step = (places.length - 1) / (count_max - 1)
  return Array.from({ length: count_max }, (_, i) => places[Math.round(i * step)]!)
}

/** A number as the characters of the encoded polyline format: five bits each, the sign in the lowest one. */
function encodeNumber(value: number): string {
  let rest = value < 0 ? ~(value << 1) : value << 1
  let text = ''
  for (; rest >= 0x20; rest >>>= 5) text += String.fromCharCode((0x20 | (rest & 0x1f)) + 63)
  return text + String.fromCharCode(rest + 63)
}

/** Places in the encoded polyline format, to five digits after the point. */
function polylineOf(places: Place[]): string {
  let [lat, lng] = [0, 0]
  let text = ''
  for (const place of places) {
    const [next_lat, next_lng] = place.map((degrees) => Math.round(degrees * 1e5)) as Place
    text += encodeNumber(next_lat - lat) + encodeNumber(next_lng - lng)
    ;[lat, lng] = [next_lat, next_lng]
  }
  return text
}

/** The way of a workout as lines on a map; null for one with fewer than two places. */
export function mapOf({ time, lists: { lat = [], lng = [] } }: Pick<IncomingStream, 'time' | 'lists'>): WorkoutMap | null {
  const places = time.flatMap((_, i): Place[] => {
    const [north, east] = [lat[i], lng[i]]
    return typeof north === 'number' && typeof east === 'number' ? [[north, east]] : []
  })
  if (places.length < 2) return null
  return {
    polyline: polylineOf(spread(places, LINE_POINTS_MAX)),
    summary_polyline: polylineOf(spread(places, SUMMARY_POINTS_MAX)),
  }
}

const EARTH_RADIUS_M = 6_371_000
const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** Meters between two places on a sphere. */
function metersBetween([from_lat, from_lng]: Place, [to_lat, to_lng]: Place): number {
  const [north, east] = [Math.sin(radians(to_lat - from_lat) / 2), Math.sin(radians(to_lng - from_lng) / 2)]
  const half = north * north + Math.cos(radians(from_lat)) * Math.cos(radians(to_lat)) * east * east
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(half)))
}

/**
 * How far each place of a stream is along its way, in meters; null where it has no place. Undefined without two places.
 * @param breaks seconds, in order: what lies between such a second and the place before it is not part of the way
 */
export function distancesAlong(
  { time, lists: { lat = [], lng = [] } }: Pick<IncomingStream, 'time' | 'lists'>,
  breaks: readonly number[] = [],
) {
  let last: Place | undefined
  let [meters, count, passed] = [0, 0, 0]
  const distances = time.map((second, i) => {
    for (; passed < breaks.length && breaks[passed]! <= second; passed++) last = undefined
    const [north, east] = [lat[i], lng[i]]
    if (typeof north !== 'number' || typeof east !== 'number') return null
    const place: Place = [north, east]
    if (last) meters += metersBetween(last, place)
    last = place
    count++
    return Math.round(meters * 10) / 10
  })
  return count < 2 ? undefined : distances
}

const LINE_LENGTH_MAX = 100_000

/** A line that a vendor sent; null for what is none. */
export const sentPolyline = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= LINE_LENGTH_MAX && /^[?-~]+$/.test(value) ? value : null
