// Records of Polar AccessLink, Dynamic API v4, as samples and summaries. Lists may be wrapped or not, and empty ones left out.
import { midnight } from '../answers.ts'
import {
  day,
  readInstant,
  instantOfText,
  readList,
  localTime,
  readNumber,
  objectOrEmpty,
  readText,
  readInteger,
  type Values,
} from '../reading.ts'
import { SampleBatches, toDevice, instantIn, offsetAt, offsetBetween } from '../vendor-records.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

/** A list by its name, in the answer itself or one or two levels deeper. */
export function listRecords(values: Values, name: string, wrapper?: string): Values[] {
  const outer = wrapper === undefined ? values : values[wrapper] === undefined ? values : objectOrEmpty(values[wrapper])
  const found = outer[name]
  if (found === undefined || found === null) return []
  return readList(Array.isArray(found) ? found : objectOrEmpty(found)[name])
}

const midnightIn = (zone: string | null, date: string): number => instantIn(zone, Date.parse(`${date}T00:00:00Z`))

/** Heart rates of days, by milliseconds since the local midnight. */
export function addHeartRates(batches: SampleBatches, body: Values, zone: string | null): void {
  for (const record of listRecords(body, 'heartRateSamplesPerDay', 'continuousSamples')) {
    const date = day(record.date)
    if (date === null) continue
    for (const { heartRate, offsetMillis } of readList(record.samples)) {
      const [value, offset_ms] = [readNumber(heartRate), readNumber(offsetMillis)]
      if (value === null || value <= 0 || offset_ms === null || offset_ms < 0 || offset_ms > 2 * DAY_MS) continue
      const at_ms = midnightIn(zone, date) + Math.floor(offset_ms / 1000) * 1000
      batches.add('heartrate', { at_ms, value, offset_s: offsetAt(zone, at_ms), source_type: 'watch' })
    }
  }
}

/** The start of a series: a time of the day, or a local time or an instant. */
function readStart(value: unknown, date: string, zone: string | null): number | null {
  const time = readText(value)
  if (time === null) return null
  const local = localTime(/^\d\d:\d\d/.test(time) ? `${date}T${time}` : time)
  return local === null ? instantOfText(time) : instantIn(zone, local)
}

/** Days with steps. Of several devices at one time, the one that counted most: their steps are the same ones. */
export function addSteps(batches: SampleBatches, body: Values, zone: string | null): IncomingSummary<'activity'>[] {
  return listRecords(body, 'activityDays', 'activities').flatMap((record): IncomingSummary<'activity'>[] => {
    const date = day(record.date)
    if (date === null) return []
    const devices = readList(record.activitiesPerDevice).map(({ deviceReference, activitySamples }) => ({
      device: toDevice('watch', { manufacturer: 'Polar', device_id: objectOrEmpty(deviceReference).deviceId }),
      samples: readList(activitySamples).flatMap(({ stepSamples }) => stepsIn(objectOrEmpty(stepSamples), date, zone)),
    }))
    const sum = (samples: { value: number }[]) => samples.reduce((total, { value }) => total + value, 0)
    const [counted] = devices.toSorted((a, b) => sum(b.samples) - sum(a.samples))
    const { samples: most, device } = counted ?? { samples: [], device: null }
    // A day without samples is only a date, and says nothing.
    if (!most.length) return []
    for (const sample of most)
      if (sample.value > 0)
        batches.add('steps', { ...sample, offset_s: offsetAt(zone, sample.at_ms), source_type: 'watch', device })
    const offset_s = offsetAt(zone, midnightIn(zone, date) + DAY_MS / 2)
    const common = { date: midnight(date), calendar_date: date, time_zone: zone, timezone_offset: offset_s }
    const document = { ...common, steps: sum(most) }
    return [{ key: date, source_type: 'watch', app_id: null, device, calendar_date: date, document }]
  })
}

function stepsIn({ startTime, interval, steps }: Values, date: string, zone: string | null) {
  const [start_ms, every_ms] = [readStart(startTime, date, zone), readNumber(interval)]
  if (start_ms === null || every_ms === null || every_ms < 1000 || every_ms > DAY_MS) return []
  if (!Array.isArray(steps) || steps.length > 90_000) return []
  return steps.flatMap((count: unknown, i) => {
    const value = readInteger(count)
    const at_ms = readInstant(start_ms + i * every_ms)
    return value === null || value < 0 || at_ms === null
      ? []
      : [{ at_ms, value, end_ms: at_ms + Math.round(every_ms / 1000) * 1000 }]
  })
}

export const offsetIn = (value: unknown): number | null => {
  const time = readText(value)
  const at_ms = instantOfText(time)
  return time === null || at_ms === null ? null : offsetBetween(localTime(time.replace(/(Z|[+-]\d\d:?\d\d)$/, '')), at_ms)
}
