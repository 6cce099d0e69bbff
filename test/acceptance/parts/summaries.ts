// Summaries through the SDK. A phone posts them by calls that the SDK does not have.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Customer } from '../client.ts'

const DAY = '2026-01-31'
const session = { start_date: `${DAY}T05:00:00Z`, end_date: `${DAY}T13:00:00Z` }

export const summaries = ({ sdk, user, passthrough }: Customer): void =>
  void describe('summaries', () => {
    const post = async (userId: string, kind: string, data: unknown) => {
      const { status } = await passthrough(`/v2/summary/${kind}/${userId}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data }),
      })
      assert.equal(status, 200)
    }

    test('days, nights, workouts, the body and the profile that a phone posts are read', async () => {
      const { userId } = await user()
      const range = { userId, startDate: DAY, endDate: DAY }
      await post(userId, 'activity', [{ day_summary: { calendar_date: DAY, steps_sum: 8412 } }])
      const [activity] = (await sdk.activity.get(range)).activity
      assert.deepEqual([activity!.steps, activity!.calendarDate, activity!.source.provider], [8412, DAY, 'apple_health_kit'])

      const deep = [{ value: 1, unit: '', ...session }]
      await post(userId, 'sleep', [{ id: 'night-0001', ...session, sleep_stages: { deep_sleep_samples: deep } }])
      const [sleep] = (await sdk.sleep.get(range)).sleep
      assert.deepEqual([sleep!.deep, sleep!.type], [8 * 3600, 'long_sleep'])
      const [cycle] = (await sdk.sleepCycle.get(range)).sleepCycle
      assert.deepEqual([cycle!.sleepId, cycle!.stageType], [sleep!.id, [1]])

      await post(userId, 'workouts', [{ id: 'workout-0001', sport: 'Running', ...session }])
      assert.equal((await sdk.workouts.get({ ...range, startDate: '2026-01-30' })).workouts[0]!.sport?.slug, 'running')

      await post(userId, 'body', { body_mass: [{ value: 71.5, unit: 'kg', ...session }] })
      assert.equal((await sdk.body.get({ ...range, startDate: '2026-01-30' })).body[0]!.weight, 71.5)

      await post(userId, 'profile', { biological_sex: 'female', height: 168 })
      assert.equal((await sdk.profile.get({ userId })).height, 168)
    })

    test('meals, menstrual cycles and electrocardiograms that a phone posts are read', async () => {
      const { userId } = await user()
      const range = { userId, startDate: '2026-01-01', endDate: DAY }
      const noon = { start_date: `${DAY}T19:00:00Z`, end_date: `${DAY}T19:00:00Z` }
      const energy_total = [{ value: 420, unit: 'kcal', ...noon }]
      const sodium = [{ value: 300, unit: 'mg', ...noon }]
      const protein = [{ value: 12, unit: 'g', ...noon }]
      const healthkit = { source_bundle: 'com.example.food', energy_total, sodium, protein }
      await post(userId, 'meal', [{ healthkit }])
      const [meal] = (await sdk.meal.get(range)).meals
      assert.deepEqual([meal!.energy?.value, meal!.macros?.protein, meal!.micros?.minerals?.sodium], [420, 12, 300])
      assert.equal(meal!.data?.Food?.energy?.value, 420)

      const menstrual_flow = [{ date: '2026-01-05', flow: 'medium' }]
      await post(userId, 'menstrual_cycle', [
        { source_bundle: 'com.example.cycles', cycle: { period_start: '2026-01-05', menstrual_flow } },
      ])
      const [cycle] = (await sdk.menstrualCycle.get(range)).menstrualCycle
      assert.deepEqual([cycle!.periodStart, cycle!.menstrualFlow?.[0]?.flow], ['2026-01-05', 'medium'])

      const electrocardiogram = {
        id: 'ecg-0001',
        session_start: noon.start_date,
        session_end: `${DAY}T19:00:30Z`,
        voltage_sample_count: 2,
      }
      const voltage_data = { session_start_offset_millisecond: [0, 2], lead1: [0.01, 0.02] }
      await post(userId, 'electrocardiogram', [{ electrocardiogram, voltage_data }])
      const [recording] = (await sdk.electrocardiogram.get(range)).electrocardiogram
      assert.deepEqual([recording!.voltageSampleCount, recording!.sourceProvider], [2, 'apple_health_kit'])
      const { groups } = await sdk.vitals.electrocardiogramVoltageGrouped(range)
      assert.deepEqual(
        groups.apple_health_kit![0]!.data.map(({ value }) => value),
        [0.01, 0.02],
      )
    })

    test('streams of workouts and nights are read', async () => {
      const { userId } = await user()
      const range = { userId, startDate: '2026-01-30', endDate: DAY }
      const heart_rate = [{ anchor: session.start_date, value: [120, 125], start_offset: [0, 5], end_offset: [0, 5] }]
      await post(userId, 'workouts', [
        { id: 'workout-0001', sport: 'Running', ...session, stream: { components: { heart_rate } } },
      ])
      const [workout] = (await sdk.workouts.get(range)).workouts
      const stream = await sdk.workouts.getByWorkoutId({ workoutId: workout!.id })
      assert.deepEqual([stream.heartrate, stream.time?.length, stream.lat], [[120, 125], 2, []])

      const beat = { value: 52, unit: 'bpm', start_date: session.start_date, end_date: session.start_date }
      const deep = [{ value: 1, unit: '', ...session }]
      await post(userId, 'sleep', [
        { id: 'night-0001', ...session, heart_rate: [beat], sleep_stages: { deep_sleep_samples: deep } },
      ])
      const [sleep] = (await sdk.sleep.get(range)).sleep
      const ofNight = await sdk.sleep.getStreamBySleepId({ sleepId: sleep!.id })
      assert.deepEqual([ofNight.heartrate?.[0]?.value, ofNight.hypnogram?.[0]?.value], [52, 1])
      const { body } = await passthrough(`/v2/summary/sleep/${userId}/stream?start_date=${DAY}`)
      assert.equal(
        (body as { sleep: { sleep_stream: { heartrate: { value: number }[] } }[] }).sleep[0]!.sleep_stream.heartrate[0]!.value,
        52,
      )
    })

    test('records are read as they were sent', async () => {
      const { userId } = await user()
      const range = { userId, startDate: '2026-01-30', endDate: DAY }
      await post(userId, 'activity', [{ day_summary: { calendar_date: DAY, steps_sum: 8412 } }])
      await post(userId, 'sleep', [{ id: 'night-0001', ...session, score: 80, metadata: { _DMO: 'Fictional One' } }])
      await post(userId, 'workouts', [{ id: 'workout-0001', sport: 'Running', ...session }])
      await post(userId, 'body', { body_mass: [{ value: 71.5, unit: 'kg', ...session }] })
      await post(userId, 'profile', { biological_sex: 'female', height: 168 })
      assert.equal((await sdk.activity.getRaw(range)).activity[0]!.data.steps_sum, 8412)
      const [sleep] = (await sdk.sleep.getRaw(range)).sleep
      assert.deepEqual([sleep!.data.score, sleep!.providerId], [80, 'night-0001'])
      const [workout] = (await sdk.workouts.getRaw(range)).workouts
      assert.deepEqual([workout!.data.sport, workout!.sport.slug], ['Running', 'running'])
      assert.deepEqual(Object.keys((await sdk.body.getRaw(range)).body[0]!.data), ['body_mass'])
      assert.deepEqual((await sdk.profile.getRaw({ userId })).profile.data, { biological_sex: 'female', height: 168 })
      const [device] = (await sdk.devices.getRaw({ userId })).devices
      assert.equal(device!.data.device_model, 'Fictional One')
    })
  })
