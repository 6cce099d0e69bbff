// Activities of Strava as workouts. Source: GET /activities/{id}, DetailedActivity.
import { rounded } from '../answers.ts'
import { idOf, instant, instantOfText, number, objectOrEmpty, rawOf, text, type Values } from '../reading.ts'
import { deviceOf, knownZone, offsetAt, offsetBetween, workoutOf } from '../records.ts'
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
const zoneIn = (value: unknown): string | null => knownZone(text(value)?.replace(/^\(GMT[+-]\d\d:\d\d\) /, '') ?? null)

/** An activity; undefined without an id, a start, or an end until the year 2100. The local start is written as if it were in UTC. */
export function activityOf(sent: Values): IncomingSummary<'workouts'> | undefined {
  const [key, start_ms, elapsed_s] = [idOf(sent.id), instantOfText(sent.start_date), number(sent.elapsed_time)]
  if (key === null || start_ms === null || elapsed_s === null || elapsed_s < 0) return undefined
  const end_ms = instant(start_ms + Math.round(elapsed_s) * 1000)
  if (end_ms === null) return undefined
  const zone = zoneIn(sent.timezone)
  const average_watts = number(sent.average_watts)
  const sport = sportOfType(text(sent.sport_type) ?? text(sent.type))
  const source_type = sent.manual === true ? 'app' : 'unknown'
  const { polyline, summary_polyline } = objectOrEmpty(sent.map)
  const map = { polyline: sentPolyline(polyline), summary_polyline: sentPolyline(summary_polyline) }
  return workoutOf({
    key,
    source_type,
    device: deviceOf(source_type, { model: sent.device_name }),
    raw: rawOf(sent, 'segment_efforts', 'best_efforts'),
    sport,
    start_ms,
    end_ms,
    offset_s: offsetAt(zone, start_ms) ?? offsetBetween(instantOfText(sent.start_date_local), start_ms),
    more: {
      title: text(sent.name) ?? sport,
      average_hr: rounded(number(sent.average_heartrate)),
      max_hr: rounded(number(sent.max_heartrate)),
      distance: number(sent.distance),
      calories: number(sent.calories),
      moving_time: rounded(number(sent.moving_time)),
      total_elevation_gain: number(sent.total_elevation_gain),
      elev_high: number(sent.elev_high),
      elev_low: number(sent.elev_low),
      average_speed: number(sent.average_speed),
      max_speed: number(sent.max_speed),
      average_watts,
      // Strava says only whether a device has measured the watts.
      device_watts: sent.device_watts === true ? average_watts : null,
      max_watts: number(sent.max_watts),
      weighted_average_watts: number(sent.weighted_average_watts),
      map: map.polyline === null && map.summary_polyline === null ? null : map,
    },
  })
}

/** The profile of an athlete: Strava knows the sex alone. */
export function profileOf(sent: Values): IncomingSummary<'profile'> {
  const { sex } = sent
  const raw = rawOf(sent)
  const known = sex === 'M' ? 'male' : sex === 'F' ? 'female' : null
  return {
    key: '',
    source_type: 'unknown',
    app_id: null,
    calendar_date: null,
    ...(raw && { raw }),
    document: { height: null, birth_date: null, wheelchair_use: null, gender: known, sex: known },
  }
}
