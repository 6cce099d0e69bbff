// Conversion of what phones send to the unit of each timeseries. Source: users-wearables.md 16.7.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { resourceNameOf, timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'

const MG_DL_PER_MMOL_L = 18.0182

/** By resource: the units, in lower case, whose values are converted, and the factor. */
const factors: Partial<Record<TimeseriesName, Record<string, number>>> = {
  glucose: { 'mg/dl': 1 / MG_DL_PER_MMOL_L },
  caffeine: { mg: 0.001 },
}

/**
 * What a value in a unit is multiplied by. Health Connect and Samsung Health send kilocalories under the name `kJ`, and Apple Health sends
 * SDNN under the name `rmssd`: their numbers stay. A unit that is not known for a resource counts as the unit of the resource.
 */
export function unitFactor(resource: TimeseriesName, unit: string): number {
  const known = factors[resource]
  const named = unit.trim().toLowerCase()
  return known && Object.hasOwn(known, named) ? known[named]! : 1
}

/** A value in the unit of its resource. */
export const toCanonicalUnit = (resource: TimeseriesName, value: number, unit: string): number =>
  value * unitFactor(resource, unit)

/** A phone has sent values of a resource in units that are not known for it. */
export const unitsUnknown = hookPoint<[provider: string, resource: string, units: string[]]>('ingestion.units_unknown')

/** What phones call a unit, in lower case; an empty text means the unit of the resource. */
const spellings: Record<string, readonly string[]> = {
  '%': ['percent'],
  '°C': ['degc', 'c', 'celsius'],
  bpm: ['count/min', 'beats/min', 'breaths/min', '/min'],
  count: ['count/min'],
  index: ['count', 'kg/m²', 'kg/m^2', 'kg/m2'],
  kcal: ['kj', 'cal'],
  'mL/kg/min': ['ml/min·kg', 'ml/kg·min', 'ml/(kg*min)'],
  rmssd: ['ms'],
  unit: ['iu'],
}

/** Whether phones call the unit of a resource so, or one that is converted to it. */
export function isKnown(resource: TimeseriesName, unit: string): boolean {
  const named = unit.trim().toLowerCase()
  const own = timeseriesOf(resource).unit
  const known = named === '' || named === own.toLowerCase() || spellings[own]?.includes(named)
  return known || Object.hasOwn(factors[resource] ?? {}, named)
}

/** Units in one notice. */
const NOTED_MAX = 5

/** Notifies of units that are not known for a resource: their values are stored as they are. */
export async function noteUnits(
  tx: Tx,
  provider: string,
  resource: TimeseriesName,
  samples: readonly { unit: string }[],
): Promise<void> {
  const units = new Set<string>()
  let last: string | undefined
  for (const { unit } of samples) if (unit !== last) units.add((last = unit))
  const unknown = [...units].filter((unit) => !isKnown(resource, unit))
  if (unknown.length) await tx.notify(unitsUnknown, provider, resourceNameOf(resource), unknown.slice(0, NOTED_MAX))
}
