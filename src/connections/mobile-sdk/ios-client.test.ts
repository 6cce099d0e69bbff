// Whole synchronizations with a peer of the published client for iOS. Source: users-wearables.md 16.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { IosClient, swift } from '../../../test/support/ios-client.ts'
import { events, types, watch } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { PEER_CLIENT } from '../../../test/support/oauth-peer.ts'
import { ConnectionDestroyed, ConnectionPaused, HttpError } from '../../../test/support/signed-in-phone.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const ago = (ms: number): number => Math.floor((Date.now() - ms) / 1000) * 1000
const HEART_RATE = 'HKQuantityTypeIdentifierHeartRate'
const SLEEP = 'HKCategoryTypeIdentifierSleepAnalysis'

async function createPhone(body: object = {}, options: ConstructorParameters<typeof IosClient>[0] = {}) {
  const team = await createTestTeam()
  const { user_id } = (await team.api.post('/v2/user', { client_user_id: randomUUID(), ...body })).body
  const phone = new IosClient(options)
  await phone.signIn(team, user_id as string)
  return { team, user_id: user_id as string, phone }
}

const heartRate = (at_ms: number, value: number) => ({
  at_ms,
  data: { value, unit: 'bpm', start_date: swift(at_ms), end_date: swift(at_ms), ...watch },
})
const night = (start_ms: number, end_ms: number) => ({
  at_ms: start_ms,
  data: {
    id: randomUUID().toUpperCase(),
    start_date: swift(start_ms),
    end_date: swift(end_ms),
    ...watch,
    heart_rate: [heartRate(start_ms + HOUR_MS, 52).data],
    heart_rate_variability: [],
    respiratory_rate: [],
    wrist_temperature: [],
    sleep_stages: {
      unspecified_sleep_samples: [{ value: 1, unit: 'stage', start_date: swift(start_ms), end_date: swift(end_ms), ...watch }],
      awake_sleep_samples: [],
      deep_sleep_samples: [],
      light_sleep_samples: [],
      rem_sleep_samples: [],
      in_bed_sleep_samples: [],
      unknown_sleep_samples: [],
    },
    metadata: {},
  },
})
const values = async (phone: IosClient): Promise<number[]> => {
  const { groups } = await phone.samples('heartrate', '2026-01-01')
  return (groups.apple_health_kit ?? []).flatMap(({ data }) => data.map(({ value }) => value))
}
const listEventTypes = async (team: TestTeam, pattern: RegExp) => types(await events(team)).filter((type) => pattern.test(type))

