// Events of health data for `trigger`: each type by the posts of a phone that lead to it, with made-up values of the present. An update is a
// second post of the same sample or record with another value; a history is a post of the stage `historical`.
import { randomInt, randomUUID } from 'node:crypto'
import { exampleSample } from '../../wearables/resources/sample-timeseries.ts'
import { postedTimeseries } from '../../wearables/resources/timeseries.ts'
import type { Sandbox, Scenario } from './sandbox.ts'

const PROVIDER = 'apple_health_kit'
const ZONE = 'America/Phoenix'
const DAY_MS = 86_400_000

/** What one scenario sends again with other values: one instant, one day, one id. */
interface Moment {
  /** Now, by the clock of the team, less some seconds that differ each time. */
  now_ms: number
  /** A day that hardly any scenario before had: there is one summary of a day. */
  day: string
  id: string
}

/** Where a post goes, below the kind of data, and its `data`. @param n 0 for the first post, 1 for the one that changes it */
type Post = (moment: Moment, n: number) => { path: (user_id: string) => string; data: unknown }

const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
const appOf = ({ id }: Moment): string => `com.example.trigger-${id.slice(0, 8)}`

/** A sample as a phone sends it. The event of the resource has the unit and a usual value. */
function createQuantity(resource: string, moment: Moment, n: number): Record<string, unknown> {
  const at = instant(moment.now_ms)
  const { value, unit, start } = exampleSample(resource, at)
  return {
    value: Number(value) + n,
    unit,
    start_date: start === undefined ? at : instant(moment.now_ms - 60_000),
    end_date: at,
    type: 'watch',
    source_bundle: appOf(moment),
  }
}

/** Phones name alerts in the metadata, and the update is another alert. */
const alert: Post = (moment, n) => ({
  path: (user) => `/v2/timeseries/${user}/heart_rate_alert`,
  data: [{ ...createQuantity('heart_rate_alert', moment, 0), metadata: { type: n ? 'low_heart_rate' : 'high_heart_rate' } }],
})

/** An hour in which the user stood is 0, another 1. */
const hour: Post = (moment, n) => ({
  path: (user) => `/v2/timeseries/${user}/stand_hour`,
  data: [{ ...createQuantity('stand_hour', moment, 0), value: n }],
})

const timeseries =
  (resource: string, sentAs = resource): Post =>
  (moment, n) => ({ path: (user) => `/v2/timeseries/${user}/${sentAs}`, data: [createQuantity(resource, moment, n)] })

const summary =
  (kind: string, createData: (moment: Moment, n: number) => unknown): Post =>
  (moment, n) => ({ path: (user) => `/v2/summary/${kind}/${user}`, data: createData(moment, n) })

const body = (resource: string, sentAs: string): Post =>
  summary('body', (moment, n) => ({ [sentAs]: [createQuantity(resource, moment, n)] }))

const pressure: Post = (moment, n) => {
  const quantity = { ...createQuantity('heartrate', moment, 0), unit: 'mmHg' }
  return {
    path: (user) => `/v2/timeseries/${user}/blood_pressure`,
    data: [{ systolic: { ...quantity, value: 118 + n }, diastolic: { ...quantity, value: 76 } }],
  }
}

const night = summary('sleep', ({ day, id }, n) => {
  const [start, stop] = [Date.parse(`${day}T05:00:00Z`), Date.parse(`${day}T13:00:00Z`)]
  const half = start + (stop - start) / 2 + n * 600_000
  const stage = (value: number, start_ms: number, end_ms: number) => [
    { value, unit: '', start_date: instant(start_ms), end_date: instant(end_ms) },
  ]
  return [
    {
      id,
      start_date: instant(start),
      end_date: instant(stop),
      heart_rate_mean: 56 + n,
      sleep_stages: { deep_sleep_samples: stage(1, start, half), light_sleep_samples: stage(2, half, stop) },
    },
  ]
})

