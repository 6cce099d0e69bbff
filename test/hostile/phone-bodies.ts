// The largest bodies that a phone may post: lists as long as their schemas and the size of a body allow, and lists of what is faulty.

const BYTES_MAX = 16 * 1024 * 1024
const FIRST_MS = Date.UTC(2026, 0, 5)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export interface PhoneBody {
  name: string
  /** Below `/v2`, without the user: `timeseries/{user_id}/heartrate`. */
  path: string
  /** The status of the answer. */
  status: number
  data: () => unknown
}

const instant = (ms: number): string => new Date(FIRST_MS + ms).toISOString()
const day = (i: number): string => instant(-i * DAY_MS).slice(0, 10)
const list = <V>(count: number, createItem: (i: number) => V): V[] => Array.from({ length: count }, (_, i) => createItem(i))
const span = (from_ms: number, to_ms = from_ms) => ({ start_date: instant(from_ms), end_date: instant(to_ms) })
const sample = (ms: number, overrides: object = {}) => ({ value: 61, unit: 'bpm', ...span(ms), ...overrides })

/** As many as the size of a body allows, at most. */
function fitting<V>(count: number, createItem: (i: number) => V): V[] {
  const bytes = JSON.stringify(createItem(count - 1)).length + 1
  return list(Math.min(count, Math.floor((BYTES_MAX - 1000) / bytes)), createItem)
}

const pressure = (ms: number, metadata: object = {}) => ({
  systolic: { value: 120, unit: 'mmHg', ...span(ms), metadata },
  diastolic: { value: 80, unit: 'mmHg', ...span(ms) },
})
/** In one hour. */
const inHour = (i: number): number => (i % 3600) * 1000

const HEART_RATES = 'timeseries/{user_id}/heartrate'

export const sampleBodies: PhoneBody[] = [
  { name: '8,000,000 numbers', path: HEART_RATES, status: 422, data: () => list(8_000_000, () => 1) },
  {
    name: '100,000 samples with metadata of their own',
    path: HEART_RATES,
    status: 200,
    data: () => list(100_000, (i) => sample(i * 1000, { metadata: { [`field${i}`]: i } })),
  },
  {
    name: 'samples in 50,000 hours',
    path: HEART_RATES,
    status: 200,
    data: () => list(50_000, (i) => sample(-i * HOUR_MS)),
  },
  {
    name: 'samples in more than 50,000 hours, counted for each of 10 apps',
    path: HEART_RATES,
    status: 422,
    data: () => list(60_000, (i) => sample(-Math.floor(i / 10) * HOUR_MS, { source_bundle: `app${i % 10}` })),
  },
  {
    name: 'samples of 200 devices',
    path: HEART_RATES,
    status: 200,
    data: () => list(80_000, (i) => sample(i * 1000, { metadata: { _DMA: 'Fictional', _DMO: `Model ${i % 200}` } })),
  },
  {
    name: 'intervals of 24 days',
    path: 'timeseries/{user_id}/steps',
    status: 200,
    data: () => list(100_000, (i) => ({ value: 1, unit: 'count', ...span(-25 * DAY_MS + i * 1000, i * 1000 - DAY_MS) })),
  },
  {
    name: 'blood pressures of 199 devices in one hour, and some without a device',
    path: 'timeseries/{user_id}/blood_pressure',
    status: 200,
    data: () => fitting(100_000, (i) => pressure(inHour(i), i % 8 === 0 ? {} : { _DMA: 'Fictional', _DMO: `Model ${i % 199}` })),
  },
  {
    name: '100,000 samples without values',
    path: HEART_RATES,
    status: 422,
    data: () => list(100_000, (i) => sample(i * 1000, { value: undefined })),
  },
  {
    name: 'a text of 16 MB',
    path: HEART_RATES,
    status: 200,
    data: () => [sample(0, { metadata: { a: '\u0001'.repeat(2_700_000) } })],
  },
]

const session = (i: number, hours: number) => ({ id: `session ${i}`, ...span(-i * DAY_MS, -i * DAY_MS + hours * HOUR_MS) })

const STAGES = ['awake', 'deep', 'light', 'rem', 'unspecified', 'unknown']
const stage = (from_ms: number, ms: number) => ({ value: 1, unit: '', ...span(from_ms, from_ms + ms) })
/** 3,000 stages of a night. */
const stages = (i: number) =>
  Object.fromEntries(
    STAGES.map((name, k) => [
      `${name}_sleep_samples`,
      list(500, (n) => stage(-i * DAY_MS + (n * STAGES.length + k) * 9000, 9000)),
    ]),
  )
