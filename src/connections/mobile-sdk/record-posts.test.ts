// Meals, menstrual cycles and electrocardiograms that phones post, as they are read and reported. Source: users-wearables.md 9.7-9.9,
// 16.5-16.7; events.md 4.1, 5.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { counts, DAY, events, read, types } from '../../../test/support/samples.ts'
import { list, ofKind, postSummary } from '../../../test/support/summaries.ts'
import { createTestTeam } from '../../../test/support/server.ts'

const APP = 'com.example.food'
const source = { provider: 'apple_health_kit', slug: 'apple_health_kit', type: 'unknown', app_id: APP, device_id: null }

describe('meals of Apple Health', () => {
  const amount = (value: number, unit: string, time: string, food?: string) => ({
    value,
    unit,
    start_date: `${DAY}T${time}Z`,
    end_date: `${DAY}T${time}Z`,
    ...(food && { metadata: { HKFoodType: food } }),
  })
  const sent = {
    healthkit: {
      source_bundle: APP,
      energy_total: [
        amount(300, 'kcal', '20:00:00', 'Soup'),
        amount(120, 'kcal', '20:00:00', 'Bread'),
        amount(90, 'kcal', '23:00:00'),
      ],
      carbohydrates: [amount(25, 'g', '20:00:00', 'Bread')],
      fat_total: [amount(4, 'g', '20:00:00', 'Soup')],
      cholesterol: [amount(80, 'mg', '20:00:00', 'Soup')],
      vitamin_a: [amount(0.5, 'mg', '20:00:00', 'Soup')],
      sodium: [amount(1.2, 'g', '20:00:00', 'Soup')],
      copper: [amount(0.3, 'mg', '20:00:00', 'Soup')],
    },
  }

  test('entries that an app records at one instant are a meal, with each food, in the units of meals', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.deepEqual(counts((await postSummary(team, 'meal', user_id, [sent])).body), [2, 2, 0, 0])
    assert.deepEqual(counts((await postSummary(team, 'meal', user_id, [sent])).body), [2, 0, 0, 0])
    const { meals } = await list(team, 'meal', user_id)
    assert.deepEqual(
      meals
        .map((meal: { energy: object }) => meal.energy)
        .toSorted((a: { value: number }, b: { value: number }) => b.value - a.value),
      [
        { unit: 'kcal', value: 420 },
        { unit: 'kcal', value: 90 },
      ],
    )
    const [meal] = meals.filter((meal: { energy: { value: number } }) => meal.energy.value === 420)
    assert.deepEqual([meal.timestamp, meal.calendar_date, meal.name], [`${DAY}T20:00:00+00:00`, DAY, 'Meal'])
    assert.deepEqual([meal.provider_id, meal.source_app_id, meal.source_device_id], [meal.id, APP, null])
    assert.ok(Number.isInteger(meal.source_id) && Number.isInteger(meal.priority_id))
    const { carbs, cholesterol, fats, protein } = meal.macros
    assert.deepEqual([carbs, cholesterol, fats.total, protein], [25, 0.08, 4, null])
    assert.deepEqual(meal.micros, { minerals: { sodium: 1200 }, trace_elements: { copper: 0.3 }, vitamins: { vitamin_a: 500 } })
    assert.deepEqual(Object.keys(meal.data).toSorted(), ['Bread', 'Soup'])
    assert.deepEqual(meal.data.Bread.energy, { unit: 'kcal', value: 120 })
    assert.deepEqual(meal.data.Bread.micros, null)
    for (const [name, value] of Object.entries(source)) assert.deepEqual(meal.source[name], value)
    const emitted = await ofKind(team, 'meal')
    assert.deepEqual(types(emitted), ['daily.data.meal.created', 'daily.data.meal.created'])
    assert.deepEqual(emitted.find(({ data }) => data.id === meal.id)!.data as unknown, meal)
  })

  test('a meal to which a food is added later keeps its id and is reported as updated', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const first = { healthkit: { source_bundle: APP, energy_total: [amount(300, 'kcal', '20:00:00', 'Soup')] } }
    await postSummary(team, 'meal', user_id, [first])
    const id = (await list(team, 'meal', user_id)).meals[0].id
    await postSummary(team, 'meal', user_id, [sent])
    assert.equal((await list(team, 'meal', user_id)).meals.find((meal: { id: string }) => meal.id === id).energy.value, 420)
    assert.deepEqual(types(await ofKind(team, 'meal')).toSorted(), [
      'daily.data.meal.created',
      'daily.data.meal.created',
      'daily.data.meal.updated',
    ])
  })

  test('a food may have a name that programs give a meaning', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const odd = { healthkit: { source_bundle: APP, energy_total: [amount(1, 'kcal', '20:00:00', '__proto__')] } }
    assert.equal((await postSummary(team, 'meal', user_id, [odd])).status, 200)
    assert.deepEqual(Object.keys((await list(team, 'meal', user_id)).meals[0].data), ['__proto__'])
  })

  test('the name of a food is cut at 300 characters, also between the halves of one', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const name = `${'x'.repeat(299)}\u{1F372}`
    const long = { healthkit: { source_bundle: APP, energy_total: [amount(1, 'kcal', '20:00:00', name)] } }
    assert.equal((await postSummary(team, 'meal', user_id, [long])).status, 200)
    assert.deepEqual(Object.keys((await list(team, 'meal', user_id)).meals[0].data), [`${'x'.repeat(299)}\uFFFD`])
  })
})

