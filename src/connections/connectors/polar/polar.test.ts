// The connector to Polar against a server that speaks the vendor's public protocol.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { PolarPeer } from '../../../../test/support/vendors/polar.ts'
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
import { polar } from './polar.ts'

const RANGE: Omit<PullRequest, 'resource'> = {
  from_ms: Date.parse('2026-01-30T12:00:00Z'),
  to_ms: Date.parse('2026-02-01T00:00:00Z'),
  time_zone: 'Europe/Helsinki',
}

function fill(peer: PolarPeer): void {
  const steps = (deviceId: string, counts: number[]) => ({
    deviceReference: { deviceId },
    activitySamples: [{ stepSamples: { startTime: '07:00:00', interval: 60_000, steps: counts } }],
  })
  peer.storedValues.set('activity/list', [
    { date: '2026-01-31', activitiesPerDevice: [steps('phone', [10, 0, 20]), steps('watch', [12, 0, 25])] },
  ])
  peer.storedValues.set('sleeps', [
    {
      sleepDate: '2026-01-31',
      sleepResult: { hypnogram: { sleepStart: '2026-01-30T22:30:00+02:00', sleepEnd: '2026-01-31T06:30:00+02:00' } },
      sleepEvaluation: { phaseDurations: { wake: '1800s', rem: '5400s', light: '14400s', deep: '7200.5s', unknown: '0s' } },
      sleepScore: { sleepScore: 81.4 },
    },
  ])
  peer.storedValues.set('nightly-recharge-results', [
    { sleepResultDate: '2026-01-31', meanNightlyRecoveryRmssd: 44, meanNightlyRecoveryRespirationInterval: 4000 },
  ])
  peer.storedValues.set('continuous-samples', [
    {
      date: '2026-01-31',
      samples: [
        { heartRate: 61, offsetMillis: 300_500, triggerType: 'TRIGGER_TIMED_247' },
        { heartRate: 0, offsetMillis: 600_000 },
      ],
    },
  ])
  const session = {
    durationMillis: 1_800_000,
    sport: { id: '27' },
    calories: 410,
    distanceMeters: 5012.4,
    hrAvg: 141,
    hrMax: 164,
  }
  peer.storedValues.set('training-sessions/list', [
    {
      ...session,
      identifier: { id: 'session-1' },
      name: 'A fictional run',
      startTime: '2026-01-31T00:30:00',
      stopTime: '2026-01-31T01:00:30',
      timezoneOffsetMinutes: 120,
    },
    { ...session, identifier: { id: 'session-2' }, startTime: '2026-01-31T18:00:00' },
  ])
}

async function linkAccount(scopes: readonly string[] = polar.scopes) {
  const peer = await new PolarPeer().start()
  fill(peer)
  return linkWithCode(polar, peer, peer.grants.agree(peer.user, [...scopes], REDIRECT), RANGE)
}

