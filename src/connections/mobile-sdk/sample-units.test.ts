// What samples of phones are stored as: their unit, type and zone. Source: users-wearables.md 16.7.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, counts, events, post, read, types, type Sent } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'

describe('units, types and zones of samples', () => {
  const cases: [sent: string, data: Partial<Sent>, provider: string, expected: Record<string, unknown>][] = [
    ['glucose', { value: 90.091, unit: 'mg/dL' }, 'health_connect', { value: 5, unit: 'mmol/L' }],
    ['glucose', { value: 5.5, unit: 'mmol/L' }, 'apple_health_kit', { value: 5.5, unit: 'mmol/L' }],
    ['calories_active', { value: 12, unit: 'kJ' }, 'health_connect', { value: 12, unit: 'kcal' }],
    // A rate of a day under the name of an energy, as it is.
    ['calories_basal', { value: 1600, unit: 'kJ' }, 'health_connect', { value: 1600, unit: 'kcal' }],
    ['calories_active', { value: 12, unit: 'kJ' }, 'samsung_health', { value: 12, unit: 'kcal' }],
    ['glucose', { value: 5.5, unit: 'mmol/L' }, 'samsung_health', { value: 5.5, unit: 'mmol/L' }],
    ['blood_oxygen', { value: 97, unit: '%' }, 'health_connect', { value: 97, unit: '%' }],
    ['afib_burden', { value: 2, unit: '%' }, 'apple_health_kit', { value: 2, unit: '%' }],
    ['steps', { value: 12, unit: '' }, 'samsung_health', { value: 12, unit: 'count' }],
    ['floors_climbed', { value: 2, unit: '' }, 'health_connect', { value: 2, unit: 'count' }],
    ['distance', { value: 12.5, unit: 'm' }, 'health_connect', { value: 12.5, unit: 'm' }],
    ['water', { value: 250, unit: 'ml' }, 'health_connect', { value: 250, unit: 'ml' }],
    ['uv_exposure', { value: 3, unit: 'count' }, 'apple_health_kit', { value: 3, unit: 'index' }],
    ['vo2_max', { value: 41.5, unit: 'mL/kg/min' }, 'health_connect', { value: 41.5, unit: 'mL/kg/min' }],
    ['forced_expiratory_volume_1', { value: 3.1, unit: 'L' }, 'apple_health_kit', { value: 3.1, unit: 'L' }],
    ['peak_expiratory_flow_rate', { value: 400, unit: 'L/min' }, 'apple_health_kit', { value: 400, unit: 'L/min' }],
    ['heartrate_variability', { value: 41, unit: 'rmssd' }, 'health_connect', { value: 41, unit: 'rmssd' }],
    ['caffeine', { value: 80, unit: 'mg' }, 'apple_health_kit', { value: 0.08, unit: 'g' }],
    ['heartrate_variability', { value: 41, unit: 'ms' }, 'apple_health_kit', { value: 41, unit: 'rmssd' }],
    ['temperature', { value: 36.6, unit: '\u00b0C' }, 'apple_health_kit', { value: 36.6, unit: '\u00b0C' }],
    ['water', { value: 250, unit: 'mL' }, 'apple_health_kit', { value: 250, unit: 'ml' }],
    ['stand_hour', { value: 0, unit: '' }, 'apple_health_kit', { value: 1, unit: 'count', type: 'stood' }],
    ['stand_hour', { value: 1, unit: '' }, 'apple_health_kit', { value: 1, unit: 'count', type: 'idle' }],
    [
      'heart_rate_alert',
      { value: 0, unit: '', metadata: { type: 'low_heart_rate' } },
      'apple_health_kit',
      { value: 1, type: 'low_heart_rate' },
    ],
    [
      'sleep_breathing_disturbance',
      { value: 3, unit: 'count', metadata: { category: 'elevated' } },
      'apple_health_kit',
      { value: 3, type: 'elevated' },
    ],
    ['heartrate', { value: 60, metadata: { HKTimeZone: 'Asia/Kolkata' } }, 'apple_health_kit', { timezone_offset: 19_800 }],
    ['heartrate', { value: 60, metadata: { HKTimeZone: 'No/Where' } }, 'apple_health_kit', { timezone_offset: -25_200 }],
    ['heartrate', { value: 60, type: 'ring' }, 'apple_health_kit', { value: 60 }],
    ['glucose', { value: 5.5, unit: 'mmol/L', type: 'manual_scan' }, 'freestyle_libre_ble', { value: 5.5, type: 'manual_scan' }],
    ['glucose', { value: 5.5, unit: 'mmol/L', type: 'automatic' }, 'freestyle_libre_ble', { value: 5.5, type: 'automatic' }],
    ['glucose', { value: 5.5, unit: 'mmol/L', type: 'fingerprick' }, 'contour_ble', { value: 5.5, type: null }],
  ]
  const names: Record<string, string> = { heartrate_variability: 'hrv', temperature: 'body_temperature' }
  for (const [sent, data, provider, expected] of cases)
    test(`${sent} of ${JSON.stringify(data)} from ${provider} is ${JSON.stringify(expected)}`, async () => {
      const team = await createTestTeam()
      const user_id = await team.user()
      assert.equal((await post(team, user_id, sent, [sentSample('09:30:00', 0, data)], { provider })).status, 200)
      const { groups } = await read(team, user_id, names[sent] ?? sent)
      const [one] = groups[provider][0].data
      assert.ok(Math.abs(one.value - ((expected.value as number | undefined) ?? one.value)) < 1e-9)
      assert.deepEqual({ ...one, ...expected, value: one.value }, one)
    })

  test('the offset of a zone changes with daylight saving', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const instants = ['2025-03-09T09:59:59Z', '2025-03-09T10:00:00Z']
    const data = instants.map((instant) => ({ ...sentSample('00:00:00', 60), start_date: instant, end_date: instant }))
    await post(team, user_id, 'heartrate', data, { time_zone: 'America/Los_Angeles' })
    const { groups } = await read(team, user_id, 'heartrate', 'start_date=2025-03-09&end_date=2025-03-09')
    const offsets = groups.apple_health_kit[0].data.map(({ timezone_offset }: { timezone_offset: number }) => timezone_offset)
    assert.deepEqual(offsets, [-28_800, -25_200])
  })

  test('a blood pressure has two values, and its pulse is a heart rate', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const one = (value: number) => sentSample('09:30:00', value, { type: 'cuff' })
    const { body } = await post(team, user_id, 'blood_pressure', [{ systolic: one(118), diastolic: one(76), pulse: one(61) }])
    assert.deepEqual(counts(body), [2, 2, 0, 0])
    const [group] = (await read(team, user_id, 'blood_pressure')).groups.apple_health_kit
    const { systolic, diastolic, unit, grouping, value } = group.data[0]
    assert.deepEqual([systolic, diastolic, unit, grouping, value], [118, 76, 'mmHg', ['cuff', null, null, null], undefined])
    assert.equal((await read(team, user_id, 'heartrate')).groups.apple_health_kit[0].data[0].value, 61)
    assert.deepEqual(types(await events(team)).toSorted(), ['daily.data.blood_pressure.created', 'daily.data.heartrate.created'])
  })
})