describe('the published client for iOS', () => {
  test('sends its history in parts, then new data, and reads everything', async () => {
    const { team, user_id, phone } = await createPhone({}, { chunk: 2 })
    phone.health.write('heartRate', ...[5, 4, 3].map((days, i) => heartRate(ago(days * DAY_MS), 60 + i)))
    phone.health.write('sleep', night(ago(2 * DAY_MS), ago(2 * DAY_MS - 8 * HOUR_MS)))
    phone.health.write('profile', {
      at_ms: ago(0),
      data: { biological_sex: 'female', height: 170, time_zone: 'America/Phoenix' },
    })
    await phone.ask(HEART_RATE, SLEEP)
    assert.equal(await phone.sync('profile', 'heartRate', 'sleep'), 5)
    assert.deepEqual(await values(phone), [60, 61, 62, 52])
    const finals = phone.calls
      .filter(({ path }) => path.includes('/timeseries/') && path.endsWith('/heartrate'))
      .map(({ body }) => (body as { is_final_chunk: boolean }).is_final_chunk)
    assert.deepEqual(finals, [false, true])
    assert.deepEqual(await listEventTypes(team, /^historical\.data\.(heartrate|sleep)\.created$/), [
      'historical.data.heartrate.created',
      'historical.data.sleep.created',
    ])
    const pulls = (await team.api.get(`/v2/introspect/historical_pull?user_id=${user_id}`)).body.data[0].provider
    assert.equal(pulls.apple_health_kit.pulled.heartrate.status, 'success')
    phone.health.write('heartRate', heartRate(ago(60_000), 70))
    assert.equal(await phone.sync('heartRate', 'sleep'), 1)
    assert.equal((await values(phone)).at(-1), 70)
    assert.equal(await phone.sync('heartRate', 'sleep', 'profile'), 0)
    assert.equal((await phone.sleeps()).length, 1)
  })

  test('sends its recordings at any time, whether it has requested its state or not', async () => {
    const { phone } = await createPhone()
    await phone.ask(HEART_RATE)
    await phone.sync('heartRate')
    const now = Date.now()
    for (const [i, isExpired] of [false, true, false].entries()) {
      if (isExpired) phone.expireState()
      // The clock of the phone has gone on by then.
      while (Date.now() <= now + i) await new Promise((resolve) => setImmediate(resolve))
      phone.health.write('heartRate', heartRate(now + i, 61 + i))
      assert.equal(await phone.sync('heartRate'), 1)
    }
    assert.deepEqual((await values(phone)).toSorted(), [63])
  })

  test('sends entries between the bounds of ingestion, of which the end may be ahead', async () => {
    const day = (days: number) => swift(Date.now() + days * DAY_MS).slice(0, 10)
    for (const [start, end, expected] of [
      [-10, null, [2, 3]],
      [-10, 20, [2, 3]],
      [null, -4, [1, 2]],
      [-10, -4, [2]],
    ] as const) {
      const { phone } = await createPhone({
        ...(start === null ? {} : { ingestion_start: day(start) }),
        ...(end === null ? {} : { ingestion_end: day(end) }),
      })
      phone.health.write('heartRate', heartRate(ago(20 * DAY_MS), 1), heartRate(ago(7 * DAY_MS), 2), heartRate(ago(60_000), 3))
      await phone.ask(HEART_RATE)
      await phone.sync('heartRate')
      assert.deepEqual(await values(phone), expected, `${start} to ${end}`)
    }
  })

  test('waits for a start of ingestion that is ahead, and sends a history that ends before the days of history begin', async () => {
    const { team, user_id, phone } = await createPhone({ ingestion_start: '2099-01-01' })
    await phone.ask(HEART_RATE)
    await assert.rejects(phone.sync('heartRate'), ConnectionPaused)
    await team.api.patch(`/v2/user/${user_id}`, { ingestion_start: null })
    phone.expireState()
    phone.health.write('heartRate', heartRate(ago(60_000), 64))
    assert.equal(await phone.sync('heartRate'), 1)

    const other = await createTestTeam()
    await other.manage.post('/team_data_pull_preferences/sandbox/us', {
      team_ids: [other.team],
      providers: { apple_health_kit: { default: { historical_days_to_pull: 1 } } },
    })
    const ended = await other.api.post('/v2/user', {
      client_user_id: randomUUID(),
      ingestion_end: swift(ago(6 * DAY_MS)).slice(0, 10),
    })
    const late = new IosClient()
    await late.signIn(other, ended.body.user_id as string)
    await late.ask(HEART_RATE)
    assert.equal(await late.sync('heartRate'), 0)
  })

  test('that connects by itself is back after the end of its connection; one that its app connects stays away', async () => {
    const { team, user_id, phone } = await createPhone()
    await phone.ask(HEART_RATE)
    await phone.sync('heartRate')
    await team.api.delete(`/v2/user/${user_id}/apple_health_kit`)
    phone.expireState()
    phone.health.write('heartRate', heartRate(ago(60_000), 65))
    assert.equal(await phone.sync('heartRate'), 1)

    const { phone: explicit } = await createPhone({}, { policy: 'explicit' })
    await explicit.ask(HEART_RATE)
    await assert.rejects(explicit.sync('heartRate'), ConnectionDestroyed)
    await explicit.connect()
    await explicit.sync('heartRate')
    await explicit.disconnect()
    await assert.rejects(explicit.sync('heartRate'), ConnectionDestroyed)
    await explicit.connect()
    assert.deepEqual(
      (await explicit.connections()).providers.map(({ slug, status }) => [slug, status]),
      [['apple_health_kit', 'connected']],
    )
  })

  test('sends distances on foot and by wheelchair of one hour, which stay apart', async () => {
    const { team, phone } = await createPhone()
    const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - DAY_MS
    const covered = (value: number, metadata?: object) => ({
      at_ms: hour,
      data: {
        value,
        unit: 'meter',
        start_date: swift(hour),
        end_date: swift(hour + HOUR_MS),
        type: 'multiple_sources',
        ...(metadata && { metadata }),
      },
    })
    phone.health.write('distance', covered(120.5), covered(870, { wheelchair: '1' }))
    await phone.ask('HKQuantityTypeIdentifierDistanceWalkingRunning', 'HKQuantityTypeIdentifierDistanceWheelchair')
    await phone.sync('distance')
    const shown = async () => {
      const { groups } = (await team.api.get(`/v2/timeseries/${phone.user_id}/distance/grouped?start_date=2026-01-01`)).body
      return groups.apple_health_kit
        .map(({ source, data }: { source: { sport: string | null }; data: { value: number }[] }) => [
          source.sport,
          data.map(({ value }) => value),
        ])
        .toSorted()
    }
    assert.deepEqual(await shown(), [
      [null, [120.5]],
      ['wheelchair_pushing', [870]],
    ])
    phone.health.write('distance', covered(130), covered(900, { wheelchair: '1' }))
    await phone.sync('distance')
    assert.deepEqual(await shown(), [
      [null, [130]],
      ['wheelchair_pushing', [900]],
    ])
  })

  test("makes each call with its user's token and reads the responses", async () => {
    const { team, user_id, phone } = await createPhone()
    await phone.ask(HEART_RATE)
    await team.manage.post('/team_custom_credentials/sandbox/us', { team_id: team.team, provider: 'strava', ...PEER_CLIENT })
    const start = ago(DAY_MS)
    const sent = { start_date: swift(start), end_date: swift(start + HOUR_MS), moving_time: 3500, sport: 'Cycling', ...watch }
    phone.health.write('workout', {
      at_ms: start,
      data: { id: randomUUID(), calories: 300.5, distance: 20_000.4, ascent_elevation: 120.6, ...sent },
    })
    const activity = { calendar_date: swift(start).slice(0, 10), steps_sum: 9000, active_energy_burned_sum: 401.5 }
    phone.health.write('activity', { at_ms: start, data: { day_summary: activity } })
    const weight = { value: 70.5, unit: 'kg', start_date: swift(start), end_date: swift(start) }
    phone.health.write('body', { at_ms: start, data: { body_mass: [weight] } })
    phone.health.write('sleep', night(start, start + 8 * HOUR_MS))
    await phone.sync('workout', 'activity', 'body', 'sleep')
    assert.deepEqual(
      (await phone.workouts()).map(({ total_elevation_gain, distance }) => [total_elevation_gain, distance]),
      [[121, 20_000.4]],
    )
    assert.deepEqual(
      (await phone.activity()).map(({ steps }) => steps),
      [9000],
    )
    assert.deepEqual(
      (await phone.body()).map((measurement) => measurement.weight),
      [70.5],
    )
    for (const kind of ['workouts', 'activity', 'body', 'sleep']) assert.equal((await phone.raw(kind)).length, 1, kind)
    assert.match((await phone.oauthLink('strava')).oauth_url, /^https:\/\/www\.strava\.com\//)
    assert.equal((await phone.emailLink('freestyle_libre', { email: 'testa@example.com', region: 'us' })).state, 'error')
    assert.equal((await phone.passwordLink('peloton', { username: 'testa', password: 'fictional' })).state, 'error')
    const other = await team.user()
    for (const body of [{ user_id: other }, { user_id: randomUUID() }])
      await assert.rejects(phone.linkToken(body), (error) => error instanceof HttpError && error.status === 403)
    assert.equal(phone.user_id, user_id)
  })
})
