// The data of days of a fictional person as it is known at an instant: late and preliminary data becomes what it is in the end.
import { wireTime } from '../../platform/runtime/clock.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { SourceType, TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { sportOf } from '../../wearables/resources/sports.ts'
import { zoneOffset } from '../../wearables/resources/zones.ts'
import type { Document, SummaryKind } from '../../wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { cycleStart, dayRange, stepsOf, workoutsOf } from './day-plan.ts'
import { nightOf, stagesUntil, type Night } from './night.ts'
import { dateOf, localInstant, weekdayOf, type Day, type Person } from './person.ts'
import { around, between, randomOf, rounded } from './random.ts'
import { glucoseLevels, heartRates, heartRateVariability, type Measured } from './vitals.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'

export const demoProviders = ['apple_health_kit', 'fitbit', 'freestyle_libre', 'oura'] as const
export type DemoProvider = (typeof demoProviders)[number]

interface Device {
  source_type: SourceType
  app_id: string | null
  timeseries: readonly TimeseriesName[]
  summaries: readonly SummaryKind[]
}

const nights = ['sleep', 'sleep_cycle'] as const
/** What each device records. */
export const devices: Record<DemoProvider, Device> = {
  apple_health_kit: {
    source_type: 'watch',
    app_id: 'com.apple.health.demo',
    timeseries: ['heartrate', 'hrv', 'steps', 'distance', 'calories_active', 'body_weight'],
    summaries: ['profile', 'activity', ...nights, 'workouts', 'body', 'menstrual_cycle'],
  },
  fitbit: {
    source_type: 'watch',
    app_id: null,
    timeseries: ['heartrate', 'hrv', 'steps', 'distance', 'calories_active'],
    summaries: ['profile', 'activity', ...nights, 'workouts'],
  },
  freestyle_libre: { source_type: 'automatic', app_id: null, timeseries: ['glucose'], summaries: [] },
  oura: {
    source_type: 'ring',
    app_id: null,
    timeseries: ['heartrate', 'hrv'],
    summaries: ['profile', 'activity', ...nights, 'workouts'],
  },
}

/** Until a device has passed on what it measured. */
const LAG_MS = 10 * MINUTE_MS
/** When the night of a device is final. */
const CONFIRMED_MS = 6 * HOUR_MS
/** How many days before the present one still change: late hours of a day are there in the morning of the next one. */
export const OPEN_DAYS = 1

/** Hours whose data comes late, on some days: the phone was not near the device. */
function lateHours({ seed, zone }: Person, day: Day): { from_ms: number; to_ms: number; until_ms: number } | undefined {
  const random = randomOf(seed, 'late', day)
  if (random() >= 0.17) return undefined
  const from_ms = localInstant(zone, day, Math.round(between(random, 8, 18)) * 60)
  const to_ms = from_ms + 3 * HOUR_MS
  return { from_ms, to_ms, until_ms: to_ms + Math.round(between(random, 3, 9)) * HOUR_MS }
}

/** Whether a measurement that ends at an instant is known. */
function isKnown(person: Person, day: Day, known_ms: number): (at_ms: number) => boolean {
  const late = lateHours(person, day)
  return (at_ms) =>
    at_ms + LAG_MS <= known_ms && !(late && at_ms >= late.from_ms && at_ms < late.to_ms && known_ms < late.until_ms)
}

/** On some days a glucose sensor shows too high values for two hours, which it corrects five hours later. */
function uncalibrated(person: Person, day: Day, known_ms: number): (measured: Measured) => Measured {
  const random = randomOf(person.seed, 'calibration', day)
  const from_ms = localInstant(person.zone, day, Math.round(between(random, 7, 17)) * 60)
  const to_ms = from_ms + 2 * HOUR_MS
  if (random() >= 0.3 || known_ms >= to_ms + 5 * HOUR_MS) return (measured) => measured
  return ({ at_ms, value }) => ({ at_ms, value: at_ms >= from_ms && at_ms < to_ms ? rounded(value + 0.6, 1) : value })
}

const KCAL_A_STEP = 0.0005

