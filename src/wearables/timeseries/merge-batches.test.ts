// Samples of more hours than one statement reads and writes are merged as those of few.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR_MS } from '../../platform/runtime/durations.ts'
import { storeSamples } from '../../../test/support/wearable-data.ts'
import { createTestTeam } from '../../../test/support/server.ts'

const FIRST_MS = Date.UTC(2025, 0, 1)
/** One in each hour. */
const samples = (hours: number, value: number, length_ms: number | null = null) =>
  Array.from({ length: hours }, (_, i) => ({
    at_ms: FIRST_MS + i * HOUR_MS,
    value,
    second: null,
    length_ms,
    zone_s: 0,
    type: null,
  }))
const sourceOf = (app_id: string) => ({ provider: 'apple_health_kit', source_type: 'phone' as const, app_id })

async function counts(merge: Promise<{ created: number; updated: number }>): Promise<[created: number, updated: number]> {
  const { created, updated } = await merge
  return [created, updated]
}

describe('Samples of 1,200 hours', () => {
  test('replace samples of another app at their instants', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const store = (hours: number, value: number, app: string) =>
      counts(storeSamples(team, user, 'heartrate', samples(hours, value), sourceOf(app)))
    assert.deepEqual(await store(1200, 60, 'one'), [1200, 0])
    assert.deepEqual(await store(1300, 70, 'two'), [100, 1200])
    assert.deepEqual(await store(1300, 70, 'two'), [0, 0])
  })

  test('of counted quantities belong to the first app, and each hour to one app', async () => {
    const team = await createTestTeam()
    const user = await team.user()
    const store = (hours: number, value: number, app: string) =>
      counts(storeSamples(team, user, 'steps', samples(hours, value, HOUR_MS), sourceOf(app)))
    assert.deepEqual(await store(1200, 10, 'one'), [1200, 0])
    assert.deepEqual(await store(1300, 99, 'two'), [100, 0])
    assert.deepEqual(await store(1300, 11, 'one'), [0, 1200])
  })
})

test('samples of more than 50,000 hours are refused, and nothing of them is stored', async () => {
  const team = await createTestTeam()
  const user = await team.user()
  const tooMany = samples(3, 1, 17_000 * HOUR_MS)
  await assert.rejects(storeSamples(team, user, 'steps', tooMany, sourceOf('one')), { status: 422 })
  const { body } = await team.api.get(`/v2/timeseries/${user}/steps/grouped?start_date=2020-01-01&end_date=2026-01-01`)
  assert.deepEqual(body.groups, {})
})