describe('meals of Health Connect', () => {
  const record = (time: string, overrides: object) => ({
    start_time: `${DAY}T${time}Z`,
    start_zone_offset: '-07:00',
    end_time: `${DAY}T${time}Z`,
    end_zone_offset: '-07:00',
    meal_type: 2,
    energy: null,
    metadata: { HealthConnect: { id: 'fictional' } },
    ...overrides,
  })

  test('records of one app, local day and kind are a meal; their caffeine is a timeseries in grams', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const nutrition_records = [
      record('19:00:00', { name: 'Rice', energy: 200, total_carbohydrate: 44, thiamin: 0.2 }),
      record('19:10:00', { name: 'Coffee', caffeine: 80, vitamin_b12: 2.4 }),
      record('05:00:00', { name: 'Night rice', energy: 100 }),
    ]
    const data = [{ health_connect: { source_bundle: APP, nutrition_records } }]
    const { body } = await postSummary(team, 'meal', user_id, data, { provider: 'health_connect' })
    assert.deepEqual(counts(body), [3, 3, 0, 0])
    const { meals } = await list(team, 'meal', user_id)
    assert.deepEqual(
      meals.map((meal: Record<string, unknown>) => [meal.calendar_date, meal.name, meal.timestamp]),
      [
        ['2026-01-30', 'Lunch', `${DAY}T05:00:00+00:00`],
        [DAY, 'Lunch', `${DAY}T19:00:00+00:00`],
      ],
    )
    assert.deepEqual(meals[1].micros, {
      minerals: null,
      trace_elements: null,
      vitamins: { vitamin_b1: 0.2, vitamin_b12: 2.4 },
    })
    assert.deepEqual(Object.keys(meals[1].data).toSorted(), ['Coffee', 'Rice'])
    const [caffeine] = (await read(team, user_id, 'caffeine')).groups.health_connect[0].data
    assert.deepEqual([caffeine.value, caffeine.unit, caffeine.timezone_offset], [0.08, 'g', -25_200])
  })
})

describe('the offset of a record of Health Connect', () => {
  test('counts between -18:00 and +18:00 and without other text; else the time zone of the phone does', async () => {
    const team = await createTestTeam()
    const offsets = ['+99:99', '+18:01', '-19:00', '+05:60', '+14:00 h', '+14:00', '-1800', 'Z']
    const [days, caffeine] = [[] as string[], [] as number[]]
    for (const start_zone_offset of offsets) {
      const user_id = await team.user()
      const times = { start_time: `${DAY}T12:00:00Z`, end_time: `${DAY}T12:00:00Z` }
      const nutrition_records = [{ ...times, start_zone_offset, name: 'Coffee', caffeine: 80 }]
      const data = [{ health_connect: { source_bundle: APP, nutrition_records } }]
      await postSummary(team, 'meal', user_id, data, { provider: 'health_connect' })
      days.push((await list(team, 'meal', user_id)).meals[0].calendar_date)
      caffeine.push((await read(team, user_id, 'caffeine')).groups.health_connect[0].data[0].timezone_offset)
    }
    const ofPhone = -25_200
    assert.deepEqual(caffeine, [ofPhone, ofPhone, ofPhone, ofPhone, ofPhone, 50_400, -64_800, 0])
    assert.deepEqual(days, [DAY, DAY, DAY, DAY, DAY, '2026-02-01', '2026-01-30', DAY])
  })
})