/** The hours of movement, the last of which grows. */
function movement(person: Person, day: Day, known_ms: number) {
  const known = isKnown(person, day, known_ms)
  return stepsOf(person, day).flatMap(({ at_ms, steps, meters }) => {
    if (!known(at_ms)) return []
    const share = Math.min(1, (known_ms - LAG_MS - at_ms) / HOUR_MS)
    const counted = Math.floor(steps * share)
    return [
      { at_ms, steps: counted, meters: Math.floor(meters * share), kcal: rounded(counted * KCAL_A_STEP * person.weight_kg, 1) },
    ]
  })
}

const weightOf = (person: Person, day: Day): number =>
  rounded(person.weight_kg + 0.8 * Math.sin(day / 23) + around(randomOf(person.seed, 'weight', day), 0, 0.25), 1)

/** The samples of a day that are known at an instant. */
export function samplesOf(
  person: Person,
  provider: DemoProvider,
  day: Day,
  known_ms: number,
): Map<TimeseriesName, IncomingSample[]> {
  const { source_type, app_id, timeseries } = devices[provider]
  const known = isKnown(person, day, known_ms)
  const sampled = (measured: Measured[], length_ms: number | null = null): IncomingSample[] =>
    measured.map(({ at_ms, value }) => ({
      at_ms,
      value,
      second: null,
      length_ms,
      zone_s: zoneOffset(person.zone, at_ms),
      type: null,
      source_type,
      app_id,
    }))
  const ofHours = (value: (hour: { steps: number; meters: number; kcal: number }) => number) =>
    sampled(
      movement(person, day, known_ms)
        .map((hour) => ({ at_ms: hour.at_ms, value: value(hour) }))
        .filter(({ value }) => value > 0),
      HOUR_MS,
    )
  const instants = (measured: Measured[]) => sampled(measured.filter(({ at_ms }) => known(at_ms)))
  const weighed_ms = nightOf(person, day).stop_ms + 5 * MINUTE_MS
  const make: Partial<Record<TimeseriesName, () => IncomingSample[]>> = {
    heartrate: () => instants(heartRates(person, day)),
    hrv: () => instants(heartRateVariability(person, day)),
    glucose: () =>
      instants(glucoseLevels(person, day).map(uncalibrated(person, day, known_ms))).map((one) => ({ ...one, type: 'automatic' })),
    steps: () => ofHours(({ steps }) => steps),
    distance: () => ofHours(({ meters }) => meters),
    calories_active: () => ofHours(({ kcal }) => kcal),
    body_weight: () => (weekdayOf(day) ? [] : instants([{ at_ms: weighed_ms, value: weightOf(person, day) }])),
  }
  return new Map(timeseries.map((name) => [name, make[name]!()]))
}

const mean = (values: number[]): number | null =>
  values.length ? rounded(values.reduce((sum, one) => sum + one, 0) / values.length, 1) : null
const least = (values: number[]): number | null => (values.length ? values.reduce((a, b) => Math.min(a, b)) : null)
const greatest = (values: number[]): number | null => (values.length ? values.reduce((a, b) => Math.max(a, b)) : null)
const midnight = (day: Day): string => `${dateOf(day)}T00:00:00+00:00`

/** The values of heart rates that are known of a range. */
const ratesWithin = (person: Person, day: Day, known_ms: number, from_ms: number, to_ms: number): number[] => {
  const known = isKnown(person, day, known_ms)
  return [...heartRates(person, day - 1), ...heartRates(person, day), ...heartRates(person, day + 1)]
    .filter(({ at_ms }) => at_ms >= from_ms && at_ms < to_ms && known(at_ms))
    .map(({ value }) => value)
}

const minutesOfWorkouts = (person: Person, day: Day, known_ms: number) =>
  workoutsOf(person, day)
    .filter(({ stop_ms }) => isKnown(person, day, known_ms)(stop_ms))
    .reduce((sum, { start_ms, stop_ms }) => sum + (stop_ms - start_ms) / MINUTE_MS, 0)

