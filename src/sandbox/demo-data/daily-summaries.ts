// The summaries of days of a fictional person as they are known at an instant: late and preliminary data becomes what it is in the end.
import { wireTime } from '../../platform/runtime/clock.ts'
import { sportOf } from '../../wearables/resources/sports.ts'
import { zoneOffset } from '../../wearables/resources/zones.ts'
import { readFood, mealDocument } from '../../wearables/summaries/meals.ts'
import { healthConnectNutrients, Nutrition } from '../../wearables/summaries/nutrients.ts'
import type { Document, SummaryKind } from '../../wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { cycleStart, dayRange, planMeals, planWorkouts, type Meal } from './day-plan.ts'
import { devices, type DemoProvider } from './demo-devices.ts'
import { CONFIRMED_MS, isKnown, LAG_MS } from './known.ts'
import { basalHour, ECG_HZ, ECG_S, ecgAt } from './measurements.ts'
import { planNight, stagesUntil, type Night } from './night.ts'
import { dateOf, weekdayOf, workoutKey, type Day, type Person } from './person.ts'
import { randomNear, randomOf, roundTo } from './random.ts'
import { movement, bodyWeight, workoutEnergy } from './demo-samples.ts'
import { createRoute } from './demo-streams.ts'
import { heartRates, heartRateVariability } from './vitals.ts'
import { MINUTE_MS } from '../../platform/runtime/durations.ts'

const mean = (values: number[]): number | null =>
  values.length ? roundTo(values.reduce((sum, value) => sum + value, 0) / values.length, 1) : null
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
  planWorkouts(person, day)
    .filter(({ stop_ms }) => isKnown(person, day, known_ms)(stop_ms))
    .reduce((sum, { start_ms, stop_ms }) => sum + (stop_ms - start_ms) / MINUTE_MS, 0)