/** A part of one night, with 5 stages. */
const part = (i: number) => ({
  id: `part ${i}`,
  ...span(i * 20_000, i * 20_000 + 30_000),
  sleep_stages: { deep_sleep_samples: list(5, (n) => stage(i * 20_000 + n * 4000, 4000)) },
})

const STREAMS = ['heart_rate', 'cadence', 'power', 'speed', 'altitude', 'latitude', 'longitude', 'distance']
const bulk = (count: number) => ({
  anchor: instant(0),
  value: list(count, (i) => i % 99),
  start_offset: list(count, (i) => i),
  end_offset: list(count, (i) => i + 1),
})

const quantities = (unit: string) => list(19_999, (i) => sample((i % 990) * 1000, { unit, value: 20 }))

export const recordBodies: PhoneBody[] = [
  {
    name: '20,000 measurements in each list of the body',
    path: 'summary/body/{user_id}',
    status: 200,
    data: () => ({
      body_mass: quantities('kg'),
      body_fat_percentage: quantities('%'),
      body_mass_index: quantities('count'),
      waist_circumference: quantities('cm'),
      lean_body_mass: quantities('kg'),
    }),
  },
  {
    name: 'nights of 3,000 stages',
    path: 'summary/sleep/{user_id}',
    status: 200,
    data: () => fitting(1000, (i) => ({ ...session(i, 8), sleep_stages: stages(i) })),
  },
  { name: '1,000 nights', path: 'summary/sleep/{user_id}', status: 200, data: () => list(1000, (i) => session(i, 8)) },
  {
    name: '1,000 parts of one night',
    path: 'summary/sleep/{user_id}',
    status: 200,
    data: () => list(1000, part),
  },
  {
    name: 'a night of more than 6,000 stages in all its parts',
    path: 'summary/sleep/{user_id}',
    status: 422,
    data: () =>
      list(3, (i) => ({
        id: `third ${i}`,
        ...span(3 * i * HOUR_MS, 3 * (i + 1) * HOUR_MS),
        sleep_stages: Object.fromEntries(
          STAGES.map((name, k) => [
            `${name}_sleep_samples`,
            list(500, (n) => stage(3 * i * HOUR_MS + (n * STAGES.length + k) * 3600, 3600)),
          ]),
        ),
      })),
  },
  {
    name: 'a workout with eight streams of 95,000 seconds',
    path: 'summary/workouts/{user_id}',
    status: 200,
    data: () => [
      {
        ...session(0, 30),
        sport: 'running',
        stream: { components: Object.fromEntries(STREAMS.map((name) => [name, [bulk(95_000)]])) },
      },
    ],
  },
  {
    name: '60,000 records of 1,000 meals',
    path: 'summary/meal/{user_id}',
    status: 200,
    data: () =>
      list(60, () => ({
        health_connect: {
          source_bundle: 'app',
          nutrition_records: list(1000, (k) => ({
            start_time: instant(-k * DAY_MS),
            end_time: instant(-k * DAY_MS),
            name: `food ${k}`,
            caffeine: 1,
            energy: 100,
          })),
        },
      })),
  },
  {
    name: '1,000 menstrual cycles of 399 entries',
    path: 'summary/menstrual_cycle/{user_id}',
    status: 200,
    data: () =>
      fitting(1000, (i) => ({ cycle: { period_start: day(i), sexual_activity: list(399, (k) => ({ date: day(k) })) } })),
  },
  {
    name: 'four electrocardiograms of 80,000 voltages',
    path: 'summary/electrocardiogram/{user_id}',
    status: 200,
    data: () =>
      list(4, (i) => ({
        electrocardiogram: {
          id: `recording ${i}`,
          session_start: instant(-i * DAY_MS),
          session_end: instant(-i * DAY_MS + HOUR_MS),
          voltage_sample_count: 80_000,
        },
        voltage_data: {
          session_start_offset_millisecond: list(80_000, (k) => k),
          lead1: list(80_000, (k) => k / 1000),
        },
      })),
  },
]

/** A post of the data. */
export const bodyOf = ({ data }: PhoneBody): string =>
  JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data: data() })