function activityOf(person: Person, day: Day, known_ms: number): Document<'activity'> | undefined {
  const [from_ms, to_ms] = dayRange(person, day)
  const hours = movement(person, day, known_ms)
  if (!hours.length) return undefined
  const sum = (value: (hour: (typeof hours)[number]) => number) => hours.reduce((total, hour) => total + value(hour), 0)
  const rates = ratesWithin(person, day, known_ms, from_ms, to_ms)
  const basal = (10 * person.weight_kg + 6.25 * person.height_cm - 5 * 40 + (person.sex === 'male' ? 5 : -161)) / 24
  const [steps, active, high] = [sum((hour) => hour.steps), sum((hour) => hour.kcal), minutesOfWorkouts(person, day, known_ms)]
  return {
    date: midnight(day),
    calendar_date: dateOf(day),
    calories_total: rounded(active + high * 6 + basal * hours.length),
    calories_active: rounded(active + high * 6, 1),
    steps,
    distance: sum((hour) => hour.meters),
    low: Math.round(steps / 95),
    medium: Math.round(steps / 260),
    high: Math.round(high),
    floors_climbed: Math.round(steps / 900),
    time_zone: person.zone,
    timezone_offset: zoneOffset(person.zone, to_ms - 1),
    heart_rate: {
      avg_bpm: mean(rates),
      min_bpm: least(rates),
      max_bpm: greatest(rates),
      resting_bpm: person.resting_bpm,
      avg_walking_bpm: null,
    },
  }
}

function sleepOf(person: Person, day: Day, night: Night, known_ms: number): Document<'sleep'> {
  const isConfirmed = known_ms >= night.stop_ms + CONFIRMED_MS
  const stop_ms = isConfirmed ? night.stop_ms : night.first_stop_ms
  const stages = stagesUntil(night, stop_ms)
  const seconds = (type: number) => stages.reduce((sum, one) => sum + (one.type === type ? one.to_s - one.from_s : 0), 0)
  const [deep, light, rem, awake] = [seconds(1), seconds(2), seconds(3), seconds(4)]
  const total = deep + light + rem
  const duration = (stop_ms - night.start_ms) / 1000
  const rates = ratesWithin(person, day, Infinity, night.start_ms, stop_ms)
  const random = randomOf(person.seed, 'sleep', day)
  return {
    date: midnight(day),
    calendar_date: dateOf(day),
    bedtime_start: wireTime(night.start_ms),
    bedtime_stop: wireTime(stop_ms),
    type: 'long_sleep',
    timezone_offset: zoneOffset(person.zone, stop_ms),
    duration,
    total,
    awake,
    light,
    rem,
    deep,
    score: Math.round(Math.min(97, 45 + (40 * total) / 28_800 + (12 * (deep + rem)) / total)),
    hr_lowest: least(rates),
    hr_average: Math.round(mean(rates) ?? person.resting_bpm),
    hr_resting: person.resting_bpm,
    efficiency: rounded((total / duration) * 100, 1),
    latency: stages.find(({ type }) => type !== 4)?.from_s ?? null,
    temperature_delta: rounded(around(random, 0, 0.2), 2),
    state: isConfirmed ? 'confirmed' : 'tentative',
    average_hrv: mean(heartRateVariability(person, day).map(({ value }) => value)),
    respiratory_rate: rounded(around(random, 14.6, 0.6), 1),
  }
}

/** The night of a day, without the id that its stages name; undefined until it is known. */
export function stagesOf(
  person: Person,
  provider: DemoProvider,
  day: Day,
  known_ms: number,
): IncomingSummary<'sleep_cycle'> | undefined {
  const night = nightOf(person, day)
  if (!devices[provider].summaries.includes('sleep_cycle') || night.first_stop_ms + LAG_MS > known_ms) return undefined
  const stop_ms = known_ms >= night.stop_ms + CONFIRMED_MS ? night.stop_ms : night.first_stop_ms
  const stages = stagesUntil(night, stop_ms)
  return {
    ...recordOf(provider, nightKey(day), day),
    document: {
      session_start: wireTime(night.start_ms),
      session_end: wireTime(stop_ms),
      stage_start_offset_second: stages.map(({ from_s }) => from_s),
      stage_end_offset_second: stages.map(({ to_s }) => to_s),
      stage_type: stages.map(({ type }) => type),
      time_zone: person.zone,
    },
  }
}

