// The connector to the Google Health API against a server that speaks its public protocol.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { GoogleHealthPeer } from '../../../../test/support/vendors/google-health.ts'
import {
  assertFailure,
  plainHttp,
  listRecords,
  REDIRECT,
  listSamples,
  readForm,
  linkWithCode,
  openConsentPage,
} from '../../../../test/support/vendors/vendor-server.ts'
import type { InboundNotification, PullRequest } from '../connector.ts'
import { googleHealth } from './google-health.ts'

const RANGE: Omit<PullRequest, 'resource'> = {
  from_ms: Date.parse('2026-01-30T00:00:00Z'),
  to_ms: Date.parse('2026-02-01T00:00:00Z'),
  time_zone: 'America/Phoenix',
}
const dataSource = {
  platform: 'FITBIT',
  recordingMethod: 'PASSIVELY_MEASURED',
  device: { formFactor: 'WATCH', displayName: 'Fictional watch' },
  application: { packageName: 'com.example.fictional' },
}
const sampleTime = (physicalTime: string) => ({ physicalTime, utcOffset: '-25200s' })
const interval = (startTime: string, endTime: string) => ({
  startTime,
  startUtcOffset: '-25200s',
  endTime,
  endUtcOffset: '-25200s',
})
const date = (day: number) => ({ year: 2026, month: 1, day })
const name = (type: string, id: string) => `users/4503599627370497/dataTypes/${type}/dataPoints/${id}`

function fill(peer: GoogleHealthPeer): void {
  const bpm = (time: string, beatsPerMinute: string) => ({
    dataSource,
    heartRate: { beatsPerMinute, sampleTime: sampleTime(time) },
  })
  peer.points.set('heart-rate', [
    bpm('2026-01-31T06:00:00Z', '61'),
    bpm('2026-01-31T06:01:00Z', '62'),
    bpm('2026-01-31T06:02:00Z', 'fast'),
    bpm('2026-02-02T06:02:00Z', '80'),
  ])
  peer.points.set('steps', [
    { dataSource, steps: { count: '44', interval: interval('2026-01-31T17:00:00Z', '2026-01-31T17:01:00Z') } },
  ])
  peer.points.set('distance', [
    { dataSource, distance: { millimeters: '30500', interval: interval('2026-01-31T17:00:00Z', '2026-01-31T17:01:00Z') } },
  ])
  peer.points.set('blood-glucose', [
    {
      dataSource,
      bloodGlucose: {
        bloodGlucoseMilligramsPerDeciliter: 90.091,
        measurementSource: 'CONTINUOUS_GLUCOSE_MONITORING',
        sampleTime: sampleTime('2026-01-31T17:00:00Z'),
      },
    },
  ])
  peer.points.set('weight', [
    {
      dataSource: { device: { formFactor: 'SCALE' } },
      weight: { weightGrams: 68_400, sampleTime: sampleTime('2026-01-31T02:00:00Z') },
    },
  ])
  peer.points.set('body-fat', [
    {
      dataSource: { device: { formFactor: 'SCALE' } },
      bodyFat: { percentage: 24.5, sampleTime: sampleTime('2026-01-31T02:00:00Z') },
    },
  ])
  peer.points.set('height', [
    { dataSource, height: { heightMillimeters: '1734', sampleTime: sampleTime('2026-01-31T02:00:00Z') } },
  ])
  const stage = (type: string, startTime: string, endTime: string) => ({ type, ...interval(startTime, endTime) })
  peer.points.set('sleep', [
    {
      name: name('sleep', '71'),
      dataSource,
      sleep: {
        interval: interval('2026-01-31T05:00:00Z', '2026-01-31T13:00:00Z'),
        type: 'STAGES',
        metadata: { processed: true, nap: false },
        stages: [
          stage('AWAKE', '2026-01-31T05:00:00Z', '2026-01-31T05:30:00Z'),
          stage('LIGHT', '2026-01-31T05:30:00Z', '2026-01-31T09:30:00Z'),
          stage('DEEP', '2026-01-31T09:30:00Z', '2026-01-31T11:00:00Z'),
          stage('REM', '2026-01-31T11:00:00Z', '2026-01-31T13:00:00Z'),
        ],
        summary: { minutesAsleep: '450', minutesToFallAsleep: '30' },
      },
    },
    {
      name: name('sleep', '72'),
      dataSource,
      sleep: {
        interval: interval('2026-01-31T20:00:00Z', '2026-01-31T21:00:00Z'),
        type: 'CLASSIC',
        metadata: { nap: true, processed: false },
        summary: { minutesAsleep: '50' },
      },
    },
  ])
  peer.points.set('exercise', [
    {
      name: name('exercise', '81'),
      dataSource,
      exercise: {
        exerciseType: 'TRAIL_RUN',
        displayName: 'A fictional run',
        activeDuration: '1740s',
        interval: {
          ...interval('2026-01-31T06:30:00Z', '2026-01-31T07:00:00Z'),
          civilStartTime: { date: date(30), time: { hours: 23, minutes: 30 } },
        },
        metricsSummary: {
          averageHeartRateBeatsPerMinute: '140',
          distanceMillimeters: 5_012_400,
          caloriesKcal: 410.5,
          steps: '4900',
          elevationGainMillimeters: 24_500,
          averageSpeedMillimetersPerSecond: 2880,
        },
      },
    },
  ])
  peer.points.set('daily-resting-heart-rate', [{ dailyRestingHeartRate: { date: date(30), beatsPerMinute: '55' } }])
  const rolled = (type: string, value: object) =>
    peer.rollUps.set(type, [{ civilStartTime: { date: date(30) }, civilEndTime: { date: date(31) }, ...value }])
  rolled('steps', { steps: { countSum: '8412' } })
  rolled('distance', { distance: { millimetersSum: '6240500' } })
  rolled('floors', { floors: { countSum: '9' } })
  rolled('active-energy-burned', { activeEnergyBurned: { kcalSum: 480.5 } })
  rolled('total-calories', { totalCalories: { kcalSum: 2150.25 } })
  rolled('heart-rate', { heartRate: { beatsPerMinuteAvg: 72, beatsPerMinuteMin: 50, beatsPerMinuteMax: 148 } })
  rolled('sedentary-period', { sedentaryPeriod: { durationSum: '30600s' } })
  const levels = [
    { activityLevel: 'LIGHT', activeMinutesSum: '180' },
    { activityLevel: 'VIGOROUS', activeMinutesSum: '12' },
  ]
  rolled('active-minutes', { activeMinutes: { activeMinutesRollupByActivityLevel: levels } })
}

