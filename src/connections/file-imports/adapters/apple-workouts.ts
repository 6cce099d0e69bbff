// A workout in an Apple Health export: totals are attributes in old exports and children in newer ones.
import { workoutOf } from '../../mobile-sdk/summaries.ts'
import type { SentWorkout } from '../../mobile-sdk/summary-schema.ts'
import type { ReadSummary } from '../reading.ts'
import { quantityOf, toCanonical, type Dimension } from '../units.ts'
import { exportKey } from './apple-sleep.ts'
import { sourceKey, zoneName, type AppleSource, type AppleTime } from './apple-values.ts'

/** `HKWorkoutActivityTypeTraditionalStrengthTraining` → `Traditional Strength Training`. */
const sportName = (type: string): string =>
  type
    .replace(/^HKWorkoutActivityType/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .slice(0, 100)
    .trim() || 'Other'

const number = (text: string | undefined): number | undefined => {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** A number that stands in one attribute and its unit in another. */
function measured(dimension: Dimension, value: string | undefined, unit: string | undefined): number | undefined {
  const found = number(value)
  return found === undefined ? undefined : toCanonical(dimension, found, unit ?? '')
}

export interface AppleWorkout {
  attributes: Record<string, string>
  metadata: Record<string, string>
  /** The attributes of its WorkoutStatistics. */
  statistics: Record<string, string>[]
  start: AppleTime
  end: AppleTime
  source: AppleSource
}

export function workoutSummary({ attributes, metadata, statistics, start, end, source }: AppleWorkout): ReadSummary<'workouts'> {
  const of = (pattern: RegExp) => statistics.find(({ type }) => pattern.test(type ?? ''))
  const [energy, distance, rate] = [of(/ActiveEnergyBurned$/), of(/TypeIdentifierDistance/), of(/TypeIdentifierHeartRate$/)]
  const perMinute = (value: string | undefined) => measured('perMinute', value, rate?.unit)
  const optional = <K extends keyof SentWorkout>(name: K, value: SentWorkout[K] | undefined) =>
    value === undefined ? {} : { [name]: value }
  const sport = sportName(attributes.workoutActivityType ?? '')
  const sent: SentWorkout = {
    id: exportKey('workouts', sourceKey(source), sport, start.at_ms),
    sport,
    start_date: new Date(start.at_ms).toISOString(),
    end_date: new Date(end.at_ms).toISOString(),
    ...(source.app_id !== null && { source_bundle: source.app_id }),
    // Without pauses; the end minus the start includes them.
    ...optional('moving_time', measured('second', attributes.duration, attributes.durationUnit)),
    ...optional(
      'calories',
      measured('kilocalorie', energy?.sum, energy?.unit) ??
        measured('kilocalorie', attributes.totalEnergyBurned, attributes.totalEnergyBurnedUnit),
    ),
    ...optional(
      'distance',
      measured('meter', distance?.sum, distance?.unit) ??
        measured('meter', attributes.totalDistance, attributes.totalDistanceUnit),
    ),
    ...optional('ascent_elevation', quantityOf('meter', metadata.HKElevationAscended)),
    ...optional('heart_rate_mean', perMinute(rate?.average)),
    ...optional('heart_rate_maximum', perMinute(rate?.maximum)),
  }
  const record = workoutOf(sent, { zone: zoneName(start.zone_s) })
  return { kind: 'workouts', record: { ...record, source_type: source.source_type, device: source.device } }
}
