// Columns of queries that no summary shows, from what phones send. Source: users-wearables.md 15.3, 16.6.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { list, ofKind, postSummary } from '../../../test/support/summaries.ts'
import { storeSummaries } from '../../../test/support/wearable-data.ts'

const stage = (start_date: string, end_date: string) => ({ value: 1, unit: '', start_date, end_date })
const night = (overrides: object = {}) => ({
  id: 'night',
  start_date: '2026-01-31T05:00:00Z',
  end_date: '2026-01-31T13:00:00Z',
  heart_rate_maximum: 81,
  hrv_mean_sdnn: 44.5,
  sleep_stages: { unknown_sleep_samples: [stage('2026-01-31T05:00:00Z', '2026-01-31T05:10:00Z')] },
  ...overrides,
})

async function columns({ api }: TestTeam, user_id: string, table: string, names: string[]) {
  const timeframe = { type: 'relative', anchor: '2026-01-31', past: { value: 2, unit: 'day' } }
  const queries = [{ select: names.map((name) => ({ [table]: name })) }]
  const { status, body } = await api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries })
  assert.equal(status, 200, JSON.stringify(body))
  return Object.fromEntries(
    Object.entries(body.results[0].table as Record<string, unknown[]>).map(([name, all]) => [name, all[0]]),
  )
}

const ofSleep = ['heart_rate_maximum', 'hrv_mean_sdnn', 'stage_unknown_second', 'time_zone']

test('the highest heart rate, the variability, the unknown part and the zone of a night are columns, and no fields of it', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  await postSummary(team, 'sleep', user_id, [night()])
  assert.deepEqual(await columns(team, user_id, 'sleep', ofSleep), {
    heart_rate_maximum: 81,
    hrv_mean_sdnn: 44.5,
    stage_unknown_second: 600,
    time_zone: 'America/Phoenix',
  })
  const [shown] = (await list(team, 'sleep', user_id)).sleep
  for (const name of ofSleep) assert.equal(shown[name], undefined)
  const { body } = await team.api.get(`/v2/summary/sleep/${user_id}/raw?start_date=2026-01-31`)
  assert.equal(body.sleep[0].data.heart_rate_maximum, 81)
})

test('a change of fields that only queries show emits no event, and fields that a later post omits stay', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  await postSummary(team, 'sleep', user_id, [night()])
  await postSummary(team, 'sleep', user_id, [night({ heart_rate_maximum: 90 })])
  assert.equal((await columns(team, user_id, 'sleep', ofSleep)).heart_rate_maximum, 90)
  await postSummary(team, 'sleep', user_id, [night({ heart_rate_maximum: undefined })])
  assert.equal((await columns(team, user_id, 'sleep', ofSleep)).heart_rate_maximum, 90)
  assert.equal((await ofKind(team, 'sleep')).length, 1)
})

test('a workout has its lowest heart rate and its zone, and its raw record the other sent fields', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const more = { heart_rate_minimum: 71, descent_elevation: 12, heart_rate_zone_max_hr: 180 }
  const workout = { id: 'w', start_date: '2026-01-31T15:00:00Z', end_date: '2026-01-31T16:00:00Z', sport: 'Running', ...more }
  await postSummary(team, 'workouts', user_id, [workout])
  assert.deepEqual(await columns(team, user_id, 'workout', ['heart_rate_minimum', 'time_zone']), {
    heart_rate_minimum: 71,
    time_zone: 'America/Phoenix',
  })
  const { body } = await team.api.get(`/v2/summary/workouts/${user_id}/raw?start_date=2026-01-31`)
  const { data } = body.workouts[0]
  assert.deepEqual({ ...data, ...more }, data)
})

test('measurements of the body belong to the day of the zone that the phone had on that day', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  // In Auckland it is the 30th already, and the phone has come back to Phoenix since.
  const measured = (start_date: string, value: number, overrides: object = {}) => ({
    value,
    unit: 'kg',
    start_date,
    end_date: start_date,
    ...overrides,
  })
  const body_mass = [
    measured('2026-01-29T20:00:00Z', 70),
    measured('2026-01-31T03:00:00Z', 71),
    measured('2026-01-31T03:10:00Z', 72, { metadata: { HKTimeZone: 'UTC' } }),
  ]
  const time_zones = [['2026-01-30', 'Pacific/Auckland'], ['2026-01-31', 'No/Where'], []]
  await postSummary(team, 'body', user_id, { body_mass, time_zones })
  const { body } = await list(team, 'body', user_id)
  assert.deepEqual(
    body.map(({ calendar_date, weight }: { calendar_date: string; weight: number }) => [calendar_date, weight]),
    [
      ['2026-01-30', 70],
      ['2026-01-30', 71],
      ['2026-01-31', 72],
    ].toSorted(),
  )
  const read = await team.api.get(`/v2/timeseries/${user_id}/body_weight/grouped?start_date=2026-01-29&end_date=2026-02-01`)
  assert.deepEqual(
    read.body.groups.apple_health_kit[0].data.map(({ timezone_offset }: { timezone_offset: number }) => timezone_offset),
    [46_800, -25_200, 0],
  )
})

test('the day of a person in a wheelchair has its distance', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const day = { calendar_date: '2026-01-31', distance_walking_running_sum: 0, distance_wheelchair: 2300, wheelchair_use: true }
  await postSummary(team, 'activity', user_id, [{ day_summary: day }])
  const [shown] = (await list(team, 'activity', user_id)).activity
  assert.deepEqual([shown.distance, shown.wheelchair_use], [2300, true])
})

test('the sedentary time of a day and the minutes of exercise of a phone are columns, and no fields of it', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const day = { calendar_date: '2026-01-31', exercise_time: 31 }
  await postSummary(team, 'activity', user_id, [{ day_summary: day }])
  const names = ['intensity_sedentary_second', 'duration_active_second']
  assert.deepEqual(await columns(team, user_id, 'activity', names), {
    intensity_sedentary_second: null,
    duration_active_second: 1860,
  })
  const other = await team.user()
  const record = {
    key: '2026-01-31',
    calendar_date: '2026-01-31',
    document: { date: '2026-01-31T00:00:00+00:00', calendar_date: '2026-01-31', low: 120, medium: 30, high: 10 },
    query_values: { intensity_sedentary_second: 20_000 },
  }
  await storeSummaries(team, other, 'activity', [record])
  assert.deepEqual(await columns(team, other, 'activity', names), {
    intensity_sedentary_second: 20_000,
    duration_active_second: 9600,
  })
  for (const name of names) assert.equal((await list(team, 'activity', other)).activity[0][name], undefined)
})