describe('Polar: consent and tokens', () => {
  test('the application signs in with a header, and the account names the user', async () => {
    const peer = await new PolarPeer().start()
    const app = peer.app()
    const page = polar.authorizeUrl(app, { redirect_uri: REDIRECT, state: 'state-1', scopes: polar.scopes, code_challenge: '' })
    const back = await openConsentPage(page)
    const asked = codeRequest(peer, back.get('code')!)
    const grant = await polar.exchange(plainHttp, app, asked)
    assert.deepEqual([grant.external_user_id, grant.scopes], [peer.user, [...polar.scopes]])
    assert.equal(peer.requestsTo('/oauth/token')[0]!.form.has('client_secret'), false)
    await assertFailure(polar.exchange(plainHttp, app, asked), 'invalid_grant')
  })

  test('without the scope of the profile a user is connected and not known by an id', async () => {
    const { grant } = await linkAccount(['activity:read'])
    assert.equal(grant.external_user_id, null)
  })

  test('a refresh token that comes back replaces the old one; a wrong secret and a lost answer do not end the grant', async () => {
    const { peer, app, grant } = await linkAccount()
    await assertFailure(polar.refresh(plainHttp, { ...app, client_secret: 'wrong' }, grant, peer.now_ms), 'unexpected')
    const next = await polar.refresh(plainHttp, app, grant, peer.now_ms)
    assert.equal(next.external_user_id, peer.user)
    await assertFailure(polar.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
    peer.fail('lost')
    await assertFailure(polar.refresh(plainHttp, app, next, peer.now_ms), 'unavailable')
  })
})

describe('Polar: errors', () => {
  test('limits are counted upwards, and over when the headers say so', async () => {
    const { peer, pull } = await linkAccount()
    peer.usage = [3000, 4000]
    await assertFailure(pull('sleep'), 'rate_limited', 420_000)
    peer.usage = [3000, 100_000]
    await assertFailure(pull('sleep'), 'rate_limited', 30_000_000)
  })

  test('a scope that is missing, an outage, half an answer and an expired token are distinguished', async () => {
    const { peer, pull } = await linkAccount(['sleep:read'])
    await assertFailure(pull('activity'), 'scope_missing')
    peer.fail('outage', 'garbage')
    await assertFailure(pull('sleep'), 'unavailable')
    await assertFailure(pull('sleep'), 'unexpected')
    const [night] = listRecords(await pull('sleep'), 'sleep')
    assert.equal(night!.document.average_hrv, null)
    peer.now_ms += 43_200_000
    await assertFailure(pull('sleep'), 'invalid_grant')
  })
})

describe('Polar: data', () => {
  test('Polar dates-without-data: features are requested day by day, and a day that has only a date has no data', async () => {
    const { peer, pull } = await linkAccount()
    const pulled = await pull('activity')
    const requests = peer.requestsTo('/v4/data/activity/list')
    assert.deepEqual(
      requests.map(({ query }) => [query.get('from'), query.get('to'), query.getAll('features')]),
      [
        ['2026-01-30', '2026-01-31', ['samples']],
        ['2026-01-31', '2026-02-01', ['samples']],
        ['2026-02-01', '2026-02-02', ['samples']],
      ],
    )
    assert.equal(listRecords(pulled, 'activity').length, 1)
    peer.storedValues.set('activity/list', [{ date: '2026-01-31' }])
    assert.deepEqual(await pull('activity'), [])
  })

  for (const wraps of [true, false])
    test(`steps come from the device that counted most, and heart rates are of local days, in lists ${wraps ? 'with' : 'without'} a wrapper`, async () => {
      const { peer, pull } = await linkAccount()
      peer.wraps = wraps
      const pulled = await pull('steps')
      const [day] = listRecords(pulled, 'activity')
      assert.deepEqual([day!.key, day!.document.steps, day!.document.timezone_offset], ['2026-01-31', 37, 7200])
      assert.deepEqual(
        listSamples(pulled, 'steps').map(({ at_ms, value, length_ms, zone_s }) => [
          new Date(at_ms).toISOString(),
          value,
          length_ms,
          zone_s,
        ]),
        [
          ['2026-01-31T05:00:00.000Z', 12, 60_000, 7200],
          ['2026-01-31T05:02:00.000Z', 25, 60_000, 7200],
        ],
      )
      const [rate, ...none] = listSamples(await pull('heartrate'), 'heartrate')
      assert.deepEqual(none, [])
      assert.deepEqual([new Date(rate!.at_ms).toISOString(), rate!.value], ['2026-01-30T22:05:00.000Z', 61])
    })

  test('a night has the durations of its phases and the values of its recovery', async () => {
    const { pull } = await linkAccount()
    const [night] = listRecords(await pull('sleep'), 'sleep')
    const { awake, light, rem, deep, score, average_hrv, respiratory_rate, timezone_offset, bedtime_start } = night!.document
    assert.deepEqual([night!.key, night!.calendar_date], ['2026-01-31', '2026-01-31'])
    assert.deepEqual([awake, light, rem, deep, score], [1800, 14_400, 5400, 7201, 81])
    assert.deepEqual([average_hrv, respiratory_rate, timezone_offset, bedtime_start], [44, 15, 7200, '2026-01-30T20:30:00+00:00'])
  })

  test('local times of a training session are read with its offset, else with the zone of the user', async () => {
    const { peer, pull } = await linkAccount()
    const [run, other] = listRecords(await pull('workouts'), 'workouts')
    const { time_start, time_end, moving_time, title, average_hr } = run!.document
    assert.deepEqual(
      [run!.key, run!.calendar_date, time_start, time_end],
      ['session-1', '2026-01-31', '2026-01-30T22:30:00+00:00', '2026-01-30T23:00:30+00:00'],
    )
    assert.deepEqual([moving_time, title, average_hr], [1800, 'A fictional run', 141])
    assert.deepEqual(
      [other!.document.time_start, other!.document.time_end, other!.document.timezone_offset],
      ['2026-01-31T16:00:00+00:00', '2026-01-31T16:30:00+00:00', 7200],
    )
    // Once for all days, and once for the day that has sessions.
    assert.equal(peer.requestsTo('/v4/data/training-sessions/list').length, 2)
  })

  test("a user's text about a training session becomes a note of its exercise", async () => {
    const { peer, pull } = await linkAccount()
    const sessions = peer.storedValues.get('training-sessions/list')!
    sessions[0]!.note = ' A fictional headwind '
    sessions[1]!.note = ' '
    const notes = listSamples(await pull('note'), 'note')
    assert.deepEqual(
      notes.map(({ at_ms, length_ms, zone_s, type }) => [new Date(at_ms).toISOString(), length_ms, zone_s, JSON.parse(type!)]),
      [['2026-01-30T22:30:00.000Z', 1_830_000, 7200, [null, 'A fictional headwind', ['exercise']]]],
    )
  })
})

describe('Polar: values out of bounds', () => {
  test('a training session that would end after the year 2100 is left out, and the others are stored', async () => {
    const { peer, pull } = await linkAccount()
    const sessions = peer.storedValues.get('training-sessions/list')!
    for (const durationMillis of [1e300, 8.64e15, 3e12]) {
      sessions[1]!.durationMillis = durationMillis
      const keys = listRecords(await pull('workouts'), 'workouts').map(({ key }) => key)
      assert.deepEqual(keys, ['session-1'], String(durationMillis))
    }
  })

  test('steps that are counted over more than a day each are left out, and heart rates are stored', async () => {
    const { peer, pull } = await linkAccount()
    for (const interval of [1e300, 8.64e15, 86_400_001]) {
      const stepSamples = { startTime: '07:00:00', interval, steps: [10, 0, 20] }
      peer.storedValues.set('activity/list', [
        { date: '2026-01-31', activitiesPerDevice: [{ activitySamples: [{ stepSamples }] }] },
      ])
      assert.deepEqual(await pull('steps'), [], String(interval))
    }
    assert.equal(listSamples(await pull('heartrate'), 'heartrate').length, 1)
  })

  test('steps after the year 2100 are left out', async () => {
    const { peer, pull } = await linkAccount()
    const stepSamples = { startTime: '07:00:00', interval: 86_400_000, steps: Array.from({ length: 30_000 }, () => 1) }
    peer.storedValues.set('activity/list', [
      { date: '2026-01-31', activitiesPerDevice: [{ activitySamples: [{ stepSamples }] }] },
    ])
    const steps = listSamples(await pull('steps'), 'steps')
    assert(steps.length > 20_000 && steps.length < 30_000, String(steps.length))
    assert(steps.every(({ at_ms }) => at_ms < Date.UTC(2100, 0, 1)))
  })

  test('a webhook that is dated in the future leads to a pull of the last days', async () => {
    const { peer, pull } = await linkAccount()
    const secret = 'a-fictional-webhook-key'
    for (const event of [{ date: '2026-12-31' }, { timestamp: '2026-12-31T08:00:00Z' }]) {
      const { body, headers } = peer.webhook({ event: 'EXERCISE', user_id: 475, ...event }, secret)
      const outcome = polar.receive(peer.app({ webhook_secret: secret }), {
        method: 'POST',
        headers,
        query: {},
        body: Buffer.from(body),
        verify_token: 'a-token',
        now_ms: peer.now_ms,
        received_ms: peer.now_ms,
      })
      assert(outcome.outcome === 'verified')
      const { resource, from_ms, to_ms } = outcome.changes[0]!
      assert.deepEqual([from_ms, to_ms], [peer.now_ms - 86_400_000, peer.now_ms + 86_400_000])
      assert.equal(listRecords(await pull(resource, { from_ms, to_ms }), 'workouts').length, 2)
    }
  })
})

describe('Polar: webhooks', () => {
  const peer = new PolarPeer()
  const receive = (
    { body, headers }: { body: string; headers: Record<string, string> },
    details: Record<string, unknown> | null,
  ) =>
    polar.receive({ client_id: '', client_secret: '', details, urls: polar.urls }, {
      method: 'POST',
      headers,
      query: {},
      body: Buffer.from(body),
      verify_token: 'a-token',
      now_ms: peer.now_ms,
      received_ms: peer.now_ms,
    } satisfies InboundNotification)
  const key = { webhook_secret: 'a-fictional-webhook-key' }

  test('ping without signature (Polar): it is answered before the key is known, and everything else must be signed', () => {
    assert.deepEqual(receive(peer.webhook({ event: 'PING' }, null), null), { outcome: 'unsigned', changes: [] })
    assert.deepEqual(receive(peer.webhook({ event: 'PING' }, key.webhook_secret), key), { outcome: 'verified', changes: [] })
    assert.equal(receive(peer.webhook({ event: 'PING' }, 'another-key'), key).outcome, 'refused')
    const night = { event: 'SLEEP', user_id: 475, date: '2026-01-31' }
    assert.equal(receive(peer.webhook(night, null), null).outcome, 'refused')
    assert.equal(receive(peer.webhook(night, null), key).outcome, 'refused')
    assert.equal(receive(peer.webhook(night, ''), { webhook_secret: '' }).outcome, 'refused')
    assert.deepEqual(receive(peer.webhook(night, key.webhook_secret), key), {
      outcome: 'verified',
      changes: [
        {
          external_user_id: '475',
          resource: 'sleep',
          from_ms: Date.parse('2026-01-30'),
          to_ms: Date.parse('2026-02-01T12:00:00Z'),
        },
      ],
    })
  })

  test('a body that was changed or does not contain an event is rejected', () => {
    const sent = peer.webhook({ event: 'EXERCISE', user_id: 475 }, key.webhook_secret)
    assert.equal(receive({ ...sent, body: sent.body.replace('475', '476') }, key).outcome, 'refused')
    assert.equal(receive({ ...sent, body: 'PING' }, key).outcome, 'refused')
    const unknown = receive(peer.webhook({ event: 'constructor', user_id: 475 }, key.webhook_secret), key)
    assert.deepEqual(unknown, { outcome: 'verified', changes: [] })
  })
})

test('the answers of the Polar test server agree with a reconstruction of the description, dynamic-v4.openapi-reconstructed.yaml', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, pull } = await linkAccount()
  for (const wraps of [true, false]) {
    peer.wraps = wraps
    for (const resource of polar.resources) await pull(resource)
  }
  const compared = compareAnswers(readDescription('polar/dynamic-v4.openapi-reconstructed.yaml'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 5])
})