function createActivity(person: Person, day: Day, known_ms: number): Document<'activity'> | undefined {
  const [from_ms, to_ms] = dayRange(person, day)
  const hours = movement(person, day, known_ms)
  if (!hours.length) return undefined
  const sum = (value: (hour: (typeof hours)[number]) => number) => hours.reduce((total, hour) => total + value(hour), 0)
  const rates = ratesWithin(person, day, known_ms, from_ms, to_ms)
  const basal = hours.length * basalHour(person)
  const [steps, active, high] = [sum((hour) => hour.steps), sum((hour) => hour.kcal), minutesOfWorkouts(person, day, known_ms)]
  return {
    date: midnight(day),
    calendar_date: dateOf(day),
    calories_total: roundTo(active + basal, 1),
    calories_active: roundTo(active, 1),
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

function createSleep(person: Person, day: Day, night: Night, known_ms: number): Document<'sleep'> {
  const isConfirmed = known_ms >= night.stop_ms + CONFIRMED_MS
  const stop_ms = isConfirmed ? night.stop_ms : night.first_stop_ms
  const stages = stagesUntil(night, stop_ms)
  const seconds = (type: number) => stages.reduce((sum, stage) => sum + (stage.type === type ? stage.to_s - stage.from_s : 0), 0)
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
    efficiency: roundTo((total / duration) * 100, 1),
    latency: stages.find(({ type }) => type !== 4)?.from_s ?? null,
    temperature_delta: roundTo(randomNear(random, 0, 0.2), 2),
    state: isConfirmed ? 'confirmed' : 'tentative',
    average_hrv: mean(heartRateVariability(person, day).map(({ value }) => value)),
    respiratory_rate: roundTo(randomNear(random, 14.6, 0.6), 1),
  }
}

/** The night of a day, without the id that its stages name; undefined until it is known. */
export function createStages(
  person: Person,
  provider: DemoProvider,
  day: Day,
  known_ms: number,
): IncomingSummary<'sleep_cycle'> | undefined {
  const night = planNight(person, day)
  if (!devices[provider].summaries.includes('sleep_cycle') || night.first_stop_ms + LAG_MS > known_ms) return undefined
  const stop_ms = known_ms >= night.stop_ms + CONFIRMED_MS ? night.stop_ms : night.first_stop_ms
  const stages = stagesUntil(night, stop_ms)
  return {
    ...createRecord(provider, nightKey(day), day),
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

const createRecord = (provider: DemoProvider, key: string, day: Day | null) => ({
  key,
  source_type: devices[provider].source_type,
  app_id: devices[provider].app_id,
  calendar_date: day === null ? null : dateOf(day),
})

/** The summaries of a day that are known at an instant, by kind, without the stages of nights. */
export function createSummaries(
  person: Person,
  provider: DemoProvider,
  day: Day,
  known_ms: number,
): Map<SummaryKind, IncomingSummary[]> {
  const known = isKnown(person, day, known_ms)
  const night = planNight(person, day)
  const one = (key: string, recordDay: Day | null, document: object | undefined): IncomingSummary[] =>
    document ? [{ ...createRecord(provider, key, recordDay), document } as IncomingSummary] : []
  const { sex } = person
  const make: Partial<Record<SummaryKind, () => IncomingSummary[]>> = {
    profile: () => one('', null, { height: person.height_cm, birth_date: person.birth_date, gender: sex, sex }),
    activity: () => one(dateOf(day), day, createActivity(person, day, known_ms)),
    sleep: () =>
      night.first_stop_ms + LAG_MS > known_ms ? [] : one(nightKey(day), day, createSleep(person, day, night, known_ms)),
    workouts: () =>
      planWorkouts(person, day).flatMap((workout) => {
        const { start_ms, stop_ms, sport, meters_a_minute } = workout
        if (!known(stop_ms)) return []
        const rates = ratesWithin(person, day, Infinity, start_ms, stop_ms)
        const minutes = (stop_ms - start_ms) / MINUTE_MS
        return one(workoutKey(day), day, {
          title: sport,
          timezone_offset: zoneOffset(person.zone, start_ms),
          average_hr: Math.round(mean(rates) ?? 0),
          max_hr: greatest(rates),
          distance: minutes * meters_a_minute || null,
          calendar_date: dateOf(day),
          time_start: wireTime(start_ms),
          time_end: wireTime(stop_ms),
          calories: workoutEnergy(person, { ...workout, start_ms, stop_ms }, stop_ms),
          sport: sportOf(sport),
          hr_zones: secondsByZone(person, rates),
          moving_time: minutes * 60,
          map: createRoute(person, day, workout),
          provider_id: workoutKey(day),
        })
      }),
    body: () =>
      weekdayOf(day) || !known(night.stop_ms + 5 * MINUTE_MS)
        ? []
        : one(dateOf(day), day, { date: midnight(day), calendar_date: dateOf(day), weight: bodyWeight(person, day) }),
    meal: () =>
      planMeals(person, day).flatMap((meal, i) =>
        known(meal.at_ms) ? one(`demo-meal-${dateOf(day)}-${i}`, day, createMeal(meal, day)) : [],
      ),
    electrocardiogram: () => {
      const start_ms = ecgAt(person, day)
      if (start_ms === undefined || !known(start_ms)) return []
      return one(`demo-ecg-${dateOf(day)}`, day, createRecording(person, start_ms))
    },
    menstrual_cycle: () => (sex === 'female' && known(dayRange(person, day)[0]) ? one(...createCycle(person, day)) : []),
  }
  return new Map(devices[provider].summaries.flatMap((kind) => (make[kind] ? [[kind, make[kind]()] as const] : [])))
}

/** A meal of three fictional foods. */
function createMeal({ at_ms, carbohydrates }: Meal, day: Day): Document<'meal'> {
  const hour = new Date(at_ms).getUTCHours()
  const meal = { at_ms, calendar_date: dateOf(day), name: hour % 2 ? 'Meal' : 'Snack', whole: new Nutrition(), foods: new Map() }
  const { energy, total_carbohydrate, protein, total_fat, sodium } = healthConnectNutrients
  const food = readFood(meal, 'A fictional dish')
  const grams = Math.round(carbohydrates)
  for (const part of [meal.whole, food]) {
    part.add(total_carbohydrate, grams)
    part.add(protein, Math.round(grams * 0.4))
    part.add(total_fat, Math.round(grams * 0.3))
    part.add(sodium, grams * 9)
    part.add(energy, 4 * grams + 4 * Math.round(grams * 0.4) + 9 * Math.round(grams * 0.3))
  }
  return mealDocument(meal)
}

const createRecording = (person: Person, start_ms: number): Document<'electrocardiogram'> => ({
  session_start: wireTime(start_ms),
  session_end: wireTime(start_ms + ECG_S * 1000),
  voltage_sample_count: ECG_S * ECG_HZ,
  heart_rate_mean: person.resting_bpm + 6,
  sampling_frequency_hz: ECG_HZ,
  classification: 'sinus_rhythm',
  inconclusive_cause: null,
  algorithm_version: '1',
  time_zone: person.zone,
  source_device_model: null,
})

/** Seconds, one heart rate standing for a minute, below 50 % of the highest rate, in steps of 10 %, and from 90 % on. */
function secondsByZone({ max_bpm }: Person, rates: number[]): number[] {
  const zones = [0, 0, 0, 0, 0, 0]
  for (const rate of rates) zones[Math.min(5, Math.max(0, Math.floor((rate / max_bpm) * 10) - 4))]! += 60
  return zones
}

const flows = ['medium', 'heavy', 'medium', 'light', 'light'] as const

/** The cycle that a day is in, as far as it is known on that day. */
function createCycle(person: Person, day: Day): [key: string, day: Day, document: Document<'menstrual_cycle'>] {
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
