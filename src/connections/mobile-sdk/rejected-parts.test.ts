// Posts of phones with faulty parts: the good part is stored, the faulty one is counted and visible. Units of phones, and values that cannot be.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sentSample, DAY, events, post, read, types, watch, type Sent } from '../../../test/support/samples.ts'
import { createTestTeam, metrics, url, type TestTeam } from '../../../test/support/server.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const now = () => new Date().toISOString().slice(0, 19)
const readValues = async (team: TestTeam, user_id: string, resource: string) => {
  const groups = Object.values((await read(team, user_id, resource)).groups) as { data: { value: number }[] }[][]
  return groups.flat().flatMap(({ data }) => data.map(({ value }) => value))
}
const readDays = async ({ api }: TestTeam, user_id: string, resource: string) => {
  const range = `start_date=2026-01-30&end_date=2026-01-31`
  const { body } = await api.get(`/v2/introspect/days?user_id=${user_id}&resource=${resource}&${range}`)
  return body.data[0]?.resources[0]
}
const listRejected = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/introspect/rejected_posts?user_id=${user_id}`)).body.data

describe('units of phones', () => {
  const cases: [resource: string, unit: string, value: number, stored: number, provider?: string][] = [
    ['glucose', 'milligrams_per_deciliter', 90, 4.99494955101],
    ['glucose', 'mg/dl', 90, 4.99494955101],
    ['glucose', 'MMOL/L', 5, 5],
    ['distance', 'km', 1.5, 1500],
    ['distance', 'Miles', 1, 1609.344],
    ['water', 'L', 0.25, 250],
    ['water', 'fl_oz_us', 8, 236.5882365],
    ['caffeine', 'milligrams', 80, 0.08],
    ['temperature', 'degF', 98.6, 37],
    ['temperature', 'K', 310.15, 37],
    ['calories_active', 'kJ', 418.4, 100],
    ['calories_active', 'kJ', 100, 100, 'health_connect'],
    ['calories_active', 'Cal', 100, 100],
    ['calories_active', 'cal', 100_000, 100],
    ['heartrate', 'count/s', 1, 60],
    ['heartrate_variability', 's', 0.05, 50],
    ['forced_vital_capacity', 'mL', 4200, 4.2],
    ['mindfulness_minutes', 'hours', 0.5, 30],
  ]
  const names: Record<string, string> = { temperature: 'body_temperature', heartrate_variability: 'hrv' }
  for (const [resource, unit, value, stored, provider = 'apple_health_kit'] of cases)
    test(`${value} ${unit} of ${resource} from ${provider} is ${stored}`, async () => {
      const { team, user_id } = await createTeamWithUser()
      const { body } = await post(team, user_id, resource, [sentSample('09:30:00', value, { unit })], { provider })
      assert.deepEqual([body.accepted, body.rejected], [1, 0])
      assert.deepEqual(await readValues(team, user_id, names[resource] ?? resource), [stored])
    })

  test('that are not known are rejected: nothing is stored under another unit', async () => {
    const { team, user_id } = await createTeamWithUser()
    const unknown: [string, string][] = [
      ['glucose', 'km'],
      ['distance', 'furlong'],
      ['steps', 'count/min'],
      ['water', 'constructor'],
      ['calories_active', 'CAL'],
    ]
    for (const [resource, unit] of unknown) {
      const { status, body } = await post(team, user_id, resource, [sentSample('09:30:00', 5, { unit })])
      assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'data', 0, 'unit']], resource)
      assert.deepEqual(await readValues(team, user_id, resource), [])
    }
    const part = { value: 5, start_date: `${DAY}T09:30:00Z`, end_date: `${DAY}T09:30:00Z` }
    const mixed = { body_mass: [{ ...part, value: 154.32358353, unit: 'lb' }], waist_circumference: [{ ...part, unit: 'kg' }] }
    const { body } = await postSummary(team, 'body', user_id, mixed)
    assert.equal(body.rejected, 1)
    const [measured] = (await list(team, 'body', user_id)).body
    assert.deepEqual([Math.round(measured.weight * 1e6) / 1e6, measured.waist_circumference_centimeter], [70, null])
    const pressure = { systolic: { ...part, value: 16, unit: 'kPa' }, diastolic: { ...part, value: 10, unit: 'kPa' } }
    await post(team, user_id, 'blood_pressure', [pressure, { ...pressure, diastolic: { ...part, unit: 'kg' } }])
    const [{ data }] = (await read(team, user_id, 'blood_pressure')).groups.apple_health_kit
    assert.deepEqual(
      data.map(({ systolic, diastolic }: Record<string, number>) => [systolic, diastolic]),
      [[120.009852135, 75.0061575846]],
    )
  })

  test('of nutrients are converted or rejected', async () => {
    const { team, user_id } = await createTeamWithUser()
    const amount = (value: number, unit: string) => [
      { value, unit, start_date: `${DAY}T12:00:00Z`, end_date: `${DAY}T12:00:00Z` },
    ]
    const healthkit = {
      source_bundle: 'com.example.food',
      energy_total: amount(418.4, 'kJ'),
      protein: amount(1, 'oz'),
      carbohydrates: amount(5, 'furlong'),
      vitamin_c: amount(60, 'milligrams'),
    }
    assert.equal((await postSummary(team, 'meal', user_id, [{ healthkit }])).body.rejected, 1)
    const [meal] = (await list(team, 'meal', user_id)).meals
    assert.deepEqual([meal.energy.value, meal.macros.carbs, meal.micros.vitamins.vitamin_c], [100, null, 60])
    assert(Math.abs(meal.macros.protein - 28.349523125) < 1e-9)
  })
})

describe('a post with faulty samples', () => {
  const faulty: Partial<Sent>[] = [
    { value: -5 },
    { value: 1e308 },
    { unit: undefined as never },
    { start_date: '9999-01-01T00:00:00Z', end_date: '9999-01-01T00:00:00Z' },
    { start_date: `${DAY}T09:31:00Z`, end_date: `${DAY}T09:30:00Z` },
    { value: null as never },
  ]

  test('stores the good ones, counts the faulty, and days, posts and a metric show them', async () => {
    const { team, user_id } = await createTeamWithUser()
    const data = [
      sentSample('09:30:00', 61, watch),
      ...faulty.map((fault) => sentSample('09:31:00', 62, fault)),
      sentSample('09:40:00', 63, watch),
    ]
    const count = async () =>
      Number(
        /^drawbridge_rejected_health_records_total\{[^}]*resource="heartrate"[^}]*\} (\d+)/m.exec(
          await metrics.registry.metrics(),
        )?.[1] ?? 0,
      )
    const before = await count()
    for (let i = 0; i < 3; i++) {
      const { status, body } = await post(team, user_id, 'heartrate', data)
      assert.deepEqual([status, body.accepted, body.created, body.rejected], [200, 2, i ? 0 : 2, 6])
    }
    assert((await count()) - before >= 18)
    assert.deepEqual(await readValues(team, user_id, 'heartrate'), [61, 63])
    assert.deepEqual(types(await events(team)), ['daily.data.heartrate.created'])
    const { days, last_error, rejected_posts } = await readDays(team, user_id, 'heartrate')
    assert.deepEqual([days[1].status, days[1].failed, rejected_posts], ['stored', true, 3])
    assert.deepEqual([last_error.error_type, last_error.error_message], ['invalid_data', 'data.3.unit: Field required'])
    const [shown, ...others] = await listRejected(team, user_id)
    assert.equal(others.length, 0)
    const { is_whole, rejected, posts, resource, error_message } = shown
    assert.deepEqual(
      [is_whole, rejected, posts, resource, error_message],
      [false, 6, 3, 'heartrate', 'data.3.unit: Field required'],
    )
    // A later post without a fault ends the failure of the day.
    await post(team, user_id, 'heartrate', [sentSample('09:50:00', 64, watch)])
    const later = await readDays(team, user_id, 'heartrate')
    assert.deepEqual([later.days[1].status, later.days[1].failed], ['stored', false])
  })

  test('without a valid part is rejected, and its days, its fault and its repetitions are visible', async () => {
    const { team, user_id } = await createTeamWithUser()
    const data = [sentSample('09:30:00', -5, watch), sentSample('09:31:00', 1e308, watch)]
    for (let i = 0; i < 2; i++) assert.equal((await post(team, user_id, 'heartrate', data)).status, 422)
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', -6, watch)])
    const { days, last_error, rejected_posts } = await readDays(team, user_id, 'heartrate')
    assert.deepEqual([days[0].status, days[1].status, rejected_posts], ['not_asked', 'failed', 1])
    assert.equal(last_error.error_message, 'data.0.value: must be between 1 and 400 bpm')
    const shown = await listRejected(team, user_id)
    assert.deepEqual(
      shown
        .map(({ is_whole, rejected, posts }: Record<string, unknown>) => [is_whole, rejected, posts])
        .toSorted((a: number[], b: number[]) => a[1]! - b[1]!),
      [
        [true, 1, 1],
        [true, 2, 2],
      ],
    )
    // It connects nobody, and is shown all the same.
    assert.deepEqual((await team.api.get(`/v2/user/providers/${user_id}`)).body.providers, [])
    const attempts = (await team.api.get('/v2/introspect/resources')).body.data[0].provider.apple_health_kit
    assert.equal(attempts.heartrate.last_attempt.status, 'failure')
  })

  test('or with a fault of its envelope is also visible, without texts of the client', async () => {
    const { team, user_id } = await createTeamWithUser()
    const path = `/v2/summary/workouts/${user_id}`
    const workout = { id: 'w', sport: 'Running', start_date: `${DAY}T09:30:00Z`, end_date: `${DAY}T10:00:00Z` }
    const body = { provider: 'apple_health_kit', stage: 'Jane Example', data: [workout] }
    assert.equal((await team.api.post(path, body)).status, 422)
    const { days, last_error } = await readDays(team, user_id, 'workouts')
    assert.deepEqual([days[1].status, last_error.error_type], ['failed', 'invalid_data'])
    assert.match(last_error.error_message, /^stage: Input should be /)
    const components = { 'Jane Example': [{ ...workout, value: 'x' }] }
    await team.api.post(path, { ...body, stage: 'daily', data: [{ ...workout, stream: { components } }] })
    assert(!JSON.stringify(await listRejected(team, user_id)).includes('Jane'))
    for (const provider of ['oura', 'Jane', 5, null]) assert.equal((await team.api.post(path, { ...body, provider })).status, 422)
    const all = await listRejected(team, user_id)
    assert.deepEqual(all.map((rejection: { provider: string }) => rejection.provider).toSorted(), [
      ...Array(2).fill('apple_health_kit'),
      ...Array(4).fill('unknown'),
    ])
    assert(!JSON.stringify(all).includes('Jane'))
  })

  test('that cannot be read is recorded, with its provider if the text names one', async () => {
    const { team, user_id } = await createTeamWithUser()
    const send = async (body: string | Buffer, headers: Record<string, string> = {}, user = user_id) => {
      const path = `/v2/timeseries/${user}/heartrate`
      const all = { 'x-service-api-key': team.key, 'content-type': 'application/json', ...headers }
      return (await fetch(`${url}${path}`, { method: 'POST', body, headers: all })).status
    }
    const broken = '{ "provider": "health_connect", "stage": "daily", "data": [{ "value": 61'
    for (let i = 0; i < 2; i++) assert.equal(await send(broken), 422)
    assert.equal(await send('Jane Example'), 422)
    assert.equal(await send(' '.repeat(17 * 1024 * 1024)), 413)
    assert.equal(await send('no gzip', { 'content-encoding': 'gzip' }), 422)
    assert.equal(await send(broken, {}, randomUUID()), 422)
    const shown = await listRejected(team, user_id)
    assert.deepEqual(
      shown
        .map(({ provider, posts, error_message }: Record<string, unknown>) => [provider, posts, error_message])
        .toSorted((a: string[], b: string[]) => (String(a) < String(b) ? -1 : 1)),
      [
        ['health_connect', 2, 'JSON decode error'],
        ['unknown', 1, 'Body is not valid gzip'],
        ['unknown', 1, 'JSON decode error'],
        ['unknown', 1, 'Request body is too large'],
      ],
    )
    const today = new Date().toISOString().slice(0, 10)
    const range = `start_date=${today}&end_date=${today}`
    const { data } = (await team.api.get(`/v2/introspect/days?user_id=${user_id}&${range}`)).body
    assert.deepEqual([data.length, data[0].provider, data[0].resources[0].days[0].status], [1, 'health_connect', 'failed'])
    assert.equal(data[0].resources[0].rejected_posts, 2)
    for (const path of ['resources', 'days', 'rejected_posts'])
      assert.equal((await team.api.get(`/v2/introspect/${path}?user_id=${user_id}`)).status, 200, path)
  })

  test('is kept apart by team, and goes with its user and with the data of its provider', async () => {
    const { team, user_id } = await createTeamWithUser()
    const other = await createTestTeam()
    const wrong = [sentSample('09:30:00', -5, watch)]
    await post(team, user_id, 'heartrate', wrong)
    assert.equal((await post(other, user_id, 'heartrate', wrong)).status, 404)
    assert.deepEqual(await listRejected(other, user_id), [])
    assert.equal((await listRejected(team, user_id)).length, 1)
    for (let i = 0; i < 25; i++) await post(team, user_id, 'heartrate', [sentSample('09:30:00', -5 - i, watch)])
    assert.equal((await listRejected(team, user_id)).length, 20, 'the newest of them')
    await post(team, user_id, 'steps', [sentSample('09:30:00', 5, watch)])
    await team.api.delete(`/v2/user/${user_id}/apple_health_kit?delete_data=true`)
    assert.deepEqual(await listRejected(team, user_id), [])
  })
})

describe('summaries with values that cannot be', () => {
  test('are stored without them, and the others are counted', async () => {
    const { team, user_id } = await createTeamWithUser()
    const day = { calendar_date: DAY, steps_sum: -5, active_energy_burned_sum: 1e308, min_heart_rate: -1, max_heart_rate: 120 }
    const far = { calendar_date: '9999-12-31', steps_sum: 5 }
    const sent = [{ day_summary: day }, { day_summary: far }, { day_summary: { calendar_date: 'never' } }]
    const { body } = await postSummary(team, 'activity', user_id, sent)
    assert.deepEqual([body.accepted, body.rejected], [1, 5])
    const { activity } = await list(team, 'activity', user_id, 'start_date=2026-01-01&end_date=9999-12-31')
    assert.equal(activity.length, 1)
    const [{ steps, calories_active, heart_rate }] = activity
    assert.deepEqual([steps, calories_active, heart_rate.min_bpm, heart_rate.max_bpm], [null, null, null, 120])
    assert.equal((await postSummary(team, 'activity', user_id, [{ day_summary: far }])).status, 422)
    const { days } = await readDays(team, user_id, 'activity')
    assert.deepEqual([days[1].status, days[1].failed], ['stored', true])
  })

  test('of nights, workouts, the body, the profile, meals and cycles are stored without these values', async () => {
    const { team, user_id } = await createTeamWithUser()
    const session = { start_date: `${DAY}T05:00:00Z`, end_date: `${DAY}T06:00:00Z` }
    await postSummary(team, 'sleep', user_id, [{ id: 'n', ...session, heart_rate_mean: -50, heart_rate_minimum: 48, score: 250 }])
    const [night] = (await list(team, 'sleep', user_id)).sleep
    assert.deepEqual([night.hr_average, night.hr_lowest, night.score], [null, 48, null])
    const stream = {
      components: { heart_rate: [{ anchor: session.start_date, value: [120, -7], start_offset: [0, 5], end_offset: [5, 10] }] },
    }
    await postSummary(team, 'workouts', user_id, [
      { id: 'w', sport: 'Running', ...session, distance: -1, calories: 1e300, heart_rate_maximum: 999, stream },
    ])
    const [workout] = (await list(team, 'workouts', user_id)).workouts
    assert.deepEqual([workout.distance, workout.calories, workout.max_hr], [null, null, null])
    assert.deepEqual((await team.api.get(`/v2/timeseries/workouts/${workout.id}/stream`)).body.heartrate, [120, null])
    await postSummary(team, 'profile', user_id, { height: 17_000, date_of_birth: '2999-01-01', biological_sex: 'female' })
    const profile = (await team.api.get(`/v2/summary/profile/${user_id}`)).body
    assert.deepEqual([profile.height, profile.birth_date, profile.gender], [null, null, 'female'])
    assert.equal((await team.api.get(`/v2/user/${user_id}`)).body.fallback_birth_date, null)
    const record = {
      start_time: `${DAY}T12:00:00Z`,
      end_time: `${DAY}T12:00:00Z`,
      energy: -1,
      protein: -4,
      vitamin_c: -9,
      calcium: 5,
    }
    const meal = [{ health_connect: { source_bundle: 'com.example.food', nutrition_records: [record] } }]
    await postSummary(team, 'meal', user_id, meal, { provider: 'health_connect' })
    const [{ energy, macros, micros }] = (await list(team, 'meal', user_id)).meals
    assert.deepEqual([energy, macros.protein, micros.vitamins, micros.minerals], [null, null, {}, { calcium: 5 }])
    const cycle = {
      period_start: '2026-01-05',
      cycle_end: '9999-12-31',
      menstrual_flow: [
        { date: '2026-01-05', flow: 'light' },
        { date: '9999-01-01', flow: 'light' },
      ],
      basal_body_temperature: [{ date: '2026-01-05', value: -3 }],
    }
    await postSummary(team, 'menstrual_cycle', user_id, [{ cycle }])
    const [shown] = (await list(team, 'menstrual_cycle', user_id)).menstrual_cycle
    assert.deepEqual([shown.cycle_end, shown.menstrual_flow.length, shown.basal_body_temperature.length], [null, 1, 0])
  })

  test('of the days ahead of the clock of the team are rejected, and of today are accepted', async () => {
    const { team, user_id } = await createTeamWithUser()
    const today = { day_summary: { calendar_date: now().slice(0, 10), steps_sum: 5 } }
    assert.equal((await postSummary(team, 'activity', user_id, [today])).body.accepted, 1)
    const ahead = new Date(Date.now() + 4 * 86_400_000).toISOString().slice(0, 10)
    const { status } = await postSummary(team, 'activity', user_id, [{ day_summary: { calendar_date: ahead, steps_sum: 5 } }])
    assert.equal(status, 422)
  })
})