describe('menstrual cycles', () => {
  const cycle = {
    period_start: '2026-01-05',
    period_end: '2026-01-09',
    menstrual_flow: [{ date: '2026-01-05', flow: 'medium' }],
    ovulation_test: [{ date: '2026-01-18', test_result: 'luteinizing_hormone_surge' }],
    sexual_activity: [{ date: '2026-01-20' }, { date: '2026-01-21', protection_used: true }],
    basal_body_temperature: [{ date: '2026-01-18', value: 36.6 }],
  }
  const sent = { source_bundle: 'com.example.cycles', cycle }

  test('a cycle is one record by its app and first day, with lists that are empty where nothing was recorded', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.deepEqual(counts((await postSummary(team, 'menstrual_cycle', user_id, [sent])).body), [1, 1, 0, 0])
    const later = { ...sent, cycle: { ...cycle, cycle_end: '2026-02-01' } }
    assert.deepEqual(counts((await postSummary(team, 'menstrual_cycle', user_id, [later])).body), [1, 0, 1, 0])
    const { menstrual_cycle } = await list(team, 'menstrual_cycle', user_id)
    assert.equal(menstrual_cycle.length, 1)
    const { id, created_at: _c, updated_at: _u, source: _s, ...rest } = menstrual_cycle[0]
    assert.deepEqual(rest, {
      user_id,
      ...later.cycle,
      is_predicted: false,
      cervical_mucus: [],
      intermenstrual_bleeding: [],
      contraceptive: [],
      detected_deviations: [],
      home_pregnancy_test: [],
      home_progesterone_test: [],
      sexual_activity: [
        { date: '2026-01-20', protection_used: null },
        { date: '2026-01-21', protection_used: true },
      ],
      source_provider: 'apple_health_kit',
      source_type: 'unknown',
      source_app_id: 'com.example.cycles',
      source_device_id: null,
    })
    const emitted = await ofKind(team, 'menstrual_cycle')
    assert.deepEqual(types(emitted), ['daily.data.menstrual_cycle.created', 'daily.data.menstrual_cycle.updated'])
    assert.equal(emitted[0]!.data.id, id)
  })

  test('a period that ends before it starts is rejected, and another one of its post is stored', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const wrong = { cycle: { period_start: '2026-01-05', period_end: '2026-01-04' } }
    const { status, body } = await postSummary(team, 'menstrual_cycle', user_id, [{ cycle: 5 }, wrong])
    assert.deepEqual([status, body.detail[1].loc], [422, ['body', 'data', 1, 'cycle', 'period_end']])
    assert.deepEqual((await list(team, 'menstrual_cycle', user_id)).menstrual_cycle, [])
    const part = (await postSummary(team, 'menstrual_cycle', user_id, [wrong, sent])).body
    assert.deepEqual([part.accepted, part.rejected], [1, 1])
    assert.equal((await list(team, 'menstrual_cycle', user_id)).menstrual_cycle.length, 1)
  })
})

