// Summaries that phones post, as they are read and reported. Source: users-wearables.md 7-9, 16.5, 16.6; events.md 4.1, 5.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, counts, DAY, events, read, types } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { list, ofKind, postSummary as post } from '../../../test/support/summaries.ts'

const source = {
  name: 'Apple HealthKit',
  slug: 'apple_health_kit',
  logo: '',
  provider: 'apple_health_kit',
  device_id: null,
  sport: null,
  workout_id: null,
}

describe('activity', () => {
  const day = (calendar_date: string, steps_sum: number, overrides: object = {}) => ({
    day_summary: { calendar_date, steps_sum, active_energy_burned_sum: 480.5, basal_energy_burned_sum: 1600, ...overrides },
  })

  test('a day is one record, whose growing counts are reported as updates, and a repeated post is not', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const replies = []
    for (const steps of [100, 8412, 8412]) replies.push(counts((await post(team, 'activity', user_id, [day(DAY, steps)])).body))
    assert.deepEqual(replies, [
      [1, 1, 0, 0],
      [1, 0, 1, 0],
      [1, 0, 0, 0],
    ])
    const { activity } = await list(team, 'activity', user_id)
    assert.equal(activity.length, 1)
    const { id, created_at, updated_at, ...rest } = activity[0]
    assert.ok(created_at <= updated_at)
    assert.deepEqual(rest, {
      user_id,
      date: `${DAY}T00:00:00+00:00`,
      calendar_date: DAY,
      calories_total: 2080.5,
      calories_active: 480.5,
      steps: 8412,
      daily_movement: null,
      distance: null,
      low: null,
      medium: null,
      high: null,
      floors_climbed: null,
      time_zone: 'America/Phoenix',
      timezone_offset: -25_200,
      heart_rate: null,
      wheelchair_use: null,
      wheelchair_push: null,
      source: { ...source, type: 'multiple_sources', app_id: null },
    })
    const emitted = await ofKind(team, 'activity')
    assert.deepEqual(types(emitted), ['daily.data.activity.created', 'daily.data.activity.updated'])
    assert.equal(emitted[0]!.data.id, id)
    assert.deepEqual(emitted[1]!.data as unknown, activity[0])
  })

  test('the samples of a day are timeseries too', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const steps = [sentSample('09:00:00', 120, { end_date: `${DAY}T10:00:00Z`, type: 'watch' })]
    const energy = [sentSample('09:00:00', 12, { unit: 'kcal', end_date: `${DAY}T10:00:00Z` })]
    const { body } = await post(team, 'activity', user_id, [{ ...day(DAY, 120), steps, active_energy_burned: energy }])
    assert.deepEqual(counts(body), [3, 3, 0, 0])
    assert.equal((await read(team, user_id, 'steps')).groups.apple_health_kit[0].data[0].value, 120)
    assert.equal((await read(team, user_id, 'calories_active')).groups.apple_health_kit[0].data[0].unit, 'kcal')
  })

  test('days are listed by the range, oldest first, of one provider or all', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const days = ['2026-01-03', '2026-01-01', '2026-01-02']
    await post(
      team,
      'activity',
      user_id,
      days.map((date) => day(date, 1)),
    )
    await post(team, 'activity', user_id, [day('2026-01-02', 2)], { provider: 'health_connect' })
    const dates = async (query: string) =>
      (await list(team, 'activity', user_id, query)).activity.map((day: { calendar_date: string }) => day.calendar_date.slice(8))
    assert.deepEqual(await dates('start_date=2026-01-01&end_date=2026-01-03'), ['01', '02', '02', '03'])
    assert.deepEqual(await dates('start_date=2026-01-02T10:00:00Z&end_date=2026/01/02'), ['02', '02'])
    assert.deepEqual(await dates('start_date=2026-01-01&provider=health_connect'), ['02'])
    assert.equal((await team.api.get(`/v2/summary/activity/${user_id}?start_date=soon`)).status, 422)
    const other = await createTestTeam()
    assert.equal((await other.api.get(`/v2/summary/activity/${user_id}?start_date=2026-01-01`)).status, 404)
  })

  test('days outside of the bounds of the user are dropped', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.patch(`/v2/user/${user_id}`, { ingestion_start: '2026-01-10' })
    const { body } = await post(team, 'activity', user_id, [day('2026-01-08', 1), day('2026-01-09', 1), day('2026-01-10', 1)])
    assert.deepEqual(counts(body), [2, 2, 0, 1])
  })
})

