// Whole synchronizations with a peer of the published client for Android. Source: users-wearables.md 16.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { AndroidClient } from '../../../test/support/android-client.ts'
import { events, types } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { ConnectionDestroyed, HttpError } from '../../../test/support/signed-in-phone.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const ago = (ms: number): number => Math.floor((Date.now() - ms) / 1000) * 1000
const instant = (ms: number): string => new Date(ms).toISOString()
const READ = 'android.permission.health.READ_'

async function createPhone(body: object = {}, options: ConstructorParameters<typeof AndroidClient>[0] = {}) {
  const team = await createTestTeam()
  const { user_id } = (await team.api.post('/v2/user', { client_user_id: randomUUID(), ...body })).body
  const phone = new AndroidClient(options)
  await phone.signIn(team, user_id as string)
  return { team, user_id: user_id as string, phone }
}

const ofWatch = {
  source_bundle: 'com.example.band',
  product_type: null,
  metadata: { _DMO: 'Band 1', _DMA: 'Fictional', _DTY: 'watch' },
}
const quantity = (at_ms: number, value: number, unit: string, end_ms = at_ms) => ({
  id: randomUUID(),
  value,
  unit,
  start_date: instant(at_ms),
  end_date: instant(end_ms),
  type: 'watch',
  ...ofWatch,
})
const heartRate = (at_ms: number, value: number) => ({ at_ms, data: quantity(at_ms, value, 'bpm') })
const night = (start_ms: number, end_ms: number) => ({
  at_ms: start_ms,
  data: {
    id: randomUUID(),
    start_date: instant(start_ms),
    end_date: instant(end_ms),
    ...ofWatch,
    source_type: 'watch',
    heart_rate_maximum: 61,
    heart_rate_minimum: 48,
    heart_rate_mean: 52,
    hrv_mean_sdnn: null,
    respiratory_rate_mean: null,
    sleep_stages: {
      awakeSleepSamples: [],
      deepSleepSamples: [quantity(start_ms, 1, 'stage', start_ms + HOUR_MS)],
      lightSleepSamples: [quantity(start_ms + HOUR_MS, 2, 'stage', end_ms)],
      remSleepSamples: [],
      outOfBedSleepSamples: [],
      unknownSleepSamples: [],
    },
    wrist_temperature: [],
    score: null,
  },
})
const workout = (start_ms: number, end_ms: number) => ({
  at_ms: start_ms,
  data: {
    id: randomUUID(),
    start_date: instant(start_ms),
    end_date: instant(end_ms),
    ...ofWatch,
    source_type: 'watch',
    sport: 'biking',
    calories: 210.5,
    distance: null,
    heart_rate_maximum: 150,
    heart_rate_minimum: 90,
    heart_rate_mean: 131,
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((zone) => [`heart_rate_zone_${zone}`, zone * 10])),
  },
})
const values = async (phone: AndroidClient): Promise<number[]> => {
  const { groups } = await phone.samples('heartrate', '2026-01-01T00:00:00Z')
  return (groups.health_connect ?? []).flatMap(({ data }) => data.map(({ value }) => value))
}

