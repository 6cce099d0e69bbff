// Timeseries through the SDK. A phone posts their samples by calls that the SDK does not have.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Customer } from '../client.ts'

const DAY = '2026-01-31'
const at = { start_date: `${DAY}T09:30:00Z`, end_date: `${DAY}T09:40:00Z`, type: 'watch' }

export const timeseries = ({ sdk, user, passthrough }: Customer): void =>
  void describe('timeseries', () => {
    const post = async (userId: string, resource: string, data: unknown[]) => {
      const { status } = await passthrough(`/v2/timeseries/${userId}/${resource}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data }),
      })
      assert.equal(status, 200)
    }
    const range = (userId: string) => ({ userId, startDate: DAY, endDate: DAY })

    test('samples that a phone posts are read by provider and source', async () => {
      const { userId } = await user()
      await post(userId, 'heartrate', [{ value: 61, unit: 'bpm', ...at }])
      await post(userId, 'steps', [{ value: 120, unit: 'count', ...at }])
      const { groups, nextCursor } = await sdk.vitals.heartrateGrouped(range(userId))
      assert.equal(nextCursor ?? null, null)
      const [group] = groups.apple_health_kit!
      assert.deepEqual([group!.source.type, group!.data[0]!.value, group!.data[0]!.unit], ['watch', 61, 'bpm'])
      const [steps] = (await sdk.vitals.stepsGrouped(range(userId))).groups.apple_health_kit!
      assert.deepEqual([steps!.data[0]!.value, steps!.data[0]!.end.toISOString()], [120, `${DAY}T09:40:00.000Z`])
    })

    test('blood pressures have two values', async () => {
      const { userId } = await user()
      const value = (number: number) => ({ value: number, unit: 'mmHg', ...at })
      await post(userId, 'blood_pressure', [{ systolic: value(118), diastolic: value(76) }])
      const [group] = (await sdk.vitals.bloodPressureGrouped(range(userId))).groups.apple_health_kit!
      assert.deepEqual([group!.data[0]!.systolic, group!.data[0]!.diastolic], [118, 76])
    })

    test('devices that recorded samples are listed and read', async () => {
      const { userId } = await user()
      await post(userId, 'heartrate', [{ value: 61, unit: 'bpm', ...at, metadata: { _DMO: 'Fictional One', _DSV: '1.0' } }])
      const [device] = await sdk.user.getDevices({ userId })
      assert.deepEqual(
        [device!.deviceModel, device!.deviceVersion, device!.provider],
        ['Fictional One', '1.0', 'apple_health_kit'],
      )
      assert.deepEqual(await sdk.user.getDevice({ userId, deviceId: device!.id }), device)
      const [group] = (await sdk.vitals.heartrateGrouped(range(userId))).groups.apple_health_kit!
      assert.equal(group!.source.deviceId, device!.id)
    })

    test('lists of one kind of cholesterol, and of stages of sleep, are read', async () => {
      const { userId } = await user()
      const { vitals } = sdk
      for (const read of [
        'cholesterolLdl',
        'cholesterolHdl',
        'cholesterolTotal',
        'cholesterolTriglycerides',
        'hypnogram',
      ] as const)
        assert.deepEqual(await vitals[read](range(userId)), [])
      assert.deepEqual((await vitals.hypnogramGrouped(range(userId))).groups, {})
    })

    test('plain lists name no sources', async () => {
      const { userId } = await user()
      await post(userId, 'heartrate', [{ value: 61, unit: 'bpm', ...at }])
      const { body } = await passthrough(`/v2/timeseries/${userId}/heartrate?start_date=${DAY}`)
      assert.deepEqual(
        (body as { value: number }[]).map(({ value }) => value),
        [61],
      )
    })
  })
