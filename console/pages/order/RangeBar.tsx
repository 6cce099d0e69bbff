import type { LabResults } from './order-queries.ts'
import { placeInRange } from './place-in-range.ts'
import classes from './RangeBar.module.css'

type Result = LabResults['results'][number]

const WIDTH = 120
const HEIGHT = 14

/** The reference range of a result as text and, where both are numbers, as a bar with the place of the value. */
export function RangeBar({ result }: { result: Result }) {
  const place = placeInRange(result)
  return (
    <span className={classes.range}>
      {place && (
        <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
          <rect className={classes.outside} x="0" y="5" width={WIDTH} height="4" rx="2" />
          <rect className={classes.inside} x={place.low * WIDTH} y="5" width={(place.high - place.low) * WIDTH} height="4" />
          <circle className={classes.value} data-outside={place.isOutside} cx={place.value * WIDTH} cy="7" r="4.5" />
        </svg>
      )}
      <span>{result.reference_range ?? rangeText(result)}</span>
    </span>
  )
}

function rangeText({ min_range_value: low, max_range_value: high }: Result): string {
  if (low !== null && high !== null) return `${low} – ${high}`
  if (low !== null) return `from ${low}`
  return high === null ? '' : `up to ${high}`
}
