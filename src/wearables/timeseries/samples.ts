// A sample as the API shows it. Source: users-wearables.md 10; events.md 2, 4.2.
import type { Tx } from '../../platform/db/transaction.ts'
import { wireSource } from '../resources/data-source.ts'
import { detailsOf, readDetails } from '../resources/sample-details.ts'
import { timeseriesOf, type TimeseriesName } from '../resources/timeseries.ts'
import type { Sample, SampleSource } from './chunks.ts'
import { wireTime } from '../../platform/runtime/clock.ts'

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
    if (this.#recent.push(text) === JOINED) this.#join()
  }

  #join(): void {
    const text = this.#recent.join()
    this.#joined.push(this.#joined.length ? `,${text}` : text)
    this.#recent = []
  }

  /** All of them, separated by commas, in parts: one text of them would be long, and its memory fresh. */
  end(): readonly string[] {
    if (this.#recent.length) this.#join()
    return this.#joined
  }
}

/** The source of samples. Apps are kept apart, and only summaries name them. */
export const sampleSource = (tx: Pick<Tx, 'tenant'>, { provider, source_type, device_id, workout_id, sport }: SampleSource) =>
  wireSource(tx, provider, source_type, { app_id: null, device_id, workout_id, sport })

/** Voltages are hundreds in a second: they alone are shown with milliseconds. */
const wireTimeInMs = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}+00:00`

/** The type that samples have which are stored without one. */
const usualType: Partial<Record<TimeseriesName, string>> = { electrocardiogram_voltage: 'lead_1' }

const MINUTE_MS = 60_000
const twoDigits = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))

/**
 * A sample as JSON text. Batches are long, and samples have most of it in common: the text up to the minute is made once for each minute,
 * and the text from the second to the value once for each second. Every further part would be an object until the parts are joined.
 */
export function sampleWriter(resource: TimeseriesName): (sample: Sample, source: SampleSource) => string {
  const { unit, isInterval } = timeseriesOf(resource)
  const isPressure = resource === 'blood_pressure'
  const hasMs = resource === 'electrocardiogram_voltage'
  const startOf = wireTimes()
  const endOf = wireTimes()
  if (detailsOf(resource).length) return detailedWriter(resource)
  let minute = Number.NaN
  let to_minute = ''
  /** The zone and the type of `from_second`. */
  let [zone, kind]: [number | null | undefined, string | null] = [undefined, null]
  let from_second: (string | undefined)[] = []
  const after = (second: string): string =>
    `${second}+00:00","timezone_offset":${zone},"type":${JSON.stringify(kind ?? usualType[resource] ?? null)},"unit":${JSON.stringify(unit)},${isPressure ? '' : '"value":'}`
  return ({ at_ms, value, second, length_ms, zone_s, type }, source) => {
    if (zone_s !== zone || type !== kind) {
      zone = zone_s
      kind = type
      from_second = []
    }
    const of = Math.floor(at_ms / MINUTE_MS)
    if (of !== minute) {
      minute = of
      to_minute = `{"id":null,"timestamp":"${new Date(of * MINUTE_MS).toISOString().slice(0, 17)}`
    }
    const seconds = Math.floor(at_ms / 1000) - of * 60
    const middle = hasMs
      ? after(new Date(at_ms).toISOString().slice(17, 23))
      : (from_second[seconds] ??= after(twoDigits[seconds]!))
    const measured = isPressure
      ? `"systolic":${value},"diastolic":${second},"grouping":${JSON.stringify([source.source_type, source.workout_id, source.sport, source.device_id])}`
      : value
    if (!isInterval && length_ms === null) return `${to_minute}${middle}${measured}}`
    return `${to_minute}${middle}${measured},"start":"${hasMs ? wireTimeInMs(at_ms) : startOf(at_ms)}","end":"${endOf(at_ms + (length_ms ?? 0))}"}`
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
