// Queries over the data of a user through the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Customer } from '../client.ts'

const DAY = '2026-01-31'

export const queries = ({ sdk, user, passthrough }: Customer): void =>
  void describe('queries', () => {
    test('of samples that a phone posts return columns in the order of the queries', async () => {
      const { userId } = await user()
      const sample = (time: string, value: number) => ({
        value,
        unit: 'bpm',
        start_date: `${DAY}T${time}Z`,
        end_date: `${DAY}T${time}Z`,
      })
      const { status } = await passthrough(`/v2/timeseries/${userId}/heartrate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          stage: 'daily',
          time_zone: 'America/Phoenix',
          provider: 'apple_health_kit',
          data: [sample('06:59:00', 60), sample('07:01:00', 70), sample('08:00:00', 90)],
        }),
      })
      assert.equal(status, 200)
      const { results } = await sdk.aggregate.queryOne({
        userId,
        timeframe: { type: 'relative', anchor: DAY, past: { unit: 'week' } },
        queries: [
          {
            select: [{ groupKey: '*' }, { func: 'mean', arg: { timeseries: 'heartrate', field: 'value' } }],
            groupBy: [{ dateTrunc: { unit: 'day' }, arg: { index: 'timeseries' } }],
          },
          { select: [{ func: 'count', arg: { timeseries: 'heartrate', field: 'value' } }] },
        ],
      })
      // In Phoenix the first sample is of the day before.
      assert.deepEqual(
        results.map(({ table }) => table),
        [{ 'group_key.0': ['2026-01-30T00:00:00', '2026-01-31T00:00:00'], 'mean.value': [60, 80] }, { 'count.value': [3] }],
      )
    })
  })