describe('sleep', () => {
  const stage = (start: string, end: string) => ({ value: 1, unit: '', start_date: start, end_date: end })
  const night = {
    id: 'night-0001',
    start_date: '2026-01-31T05:00:00Z',
    end_date: '2026-01-31T13:00:00Z',
    source_bundle: 'com.apple.health.0000',
    product_type: 'Watch6,1',
    heart_rate_minimum: 48,
    heart_rate_mean: 54.4,
    hrv_mean_sdnn: 61.5,
    wrist_temperature: [
      { value: 36, unit: 'degC', start_date: '2026-01-31T05:00:00Z', end_date: '2026-01-31T05:00:00Z' },
      { value: 37, unit: 'degC', start_date: '2026-01-31T06:00:00Z', end_date: '2026-01-31T06:00:00Z' },
    ],
    sleep_stages: {
      awake_sleep_samples: [stage('2026-01-31T05:00:00Z', '2026-01-31T05:10:00Z')],
      light_sleep_samples: [
        stage('2026-01-31T05:10:00Z', '2026-01-31T09:00:00Z'),
        stage('2026-01-31T08:00:00Z', '2026-01-31T10:00:00Z'),
      ],
      deep_sleep_samples: [stage('2026-01-31T10:00:00Z', '2026-01-31T11:00:00Z')],
      remSleepSamples: [stage('2026-01-31T11:00:00Z', '2026-01-31T13:00:00Z')],
    },
  }

  test('a night has the local day of its end, and the time of each stage, where two devices count once', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.deepEqual(counts((await post(team, 'sleep', user_id, [night])).body), [2, 2, 0, 0])
    const [sleep] = (await list(team, 'sleep', user_id)).sleep
    const { id, created_at: _created, updated_at: _updated, ...rest } = sleep
    const light = 4 * 3600 + 50 * 60
    assert.deepEqual(rest, {
      user_id,
      date: `${DAY}T00:00:00+00:00`,
      calendar_date: DAY,
      bedtime_start: `${DAY}T05:00:00+00:00`,
      bedtime_stop: `${DAY}T13:00:00+00:00`,
      type: 'long_sleep',
      timezone_offset: -25_200,
      duration: 8 * 3600,
      total: light + 3 * 3600,
      awake: 600,
      light,
      rem: 7200,
      deep: 3600,
      score: null,
      recovery_readiness_score: null,
      hr_lowest: 48,
      hr_average: 54,
      hr_resting: null,
      efficiency: ((light + 3 * 3600) / (8 * 3600)) * 100,
      latency: 600,
      temperature_delta: null,
      skin_temperature: 36.5,
      hr_dip: null,
      state: null,
      average_hrv: 61.5,
      respiratory_rate: null,
      sleep_stream: null,
      source: { ...source, type: 'watch', app_id: 'com.apple.health.0000' },
    })
    const [cycle] = (await list(team, 'sleep_cycle', user_id)).sleep_cycle
    assert.equal(cycle.sleep_id, id)
    assert.deepEqual(cycle.stage_type, [4, 2, 2, 1, 3])
    assert.deepEqual(cycle.stage_start_offset_second, [0, 600, 10_800, 18_000, 21_600])
    assert.deepEqual(cycle.stage_end_offset_second, [600, 14_400, 18_000, 21_600, 28_800])
    assert.deepEqual(
      [cycle.source_provider, cycle.source_type, cycle.time_zone],
      ['apple_health_kit', 'watch', 'America/Phoenix'],
    )
    assert.deepEqual(types(await ofKind(team, 'sleep')), ['daily.data.sleep.created'])
    assert.deepEqual((await ofKind(team, 'sleep_cycle'))[0]!.data as unknown, cycle)
  })

  test('a night that is corrected keeps its id, and that of its stages', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, 'sleep', user_id, [night])
    const before = (await list(team, 'sleep', user_id)).sleep[0]
    await post(team, 'sleep', user_id, [{ ...night, end_date: '2026-01-31T13:30:00Z' }])
    const after = (await list(team, 'sleep', user_id)).sleep
    assert.deepEqual(
      after.map(({ id, duration }: { id: string; duration: number }) => [id, duration]),
      [[before.id, 8.5 * 3600]],
    )
    assert.equal((await list(team, 'sleep_cycle', user_id)).sleep_cycle.length, 1)
    assert.deepEqual(types(await ofKind(team, 'sleep')), ['daily.data.sleep.created', 'daily.data.sleep.updated'])
  })

  test('sleep that a second device tells apart counts once', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const stages = {
      unspecified_sleep_samples: [stage('2026-01-31T05:00:00Z', '2026-01-31T13:00:00Z')],
      deep_sleep_samples: [stage('2026-01-31T07:00:00Z', '2026-01-31T09:00:00Z')],
      rem_sleep_samples: [stage('2026-01-31T09:00:00Z', '2026-01-31T11:00:00Z')],
    }
    await post(team, 'sleep', user_id, [{ ...night, sleep_stages: stages }])
    const [sleep] = (await list(team, 'sleep', user_id)).sleep
    assert.deepEqual([sleep.light, sleep.deep, sleep.rem, sleep.total], [4 * 3600, 2 * 3600, 2 * 3600, 8 * 3600])
  })

  test('a short night without stages has no stages', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const { sleep_stages: _stages, ...plain } = night
    await post(team, 'sleep', user_id, [{ ...plain, end_date: '2026-01-31T06:30:00Z' }])
    const [sleep] = (await list(team, 'sleep', user_id)).sleep
    assert.deepEqual([sleep.type, sleep.total, sleep.efficiency, sleep.latency], ['short_sleep', 0, null, null])
    assert.deepEqual((await list(team, 'sleep_cycle', user_id)).sleep_cycle, [])
  })

  for (const [name, wrong] of Object.entries({
    'ends before it starts': { end_date: '2026-01-30T05:00:00Z' },
    'lasts weeks': { start_date: '2026-01-01T05:00:00Z' },
    'is in the future': { end_date: '9999-01-31T05:00:00Z' },
    'has no id': { id: '' },
  }))
    test(`a night that ${name} is rejected, and the other one of its post is stored`, async () => {
      const team = await createTestTeam()
      const user_id = await team.user()
      assert.equal((await post(team, 'sleep', user_id, [{ ...night, ...wrong }])).status, 422)
      assert.deepEqual((await list(team, 'sleep', user_id)).sleep, [])
      const { body } = await post(team, 'sleep', user_id, [
        { ...night, ...wrong },
        { ...night, id: 'other' },
      ])
      assert.equal(body.rejected, 1)
      assert.equal((await list(team, 'sleep', user_id)).sleep.length, 1)
      assert.equal((await list(team, 'sleep_cycle', user_id)).sleep_cycle.length, 1)
    })
})

