// Where a number lies in its reference range, as shares of a bar's width.

export interface RangePlace {
  low: number
  high: number
  value: number
  isOutside: boolean
}

/** Of the bar: what lies outside of the range on each side. */
const MARGIN = 0.2
/** A value beyond the bar is drawn at its end. */
const [FIRST, LAST] = [0.04, 0.96]

interface Numbers {
  type: string
  value?: number | null
  min_range_value: number | null
  max_range_value: number | null
}

/**
 * The place of a numeric value between two bounds; undefined for other results, and if a bound is missing. A result such as `<5` is no
 * number: its place is not known.
 */
export function placeInRange({ type, value, min_range_value: low, max_range_value: high }: Numbers): RangePlace | undefined {
  if (type !== 'numeric' || value === null || value === undefined || low === null || high === null || high <= low)
    return undefined
  const share = MARGIN + ((value - low) / (high - low)) * (1 - 2 * MARGIN)
  return {
    low: MARGIN,
    high: 1 - MARGIN,
    value: Math.min(LAST, Math.max(FIRST, share)),
    isOutside: value < low || value > high,
  }
}