async function linkAccount(scopes: readonly string[] = googleHealth.scopes) {
  const peer = await new GoogleHealthPeer().start()
  fill(peer)
  return linkWithCode(googleHealth, peer, peer.agree([...scopes], REDIRECT), RANGE)
}

describe('Google Health: consent and tokens', () => {
  test('the consent page is asked for offline access with a code challenge, and the grant names the health user', async () => {
    const peer = await new GoogleHealthPeer().start()
    const app = peer.app()
    const code_verifier = 'a-fictional-verifier-of-43-characters-or-more'
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
    const page = googleHealth.authorizeUrl(app, {
      redirect_uri: REDIRECT,
      state: 'state-1',
      scopes: googleHealth.scopes,
      code_challenge,
    })
    const { searchParams } = new URL(page)
    assert.deepEqual([searchParams.get('access_type'), searchParams.get('prompt')], ['offline', 'consent'])
    const back = await openConsentPage(page)
    const asked = { code: back.get('code')!, redirect_uri: REDIRECT, now_ms: peer.now_ms }
    const grant = await googleHealth.exchange(plainHttp, app, { ...asked, code_verifier })
    assert.deepEqual([grant.external_user_id, grant.scopes], [peer.health_user_id, [...googleHealth.scopes]])
    const other = (await openConsentPage(page)).get('code')!
    await assertFailure(
      googleHealth.exchange(plainHttp, app, { ...asked, code: other, code_verifier: 'another' }),
      'invalid_grant',
    )
  })

  test('a refresh brings no new refresh token, and a lost answer changes nothing', async () => {
    const { peer, app, grant } = await linkAccount()
    peer.fail('lost')
    await assertFailure(googleHealth.refresh(plainHttp, app, grant, peer.now_ms), 'unavailable')
    const next = await googleHealth.refresh(plainHttp, app, grant, peer.now_ms)
    assert.deepEqual([next.refresh_token, next.external_user_id], [grant.refresh_token, peer.health_user_id])
    await assertFailure(googleHealth.refresh(plainHttp, { ...app, client_secret: 'wrong' }, grant, peer.now_ms), 'unexpected')
  })

  test('a grant that has ended, as after seven days in testing, is terminal, and one is ended at Google', async () => {
    const { peer, app, grant, pull } = await linkAccount()
    await googleHealth.revoke(plainHttp, app, grant)
    assert.equal(peer.grants.isGranted(peer.health_user_id), false)
    await assertFailure(googleHealth.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
    await assertFailure(pull('steps'), 'invalid_grant')
  })
})

describe('Google Health: errors', () => {
  test('a quota, a missing scope, an outage and half an answer are distinguished', async () => {
    const { peer, pull } = await linkAccount(googleHealth.scopes.filter((scope) => !scope.includes('sleep')))
    await assertFailure(pull('sleep'), 'scope_missing')
    peer.fail('outage', 'garbage')
    await assertFailure(pull('steps'), 'unavailable')
    await assertFailure(pull('steps'), 'unexpected')
    peer.left = 0
    await assertFailure(pull('steps'), 'rate_limited', 60_000)
  })
})

describe('Google Health: data', () => {
  test('points of all pages become samples with their device, app and offset; points without a number are left out', async () => {
    const { pull } = await linkAccount()
    const rates = listSamples(await pull('heartrate'), 'heartrate')
    assert.deepEqual(
      rates.map(({ value, source_type, app_id, zone_s }) => [value, source_type, app_id, zone_s]),
      [
        [61, 'watch', 'com.example.fictional', -25_200],
        [62, 'watch', 'com.example.fictional', -25_200],
      ],
    )
    const [steps] = listSamples(await pull('steps'), 'steps')
    assert.deepEqual([steps!.value, steps!.length_ms], [44, 60_000])
    assert.equal(listSamples(await pull('distance'), 'distance')[0]!.value, 30.5)
    const [glucose] = listSamples(await pull('glucose'), 'glucose')
    assert.deepEqual([glucose!.value, glucose!.type, glucose!.source_type], [5, 'automatic', 'automatic'])
  })

  test('weight and fat of one instant are one record of the body', async () => {
    const { pull } = await linkAccount()
    const pulled = await pull('body')
    const records = listRecords(pulled, 'body')
    assert.deepEqual(
      records.map(({ key, calendar_date, source_type }) => [key, calendar_date, source_type]),
      [
        ['2026-01-31T02:00:00.000Z ', '2026-01-30', 'scale'],
        ['2026-01-31T02:00:00.000Z ', '2026-01-30', 'scale'],
      ],
    )
    assert.deepEqual([records[0]!.document.weight, records[0]!.document.fat, records[1]!.document.fat], [68.4, undefined, 24.5])
    assert.deepEqual([listSamples(pulled, 'body_weight')[0]!.value, listSamples(pulled, 'body_fat')[0]!.value], [68.4, 24.5])
    assert.equal(listRecords(await pull('profile'), 'profile')[0]!.document.height, 173)
  })

  test('a night has its stages, and a nap that Google still works on is tentative', async () => {
    const { pull } = await linkAccount()
    const pulled = await pull('sleep')
    const [night, nap] = listRecords(pulled, 'sleep')
    assert.deepEqual([night!.key, night!.calendar_date], ['71', '2026-01-31'])
    const { awake, light, deep, rem, total, latency, type, state, timezone_offset } = night!.document
    assert.deepEqual([awake, light, deep, rem, total, latency], [1800, 14_400, 5400, 7200, 27_000, 1800])
    assert.deepEqual([type, state, timezone_offset], ['long_sleep', 'confirmed', -25_200])
    assert.deepEqual([nap!.document.type, nap!.document.state, nap!.document.light], ['acknowledged_nap', 'tentative', 3000])
    const cycles = listRecords(pulled, 'sleep_cycle')
    assert.deepEqual(
      cycles.map(({ key, document }) => [key, document.stage_type]),
      [['71', [4, 2, 1, 3]]],
    )
  })

  test('a workout belongs to the local day on which it starts', async () => {
    const { pull } = await linkAccount()
    const [run] = listRecords(await pull('workouts'), 'workouts')
    const { sport, distance, moving_time, total_elevation_gain, average_speed, steps } = run!.document
    assert.deepEqual([run!.key, run!.calendar_date, (sport as { slug: string }).slug], ['81', '2026-01-30', 'trail_running'])
    assert.deepEqual([distance, moving_time, total_elevation_gain, average_speed, steps], [5012.4, 1740, 24.5, 2.88, 4900])
  })

  test('a day is added up by Google, within the longest range that it adds up', async () => {
    const { pull } = await linkAccount()
    const ten_days = { from_ms: RANGE.to_ms - googleHealth.days_per_request * 86_400_000 }
    const [day, ...none] = listRecords(await pull('activity', ten_days), 'activity')
    assert.deepEqual(none, [])
    const { steps, distance, floors_climbed, calories_active, calories_total, low, medium, high, heart_rate } = day!.document
    assert.deepEqual([day!.key, day!.source_type], ['2026-01-30', 'multiple_sources'])
    assert.deepEqual([steps, distance, floors_climbed, calories_active, calories_total], [8412, 6240.5, 9, 480.5, 2150.25])
    assert.deepEqual([low, medium, high, day!.query_values?.intensity_sedentary_second], [180, null, 12, 30_600])
    assert.deepEqual(heart_rate, { avg_bpm: 72, min_bpm: 50, max_bpm: 148, resting_bpm: 55, avg_walking_bpm: null })
  })
})

describe('Google Health: notifications', () => {
  const SECRET = 'Bearer a-fictional-secret'
  const receive = (
    peer: GoogleHealthPeer,
    notice: { body: string; headers: Record<string, string> },
    overrides: Partial<InboundNotification> = {},
  ) => googleHealth.receive(peer.app(), { ...readForm(peer, notice), verify_token: SECRET, ...overrides }, plainHttp)

  test('Google unauthenticated probe: the verification is answered 201 with the authorization and 401 without it', async () => {
    const peer = await new GoogleHealthPeer().start()
    const body = '{"type": "verification"}'
    const right = await receive(peer, { body, headers: { authorization: SECRET } })
    assert.deepEqual(right, { outcome: 'verified', answer: { status: 201, body: {} }, changes: [] })
    for (const headers of [{}, { authorization: 'Bearer guessed' }, { authorization: '' }] as Record<string, string>[]) {
      const wrong = await receive(peer, { body, headers })
      assert.deepEqual([wrong.outcome, wrong.answer?.status], ['refused', 401])
    }
    const none = await receive(peer, { body, headers: { authorization: '' } }, { verify_token: '' })
    assert.equal(none.outcome, 'refused')
    assert.equal(peer.requests.length, 0)
  })

  test('a notification counts only with a signature by a key that Google publishes, also after the keys have rotated', async () => {
    const peer = await new GoogleHealthPeer().start()
    const times = ['2026-01-31T06:00:00Z', '2026-01-31T06:10:00Z'] as const
    const sent = peer.notification('steps', ...times, SECRET)
    const outcome = await receive(peer, sent)
    const range = { from_ms: Date.parse(times[0]), to_ms: Date.parse(times[1]) + 1000 }
    assert.deepEqual(outcome, {
      outcome: 'verified',
      changes: ['steps', 'activity'].map((resource) => ({ external_user_id: peer.health_user_id, resource, ...range })),
    })
    const older = { ...sent.headers, 'x-healthapi-signature': sent.headers['google-health-api-signature'] }
    assert.equal((await receive(peer, { ...sent, headers: older })).outcome, 'verified')
    const { 'google-health-api-signature': signature, ...unsigned } = sent.headers
    assert.equal((await receive(peer, { ...sent, headers: unsigned })).outcome, 'refused')
    assert.equal((await receive(peer, { ...sent, body: sent.body.replace('steps', 'sleep') })).outcome, 'refused')
    const nonsense = { ...sent.headers, 'google-health-api-signature': `${signature.slice(0, 8)}AAAAAAAAAAAAAAAA` }
    assert.equal((await receive(peer, { ...sent, headers: nonsense })).outcome, 'refused')
    peer.rotate()
    const later = peer.notification('heart-rate', ...times, SECRET)
    assert.equal((await receive(peer, later)).outcome, 'refused', 'keys are not read again at once')
    assert.equal((await receive(peer, later, { now_ms: peer.now_ms + 120_000 })).outcome, 'verified')
    assert.equal(peer.requestsTo('/googlehealthapi/webhooks/webhooks_public_keyset.json').length, 2)
  })

  test('without the keys nothing is verified', async () => {
    const peer = await new GoogleHealthPeer().start()
    peer.fail('outage')
    const sent = peer.notification('sleep', '2026-01-31T06:00:00Z', '2026-01-31T06:10:00Z', SECRET)
    assert.equal((await receive(peer, sent)).outcome, 'refused')
  })
})

test('the answers of the Google Health test server agree with the official description, health-v4.openapi-converted.json', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, pull } = await linkAccount()
  for (const resource of googleHealth.resources) await pull(resource)
  const compared = compareAnswers(readDescription('google-health/health-v4.openapi-converted.json'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 3])
})
