// How large a summary and a list of summaries may be. Source: users-wearables.md 9, 16.6.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY } from '../../../test/support/samples.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'
import { asOwner, createTestTeam } from '../../../test/support/server.ts'
import { storeSummaries } from '../../../test/support/wearable-data.ts'

const record = (name: string) => ({ start_time: `${DAY}T19:00:00Z`, end_time: `${DAY}T19:00:00Z`, meal_type: 2, name, energy: 1 })
const mealsOf = (names: string[]) => [
  { health_connect: { source_bundle: 'com.example.food', nutrition_records: names.map(record) } },
]
const names = (count: number, suffix = '') => Array.from({ length: count }, (_, i) => `Fictional food ${i}${suffix}`)

describe('a meal', () => {
  test('has at most 200 foods: further foods count under Food, and nothing of them is lost', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const { status } = await postSummary(team, 'meal', user_id, mealsOf(names(1000)), { provider: 'health_connect' })
    assert.equal(status, 200)
    const { meals } = await list(team, 'meal', user_id)
    const foods = meals[0].data as Record<string, { energy: { value: number } }>
    assert.deepEqual([Object.keys(foods).length, foods.Food?.energy.value, meals[0].energy.value], [200, 801, 1000])
  })

  test('of exactly 200 foods has each of them', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'meal', user_id, mealsOf(['', ...names(199)]), { provider: 'health_connect' })
    const { meals } = await list(team, 'meal', user_id)
    assert.deepEqual([Object.keys(meals[0].data).length, meals[0].data.Food.energy.value], [200, 1])
  })

  test('of more than 256 kB is rejected, and nothing is stored', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    // JSON takes six bytes for each of these characters.
    const data = mealsOf(names(199, '\u0001'.repeat(270)))
    const { status, body } = await postSummary(team, 'meal', user_id, data, { provider: 'health_connect' })
    assert.deepEqual([status, body.detail?.[0].loc], [422, ['body', 'data']])
    assert.deepEqual((await list(team, 'meal', user_id)).meals, [])
  })
})

test('a summary of any kind of more than 256 kB is rejected', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  for (const kind of ['activity', 'sleep_cycle', 'workouts', 'menstrual_cycle'] as const) {
    const store = (characters: number) =>
      storeSummaries(team, user_id, kind, [{ key: DAY, calendar_date: DAY, document: { notes: 'é'.repeat(characters) } }])
    assert.deepEqual([(await store(130_000)).accepted, (await store(130_000)).rejected], [0, 1], kind)
    assert.equal((await store(120_000)).created, 1, kind)
  }
})

describe('a list of more than 16 MB', () => {
  test('is rejected with 422 that asks for a shorter range, whether of summaries or of raw records', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'activity', user_id, [{ day_summary: { calendar_date: '2026-01-01', steps_sum: 1 } }])
    await asOwner(
      `insert into sandbox_us.summary
         (team_id, user_id, kind, provider, key, id, source_type, app_id, calendar_date, document, raw, created_at, updated_at)
       select team_id, user_id, kind, provider, key || n, gen_random_uuid(), source_type, app_id, calendar_date + n,
              document || jsonb_build_object('time_zone', repeat('x', 250000)), jsonb_build_object('notes', repeat('x', 250000)), created_at, updated_at
       from sandbox_us.summary, generate_series(1, 70) n where team_id = $1 and user_id = $2`,
      [team.team, user_id],
    )
    for (const path of [`/v2/summary/activity/${user_id}`, `/v2/summary/activity/${user_id}/raw`]) {
      const { status, body } = await team.api.get(`${path}?start_date=2026-01-01&end_date=2026-12-31`)
      assert.deepEqual([status, body.detail?.[0].loc], [422, ['query', 'start_date']])
      assert.match(body.detail[0].msg, /more than 16 MB.*shorter range/)
      const shorter = await team.api.get(`${path}?start_date=2026-01-01&end_date=2026-02-28`)
      assert.deepEqual([shorter.status, shorter.body.activity?.length], [200, 59])
    }
  })

  test('reads all of a range whose summaries are many and small, in order', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'activity', user_id, [{ day_summary: { calendar_date: '2026-01-01', steps_sum: 0 } }])
    await asOwner(
      `insert into sandbox_us.summary
         (team_id, user_id, kind, provider, key, id, source_type, app_id, calendar_date, document, raw, created_at, updated_at)
       select team_id, user_id, kind, provider, key || n, gen_random_uuid(), source_type, app_id, calendar_date + n / 100,
              document || jsonb_build_object('steps', n), null, created_at, updated_at
       from sandbox_us.summary, generate_series(1, 2499) n where team_id = $1 and user_id = $2`,
      [team.team, user_id],
    )
    const { activity } = await list(team, 'activity', user_id)
    const days = activity.map(({ steps }: { steps: number }) => Math.floor(steps / 100))
    assert.equal(new Set(activity.map(({ id }: { id: string }) => id)).size, 2500)
    assert.deepEqual(
      days,
      days.toSorted((a: number, b: number) => a - b),
    )
  })
})
