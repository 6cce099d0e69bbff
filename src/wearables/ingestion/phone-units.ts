// Conversion of what phones send to the unit of each timeseries. Source: users-wearables.md 16.7. A unit that is not known is rejected: its
// value would be shown under another unit.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { dimensions, type Dimension, temperatures, unitNamed, type Conversion } from '../resources/dimensions.ts'
import { resourceNameOf, timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import { LRUCache } from 'lru-cache'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import type { Log } from '../../platform/telemetry/log.ts'

/** What is measured. Of the others only their own unit is known. */
const measures: Partial<Record<TimeseriesName, Dimension>> = {
  afib_burden: 'percent',
  basal_body_temperature: 'celsius',
  blood_oxygen: 'percent',
  blood_pressure: 'pressure',
  body_fat: 'percent',
  body_mass_index: 'index',
  body_temperature: 'celsius',
  body_weight: 'kilogram',
  caffeine: 'gram',
  calories_active: 'kilocalorie',
  calories_basal: 'kilocalorie',
  carbohydrates: 'gram',
  daylight_exposure: 'minute',
  distance: 'meter',
  forced_expiratory_volume_1: 'liter',
  forced_vital_capacity: 'liter',
  glucose: 'glucose',
  heart_rate_recovery_one_minute: 'perMinute',
  heartrate: 'perMinute',
  hrv: 'millisecond',
  insulin_injection: 'count',
  lean_body_mass: 'kilogram',
  mindfulness_minutes: 'minute',
  peak_expiratory_flow_rate: 'literPerMinute',
  respiratory_rate: 'perMinute',
  stand_duration: 'minute',
  uv_exposure: 'index',
  vo2_max: 'oxygen',
  waist_circumference: 'centimeter',
  water: 'milliliter',
  workout_distance: 'meter',
  workout_duration: 'minute',
}

/** Health Connect and Samsung Health send kilocalories under the name `kJ`. */
const KILOCALORIES_AS_KJ = new Set(['health_connect', 'samsung_health'])

const same: Conversion = { factor: 1, offset: 0 }

/**
 * How a value that a phone sends is converted; undefined for a unit that is not known for the resource. An empty text means the unit of the
 * resource, and Apple Health sends SDNN under the name `rmssd`.
 */
export function findConversion(provider: string, resource: TimeseriesName, unit: string): Conversion | undefined {
  const text = unit.trim()
  const own = timeseriesOf(resource).unit
  if (text === '' || text.toLowerCase() === own.toLowerCase()) return same
  if (own === 'unit' && text.toLowerCase() === 'iu') return same
  const dimension = measures[resource]
  const named = dimension && unitNamed(dimension, text)
  if (named === undefined) return undefined
  if (named === 'kJ' && KILOCALORIES_AS_KJ.has(provider)) return same
  const temperature = dimension === 'celsius' ? temperatures[named] : undefined
  return temperature ?? { factor: (dimensions[dimension!] as Record<string, number>)[named]!, offset: 0 }
}

/** A value after a conversion. A factor leaves digits that no device has measured. */
export const convert = (value: number, { factor, offset }: Conversion): number =>
  factor === 1 && offset === 0 ? value : Number((value * factor + offset).toPrecision(12))

/** A value in the unit of its resource; undefined for a unit that is not known. */
export function toCanonicalUnit(provider: string, resource: TimeseriesName, value: number, unit: string): number | undefined {
  const conversion = findConversion(provider, resource, unit)
  return conversion && convert(value, conversion)
}

/** A phone has sent values of a resource in units that are not known for it. */
export const unitsUnknown = hookPoint<[provider: string, resource: string, units: string[]]>('ingestion.units_unknown')

/** Units in one notice. */
const NOTED_MAX = 5

/** Notifies of units that are not known for a resource: their values are rejected. */
export async function noteUnits(
  tx: Tx,
  provider: string,
  resource: TimeseriesName,
  samples: readonly { unit: string }[],
): Promise<void> {
  const units = new Set<string>()
  let last: string | undefined
  for (const { unit } of samples) if (unit !== last) units.add((last = unit))
  const unknown = [...units].filter((unit) => !findConversion(provider, resource, unit))
  if (unknown.length) await tx.notify(unitsUnknown, provider, resourceNameOf(resource), unknown.slice(0, NOTED_MAX))
}

// Units that phones send and that are not known, in the log. Source: users-wearables.md 16.7.

const SAID_MAX = 10_000
/** Other texts could say anything of a patient. */
const UNIT = /^[a-zA-Z%°µμ·*/^0-9().]{1,12}$/

/** Says of each unit of a provider, resource and team once a day that it is not known. */
export function logUnits(log: Log) {
  const said = new LRUCache<string, true>({ max: SAID_MAX, ttl: DAY_MS })
  return (tx: Pick<Tx, 'afterCommit' | 'team' | 'tenant'>, provider: string, resource: string, units: readonly string[]): void =>
    tx.afterCommit(() => {
      const { cell } = tx.tenant
      for (const text of units) {
        const unit = UNIT.test(text) ? text : 'other'
        const key = JSON.stringify([tx.team, cell, provider, resource, unit])
        if (said.has(key)) continue
        said.set(key, true)
        log.warn({ cell, 'team.id': tx.team, provider, resource, unit }, 'unknown unit; values rejected')
      }
    })
}
