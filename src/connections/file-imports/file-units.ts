// Values of files in the unit of each timeseries. Source: Apple's export.xml; users-wearables.md 16.7.
import { dimensions, type Dimension } from '../../wearables/resources/dimensions.ts'

export { dimensions, type Dimension }

/** A factor leaves digits that the device did not measure. */
const round = (value: number): number => Number(value.toPrecision(12))

/**
 * A value in the canonical unit of a dimension; undefined for a unit that is not known. Percentages are fractions in Apple's exports and
 * percent elsewhere: up to 1 they are fractions.
 */
export function toCanonical(dimension: Dimension, value: number, unit: string): number | undefined {
  if (dimension === 'celsius' && (unit === 'degF' || unit === '°F')) return round(((value - 32) * 5) / 9)
  if (dimension === 'celsius' && unit === 'K') return round(value - 273.15)
  // Apple names the molar mass with the unit: `mmol<180.1558800000541>/L`.
  const plain = dimension === 'glucose' ? unit.replace(/<[\d.]+>/, '') : unit
  const units: Record<string, number> = dimensions[dimension]
  const factor = Object.hasOwn(units, plain) ? units[plain]! : undefined
  if (factor === undefined) return undefined
  if (dimension === 'percent') return value <= 1 ? round(value * 100) : value
  return factor === 1 ? value : round(value * factor)
}

/** A number with its unit in one text, as in metadata: `418 cm`. Undefined if it is none, or has another dimension. */
export function parseQuantity(dimension: Dimension, text: string | undefined): number | undefined {
  const [, digits, unit] = /^\s*(-?\d+(?:\.\d+)?)\s*(\S+)\s*$/.exec(text ?? '') ?? []
  return digits === undefined ? undefined : toCanonical(dimension, Number(digits), unit!)
}