const workout = summary('workouts', ({ now_ms, id }, n) => {
  const start_date = instant(now_ms - 1_800_000)
  const part = (value: number[]) => [{ anchor: start_date, value, start_offset: [0, 60], end_offset: [60, 120] }]
  return [
    {
      id,
      sport: 'Swimming',
      start_date,
      end_date: instant(now_ms),
      distance: 1500 + n,
      calories: 320,
      stream: {
        components: {
          heart_rate: part([118 + n, 124]),
          distance_swimming: part([25 + n, 25]),
          swimming_stroke_count: part([20 + n, 21]),
        },
      },
    },
  ]
})

const electrocardiogram = summary('electrocardiogram', ({ now_ms, id }, n) => [
  {
    electrocardiogram: {
      id,
      session_start: instant(now_ms - 30_000),
      session_end: instant(now_ms),
      voltage_sample_count: 3,
      heart_rate_mean: 62 + n,
      classification: 'sinus_rhythm',
    },
    voltage_data: { session_start_offset_millisecond: [0, 2, 4], lead1: [0.01, 0.02, (n + 1) / 100] },
  },
])

const ownPosts: Record<string, Post> = {
  activity: summary('activity', ({ day }, n) => [{ day_summary: { calendar_date: day, steps_sum: 8412 + n } }]),
  profile: summary('profile', (_, n) => ({ biological_sex: 'female', height: 168 + n })),
  sleep: night,
  sleep_cycle: night,
  workouts: workout,
  workout_stream: workout,
  workout_distance: workout,
  workout_swimming_stroke: workout,
  electrocardiogram,
  electrocardiogram_voltage: electrocardiogram,
  meal: summary('meal', (moment, n) => {
    const quantity = { start_date: instant(moment.now_ms), end_date: instant(moment.now_ms) }
    return [{ healthkit: { source_bundle: appOf(moment), energy_total: [{ value: 420 + n, unit: 'kcal', ...quantity }] } }]
  }),
  menstrual_cycle: summary('menstrual_cycle', (moment, n) => [
    {
      source_bundle: appOf(moment),
      cycle: { period_start: moment.day, menstrual_flow: [{ date: moment.day, flow: n ? 'heavy' : 'medium' }] },
    },
  ]),
  body: body('weight', 'body_mass'),
  weight: body('weight', 'body_mass'),
  fat: body('fat', 'body_fat_percentage'),
  body_mass_index: body('body_mass_index', 'body_mass_index'),
  lean_body_mass: body('lean_body_mass', 'lean_body_mass'),
  waist_circumference: body('waist_circumference', 'waist_circumference'),
  blood_pressure: pressure,
  heart_rate_alert: alert,
  stand_hour: hour,
  hrv: timeseries('hrv', 'heartrate_variability'),
  body_temperature: timeseries('body_temperature', 'temperature'),
}
const samplePosts = postedTimeseries.filter((name) => !(name in ownPosts)).toSorted()
const posts: Record<string, Post> = { ...ownPosts, ...Object.fromEntries(samplePosts.map((name) => [name, timeseries(name)])) }

/** Summaries that come with a post of another kind. */
const words: Record<string, string> = {
  electrocardiogram_voltage: 'an electrocardiogram',
  workout_stream: 'a workout with its stream',
}
const tellOf = (resource: string): string => words[resource] ?? resource.replaceAll('_', ' ')

/** What no phone posts by itself is recorded by demo connections: the provider. */
const demos: Record<string, string> = {
  body_temperature_delta: 'fitbit',
  stress_level: 'fitbit',
  carbohydrates: 'freestyle_libre',
  insulin_injection: 'freestyle_libre',
  note: 'freestyle_libre',
  cholesterol: 'apple_health_kit',
  ige: 'apple_health_kit',
  igg: 'apple_health_kit',
  workout_duration: 'apple_health_kit',
  workout_distance: 'apple_health_kit',
  workout_swimming_stroke: 'apple_health_kit',
}

type Change = 'created' | 'updated' | 'historical'

