// What a fictional person and its devices record in addition to heart rates, steps and glucose: so that every timeseries has a source to try.
import type { SourceType, TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { typeWithDetails } from '../../wearables/resources/sample-details.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'
import { dayRange, planMeals, planSteps, planWorkouts } from './day-plan.ts'
import { planNight } from './night.ts'
import { localInstant, weekdayOf, type Day, type Person } from './person.ts'
import { randomNear, randomBetween, chooseRandom, randomOf, roundTo, type Random } from './random.ts'

/** One measurement. */
export interface Measurement {
  at_ms: number
  value: number
  length_ms?: number
  second?: number
  type?: string | null
  /** Source type of a device other than the one that records most. */
  source_type?: SourceType
}

interface PlannedDay {
  person: Person
  day: Day
  random: Random
  /** An instant of the day, in minutes after local midnight. */
  instantAt: (minute: number) => number
}
type Plan = (plannedDay: PlannedDay) => Measurement[]

/** On one day of each week, and on one of so many weeks. */
const weekly =
  (weekday: number, make: (plannedDay: PlannedDay) => Measurement, weeks = 1): Plan =>
  (plannedDay) =>
    weekdayOf(plannedDay.day) === weekday && Math.floor(plannedDay.day / 7) % weeks === 0 ? [make(plannedDay)] : []

/** At some minutes of each day, give or take a quarter of an hour. */
const daily =
  (minutes: readonly number[], make: (random: Random) => Omit<Measurement, 'at_ms'>): Plan =>
  ({ random, instantAt }) =>
    minutes.map((minute) => ({ at_ms: instantAt(minute + Math.round(randomBetween(random, -15, 15))), ...make(random) }))

/** For each hour from one to another. */
const hourly =
  (firstHour: number, endHour: number, make: (random: Random, hour: number) => number): Plan =>
  ({ random, instantAt }) =>
    Array.from({ length: endHour - firstHour }, (_, i) => {
      const value = make(random, firstHour + i)
      return { at_ms: instantAt((firstHour + i) * 60), value, length_ms: HOUR_MS }
    }).filter(({ value }) => value > 0)

/** Every so many minutes of the night that ends on the day. */
const nightly =
  (minutes: number, make: (random: Random, person: Person) => Omit<Measurement, 'at_ms'>): Plan =>
  ({ person, day, random }) => {
    const { start_ms, stop_ms } = planNight(person, day)
    const count = Math.max(1, Math.floor((stop_ms - start_ms) / (minutes * MINUTE_MS)))
    return Array.from({ length: count }, (_, i) => ({ at_ms: start_ms + i * minutes * MINUTE_MS, ...make(random, person) }))
  }

const lengthInMinutes = (count: number) => ({ length_ms: count * MINUTE_MS })
const asleepFor = ({ person, day }: PlannedDay) => {
  const { start_ms, stop_ms } = planNight(person, day)
  return { at_ms: start_ms, length_ms: stop_ms - start_ms }
}
const ofLab = { source_type: 'lab' as const }

/** The energy that a body at rest takes in an hour, in kcal. */
export const basalHour = ({ weight_kg, height_cm, sex }: Person): number =>
  roundTo((10 * weight_kg + 6.25 * height_cm - 5 * 40 + (sex === 'male' ? 5 : -161)) / 24, 1)

const basal: Plan = ({ person, day }) =>
  planSteps(person, day).map(({ at_ms }) => ({ at_ms, value: basalHour(person), length_ms: HOUR_MS }))

const carbohydrates: Plan = ({ person, day }) =>
  planMeals(person, day).map((meal) => ({ at_ms: meal.at_ms, value: Math.round(meal.carbohydrates) }))

const insulin: Plan = ({ person, day, instantAt }) => {
  const typed = (type: string, delivery_mode: string, bolus_purpose: string | null) =>
    typeWithDetails('insulin_injection', type, { delivery_mode, delivery_form: 'standard', bolus_purpose })
  return [
    { at_ms: instantAt(1350), value: 14, type: typed('long_acting', 'basal', null) },
    ...planMeals(person, day).map((meal) => ({
      at_ms: meal.at_ms - 10 * MINUTE_MS,
      value: Math.max(1, Math.round(meal.carbohydrates / 12)),
      type: typed('rapid_acting', 'bolus', 'meal'),
    })),
  ]
}

const notes: Plan = ({ person, day }) =>
  planMeals(person, day)
    .slice(1, 2)
    .map(({ at_ms }) => ({
      at_ms,
      value: 0,
      type: typeWithDetails('note', null, { content: 'A fictional lunch', tags: ['food'] }),
    }))

const recovery: Plan = ({ person, day, random }) =>
  planWorkouts(person, day).map(({ stop_ms }) => ({ at_ms: stop_ms + MINUTE_MS, value: Math.round(randomNear(random, 28, 5)) }))

const allergens = ['baha_grass', 'dairy', 'birch', 'cat', 'egg'] as const
const antibodies = (mean: number): Plan =>
  weekly(
    2,
    ({ random, instantAt }) => ({
      at_ms: instantAt(540),
      value: roundTo(randomBetween(random, 0, mean), 2),
      type: 'dairy',
      ...ofLab,
    }),
    4,
  )
const panel =
  (mean: number): Plan =>
  ({ day, random, instantAt }) =>
    weekdayOf(day) === 2 && Math.floor(day / 7) % 4 === 0
      ? allergens.map((type, i) => ({
          at_ms: instantAt(540 + i),
          value: roundTo(randomBetween(random, 0, mean), 2),
          type,
          ...ofLab,
        }))
      : []

const lipids: Plan = ({ day, random, instantAt }) =>
  weekdayOf(day) === 1 && Math.floor(day / 7) % 4 === 0
    ? (
        [
          ['total', 4.8],
          ['ldl', 2.9],
          ['hdl', 1.4],
          ['triglycerides', 1.2],
        ] as const
      ).map(([kind, mean], i) => ({
        at_ms: instantAt(500 + i),
        value: roundTo(randomNear(random, mean, 0.2), 2),
        type: `cholesterol/${kind}`,
        ...ofLab,
      }))
    : []

/** A deflection of a heart beat: where it is, how wide, and how high, in mV. */
const waves = [
  [0.18, 0.025, 0.12],
  [0.275, 0.008, -0.1],
  [0.3, 0.011, 1.1],
  [0.325, 0.009, -0.22],
  [0.52, 0.045, 0.28],
] as const
export const ECG_HZ = 64
export const ECG_S = 30

/** When the electrocardiogram of a day begins; undefined on most days. */
export const ecgAt = (person: Person, day: Day): number | undefined =>
  weekdayOf(day) === 6 ? localInstant(person.zone, day, 615) : undefined

const voltages: Plan = ({ person, day, random }) => {
  const start_ms = ecgAt(person, day)
  if (start_ms === undefined) return []
  return Array.from({ length: ECG_S * ECG_HZ }, (_, i) => {
    const phase = ((i / ECG_HZ) * (person.resting_bpm + 6)) / 60
    const beat = phase - Math.floor(phase)
    const value = waves.reduce((sum, [at, width, height]) => sum + height * Math.exp(-(((beat - at) / width) ** 2) / 2), 0)
    return { at_ms: start_ms + Math.round((i * 1000) / ECG_HZ), value: roundTo(value + randomNear(random, 0, 0.01), 3) }
  })
}

const temperature = typeWithDetails('body_temperature', null, { sensor_location: 'mouth' })
const wrist = typeWithDetails('body_temperature_delta', null, { sensor_location: 'wrist' })

/** By timeseries; those of workouts, and those of other files, are not among them. */
export const plans: Partial<Record<TimeseriesName, Plan>> = {
  afib_burden: weekly(0, ({ random, instantAt }) => ({
    at_ms: instantAt(0),
    value: roundTo(randomBetween(random, 0, 2), 1),
    length_ms: HOUR_MS,
  })),
  basal_body_temperature: daily([405], (random) => ({ value: roundTo(randomNear(random, 36.4, 0.15), 2) })),
  blood_oxygen: nightly(60, (random) => ({ value: Math.round(randomNear(random, 96.5, 0.8)) })),
  blood_pressure: daily([430], (random) => ({
    value: Math.round(randomNear(random, 121, 5)),
    second: Math.round(randomNear(random, 78, 4)),
    source_type: 'cuff',
  })),
  body_fat: weekly(0, ({ person, random, instantAt }) => ({
    at_ms: instantAt(450),
    value: roundTo(randomNear(random, person.sex === 'female' ? 29 : 21, 0.4), 1),
    source_type: 'scale',
  })),
  body_mass_index: weekly(0, ({ person, instantAt }) => ({
    at_ms: instantAt(450),
    value: roundTo(person.weight_kg / (person.height_cm / 100) ** 2, 1),
    source_type: 'scale',
  })),
  body_temperature: weekly(3, ({ random, instantAt }) => ({
    at_ms: instantAt(1200),
    value: roundTo(randomNear(random, 36.7, 0.2), 1),
    type: temperature,
  })),
  body_temperature_delta: nightly(24 * 60, (random) => ({ value: roundTo(randomNear(random, 0, 0.2), 2), type: wrist })),
  caffeine: daily([450, 840], (random) => ({ value: roundTo(randomBetween(random, 0.06, 0.1), 3) })),
  calories_basal: basal,
  carbohydrates,
  cholesterol: lipids,
  daylight_exposure: hourly(8, 18, (random) => Math.round(randomBetween(random, 0, 22))),
  electrocardiogram_voltage: voltages,
  fall: weekly(4, ({ instantAt }) => ({ at_ms: instantAt(1000), value: 1 }), 4),
  floors_climbed: hourly(7, 22, (random) => Math.floor(randomBetween(random, 0, 2.4))),
  forced_expiratory_volume_1: weekly(1, ({ random, instantAt }) => ({
    at_ms: instantAt(480),
    value: roundTo(randomNear(random, 3.4, 0.1), 2),
  })),
  forced_vital_capacity: weekly(1, ({ random, instantAt }) => ({
    at_ms: instantAt(481),
    value: roundTo(randomNear(random, 4.2, 0.1), 2),
  })),
  handwashing: daily([470, 745, 1130], () => ({ value: 1, ...lengthInMinutes(1) })),
  heart_rate_alert: weekly(5, ({ random, instantAt }) => {
    const type = chooseRandom(random, ['high_heart_rate', 'low_heart_rate', 'irregular_rhythm'])
    return { at_ms: instantAt(870), value: 1, type, ...lengthInMinutes(10) }
  }),
  heart_rate_recovery_one_minute: recovery,
  ige: antibodies(0.6),
  igg: panel(12),
  inhaler_usage: weekly(2, ({ instantAt }) => ({ at_ms: instantAt(1080), value: 1 })),
  insulin_injection: insulin,
  lean_body_mass: weekly(0, ({ person, random, instantAt }) => ({
    at_ms: instantAt(450),
    value: roundTo(person.weight_kg * randomNear(random, 0.74, 0.01), 1),
    source_type: 'scale',
  })),
  mindfulness_minutes: ({ random, instantAt }) =>
    random() < 0.5 ? [{ at_ms: instantAt(1290), value: 10, ...lengthInMinutes(10) }] : [],
  note: notes,
  peak_expiratory_flow_rate: weekly(1, ({ random, instantAt }) => ({
    at_ms: instantAt(482),
    value: Math.round(randomNear(random, 470, 15)),
  })),
  respiratory_rate: nightly(30, (random) => ({ value: roundTo(randomNear(random, 14.6, 0.6), 1) })),
  sleep_apnea_alert: weekly(3, (plannedDay) => ({ ...asleepFor(plannedDay), value: 1 }), 4),
  sleep_breathing_disturbance: (plannedDay) => {
    const value = roundTo(randomBetween(plannedDay.random, 0.5, 7), 1)
    return [{ ...asleepFor(plannedDay), value, type: value > 6 ? 'elevated' : 'not_elevated' }]
  },
  stand_duration: hourly(7, 22, (random) => Math.round(randomBetween(random, 1, 14))),
  stand_hour: ({ random, instantAt }) =>
    Array.from({ length: 14 }, (_, i) => {
      const type = random() < 0.8 ? 'stood' : 'idle'
      return { at_ms: instantAt((8 + i) * 60), value: 1, type, length_ms: HOUR_MS }
    }),
  stress_level: hourly(8, 22, (random) => Math.round(randomNear(random, 34, 9))),
  uv_exposure: daily([780], (random) => ({ value: roundTo(randomBetween(random, 0, 7), 1), ...lengthInMinutes(30) })),
  vo2_max: weekly(5, ({ random, instantAt }) => ({ at_ms: instantAt(1200), value: roundTo(randomNear(random, 41, 0.6), 1) })),
  waist_circumference: weekly(0, ({ random, instantAt }) => ({
    at_ms: instantAt(452),
    value: roundTo(randomNear(random, 84, 0.6), 1),
  })),
  water: daily([480, 650, 780, 930, 1140], (random) => ({ value: Math.round(randomBetween(random, 2, 5)) * 100 })),
  wheelchair_push: weekly(
    2,
    ({ random, instantAt }) => ({
      at_ms: instantAt(960),
      value: Math.round(randomBetween(random, 20, 60)),
      ...lengthInMinutes(15),
    }),
    4,
  ),
}

/** What is recorded of a timeseries on a day, oldest first; one at each instant. */
export function createMeasurements(person: Person, resource: TimeseriesName, day: Day): Measurement[] {
  const plan = plans[resource]
  if (!plan) return []
  const random = randomOf(person.seed, 'measurement', resource, day)
  const instantAt = (minute: number) => localInstant(person.zone, day, minute)
  const found = new Map(plan({ person, day, random, instantAt }).map((measurement) => [measurement.at_ms, measurement]))
  const [from_ms, to_ms] = dayRange(person, day)
  return [...found.values()]
    .filter(({ at_ms }) => at_ms >= from_ms - DAY_MS / 2 && at_ms < to_ms)
    .toSorted((a, b) => a.at_ms - b.at_ms)
}
