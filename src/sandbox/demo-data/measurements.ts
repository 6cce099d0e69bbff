// What a fictional person and its devices record beside heart rates, steps and glucose: so that every timeseries has a source to try.
import type { SourceType, TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { typeWithDetails } from '../../wearables/resources/sample-details.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'
import { dayRange, mealsOf, stepsOf, workoutsOf } from './day-plan.ts'
import { nightOf } from './night.ts'
import { localInstant, weekdayOf, type Day, type Person } from './person.ts'
import { around, between, chosen, randomOf, rounded, type Random } from './random.ts'

/** One measurement. */
export interface Measurement {
  at_ms: number
  value: number
  length_ms?: number
  second?: number
  type?: string | null
  /** Of another device than the one that records most. */
  source_type?: SourceType
}

interface PlannedDay {
  person: Person
  day: Day
  random: Random
  /** An instant of the day, in minutes after local midnight. */
  at: (minute: number) => number
}
type Plan = (planned: PlannedDay) => Measurement[]

/** On one day of each week, and on one of so many weeks. */
const weekly =
  (weekday: number, make: (planned: PlannedDay) => Measurement, weeks = 1): Plan =>
  (planned) =>
    weekdayOf(planned.day) === weekday && Math.floor(planned.day / 7) % weeks === 0 ? [make(planned)] : []

/** At some minutes of each day, give or take a quarter of an hour. */
const daily =
  (minutes: readonly number[], make: (random: Random) => Omit<Measurement, 'at_ms'>): Plan =>
  ({ random, at }) =>
    minutes.map((minute) => ({ at_ms: at(minute + Math.round(between(random, -15, 15))), ...make(random) }))

/** For each hour from one to another. */
const hourly =
  (from: number, to: number, make: (random: Random, hour: number) => number): Plan =>
  ({ random, at }) =>
    Array.from({ length: to - from }, (_, i) => {
      const value = make(random, from + i)
      return { at_ms: at((from + i) * 60), value, length_ms: HOUR_MS }
    }).filter(({ value }) => value > 0)

/** Every so many minutes of the night that ends on the day. */
const nightly =
  (minutes: number, make: (random: Random, person: Person) => Omit<Measurement, 'at_ms'>): Plan =>
  ({ person, day, random }) => {
    const { start_ms, stop_ms } = nightOf(person, day)
    const count = Math.max(1, Math.floor((stop_ms - start_ms) / (minutes * MINUTE_MS)))
    return Array.from({ length: count }, (_, i) => ({ at_ms: start_ms + i * minutes * MINUTE_MS, ...make(random, person) }))
  }

const minutes = (count: number) => ({ length_ms: count * MINUTE_MS })
const asleepFor = ({ person, day }: PlannedDay) => {
  const { start_ms, stop_ms } = nightOf(person, day)
  return { at_ms: start_ms, length_ms: stop_ms - start_ms }
}
const ofLab = { source_type: 'lab' as const }

/** The energy that a body at rest takes in an hour, in kcal. */
export const basalHour = ({ weight_kg, height_cm, sex }: Person): number =>
  rounded((10 * weight_kg + 6.25 * height_cm - 5 * 40 + (sex === 'male' ? 5 : -161)) / 24, 1)

const basal: Plan = ({ person, day }) =>
  stepsOf(person, day).map(({ at_ms }) => ({ at_ms, value: basalHour(person), length_ms: HOUR_MS }))

const carbohydrates: Plan = ({ person, day }) =>
  mealsOf(person, day).map((meal) => ({ at_ms: meal.at_ms, value: Math.round(meal.carbohydrates) }))

const insulin: Plan = ({ person, day, at }) => {
  const typed = (type: string, delivery_mode: string, bolus_purpose: string | null) =>
    typeWithDetails('insulin_injection', type, { delivery_mode, delivery_form: 'standard', bolus_purpose })
  return [
    { at_ms: at(1350), value: 14, type: typed('long_acting', 'basal', null) },
    ...mealsOf(person, day).map((meal) => ({
      at_ms: meal.at_ms - 10 * MINUTE_MS,
      value: Math.max(1, Math.round(meal.carbohydrates / 12)),
      type: typed('rapid_acting', 'bolus', 'meal'),
    })),
  ]
}

const notes: Plan = ({ person, day }) =>
  mealsOf(person, day)
    .slice(1, 2)
    .map(({ at_ms }) => ({
      at_ms,
      value: 0,
      type: typeWithDetails('note', null, { content: 'A fictional lunch', tags: ['food'] }),
    }))

const recovery: Plan = ({ person, day, random }) =>
  workoutsOf(person, day).map(({ stop_ms }) => ({ at_ms: stop_ms + MINUTE_MS, value: Math.round(around(random, 28, 5)) }))

const allergens = ['baha_grass', 'dairy', 'birch', 'cat', 'egg'] as const
const antibodies = (mean: number): Plan =>
  weekly(2, ({ random, at }) => ({ at_ms: at(540), value: rounded(between(random, 0, mean), 2), type: 'dairy', ...ofLab }), 4)
const panel =
  (mean: number): Plan =>
  ({ day, random, at }) =>
    weekdayOf(day) === 2 && Math.floor(day / 7) % 4 === 0
      ? allergens.map((type, i) => ({ at_ms: at(540 + i), value: rounded(between(random, 0, mean), 2), type, ...ofLab }))
      : []

const lipids: Plan = ({ day, random, at }) =>
  weekdayOf(day) === 1 && Math.floor(day / 7) % 4 === 0
    ? (
        [
          ['total', 4.8],
          ['ldl', 2.9],
          ['hdl', 1.4],
          ['triglycerides', 1.2],
        ] as const
      ).map(([kind, mean], i) => ({
        at_ms: at(500 + i),
        value: rounded(around(random, mean, 0.2), 2),
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
    return { at_ms: start_ms + Math.round((i * 1000) / ECG_HZ), value: rounded(value + around(random, 0, 0.01), 3) }
  })
}

const temperature = typeWithDetails('body_temperature', null, { sensor_location: 'mouth' })
const wrist = typeWithDetails('body_temperature_delta', null, { sensor_location: 'wrist' })

/** By timeseries; those of workouts, and those of other files, are not among them. */
export const plans: Partial<Record<TimeseriesName, Plan>> = {
  afib_burden: weekly(0, ({ random, at }) => ({ at_ms: at(0), value: rounded(between(random, 0, 2), 1), length_ms: HOUR_MS })),
  basal_body_temperature: daily([405], (random) => ({ value: rounded(around(random, 36.4, 0.15), 2) })),
  blood_oxygen: nightly(60, (random) => ({ value: Math.round(around(random, 96.5, 0.8)) })),
  blood_pressure: daily([430], (random) => ({
    value: Math.round(around(random, 121, 5)),
    second: Math.round(around(random, 78, 4)),
    source_type: 'cuff',
  })),
  body_fat: weekly(0, ({ person, random, at }) => ({
    at_ms: at(450),
    value: rounded(around(random, person.sex === 'female' ? 29 : 21, 0.4), 1),
    source_type: 'scale',
  })),
  body_mass_index: weekly(0, ({ person, at }) => ({
    at_ms: at(450),
    value: rounded(person.weight_kg / (person.height_cm / 100) ** 2, 1),
    source_type: 'scale',
  })),
  body_temperature: weekly(3, ({ random, at }) => ({
    at_ms: at(1200),
    value: rounded(around(random, 36.7, 0.2), 1),
    type: temperature,
  })),
  body_temperature_delta: nightly(24 * 60, (random) => ({ value: rounded(around(random, 0, 0.2), 2), type: wrist })),
  caffeine: daily([450, 840], (random) => ({ value: rounded(between(random, 0.06, 0.1), 3) })),
  calories_basal: basal,
  carbohydrates,
  cholesterol: lipids,
  daylight_exposure: hourly(8, 18, (random) => Math.round(between(random, 0, 22))),
  electrocardiogram_voltage: voltages,
  fall: weekly(4, ({ at }) => ({ at_ms: at(1000), value: 1 }), 4),
  floors_climbed: hourly(7, 22, (random) => Math.floor(between(random, 0, 2.4))),
  forced_expiratory_volume_1: weekly(1, ({ random, at }) => ({ at_ms: at(480), value: rounded(around(random, 3.4, 0.1), 2) })),
  forced_vital_capacity: weekly(1, ({ random, at }) => ({ at_ms: at(481), value: rounded(around(random, 4.2, 0.1), 2) })),
  handwashing: daily([470, 745, 1130], () => ({ value: 1, ...minutes(1) })),
  heart_rate_alert: weekly(5, ({ random, at }) => {
    const type = chosen(random, ['high_heart_rate', 'low_heart_rate', 'irregular_rhythm'])
    return { at_ms: at(870), value: 1, type, ...minutes(10) }
  }),
  heart_rate_recovery_one_minute: recovery,
  ige: antibodies(0.6),
  igg: panel(12),
  inhaler_usage: weekly(2, ({ at }) => ({ at_ms: at(1080), value: 1 })),
  insulin_injection: insulin,
  lean_body_mass: weekly(0, ({ person, random, at }) => ({
    at_ms: at(450),
    value: rounded(person.weight_kg * around(random, 0.74, 0.01), 1),
    source_type: 'scale',
  })),
  mindfulness_minutes: ({ random, at }) => (random() < 0.5 ? [{ at_ms: at(1290), value: 10, ...minutes(10) }] : []),
  note: notes,
  peak_expiratory_flow_rate: weekly(1, ({ random, at }) => ({ at_ms: at(482), value: Math.round(around(random, 470, 15)) })),
  respiratory_rate: nightly(30, (random) => ({ value: rounded(around(random, 14.6, 0.6), 1) })),
  sleep_apnea_alert: weekly(3, (planned) => ({ ...asleepFor(planned), value: 1 }), 4),
  sleep_breathing_disturbance: (planned) => {
    const value = rounded(between(planned.random, 0.5, 7), 1)
    return [{ ...asleepFor(planned), value, type: value > 6 ? 'elevated' : 'not_elevated' }]
  },
  stand_duration: hourly(7, 22, (random) => Math.round(between(random, 1, 14))),
  stand_hour: ({ random, at }) =>
    Array.from({ length: 14 }, (_, i) => {
      const type = random() < 0.8 ? 'stood' : 'idle'
      return { at_ms: at((8 + i) * 60), value: 1, type, length_ms: HOUR_MS }
    }),
  stress_level: hourly(8, 22, (random) => Math.round(around(random, 34, 9))),
  uv_exposure: daily([780], (random) => ({ value: rounded(between(random, 0, 7), 1), ...minutes(30) })),
  vo2_max: weekly(5, ({ random, at }) => ({ at_ms: at(1200), value: rounded(around(random, 41, 0.6), 1) })),
  waist_circumference: weekly(0, ({ random, at }) => ({ at_ms: at(452), value: rounded(around(random, 84, 0.6), 1) })),
  water: daily([480, 650, 780, 930, 1140], (random) => ({ value: Math.round(between(random, 2, 5)) * 100 })),
  wheelchair_push: weekly(
    2,
    ({ random, at }) => ({ at_ms: at(960), value: Math.round(between(random, 20, 60)), ...minutes(15) }),
    4,
  ),
}

/** What is recorded of a timeseries on a day, oldest first; one at each instant. */
export function measurementsOf(person: Person, resource: TimeseriesName, day: Day): Measurement[] {
  const plan = plans[resource]
  if (!plan) return []
  const random = randomOf(person.seed, 'measurement', resource, day)
  const at = (minute: number) => localInstant(person.zone, day, minute)
  const found = new Map(plan({ person, day, random, at }).map((one) => [one.at_ms, one]))
  const [from_ms, to_ms] = dayRange(person, day)
  return [...found.values()]
    .filter(({ at_ms }) => at_ms >= from_ms - DAY_MS / 2 && at_ms < to_ms)
    .toSorted((a, b) => a.at_ms - b.at_ms)
}
