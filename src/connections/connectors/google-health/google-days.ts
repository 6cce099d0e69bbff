// Days of the Google Health API: each type of data is added up by Google. Source: discovery document of v4, dailyRollUp.
import { midnight } from '../answers.ts'
import type { Access, PullRequest, Pulled } from '../connector.ts'
import { readList, numberOrText, object, objectOrEmpty, secondsOf, readInteger, type Values } from '../reading.ts'
import { knownZone, offsetAt } from '../vendor-records.ts'
import type { IncomingSummary } from '../../../wearables/summaries/summaries.ts'
import { dateIn, fieldOf } from './data-points.ts'
import { rangeFilter, civilDays, points, POINTS_MAX, readPath } from './google-health-requests.ts'

type Day = Record<string, unknown>
/** What only queries show. */
const SEDENTARY = 'intensity_sedentary_second'
/** `3600s` */
const secondsIn = (value: unknown): number | null => readInteger(secondsOf(value))
const activeMinutes = (value: Values, level: string): number | null => {
  const levels = readList(value.activeMinutesRollupByActivityLevel)
  const found = levels.find((candidate) => candidate.activityLevel === level)
  return found ? numberOrText(found.activeMinutesSum) : null
}

/** What each type that Google adds up by days says of a day. */
const rollUps: Readonly<Record<string, (value: Values) => Day>> = {
  steps: (value) => ({ steps: readInteger(numberOrText(value.countSum)) }),
  distance: (value) => ({ distance: (numberOrText(value.millimetersSum) ?? 0) / 1000 }),
  floors: (value) => ({ floors_climbed: readInteger(numberOrText(value.countSum)) }),
  'active-energy-burned': (value) => ({ calories_active: numberOrText(value.kcalSum) }),
  'total-calories': (value) => ({ calories_total: numberOrText(value.kcalSum) }),
  'active-minutes': (value) => ({
    low: activeMinutes(value, 'LIGHT'),
    medium: activeMinutes(value, 'MODERATE'),
    high: activeMinutes(value, 'VIGOROUS'),
  }),
  'sedentary-period': (value) => ({ [SEDENTARY]: secondsIn(value.durationSum) }),
  'heart-rate': (value) => ({
    avg_bpm: numberOrText(value.beatsPerMinuteAvg),
    min_bpm: numberOrText(value.beatsPerMinuteMin),
    max_bpm: numberOrText(value.beatsPerMinuteMax),
  }),
}
const rateNames = ['avg_bpm', 'min_bpm', 'max_bpm', 'resting_bpm'] as const

/** Days: each type is added up by Google over all sources, without counting anything twice. */
export async function* pullActivity(access: Access, request: PullRequest): AsyncGenerator<Pulled> {
  const days = new Map<string, Day>()
  const note = (date: string | null, values: Day) => date !== null && days.set(date, { ...days.get(date), ...values })
  const [first, end] = civilDays(request)
  const dateOf = (day: string) => ({ date: dateParts(day) })
  for (const [type, readValue] of Object.entries(rollUps)) {
    const body = { range: { start: dateOf(first), end: dateOf(end) }, windowSizeDays: 1 }
    const values = await readPath(access, `users/me/dataTypes/${type}/dataPoints:dailyRollUp`, body)
    for (const point of readList(values.rollupDataPoints)) {
      const value = point[fieldOf(type)]
      if (value !== undefined) note(dateIn(objectOrEmpty(point.civilStartTime).date), readValue(object(value)))
    }
  }
  const filter = rangeFilter('daily_resting_heart_rate.date', first, end)
  for await (const found of points(access, 'daily-resting-heart-rate', filter, POINTS_MAX))
    for (const point of found) {
      const { date, beatsPerMinute } = objectOrEmpty(point.dailyRestingHeartRate)
      note(dateIn(date), { resting_bpm: numberOrText(beatsPerMinute) })
    }
  const zone = knownZone(request.time_zone)
  const records = [...days].map(([date, values]) => toActivity(date, values, zone))
  if (records.length) yield { kind: 'activity', records }
}

const dateParts = (day: string) => {
  const [year, month, date] = day.split('-').map(Number)
  return { year, month, day: date }
}

function toActivity(calendar_date: string, values: Day, zone: string | null): IncomingSummary<'activity'> {
  const { avg_bpm, min_bpm, max_bpm, resting_bpm, [SEDENTARY]: sedentary, ...document } = values
  const rates = { avg_bpm, min_bpm, max_bpm, resting_bpm, avg_walking_bpm: null }
  const hasRates = rateNames.some((name) => values[name] !== undefined && values[name] !== null)
  return {
    key: calendar_date,
    source_type: 'multiple_sources',
    app_id: null,
    calendar_date,
    ...(typeof sedentary === 'number' && { query_values: { [SEDENTARY]: sedentary } }),
    document: {
      date: midnight(calendar_date),
      calendar_date,
      ...document,
      time_zone: zone,
      timezone_offset: offsetAt(zone, Date.parse(`${calendar_date}T12:00:00Z`)),
      ...(hasRates && { heart_rate: Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, rate ?? null])) }),
    },
  }
}
