// A sample as the API shows it. Source: users-wearables.md 10; events.md 2, 4.2.
import type { Tx } from '../../platform/db/transaction.ts'
import { wireSource } from '../resources/data-source.ts'
import { detailsOf, readDetails } from '../resources/sample-details.ts'
import { timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import type { Sample, SampleSource } from './chunks.ts'

const MINUTE_MS = 60_000

/** As `wireTime`, for instants of which most are of the same minute as the one before: formatting a date takes longer than all the rest. */
function wireTimes(): (ms: number) => string {
  let minute = Number.NaN
  let text = ''
  return (ms) => {
    const seconds = Math.floor(ms / 1000)
    if (Math.floor(seconds / 60) !== minute) {
      minute = Math.floor(seconds / 60)
      text = new Date(minute * MINUTE_MS).toISOString().slice(0, 17)
    }
    return `${text}${String(seconds - minute * 60).padStart(2, '0')}+00:00`
  }
}

/** Voltages are hundreds in a second: they alone are shown with milliseconds. */
const wireTimeInMs = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}+00:00`

/** The source of samples. Apps are kept apart, and only summaries name them. */
export const sampleSource = (tx: Pick<Tx, 'tenant'>, { provider, source_type, device_id, workout_id, sport }: SampleSource) =>
  wireSource(tx, provider, source_type, { app_id: null, device_id, workout_id, sport })

/** The type of samples that are stored without one. */
const defaultTypes: Partial<Record<TimeseriesName, string>> = { electrocardiogram_voltage: 'lead_1' }

/** Returns a function that makes samples of a resource as the API shows them. The value of a note is its text. */
export function sampleFormatter(resource: TimeseriesName): (sample: Sample, source: SampleSource) => Record<string, unknown> {
  const { unit, isInterval } = timeseriesOf(resource)
  const hasDetails = detailsOf(resource).length > 0
  const toStart = resource === 'electrocardiogram_voltage' ? wireTimeInMs : wireTimes()
  const toEnd = wireTimes()
  return ({ at_ms, value, second, length_ms, zone_s, type: stored }, source) => {
    const read = hasDetails ? readDetails(resource, stored) : undefined
    const start = toStart(at_ms)
    const type = read ? read.type : (stored ?? defaultTypes[resource] ?? null)
    const shown: Record<string, unknown> = { id: null, timestamp: start, timezone_offset: zone_s, type, unit }
    if (resource === 'blood_pressure') {
      shown.systolic = value
      shown.diastolic = second
      shown.grouping = [source.source_type, source.workout_id, source.sport, source.device_id]
    } else shown.value = read?.details.content ?? value
    if (isInterval || length_ms !== null || read) {
      shown.start = start
      shown.end = toEnd(at_ms + (length_ms ?? 0))
    }
    if (!read) return shown
    const { content: _value, ...details } = read.details
    return Object.assign(shown, details)
  }
}
