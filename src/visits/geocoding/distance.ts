// Distances on the globe, and time zones of points. Pure.
import type { Point } from './zip-codes.ts'

/** Mean radius of the Earth, in miles. */
const RADIUS_MILES = 3958.7613
const MILES_PER_DEGREE = (RADIUS_MILES * Math.PI) / 180

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** Returns the miles along the great circle between two points. */
export function milesBetween(a: Point, b: Point): number {
  const lat = Math.sin(radians(b.lat - a.lat) / 2)
  const lng = Math.sin(radians(b.lng - a.lng) / 2)
  const h = lat * lat + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * lng * lng
  return 2 * RADIUS_MILES * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** Returns the point on a sphere of radius one. */
export function unitVector({ lat, lng }: Point): [x: number, y: number, z: number] {
  const ring = Math.cos(radians(lat))
  return [ring * Math.cos(radians(lng)), ring * Math.sin(radians(lng)), Math.sin(radians(lat))]
}

/** Returns the chord length, on a sphere of radius one, for an arc in miles; the diameter for more than half the circumference. */
export const chordFromMiles = (miles: number): number => 2 * Math.sin(Math.min(Math.PI / 2, miles / RADIUS_MILES / 2))

/** Returns the miles of the arc for a chord on a sphere of radius one. */
export const milesFromChord = (line: number): number => 2 * RADIUS_MILES * Math.asin(Math.min(1, line / 2))

export interface Box {
  south: number
  north: number
  west: number
  east: number
}

/**
 * Returns boxes that together contain every point within a radius: one box, or two where the circle crosses the 180th meridian. Near a pole
 * the box covers all longitudes.
 */
export function boxesAround({ lat, lng }: Point, radius_miles: number): Box[] {
  const high = radius_miles / MILES_PER_DEGREE
  const [south, north] = [Math.max(-90, lat - high), Math.min(90, lat + high)]
  const reach = Math.sin(radians(Math.min(90, high))) / Math.cos(radians(lat))
  if (south <= -90 || north >= 90 || reach >= 1) return [{ south, north, west: -180, east: 180 }]
  const wide = (Math.asin(reach) * 180) / Math.PI
  const [west, east] = [lng - wide, lng + wide]
  if (west < -180)
    return [
      { south, north, west: -180, east },
      { south, north, west: west + 360, east: 180 },
    ]
  if (east > 180)
    return [
      { south, north, west, east: 180 },
      { south, north, west: -180, east: east - 360 },
    ]
  return [{ south, north, west, east }]
}

/** Whether latitude and longitude are within their ranges. */
export const isPoint = ({ lat, lng }: Point): boolean => Math.abs(lat) <= 90 && Math.abs(lng) <= 180

/**
 * Returns the IANA time zone of a point, at sea one of the `Etc` zones; undefined for an invalid point. Loads the table at the first call.
 */
export async function timeZoneAt(lat: number, lng: number): Promise<string | undefined> {
  if (!isPoint({ lat, lng })) return undefined
  const { default: zoneOf } = await import('@photostructure/tz-lookup')
  return zoneOf(lat, lng)
}