export const nightKey = (day: Day): string => `demo-night-${dateOf(day)}`

const recordOf = (provider: DemoProvider, key: string, day: Day | null) => ({
  key,
  source_type: devices[provider].source_type,
  app_id: devices[provider].app_id,
  calendar_date: day === null ? null : dateOf(day),
})

/** The summaries of a day that are known at an instant, by kind, without the stages of nights. */
export function summariesOf(
  person: Person,
  provider: DemoProvider,
  day: Day,
  known_ms: number,
): Map<SummaryKind, IncomingSummary[]> {
  const known = isKnown(person, day, known_ms)
  const night = nightOf(person, day)
  const one = (key: string, of: Day | null, document: object | undefined): IncomingSummary[] =>
    document ? [{ ...recordOf(provider, key, of), document } as IncomingSummary] : []
  const { sex } = person
  const make: Partial<Record<SummaryKind, () => IncomingSummary[]>> = {
    profile: () => one('', null, { height: person.height_cm, birth_date: person.birth_date, gender: sex, sex }),
    activity: () => one(dateOf(day), day, activityOf(person, day, known_ms)),
    sleep: () => (night.first_stop_ms + LAG_MS > known_ms ? [] : one(nightKey(day), day, sleepOf(person, day, night, known_ms))),
    workouts: () =>
      workoutsOf(person, day).flatMap(({ start_ms, stop_ms, sport, meters_a_minute }) => {
        if (!known(stop_ms)) return []
        const rates = ratesWithin(person, day, Infinity, start_ms, stop_ms)
        const minutes = (stop_ms - start_ms) / MINUTE_MS
        return one(`demo-workout-${dateOf(day)}`, day, {
          title: sport,
          timezone_offset: zoneOffset(person.zone, start_ms),
          average_hr: Math.round(mean(rates) ?? 0),
          max_hr: greatest(rates),
          distance: minutes * meters_a_minute || null,
          calendar_date: dateOf(day),
          time_start: wireTime(start_ms),
          time_end: wireTime(stop_ms),
          calories: rounded(minutes * 0.11 * person.weight_kg),
          sport: sportOf(sport),
          hr_zones: zonesOf(person, rates),
          moving_time: minutes * 60,
          provider_id: `demo-workout-${dateOf(day)}`,
        })
      }),
    body: () =>
      weekdayOf(day) || !known(night.stop_ms + 5 * MINUTE_MS)
        ? []
        : one(dateOf(day), day, { date: midnight(day), calendar_date: dateOf(day), weight: weightOf(person, day) }),
    menstrual_cycle: () => (sex === 'female' && known(dayRange(person, day)[0]) ? one(...cycleOf(person, day)) : []),
  }
  return new Map(devices[provider].summaries.flatMap((kind) => (make[kind] ? [[kind, make[kind]()] as const] : [])))
}

/** Seconds, one heart rate standing for a minute, below 50 % of the highest rate, in steps of 10 %, and from 90 % on. */
function zonesOf({ max_bpm }: Person, rates: number[]): number[] {
  const zones = [0, 0, 0, 0, 0, 0]
  for (const rate of rates) zones[Math.min(5, Math.max(0, Math.floor((rate / max_bpm) * 10) - 4))]! += 60
  return zones
}

const flows = ['medium', 'heavy', 'medium', 'light', 'light'] as const

/** The cycle that a day is in, as far as it is known on that day. */
function cycleOf(person: Person, day: Day): [key: string, day: Day, document: Document<'menstrual_cycle'>] {
  const start = cycleStart(person, day)
  const bled = flows.slice(0, Math.max(1, Math.min(flows.length, day - start + 1)))
  return [
    dateOf(start),
    start,
    {
      period_start: dateOf(start),
      period_end: day - start >= flows.length ? dateOf(start + flows.length - 1) : null,
      cycle_end: day - start === person.cycle_days - 1 ? dateOf(day) : null,
      is_predicted: false,
      menstrual_flow: bled.map((flow, i) => ({ date: dateOf(start + i), flow })),
    },
  ]
}

/** The last local day that may have data at an instant, in every zone. */
export const lastDay = (at_ms: number): Day => Math.floor(at_ms / DAY_MS) + 1
