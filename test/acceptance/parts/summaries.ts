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
  })
