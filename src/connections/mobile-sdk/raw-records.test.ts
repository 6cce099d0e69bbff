// Records as a phone sent them, and what of a profile becomes the user's. Source: users-wearables.md 1, 9.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY } from '../../../test/support/samples.ts'
import { postSummary } from '../../../test/support/summaries.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const raw = async ({ api }: TestTeam, kind: string, user_id: string) =>
  (await api.get(`/v2/summary/${kind}/${user_id}/raw${kind === 'profile' ? '' : '?start_date=2026-01-01&end_date=2026-02-28'}`))
    .body[kind]
const session = { start_date: `${DAY}T05:00:00Z`, end_date: `${DAY}T13:00:00Z` }

describe('raw records', () => {
  test('have the posted fields without samples, and the ids of the records', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const heart_rate = [{ value: 52, unit: 'bpm', ...session, end_date: session.start_date }]
    await postSummary(team, 'sleep', user_id, [{ id: 'night-0001', ...session, score: 80, heart_rate }])
    const [record] = await raw(team, 'sleep', user_id)
    const [{ id }] = (await team.api.get(`/v2/summary/sleep/${user_id}?start_date=2026-01-01`)).body.sleep
    assert.deepEqual([record.id, record.provider_id, record.timestamp], [id, 'night-0001', `${DAY}T05:00:00+00:00`])
    assert.deepEqual([record.data.score, record.data.id, record.data.heart_rate], [80, 'night-0001', undefined])
    assert.deepEqual(record.source, { name: 'Apple HealthKit', slug: 'apple_health_kit', logo: '' })
  })

  test('of another team and another provider are not found', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const user_id = await team.user()
    await postSummary(team, 'activity', user_id, [{ day_summary: { calendar_date: DAY, steps_sum: 1 } }])
    const path = `/v2/summary/activity/${user_id}/raw?start_date=2026-01-01`
    assert.equal((await other.api.get(path)).status, 404)
    assert.deepEqual((await team.api.get(`${path}&provider=oura`)).body.activity, [])
    assert.equal((await team.api.get(path)).body.activity[0].data.steps_sum, 1)
    assert.equal((await team.api.get(`/v2/summary/profile/${user_id}/raw`)).status, 404)
  })
})

describe('the time zone and the birth date of a user', () => {
  const shownIn = async ({ api }: TestTeam, user_id: string) => {
    const { fallback_time_zone, fallback_birth_date } = (await api.get(`/v2/user/${user_id}`)).body
    return [fallback_time_zone?.id, fallback_time_zone?.source_slug, fallback_birth_date?.value, fallback_birth_date?.source_slug]
  }
  const profile = { biological_sex: 'female', date_of_birth: '1990-01-31', time_zone: 'Europe/Vienna' }

  test('come from the profile of a phone until they are set through the API', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'profile', user_id, profile)
    assert.deepEqual(await shownIn(team, user_id), ['Europe/Vienna', 'apple_health_kit', '1990-01-31', 'apple_health_kit'])
    for (const zone of ['UTC', 'Japan', 'Asia/Kolkata', 'Europe/Kyiv', 'US/Pacific']) {
      await postSummary(team, 'profile', user_id, { ...profile, time_zone: zone })
      assert.equal((await shownIn(team, user_id))[0], zone)
    }
    await postSummary(team, 'profile', user_id, { ...profile, time_zone: 'Mars/Base' })
    assert.deepEqual((await shownIn(team, user_id))[0], 'America/Phoenix')
    await team.api.patch(`/v2/user/${user_id}`, { fallback_birth_date: '1991-02-28', fallback_time_zone: 'Etc/UTC' })
    await postSummary(team, 'profile', user_id, { ...profile, date_of_birth: '1992-03-31' })
    assert.deepEqual(await shownIn(team, user_id), ['Etc/UTC', 'manual', '1991-02-28', 'manual'])
  })

  test('stay when a profile does not name them', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'profile', user_id, profile)
    await postSummary(team, 'profile', user_id, { biological_sex: 'female' }, { time_zone: undefined })
    assert.deepEqual((await shownIn(team, user_id))[2], '1990-01-31')
  })
})
