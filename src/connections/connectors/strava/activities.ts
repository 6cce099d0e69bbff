// Activities of Strava as workouts. Source: GET /activities/{id}, DetailedActivity.
import { roundNullable } from '../answers.ts'
import { idOf, readInstant, instantOfText, readNumber, objectOrEmpty, rawValues, readText, type Values } from '../reading.ts'
import { toDevice, knownZone, offsetAt, offsetBetween, undatedRecord, workoutOf } from '../vendor-records.ts'
import { sentPolyline } from '../../../wearables/streams/stream-points.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'

/** Sports whose name at Strava is not the one that people know. The others are words without spaces. */
const sports: Readonly<Record<string, string>> = {
  AlpineSki: 'Alpine Skiing',
  BackcountrySki: 'Backcountry Skiing',
  Crossfit: 'CrossFit',
  Dance: 'Dancing',
  EBikeRide: 'E-Biking',
  EMountainBikeRide: 'E-Mountain Biking',
  GravelRide: 'Gravel Biking',
  Handcycle: 'Handcycling',
  HighIntensityIntervalTraining: 'HIIT',
  Hike: 'Hiking',
  IceSkate: 'Ice Skating',
  InlineSkate: 'Inline Skating',
  Kitesurf: 'Kitesurfing',
  MountainBikeRide: 'Mountain Biking',
  NordicSki: 'Nordic Skiing',
  Ride: 'Cycling',
  RollerSki: 'Roller Skiing',
  Run: 'Running',
  Sail: 'Sailing',
  Skateboard: 'Skateboarding',
  Snowboard: 'Snowboarding',
  Snowshoe: 'Snowshoeing',
  StandUpPaddling: 'Stand Up Paddling',
  Swim: 'Swimming',
  TrailRun: 'Trail Running',
  VirtualRide: 'Indoor Cycling',
  VirtualRow: 'Indoor Rowing',
  VirtualRun: 'Indoor Running',
  Walk: 'Walking',
  WeightTraining: 'Strength Training',
  Wheelchair: 'Wheelchair Pushing',
  Windsurf: 'Windsurfing',
}

const sportOfType = (type: string | null): string => {
  if (type === null || !/^[A-Za-z]{1,60}$/.test(type)) return 'Other'
  return Object.hasOwn(sports, type) ? sports[type]! : type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
}

/** `(GMT-08:00) America/Los_Angeles` */
const zoneIn = (value: unknown): string | null => knownZone(readText(value)?.replace(/^\(GMT[+-]\d\d:\d\d\) /, '') ?? null)

/** An activity; undefined without an id, a start, or an end until the year 2100. The local start is written as if it were in UTC. */
export function activityOf(activity: Values): IncomingSummary<'workouts'> | undefined {
  const [key, start_ms, elapsed_s] = [idOf(activity.id), instantOfText(activity.start_date), readNumber(activity.elapsed_time)]
  if (key === null || start_ms === null || elapsed_s === null || elapsed_s < 0) return undefined
  const end_ms = readInstant(start_ms + Math.round(elapsed_s) * 1000)
  if (end_ms === null) return undefined
  const zone = zoneIn(activity.timezone)
  const average_watts = readNumber(activity.average_watts)
  const sport = sportOfType(readText(activity.sport_type) ?? readText(activity.type))
  const source_type = activity.manual === true ? 'app' : 'unknown'
  const { polyline, summary_polyline } = objectOrEmpty(activity.map)
  const map = { polyline: sentPolyline(polyline), summary_polyline: sentPolyline(summary_polyline) }
  return workoutOf({
    key,
    source_type,
    device: toDevice(source_type, { model: activity.device_name }),
    raw: rawValues(activity, 'segment_efforts', 'best_efforts'),
    sport,
    start_ms,
    end_ms,
    offset_s: offsetAt(zone, start_ms) ?? offsetBetween(instantOfText(activity.start_date_local), start_ms),
    extraFields: {
      title: readText(activity.name) ?? sport,
      average_hr: roundNullable(readNumber(activity.average_heartrate)),
      max_hr: roundNullable(readNumber(activity.max_heartrate)),
      distance: readNumber(activity.distance),
      calories: readNumber(activity.calories),
      moving_time: roundNullable(readNumber(activity.moving_time)),
      total_elevation_gain: readNumber(activity.total_elevation_gain),
      elev_high: readNumber(activity.elev_high),
      elev_low: readNumber(activity.elev_low),
      average_speed: readNumber(activity.average_speed),
      max_speed: readNumber(activity.max_speed),
      average_watts,
      // Strava says only whether a device has measured the watts.
      device_watts: activity.device_watts === true ? average_watts : null,
      max_watts: readNumber(activity.max_watts),
      weighted_average_watts: readNumber(activity.weighted_average_watts),
      map: map.polyline === null && map.summary_polyline === null ? null : map,
    },
  })
}

/** The profile of an athlete: Strava knows the sex alone. */
export function profileOf(activity: Values): IncomingSummary<'profile'> {
  const known = activity.sex === 'M' ? 'male' : activity.sex === 'F' ? 'female' : null
  const document = { height: null, birth_date: null, wheelchair_use: null, gender: known, sex: known }
  return undatedRecord('unknown', document, rawValues(activity))
}
