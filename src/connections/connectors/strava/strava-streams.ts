// Streams of activities of Strava. Source: GET /activities/{id}/streams, StreamSet.
import { idOf, instantOfText, readNumber, objectOrEmpty, readText, type Values } from '../reading.ts'
import { StreamPoints } from '../../../wearables/streams/stream-points.ts'
import type { IncomingStream, StreamList } from '../../../wearables/streams/workout-streams.ts'

/** The streams that are asked for, and the lists that they fill; places are pairs. */
const lists = {
  heartrate: 'heartrate',
  watts: 'power',
  cadence: 'cadence',
  velocity_smooth: 'velocity_smooth',
  altitude: 'altitude',
  distance: 'distance',
  temp: 'temperature',
} as const satisfies Record<string, StreamList>
export const streamKeys = ['time', 'latlng', ...Object.keys(lists)].join()

/** Strava counts the steps of one foot. */
const onFoot = new Set(['Run', 'TrailRun', 'VirtualRun', 'Walk', 'Hike', 'Snowshoe'])

const readData = (streams: Values, key: string): unknown[] => {
  const { data } = objectOrEmpty(streams[key])
  return Array.isArray(data) ? data : []
}

/** The stream of an activity; undefined without values. Its times are seconds since the activity began. */
export function toStream(activity: Values, streams: Values): IncomingStream | undefined {
  const [key, start_ms] = [idOf(activity.id), instantOfText(activity.start_date)]
  if (key === null || start_ms === null) return undefined
  const points = new StreamPoints()
  const steps = onFoot.has(readText(activity.sport_type) ?? readText(activity.type) ?? '') ? 2 : 1
  const read = Object.entries(lists).map(([name, list]) => ({ list, values: readData(streams, name) }))
  const places = readData(streams, 'latlng')
  for (const [i, seconds] of readData(streams, 'time').entries()) {
    const at_ms = start_ms + (readNumber(seconds) ?? NaN) * 1000
    for (const { list, values } of read) {
      const value = readNumber(values[i])
      points.put(list, at_ms, value !== null && list === 'cadence' ? value * steps : value)
    }
    const place = places[i]
    if (!Array.isArray(place)) continue
    points.put('lat', at_ms, readNumber(place[0]))
    points.put('lng', at_ms, readNumber(place[1]))
  }
  return points.stream(key)
}