function createScenario(resource: string, post: Post, change: Change): Scenario {
  const tells = {
    created: `post ${tellOf(resource)} as a phone does`,
    updated: `post ${tellOf(resource)} as a phone does, and then another value of it`,
    historical: `post ${tellOf(resource)} of the past as a phone does, as its whole history`,
  }
  return {
    tells: tells[change],
    async run(sandbox, type) {
      const user_id = await sandbox.user()
      // There is one profile of a phone: the events of others would not say that it is new.
      if (resource === 'profile') await sandbox.forget(user_id, PROVIDER)
      const previousEventId = await sandbox.newest(type)
      const moment: Moment = await momentOf(sandbox)
      for (const n of change === 'updated' ? [0, 1] : [0]) {
        const { path, data } = post(moment, n)
        const range = { start_date: instant(moment.now_ms - DAY_MS), end_date: instant(moment.now_ms) }
        const stage = change === 'historical' ? { stage: 'historical', ...range } : { stage: 'daily' }
        await sandbox.create(path(user_id), { ...stage, time_zone: ZONE, provider: PROVIDER, data })
      }
      return { id: user_id, previousEventId }
    },
  }
}

async function momentOf(sandbox: Sandbox): Promise<Moment> {
  const { now } = await sandbox.get<{ now: string }>('/v1/sandbox/clock')
  const now_ms = Date.parse(now) - randomInt(3600) * 1000
  return { now_ms, day: instant(now_ms - randomInt(1, 7000) * DAY_MS).slice(0, 10), id: randomUUID() }
}

const demoScenario = (resource: string): Scenario => ({
  tells: `connect a demo of ${demos[resource]}, whose history has ${tellOf(resource)}`,
  async run(sandbox, type) {
    // A user has demo connections or others.
    const { id: user_id } = await sandbox.userCalled('drawbridge-trigger-demo')
    await sandbox.forget(user_id, demos[resource]!)
    const previousEventId = await sandbox.newest(type)
    await sandbox.create('/v2/link/connect/demo', { user_id, provider: demos[resource] })
    return { id: user_id, previousEventId }
  },
})

/** A demo connection records a sample of the present, and the same one again with another value. */
const demoSampleScenario = (resource: string, change: 'created' | 'updated'): Scenario => ({
  tells: `record ${tellOf(resource)} of a demo of ${demos[resource]}${change === 'updated' ? ', and then another value of it' : ''}`,
  async run(sandbox, type) {
    const { id: user_id } = await sandbox.userCalled('drawbridge-trigger-demo')
    const previousEventId = await sandbox.newest(type)
    await sandbox.create('/v2/link/connect/demo', { user_id, provider: demos[resource] })
    const { now_ms } = await momentOf(sandbox)
    const timestamp = instant(now_ms)
    const { value } = exampleSample(resource, timestamp)
    for (const n of change === 'updated' ? [0, 1] : [0]) {
      const other = typeof value === 'string' ? `${value} ${n + 1}` : Number(value) + n
      await sandbox.recordDemoSample({ user_id, provider: demos[resource], resource, value: other, timestamp })
    }
    return { id: user_id, previousEventId }
  },
})

const typesOf = (resource: string) => ({
  created: `daily.data.${resource}.created`,
  updated: `daily.data.${resource}.updated`,
  historical: `historical.data.${resource}.created`,
})

/** The events of health data that a sandbox can cause, by type. */
export const healthScenarios: Record<string, Scenario> = Object.fromEntries([
  ...Object.entries(posts).flatMap(([resource, post]) => {
    const types = typesOf(resource)
    const changes: Change[] = demos[resource] === undefined ? ['created', 'updated', 'historical'] : ['created', 'updated']
    return changes.map((change) => [types[change], createScenario(resource, post, change)] as const)
  }),
  ...Object.keys(demos).flatMap((resource) => {
    const types = typesOf(resource)
    const daily = (['created', 'updated'] as const).map(
      (change) => [types[change], demoSampleScenario(resource, change)] as const,
    )
    return [[types.historical, demoScenario(resource)] as const, ...(posts[resource] === undefined ? daily : [])]
  }),
])