describe('the published client for Android', () => {
  test('sends thirty days, then new data, and reads everything', async () => {
    const { team, phone } = await createPhone()
    phone.grantedPermissions = ['HEART_RATE', 'SLEEP', 'EXERCISE', 'HEIGHT'].map((name) => READ + name)
    phone.health.write('heartRate', heartRate(ago(45 * DAY_MS), 58), heartRate(ago(29 * DAY_MS), 60), heartRate(ago(DAY_MS), 61))
    phone.health.write('sleep', night(ago(2 * DAY_MS), ago(2 * DAY_MS - 8 * HOUR_MS)))
    phone.health.write('workout', workout(ago(3 * DAY_MS), ago(3 * DAY_MS - HOUR_MS)))
    assert.equal(await phone.sync('profile', 'sleep', 'workout', 'heartRate'), 4)
    assert.deepEqual(await values(phone), [60, 61])
    const [slept] = await phone.sleeps()
    assert.deepEqual([slept?.duration, slept?.light, slept?.deep, slept?.hr_average], [8 * 3600, 7 * 3600, 3600, 52])
    const histories = types(await events(team)).filter((type) => type.startsWith('historical.data.'))
    for (const kind of ['profile', 'sleep', 'workouts', 'heartrate'])
      assert(histories.includes(`historical.data.${kind}.created`), `${kind} of ${histories.join()}`)
    phone.health.write('heartRate', heartRate(ago(60_000), 70))
    assert.equal(await phone.sync('heartRate'), 1)
    phone.expireState()
    phone.health.write('heartRate', heartRate(ago(30_000), 71))
    assert.equal(await phone.sync('heartRate', 'sleep'), 1)
    assert.deepEqual(await values(phone), [60, 61, 70, 71])
    assert.equal((await phone.connections()).providers[0]?.slug, 'health_connect')
    assert.equal((await phone.user()).user_id, phone.user_id)
  })

  test('sends entries before an end of ingestion', async () => {
    const { phone } = await createPhone({ ingestion_end: instant(Date.now() - 4 * DAY_MS).slice(0, 10) })
    phone.health.write('heartRate', heartRate(ago(29 * DAY_MS), 60), heartRate(ago(60_000), 61))
    await phone.sync('heartRate')
    assert.deepEqual(await values(phone), [60])
  })

  test('that its app connects stays away after the end of its connection', async () => {
    const { phone } = await createPhone({}, { policy: 'explicit', provider: 'samsung_health' })
    await assert.rejects(phone.sync('heartRate'), ConnectionDestroyed)
    await phone.connect()
    assert.equal(await phone.sync('heartRate'), 0)
    await phone.disconnect()
    await assert.rejects(phone.sync('heartRate'), ConnectionDestroyed)
  })

  test("makes each call with its user's token and reads the responses", async () => {
    const { team, user_id, phone } = await createPhone()
    const start = ago(DAY_MS)
    phone.health.write('workout', workout(start, start + HOUR_MS))
    phone.health.write('sleep', night(start, start + 8 * HOUR_MS))
    phone.health.write('profile', { at_ms: start, data: { biological_sex: 'not_set', date_of_birth: null, height: 171 } })
    const day = {
      calendar_date: instant(start).slice(0, 10),
      steps_sum: 9000,
      active_energy_burned_sum: 401,
      exercise_time: null,
    }
    phone.health.write('activity', { at_ms: start, data: { day_summary: day, steps: [] } })
    phone.health.write('body', { at_ms: start, data: { body_mass: [quantity(start, 70.5, 'kg')], body_fat_percentage: [] } })
    await phone.sync('profile', 'activity', 'body', 'sleep', 'workout')
    const { id, user_key } = (await phone.workouts())[0]!
    assert.equal(user_key, user_id)
    assert.deepEqual((await phone.workoutStream(id)).time, [])
    assert.equal((await phone.profile()).height, 171)
    for (const read of [phone.activity, phone.body, phone.sleepStreams]) assert.equal((await read()).length, 1)
    for (const kind of ['workouts', 'activity', 'body', 'sleep', 'profile']) await phone.raw(kind)
    assert.deepEqual((await phone.refreshUser()).refreshed_sources, [])
    const other = new AndroidClient()
    await other.signIn(team, await team.user())
    await assert.rejects(other.workoutStream(id), (error) => error instanceof HttpError && error.status === 404)
    for (const path of [`/v2/user/${user_id}`, '/v2/user/', `/v2/summary/workouts/${user_id}/raw?start_date=2026-01-01`])
      await assert.rejects(other.send('GET', path, undefined), (error) => error instanceof HttpError && error.status === 403)
  })

  test('reads streams that lack values, and a way', async () => {
    const { team, user_id, phone } = await createPhone()
    const at = instant(ago(HOUR_MS))
    const part = (value: number[], start_offset: number[]) => [{ anchor: at, value, start_offset, end_offset: start_offset }]
    const ofApple = { id: randomUUID(), start_date: at, end_date: at, sport: 'Running' }
    const components = { distance_walking_running: part([10, 11], [1, 3]), heart_rate: part([90], [3]) }
    const body = { stage: 'daily', provider: 'apple_health_kit', data: [{ ...ofApple, stream: { components } }] }
    assert.equal((await team.api.post(`/v2/summary/workouts/${user_id}`, body)).status, 200)
    await team.db.pool.query(
      `update summary set document = document || '{"map": {"polyline": "_p~iF", "summary_polyline": null}}' where team_id = $1`,
      [team.team],
    )
    const { id, map } = (await phone.workouts())[0]!
    assert.equal(map?.id, id)
    const { distance, heartrate, time } = await phone.workoutStream(id)
    const whole = (await team.api.get(`/v2/timeseries/workouts/${id}/stream`)).body
    assert.deepEqual([time, distance], [whole.time, whole.distance])
    assert.deepEqual([whole.heartrate, heartrate], [[null, 90], []])
  })
})
