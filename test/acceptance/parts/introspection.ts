// What came in from users, through the SDK.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Customer } from '../client.ts'

export const introspection = ({ sdk, user, passthrough }: Customer): void =>
  void describe('introspection', () => {
    const at = { start_date: '2026-01-31T09:30:00Z', end_date: '2026-01-31T09:30:00Z' }
    const post = async (userId: string, envelope: object) => {
      const { status } = await passthrough(`/v2/timeseries/${userId}/heartrate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'apple_health_kit', data: [{ value: 61, unit: 'bpm', ...at }], ...envelope }),
      })
      assert.equal(status, 200)
    }

    test('shows the newest and oldest data and the last attempt of each resource', async () => {
      const { userId } = await user()
      await post(userId, { stage: 'daily' })
      const { data, nextCursor } = await sdk.introspect.getUserResources({ userId, provider: 'apple_health_kit', userLimit: 10 })
      assert.equal(nextCursor ?? null, null)
      assert.equal(data[0]!.userId, userId)
      const { heartrate, steps } = data[0]!.provider.apple_health_kit!
      assert.equal(heartrate!.lastAttempt!.status, 'success')
      assert.equal(heartrate!.newestData!.toISOString(), '2026-01-31T09:30:00.000Z')
      assert.equal(heartrate!.sentCount, 1)
      assert.equal(steps!.lastAttempt ?? null, null)
    })

    test('lists no client that sends the same data again and again', async () => {
      const { status, body } = await passthrough('/v2/introspect/repeated_posts')
      assert.deepEqual([status, body], [200, { data: [], next_cursor: null }])
    })

    test('lists no post that was rejected', async () => {
      const { status, body } = await passthrough('/v2/introspect/rejected_posts')
      assert.deepEqual([status, body], [200, { data: [], next_cursor: null }])
    })

    test('shows what a phone reports about its synchronization, after it asked for its state and announced a history', async () => {
      const { userId } = await user()
      const call = async (path: string, body: object) => {
        const reply = await passthrough(`/v2/user/${userId}/${path}/apple_health_kit`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        assert.equal(reply.status, 200)
        return reply.body as { status?: string }
      }
      assert.equal((await call('sdk_sync_state', { tzinfo: 'America/Phoenix' })).status, 'error')
      const range = { range_start: '2026-01-01T00:00:00Z', range_end: '2026-01-31T00:00:00Z' }
      await call('sdk_start_historical_stage', { ...range, backfill_type: 'heartrate' })
      await call('sdk_sync_progress', { sync_progress: { backfill_types: { heartrate: { data_count: 61 } } } })
      const { status, body } = await passthrough(`/v2/introspect/sync_progress?user_id=${userId}`)
      const [one] = (body as { data: { report: { backfill_types: Record<string, { data_count: number }> } }[] }).data
      assert.deepEqual([status, one!.report.backfill_types.heartrate!.data_count], [200, 61])
    })

    test('shows which days have data', async () => {
      const { userId } = await user()
      await post(userId, { stage: 'daily' })
      const { status, body } = await passthrough(
        `/v2/introspect/days?user_id=${userId}&resource=heartrate&start_date=2026-01-30&end_date=2026-01-31`,
      )
      const { data } = body as { data: { resources: { days: { status: string }[] }[] }[] }
      assert.deepEqual([status, data[0]!.resources[0]!.days.map((day) => day.status)], [200, ['not_asked', 'stored']])
    })

    test('shows which histories were received', async () => {
      const { userId } = await user()
      const range = { start_date: '2026-01-01T00:00:00Z', end_date: '2026-02-01T00:00:00Z' }
      await post(userId, { stage: 'historical', ...range })
      const { data } = await sdk.introspect.getUserHistoricalPulls({ userId })
      const { pulled, notPulled } = data[0]!.provider.apple_health_kit!
      assert.deepEqual([pulled.heartrate!.status, pulled.heartrate!.daysWithData], ['success', 1])
      assert(notPulled.includes('steps'))
    })
  })
