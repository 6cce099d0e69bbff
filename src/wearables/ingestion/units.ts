// Conversion of what phones send to the unit of each timeseries. Source: users-wearables.md 16.7.
import type { TimeseriesName } from '../resources/timeseries.ts'

const MG_DL_PER_MMOL_L = 18.0182

/** By resource: the units, in lower case, whose values are converted, and the factor. */
const factors: Partial<Record<TimeseriesName, Record<string, number>>> = {
  glucose: { 'mg/dl': 1 / MG_DL_PER_MMOL_L },
  caffeine: { mg: 0.001 },
}

/**
 * Health Connect and Samsung Health send kilocalories under the name `kJ`, and Apple Health sends SDNN under the name `rmssd`: their
 * numbers stay. A unit that is not known for a resource counts as the unit of the resource.
 */
export const toCanonicalUnit = (resource: TimeseriesName, value: number, unit: string): number => {
  const named = unit.trim().toLowerCase()
  const known = factors[resource]
  return known && Object.hasOwn(known, named) ? value * known[named]! : value
}
