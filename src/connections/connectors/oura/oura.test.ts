// The connector to Oura against a server that speaks the vendor's public protocol.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { OuraPeer, ouraActivity, ouraNight, ouraScore, ouraWorkout } from '../../../../test/support/vendors/oura.ts'
import {
  assertFailure,
  plainHttp,
  listRecords,
  REDIRECT,
  listSamples,
  linkWithCode,
  openConsentPage,
  codeRequest,
} from '../../../../test/support/vendors/vendor-server.ts'
import type { InboundNotification, PullRequest } from '../connector.ts'
import { oura } from './oura.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const USER = 'oura-user'
const DAY = '2026-01-31'
const RANGE: Omit<PullRequest, 'resource'> = {
  from_ms: Date.parse('2026-01-30T00:00:00Z'),
  to_ms: Date.parse('2026-01-31T12:00:00Z'),
  time_zone: 'Europe/Helsinki',
}
const meta = { updated_at: '2026-01-31T08:00:00.000Z', version: 1 }

function fill(peer: OuraPeer): void {
  peer.put(USER, 'daily_activity', ouraActivity('2026-01-30', 5000), ouraActivity(DAY, 7000), ouraActivity('2026-01-29', 1))
  peer.put(USER, 'daily_sleep', ouraScore(DAY, 88))
  peer.put(USER, 'sleep', ouraNight(DAY))
  peer.put(USER, 'workout', ouraWorkout('2026-01-30'), ouraWorkout(DAY, { label: 'A fictional ride' }))
  peer.put(USER, 'daily_spo2', {
    id: `spo2-${DAY}`,
    meta,
    day: DAY,
    spo2_percentage: { average: 96.5 },
    breathing_disturbance_index: 1,
  })
  peer.put(USER, 'vO2_max', { id: `vo2-${DAY}`, meta, day: DAY, timestamp: `${DAY}T09:00:00.000+02:00`, vo2_max: 41.5 })
  const rate = (timestamp: string, bpm: number) => ({
    timestamp,
    timestamp_unix: Date.parse(timestamp),
    bpm,
    source: 'awake',
  })
  peer.heartRates.set(USER, [
    rate('2026-01-29T23:59:00Z', 99),
    rate('2026-01-30T00:00:00Z', 58),
    rate('2026-01-31T09:05:00Z', 61),
    rate('2026-01-31T09:10:00Z', 63),
    rate('2026-01-31T12:00:00Z', 99),
  ])
}

async function linkAccount(scopes: readonly string[] = oura.scopes) {
  const peer = await new OuraPeer().start()
  fill(peer)
  return linkWithCode(oura, peer, peer.grants.agree(USER, [...scopes], REDIRECT), RANGE)
}