describe('workouts, the body and the profile', () => {
  test('a workout has its sport, its zones of heart rate in either spelling, and the local day of its start', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const workout = {
      id: 'workout-0001',
      sport: 'Cross Country Skiing',
      start_date: '2026-02-01T05:30:00Z',
      end_date: '2026-02-01T07:00:00Z',
      distance: 12_000,
      heart_rate_mean: 141.6,
      heart_rate_zone1: 60,
      heart_rate_zone_3: 1200.4,
    }
    await post(team, 'workouts', user_id, [workout])
    const [one] = (await list(team, 'workouts', user_id)).workouts
    assert.deepEqual(
      [one.sport.name, one.sport.slug, one.title],
      ['Cross Country Skiing', 'cross_country_skiing', 'Cross Country Skiing'],
    )
    assert.deepEqual(one.hr_zones, [60, 0, 1200, 0, 0, 0])
    assert.deepEqual(
      [one.calendar_date, one.average_hr, one.distance, one.provider_id, one.map],
      [DAY, 142, 12_000, 'workout-0001', null],
    )
    assert.deepEqual(types(await ofKind(team, 'workouts')), ['daily.data.workouts.created'])
  })

  test('measurements of the body at one instant are one record, and samples; a later post adds to the record', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, 'body', user_id, { body_mass: [sentSample('06:00:00', 71.5, { unit: 'kg' })] })
    await post(team, 'body', user_id, { body_fat_percentage: [sentSample('06:00:00', 18, { unit: '%' })] })
    const { body } = await list(team, 'body', user_id)
    assert.deepEqual(
      body.map((measurement: Record<string, unknown>) => [
        measurement.calendar_date,
        measurement.weight,
        measurement.fat,
        measurement.body_mass_index,
      ]),
      [['2026-01-30', 71.5, 18, null]],
    )
    assert.equal((await read(team, user_id, 'body_weight')).groups.apple_health_kit[0].data[0].value, 71.5)
    const emitted = types(await events(team)).toSorted()
    assert.deepEqual(emitted, [
      'daily.data.body.created',
      'daily.data.body.updated',
      'daily.data.fat.created',
      'daily.data.weight.created',
    ])
  })

  test('a profile is one for each provider; the newest is read', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.equal((await team.api.get(`/v2/summary/profile/${user_id}`)).status, 404)
    await post(team, 'profile', user_id, { biological_sex: 'female', date_of_birth: '1990-01-31', height: 167.6 })
    const {
      id,
      source: _source,
      created_at: _created,
      updated_at: _updated,
      ...rest
    } = (await team.api.get(`/v2/summary/profile/${user_id}`)).body
    assert.deepEqual(rest, {
      user_id,
      height: 168,
      birth_date: '1990-01-31',
      wheelchair_use: null,
      gender: 'female',
      sex: 'female',
    })
    await post(team, 'profile', user_id, { biological_sex: 'not_set', wheelchair_use: true })
    const after = (await team.api.get(`/v2/summary/profile/${user_id}?provider=apple_health_kit`)).body
    // A phone that may not read the sex says `not_set`; what it left out stays as well.
    assert.deepEqual(
      [after.id, after.gender, after.height, after.birth_date, after.wheelchair_use],
      [id, 'female', 168, '1990-01-31', true],
    )
    assert.equal((await team.api.get(`/v2/summary/profile/${user_id}?provider=oura`)).status, 404)
  })
})

test('the last post of a history completes each resource in it, once', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const range = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-31T23:59:59Z' }
  const data = { body_mass: [sentSample('06:00:00', 71.5, { unit: 'kg' })] }
  for (let i = 0; i < 2; i++) await post(team, 'body', user_id, data, range)
  const notices = (await events(team)).filter(({ event_type }) => event_type.startsWith('historical'))
  assert.deepEqual(types(notices).toSorted(), ['historical.data.body.created', 'historical.data.weight.created'])
})

test('the history of steps ends with that of activity, although its last post has no steps', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const range = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-31T23:59:59Z' }
  const steps = [sentSample('09:00:00', 120, { end_date: `${DAY}T10:00:00Z` })]
  await post(team, 'activity', user_id, [{ steps }], { ...range, is_final_chunk: false })
  await post(team, 'activity', user_id, [], range)
  const notices = types(await events(team)).filter((type) => type.startsWith('historical'))
  assert.deepEqual(notices.toSorted(), ['historical.data.activity.created', 'historical.data.steps.created'])
})
