// What a phone does not know: markers for it, days of nothing, and zones. Source: users-wearables.md 7, 16.6.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { DAY, read, watch } from '../../../test/support/samples.ts'
import { list, ofKind, postSummary } from '../../../test/support/summaries.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const ANDROID = { provider: 'health_connect' }
const userIn = async ({ api }: TestTeam, fallback_time_zone: string): Promise<string> =>
  (await api.post('/v2/user', { client_user_id: randomUUID(), fallback_time_zone })).body.user_id
const sessionAt = (start: string, end: string, overrides: object = {}) => ({
  id: randomUUID(),
  start_date: start,
  end_date: end,
  ...overrides,
})

describe('a phone that does not know', () => {
  test('a height or heart rate of 0 is ignored as unknown, without a fault', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const profile = { biological_sex: 'not_set', date_of_birth: null, height: 0 }
    const { status, body } = await postSummary(team, 'profile', user_id, profile, ANDROID)
    assert.deepEqual([status, body.dropped], [200, 0], JSON.stringify(body))
    assert.equal((await team.api.get(`/v2/summary/profile/${user_id}`)).body.height, null)
    await postSummary(team, 'profile', user_id, { ...profile, height: 171 }, ANDROID)
    await postSummary(team, 'profile', user_id, profile, ANDROID)
    assert.equal((await team.api.get(`/v2/summary/profile/${user_id}`)).body.height, 171)
    const rates = { heart_rate_maximum: 0, heart_rate_minimum: -1, heart_rate_mean: 0 }
    const run = sessionAt(`${DAY}T10:00:00Z`, `${DAY}T11:00:00Z`, { sport: 'running', ...rates })
    await postSummary(team, 'workouts', user_id, [run], ANDROID)
    const [workout] = (await list(team, 'workouts', user_id)).workouts
    assert.deepEqual([workout.average_hr, workout.max_hr], [null, null])
  })

  test('values of a day alone create no summary and change no summary', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const nothing = {
      calendar_date: DAY,
      steps_sum: null,
      active_energy_burned_sum: null,
      exercise_time: null,
      avg_heart_rate: 0,
    }
    const { status } = await postSummary(team, 'activity', user_id, [{ day_summary: nothing, steps: [] }], ANDROID)
    assert.equal(status, 200)
    assert.deepEqual((await list(team, 'activity', user_id)).activity, [])
    assert.deepEqual(await ofKind(team, 'activity'), [])
    await postSummary(team, 'activity', user_id, [{ day_summary: { ...nothing, steps_sum: 0 } }], ANDROID)
    await postSummary(team, 'activity', user_id, [{ day_summary: nothing }], ANDROID)
    assert.deepEqual(
      (await list(team, 'activity', user_id)).activity.map(({ steps }: { steps: number }) => steps),
      [0],
    )
  })

  test("its zone stores the day and the offset of the user's zone", async () => {
    const team = await createTestTeam()
    const user_id = await userIn(team, 'Asia/Tokyo')
    for (const zone of [{ time_zone: undefined }, { time_zone: 'Mars/Base' }]) {
      const id = randomUUID()
      // 8 in the morning of the day after, in Tokyo.
      const night = { ...sessionAt(`${DAY}T15:00:00Z`, `${DAY}T23:00:00Z`), id, ...watch }
      await postSummary(team, 'sleep', user_id, [night], zone)
      const [slept] = (await list(team, 'sleep', user_id)).sleep
      assert.deepEqual([slept.calendar_date, slept.timezone_offset], ['2026-02-01', 32_400])
      await postSummary(team, 'workouts', user_id, [{ ...night, sport: 'running' }], zone)
      const { workouts } = await list(team, 'workouts', user_id)
      assert.deepEqual([workouts.at(-1).calendar_date, workouts.at(-1).timezone_offset], ['2026-02-01', 32_400])
    }
    const sample = { value: 61, unit: 'bpm', start_date: `${DAY}T15:00:00Z`, end_date: `${DAY}T15:00:00Z` }
    const post = { stage: 'daily', provider: 'apple_health_kit', data: [sample] }
    assert.equal((await team.api.post(`/v2/timeseries/${user_id}/heartrate`, post)).status, 200)
    const { groups } = await read(team, user_id, 'heartrate')
    assert.equal(groups.apple_health_kit[0].data[0].timezone_offset, 32_400)
  })
})

describe('a watch', () => {
  test('that records samples and electrocardiograms is one device', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const metadata = { _DMO: 'Watch', _DMA: 'Apple Inc.', _DSV: '11.1' }
    const beat = { value: 61, unit: 'bpm', start_date: `${DAY}T10:00:00Z`, end_date: `${DAY}T10:00:00Z`, ...watch, metadata }
    const envelope = { stage: 'daily', provider: 'apple_health_kit', time_zone: 'UTC' }
    await team.api.post(`/v2/timeseries/${user_id}/heartrate`, { ...envelope, data: [beat] })
    const electrocardiogram = {
      id: randomUUID(),
      session_start: `${DAY}T10:05:00Z`,
      session_end: `${DAY}T10:05:30Z`,
      voltage_sample_count: 0,
      source_bundle: 'com.apple.NanoHeartRhythm',
      product_type: 'Watch6,1',
      device_model: 'Watch',
      metadata: { _DMO: 'Watch', _DMA: 'Apple Inc.' },
    }
    const { status, body } = await postSummary(team, 'electrocardiogram', user_id, [{ electrocardiogram }])
    assert.equal(status, 200, JSON.stringify(body))
    const devices = (await team.api.get(`/v2/user/${user_id}/device`)).body
    assert.deepEqual(
      devices.map((device: Record<string, unknown>) => [device.source_type, device.device_model, device.device_version]),
      [['watch', 'Watch', '11.1']],
    )
  })
})