describe('Oura: consent and tokens', () => {
  test('the consent page gets a challenge, and its code and the verifier bring a grant with the id of the user', async () => {
    const peer = await new OuraPeer().start()
    const app = peer.app()
    const request = { redirect_uri: REDIRECT, state: 'state-1', scopes: oura.scopes, code_challenge: 'a-challenge' }
    const page = new URL(oura.authorizeUrl(app, request))
    const { searchParams } = page
    assert.deepEqual([searchParams.get('code_challenge'), searchParams.get('code_challenge_method')], ['a-challenge', 'S256'])
    const back = await openConsentPage(page)
    assert.equal(back.get('state'), 'state-1')
    const asked = codeRequest(peer, back.get('code')!, 'v')
    const grant = await oura.exchange(plainHttp, app, asked)
    assert.deepEqual(
      [grant.external_user_id, grant.scopes, grant.expires_at_ms],
      [USER, [...oura.scopes], peer.now_ms + 86_400_000],
    )
    assert.equal(peer.requestsTo('/oauth/token')[0]!.form.get('code_verifier'), 'v')
    await assertFailure(oura.exchange(plainHttp, app, asked), 'invalid_grant')
  })

  test('without the scope of the profile a user is connected and not known by an id', async () => {
    const { grant } = await linkAccount(['daily'])
    assert.equal(grant.external_user_id, null)
  })

  test('a refresh token is used once, a wrong secret of the application does not end the grant, and neither does a lost answer', async () => {
    const { peer, app, grant } = await linkAccount()
    await assertFailure(oura.refresh(plainHttp, { ...app, client_secret: 'wrong' }, grant, peer.now_ms), 'unexpected')
    const next = await oura.refresh(plainHttp, app, grant, peer.now_ms)
    assert.notEqual(next.refresh_token, grant.refresh_token)
    assert.equal(next.external_user_id, USER)
    await assertFailure(oura.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
    peer.fail('lost')
    await assertFailure(oura.refresh(plainHttp, app, next, peer.now_ms), 'unavailable')
  })

  test('a grant is ended at the vendor, also when its access token has expired', async () => {
    for (const later_ms of [0, DAY_MS]) {
      const { peer, app, grant, pull } = await linkAccount()
      peer.now_ms += later_ms
      await oura.revoke(plainHttp, app, grant, peer.now_ms)
      assert.equal(peer.grants.isGranted(USER), false)
      await assertFailure(pull('profile'), 'invalid_grant')
    }
  })
})

describe('Oura: errors', () => {
  test('a limit, a missing scope, an outage, half an answer and an expired token are distinguished', async () => {
    const { peer, pull } = await linkAccount(['daily', 'personal'])
    await assertFailure(pull('heartrate'), 'scope_missing')
    peer.fail('outage', 'garbage')
    await assertFailure(pull('activity'), 'unavailable')
    await assertFailure(pull('activity'), 'unexpected')
    peer.left = 0
    await assertFailure(pull('activity'), 'rate_limited', 30_000)
    peer.now_ms += DAY_MS
    await assertFailure(pull('activity'), 'invalid_grant')
  })
})

describe('Oura: data', () => {
  test('days are the days of Oura, including the last one of a range, with distances in meters and times in minutes', async () => {
    const { peer, pull } = await linkAccount()
    const days = listRecords(await pull('activity'), 'activity')
    assert.deepEqual(
      days.map(({ key, calendar_date, source_type }) => [key, calendar_date, source_type]),
      [
        ['2026-01-30', '2026-01-30', 'ring'],
        [DAY, DAY, 'ring'],
      ],
    )
    const { steps, calories_total, calories_active, distance, low, medium, high, timezone_offset } = days[1]!.document
    assert.deepEqual([steps, calories_total, calories_active, distance], [7000, 2300, 400, 7200])
    assert.deepEqual([low, medium, high, timezone_offset], [120, 30, 10, 3600])
    assert.deepEqual(days[1]!.query_values, { intensity_sedentary_second: 20_000 })
    const { query } = peer.requestsTo('/v2/usercollection/daily_activity')[0]!
    assert.deepEqual([query.get('start_date'), query.get('end_date')], ['2026-01-30', '2026-02-01'])
  })

  test('a night has its stages, its score and the heart rate variability, by seconds and milliseconds', async () => {
    const { pull } = await linkAccount()
    const pulled = await pull('sleep')
    const [night] = listRecords(pulled, 'sleep')
    const { awake, light, rem, deep, total, duration, score, efficiency, hr_lowest, average_hrv, respiratory_rate } =
      night!.document
    assert.deepEqual([night!.key, night!.calendar_date, night!.document.type], [`night-${DAY}`, DAY, 'long_sleep'])
    assert.deepEqual([awake, light, rem, deep, total, duration], [1800, 15_300, 6300, 7200, 28_800, 30_600])
    assert.deepEqual([score, efficiency, hr_lowest, average_hrv, respiratory_rate], [88, 94, 48, 62, 14.25])
    const [cycle] = listRecords(pulled, 'sleep_cycle')
    assert.deepEqual(cycle!.document.stage_type, [4, 2, 1, 3, 2, 4])
    assert.deepEqual(cycle!.document.stage_start_offset_second, [0, 300, 900, 2100, 2700, 3300])
    assert.deepEqual(
      listSamples(pulled, 'hrv').map(({ at_ms, value }) => [new Date(at_ms).toISOString(), value]),
      [
        ['2026-01-31T00:00:00.000Z', 60],
        ['2026-01-31T00:10:00.000Z', 64],
      ],
    )
    assert.deepEqual(
      listSamples(pulled, 'body_temperature_delta').map(({ value, length_ms, type }) => [value, length_ms, type]),
      [[-0.2, 30_600_000, '[null,"finger"]']],
    )
  })

  test('a night belongs to the local day on which it ends; a nap has no score; a rejected sleep is deleted', async () => {
    const { peer, pull } = await linkAccount()
    const end = { bedtime_start: `${DAY}T00:10:00.000+14:00`, bedtime_end: `${DAY}T06:30:00.000+14:00` }
    peer.put(USER, 'sleep', ouraNight(DAY, end), ouraNight('2026-01-30', { type: 'deleted' }))
    peer.put(USER, 'sleep', ouraNight(DAY, { id: 'nap', type: 'late_nap' }))
    const pulled = await pull('sleep')
    const [night, nap] = listRecords(pulled, 'sleep')
    assert.deepEqual(
      [night!.calendar_date, night!.document.timezone_offset, night!.document.bedtime_stop],
      [DAY, 14 * 3600, '2026-01-30T16:30:00+00:00'],
    )
    assert.deepEqual([nap!.key, nap!.document.type, nap!.document.score], ['nap', 'acknowledged_nap', null])
    assert(pulled.some((part) => 'deleted_keys' in part && part.deleted_keys.join() === 'night-2026-01-30'))
  })

  test('pages are read to the last one, and instants of a range are half-open', async () => {
    const { peer, pull } = await linkAccount()
    peer.page = 1
    const rates = listSamples(await pull('heartrate'), 'heartrate')
    assert.deepEqual(
      rates.map(({ value, zone_s }) => [value, zone_s]),
      [
        [58, 7200],
        [61, 7200],
        [63, 7200],
      ],
    )
    assert.deepEqual(
      peer.requestsTo('/v2/usercollection/heartrate').map(({ query }) => query.get('next_token')),
      [null, '1', '2'],
    )
  })

  test('the oxygen of a night is at the beginning of its local day, and the oxygen uptake at its own time', async () => {
    const { pull } = await linkAccount()
    const shown = async (resource: 'blood_oxygen' | 'vo2_max') =>
      listSamples(await pull(resource), resource).map(({ at_ms, value, zone_s }) => [
        new Date(at_ms).toISOString(),
        value,
        zone_s,
      ])
    assert.deepEqual(await shown('blood_oxygen'), [['2026-01-30T22:00:00.000Z', 96.5, 7200]])
    assert.deepEqual(await shown('vo2_max'), [['2026-01-31T07:00:00.000Z', 41.5, 7200]])
  })

  test('workouts have the times of their own offset, and a profile has centimeters', async () => {
    const { pull } = await linkAccount()
    const [first, ride] = listRecords(await pull('workouts'), 'workouts')
    const { time_start, time_end, timezone_offset, distance, calories, title } = ride!.document
    assert.deepEqual([time_start, time_end], [`${DAY}T16:00:00+00:00`, `${DAY}T16:45:00+00:00`])
    assert.deepEqual([timezone_offset, distance, calories, title], [3600, 12_500, 320.5, 'A fictional ride'])
    assert.deepEqual([first!.key, first!.document.title], ['workout-2026-01-30', 'cycling'])
    const [profile] = listRecords(await pull('profile'), 'profile')
    assert.deepEqual([profile!.document.height, profile!.document.sex], [175, 'female'])
  })

  test('a record that a notice names is asked for by its id, also if it cannot be read yet or was deleted', async () => {
    const { peer, pull } = await linkAccount()
    const id = `workout-${DAY}`
    const keys = listRecords(await pull('workouts', { ids: [id] }), 'workouts').map(({ key }) => key)
    assert.deepEqual(keys, [id])
    peer.unreadable.add(id)
    await assertFailure(pull('workouts', { ids: [id] }), 'not_ready')
    assert.deepEqual(await pull('workouts', { ids: [`deleted:${id}`] }), [{ kind: 'workouts', deleted_keys: [id] }])
    assert.deepEqual(await pull('sleep', { ids: ['deleted:night'] }), [{ kind: 'sleep', deleted_keys: ['night'] }])
  })

  test('values out of bounds are left out, and the others are stored', async () => {
    const { peer, pull } = await linkAccount()
    const hrv = { interval: 1e14, items: [60, 62], timestamp: `${DAY}T00:00:00.000+00:00` }
    peer.put(USER, 'sleep', ouraNight(DAY, { hrv }))
    const pulled = await pull('sleep')
    assert.deepEqual(
      listSamples(pulled, 'hrv').map(({ value }) => value),
      [60],
    )
    assert.equal(listRecords(pulled, 'sleep').length, 1)
  })
})

describe('Oura: notices', () => {
  const peer = new OuraPeer()
  const app = { client_id: 'fictional-client', client_secret: 'fictional-client-secret', details: null, urls: oura.urls }
  const receive = async (overrides: Partial<InboundNotification>, application = app) =>
    oura.receive!(
      application,
      {
        method: 'POST',
        headers: {},
        query: {},
        body: Buffer.alloc(0),
        verify_token: 'the-token',
        now_ms: peer.now_ms,
        received_ms: peer.now_ms,
        ...overrides,
      },
      plainHttp,
    )
  const sent = ({ body, headers }: { body: string; headers: Record<string, string> }, application = app) =>
    receive({ body: Buffer.from(body), headers }, application)
  const notice = { event_type: 'update', data_type: 'workout', object_id: 'workout-1', user_id: USER }

  test('a signed notice leads to a pull of the record that it names, and a replayed one to the same pull', async () => {
    const change = { external_user_id: USER, resource: 'workouts', ids: ['workout-1'] }
    const range = { from_ms: peer.now_ms - 2 * DAY_MS, to_ms: peer.now_ms + DAY_MS }
    const given = peer.notice(notice)
    const verified = { outcome: 'verified', changes: [{ ...change, ...range }] }
    assert.deepEqual(await sent(given), verified)
    assert.deepEqual(await receive({ ...given, body: Buffer.from(given.body), now_ms: peer.now_ms + DAY_MS }), verified)
    const gone = await sent(peer.notice({ ...notice, event_type: 'delete' }))
    assert(gone.outcome === 'verified')
    assert.deepEqual(gone.changes[0]!.ids, ['deleted:workout-1'])
  })

  test('a wrong or missing signature, a changed body and a replay with another time are refused', async () => {
    const { body, headers } = peer.notice(notice)
    const { 'x-oura-signature': signature, 'x-oura-timestamp': timestamp } = headers as Record<string, string>
    const refused: Parameters<typeof sent>[] = [
      [peer.notice(notice, 'another-secret')],
      [peer.notice(notice, ''), { ...app, client_secret: '' }],
      [{ body, headers: { 'x-oura-timestamp': timestamp! } }],
      [{ body, headers: { 'x-oura-signature': signature! } }],
      [{ body, headers: { ...headers, 'x-oura-timestamp': String(Number(timestamp) + 1) } }],
      [{ body: body.replace('workout-1', 'workout-2'), headers }],
    ]
    for (const [given, to] of refused) assert.equal((await sent(given, to)).outcome, 'refused', JSON.stringify(given.headers))
    assert.equal((await sent(peer.notice(notice))).outcome, 'verified')
  })

  test('a notice of an unknown kind of data leads to nothing, and one that is dated in the future to a pull of the last days', async () => {
    for (const data_type of ['constructor', '__proto__', 'tag', 7])
      assert.deepEqual(await sent(peer.notice({ ...notice, data_type })), { outcome: 'verified', changes: [] }, String(data_type))
    const future = await sent(peer.notice({ ...notice, event_time: '2026-12-31T00:00:00.000Z' }))
    assert(future.outcome === 'verified')
    const { from_ms, to_ms } = future.changes[0]!
    assert.deepEqual([from_ms, to_ms], [peer.now_ms - 2 * DAY_MS, peer.now_ms + DAY_MS])
  })

  test('the handshake is answered with its challenge, and only with the token of the subscription', async () => {
    const query = { verification_token: 'the-token', challenge: 'c-1' }
    const answer = { status: 200, body: { challenge: 'c-1' } }
    assert.deepEqual(await receive({ method: 'GET', query }), { outcome: 'verified', answer, changes: [] })
    for (const verification_token of ['guessed', ''])
      assert.equal((await receive({ method: 'GET', query: { ...query, verification_token } })).outcome, 'refused')
  })

  test('an application subscribes once to each kind of data and event, and renews its subscriptions before they end', async () => {
    const server = await new OuraPeer().start()
    const subscribe = () =>
      oura.subscribe!(plainHttp, server.app(), {
        callback_url: 'https://drawbridge.example/n/1',
        verify_token: 'the-token',
        access_token: null,
        now_ms: server.now_ms,
      })
    const calls = (method: string) => server.requests.filter((request) => request.method === method).length
    assert.deepEqual(await subscribe(), { renew_at_ms: server.now_ms + 60 * DAY_MS })
    await subscribe()
    assert.deepEqual([calls('POST'), calls('PUT'), server.subscriptions.length], [16, 0, 16])
    server.now_ms += 61 * DAY_MS
    assert.deepEqual(await subscribe(), { renew_at_ms: server.now_ms + 60 * DAY_MS })
    assert.deepEqual([calls('POST'), calls('PUT'), server.subscriptions.length], [16, 16, 16])
  })
})

test('the answers of the Oura test server agree with the official description, oura-v2.openapi.json', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, app, pull } = await linkAccount()
  for (const resource of oura.resources) await pull(resource)
  await pull('sleep', { ids: [`night-${DAY}`] })
  await pull('workouts', { ids: [`workout-${DAY}`] })
  for (const later_ms of [0, 61 * DAY_MS]) {
    peer.now_ms += later_ms
    const request = { callback_url: 'https://drawbridge.example/n/1', verify_token: 'the-token', access_token: null }
    await oura.subscribe!(plainHttp, app, { ...request, now_ms: peer.now_ms })
  }
  const compared = compareAnswers(readDescription('oura/oura-v2.openapi.json'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 13])
})
