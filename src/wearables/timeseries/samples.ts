// A sample as the API shows it. Source: users-wearables.md 10; events.md 2, 4.2.
import type { Tx } from '../../platform/db/transaction.ts'
import { wireSource } from '../resources/data-source.ts'
import { detailsOf, readDetails } from '../resources/sample-details.ts'
import { timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import type { Sample, SampleSource } from './chunks.ts'

/** Whole seconds: the strictest reader of published clients fails on fractions. */
export const wireTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`

/** As `wireTime`, for instants of which most are of the same minute as the one before. */
function wireTimes(): (ms: number) => string {
  let minute = Number.NaN
  let text = ''
  return (ms) => {
    const seconds = Math.floor(ms / 1000)
    const of = Math.floor(seconds / 60)
    if (of !== minute) {
      minute = of
      text = new Date(of * 60_000).toISOString().slice(0, 17)
    }
    const second = seconds - of * 60
    return `${text}${second < 10 ? '0' : ''}${second}+00:00`
  }
}

const JOINED = 100

/** Many texts that become one list: a hundred at a time are joined, since garbage collections would move each of them several times. */
export class JoinedTexts {
  readonly #joined: string[] = []
  #recent: string[] = []

  push(text: string): void {
    if (this.#recent.push(text) < JOINED) return
    this.#joined.push(this.#recent.join())
    this.#recent = []
  }

  /** All of them, separated by commas. */
  end(): string {
    return (this.#recent.length ? [...this.#joined, this.#recent.join()] : this.#joined).join()
  }
}

/** The source of samples. Apps are kept apart, and only summaries name them. */
export const sampleSource = (tx: Pick<Tx, 'tenant'>, { provider, source_type, device_id, workout_id, sport }: SampleSource) =>
  wireSource(tx, provider, source_type, { app_id: null, device_id, workout_id, sport })

/** Voltages are hundreds in a second: they alone are shown with milliseconds. */
const wireTimeInMs = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}+00:00`

/** The type that samples have which are stored without one. */
const usualType: Partial<Record<TimeseriesName, string>> = { electrocardiogram_voltage: 'lead_1' }

/** A sample as JSON text: batches are long, and most of a sample is the same in all of them. */
export function sampleWriter(resource: TimeseriesName): (sample: Sample, source: SampleSource) => string {
  const { unit, isInterval } = timeseriesOf(resource)
  const units = JSON.stringify(unit)
  const untyped = JSON.stringify(usualType[resource] ?? null)
  const instant = resource === 'electrocardiogram_voltage' ? wireTimeInMs : wireTimes()
  const endOf = wireTimes()
  if (detailsOf(resource).length) return detailedWriter(resource)
  return ({ at_ms, value, second, length_ms, zone_s, type }, source) => {
    const at = `"${instant(at_ms)}"`
    const measured =
      resource === 'blood_pressure'
        ? `"systolic":${value},"diastolic":${second},"grouping":${JSON.stringify([source.source_type, source.workout_id, source.sport, source.device_id])}`
        : `"value":${value}`
    const span = isInterval || length_ms !== null ? `,"start":${at},"end":"${endOf(at_ms + (length_ms ?? 0))}"` : ''
    return `{"id":null,"timestamp":${at},"timezone_offset":${zone_s},"type":${type === null ? untyped : JSON.stringify(type)},"unit":${units},${measured}${span}}`
  }
}

/** As `sampleWriter`, for timeseries of few samples, which have further fields. The value of a note is its text. */
function detailedWriter(resource: TimeseriesName): (sample: Sample) => string {
  const { unit } = timeseriesOf(resource)
  return ({ at_ms, value, length_ms, zone_s, type: stored }) => {
    const { type, details } = readDetails(resource, stored)
    const { content, ...more } = details
    const [start, end] = [wireTime(at_ms), wireTime(at_ms + (length_ms ?? 0))]
    const measured = { id: null, timestamp: start, timezone_offset: zone_s, type, unit, value: content ?? value }
    return JSON.stringify({ ...measured, start, end, ...more })
  }
}