describe('electrocardiograms', () => {
  const HZ = 512
  const sent = (id = 'ecg-0001') => ({
    electrocardiogram: {
      id,
      session_start: `${DAY}T09:30:00Z`,
      session_end: `${DAY}T09:30:30Z`,
      voltage_sample_count: 30 * HZ,
      heart_rate_mean: 64,
      sampling_frequency_hz: HZ,
      classification: 'sinus_rhythm',
      source_bundle: 'com.apple.health.0000',
      product_type: 'Watch6,1',
      device_model: 'Watch',
    },
    voltage_data: {
      session_start_offset_millisecond: Array.from({ length: 30 * HZ }, (_, i) => Math.round((i * 1000) / HZ)),
      lead1: Array.from({ length: 30 * HZ }, (_, i) => (i === 1 ? null : Math.round(Math.sin(i / 40) * 1000) / 1000)),
    },
  })

  test('a recording is a record, and its voltages are a timeseries by the millisecond', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const total = 30 * HZ
    assert.deepEqual(counts((await postSummary(team, 'electrocardiogram', user_id, [sent()])).body), [total, total, 0, 0])
    assert.deepEqual(counts((await postSummary(team, 'electrocardiogram', user_id, [sent()])).body), [total, 0, 0, 0])
    const { electrocardiogram } = await list(team, 'electrocardiogram', user_id)
    const { id, created_at: _c, updated_at: _u, source, ...rest } = electrocardiogram[0]
    assert.deepEqual(rest, {
      user_id,
      session_start: `${DAY}T09:30:00+00:00`,
      session_end: `${DAY}T09:30:30+00:00`,
      voltage_sample_count: total,
      heart_rate_mean: 64,
      sampling_frequency_hz: HZ,
      classification: 'sinus_rhythm',
      inconclusive_cause: null,
      algorithm_version: null,
      time_zone: 'America/Phoenix',
      source_device_model: 'Watch',
      source_provider: 'apple_health_kit',
      source_type: 'watch',
      source_app_id: 'com.apple.health.0000',
      source_device_id: null,
    })
    assert.equal(source.type, 'watch')
    const page = await read(team, user_id, 'electrocardiogram_voltage')
    const [first, second] = page.groups.apple_health_kit[0].data
    assert.deepEqual([first.timestamp, first.type, first.unit, first.value], [`${DAY}T09:30:00.000+00:00`, 'lead_1', 'mV', 0])
    // The second value is a gap.
    assert.equal(second.timestamp, `${DAY}T09:30:00.004+00:00`)
    const rest_of = await read(
      team,
      user_id,
      'electrocardiogram_voltage',
      `start_date=${DAY}&end_date=${DAY}&next_cursor=${page.next_cursor}`,
    )
    const stamps = [page, rest_of].flatMap(({ groups }) =>
      groups.apple_health_kit[0].data.map((sample: { timestamp: string }) => sample.timestamp),
    )
    assert.equal(new Set(stamps).size, total - 1)
    const emitted = await events(team)
    assert.deepEqual(types(emitted).toSorted(), [
      'daily.data.electrocardiogram.created',
      'daily.data.electrocardiogram_voltage.created',
      'daily.data.electrocardiogram_voltage.created',
    ])
    assert.equal(emitted.find(({ event_type }) => event_type === 'daily.data.electrocardiogram.created')!.data.id, id)
  })

  test('voltages without their times, and recordings that end before they start, are rejected', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const { electrocardiogram, voltage_data } = sent()
    const wrong = [
      [{ electrocardiogram, voltage_data: { ...voltage_data, lead1: [1] } }, ['voltage_data', 'lead1']],
      [{ electrocardiogram: { ...electrocardiogram, session_end: `${DAY}T09:29:00Z` } }, ['electrocardiogram', 'session_end']],
    ] as const
    for (const [one, place] of wrong) {
      const { status, body } = await postSummary(team, 'electrocardiogram', user_id, [one])
      assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'data', 0, ...place]])
    }
    assert.deepEqual((await list(team, 'electrocardiogram', user_id)).electrocardiogram, [])
  })

  test('the history of voltages ends with that of the recordings', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const historical = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: `${DAY}T12:00:00Z` }
    await postSummary(team, 'electrocardiogram', user_id, [sent()], { ...historical, is_final_chunk: false })
    await postSummary(team, 'electrocardiogram', user_id, [], historical)
    assert.deepEqual(
      types(await events(team))
        .filter((type) => type.startsWith('historical.'))
        .toSorted(),
      ['historical.data.electrocardiogram.created', 'historical.data.electrocardiogram_voltage.created'],
    )
  })
})
