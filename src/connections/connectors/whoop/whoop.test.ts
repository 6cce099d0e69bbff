// The connector to WHOOP against a server that speaks the vendor's public protocol.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agree, daysAgo, run, useVendorServer, teamAt } from '../../../../test/support/vendors/connected.ts'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import {
  assertFailure,
  plainHttp,
  listRecords,
  REDIRECT,
  linkWithCode,
  openConsentPage,
  codeRequest,
} from '../../../../test/support/vendors/vendor-server.ts'
import { WhoopPeer, whoopCycle, whoopRecovery, whoopSleep, whoopWorkout } from '../../../../test/support/vendors/whoop.ts'
import type { InboundNotification, PullRequest } from '../connector.ts'
import { whoop } from './whoop.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'

const USER = '10129'
const NIGHT = 'ecfc6a15-4661-442f-a9a4-f160dd7afae8'
const RUN = '5c9a5f0e-1c1d-4a55-9d6e-0e6f3b1c2d3e'
const RANGE: Omit<PullRequest, 'resource'> = {
  from_ms: Date.parse('2026-01-29T00:00:00Z'),
  to_ms: Date.parse('2026-02-01T00:00:00Z'),
  time_zone: 'Europe/Helsinki',
}

function fill(peer: WhoopPeer): void {
  peer.put('cycle', whoopCycle(1, '2026-01-30T04:00:00.000Z', '2026-01-31T03:30:00.000Z'))
  peer.put('activity/sleep', whoopSleep(NIGHT, 1, '2026-01-30T20:00:00.000Z', '2026-01-31T04:00:00.000Z'))
  peer.put('recovery', whoopRecovery(NIGHT, 1, '2026-01-30T20:00:00.000Z', 66))
  peer.put('activity/workout', whoopWorkout(RUN, '2026-01-31T02:00:00.000Z', '2026-01-31T02:30:00.000Z'))
}

async function linkAccount(scopes: readonly string[] = whoop.scopes) {
  const peer = await new WhoopPeer().start()
  fill(peer)
  return linkWithCode(whoop, peer, peer.grants.agree(USER, [...scopes], REDIRECT), RANGE)
}

describe('WHOOP: consent and tokens', () => {
  test('the consent page is asked for offline access, and its code brings a grant with the id of the user', async () => {
    const peer = await new WhoopPeer().start()
    const app = peer.app()
    const page = whoop.authorizeUrl(app, { redirect_uri: REDIRECT, state: 'state-1', scopes: whoop.scopes, code_challenge: '' })
    assert.match(new URL(page).searchParams.get('scope')!, /^offline /)
    const back = await openConsentPage(page)
    assert.equal(back.get('state'), 'state-1')
    const asked = codeRequest(peer, back.get('code')!)
    const grant = await whoop.exchange(plainHttp, app, asked)
    assert.deepEqual([grant.external_user_id, grant.expires_at_ms], [USER, peer.now_ms + 3_600_000])
    await assertFailure(whoop.exchange(plainHttp, app, asked), 'invalid_grant')
  })

  test('a refresh token dies when it is used, the scopes and the id of the user stay, and a wrong secret does not end the grant', async () => {
    const { peer, app, grant } = await linkAccount()
    await assertFailure(whoop.refresh(plainHttp, { ...app, client_secret: 'wrong' }, grant, peer.now_ms), 'unexpected')
    const next = await whoop.refresh(plainHttp, app, grant, peer.now_ms)
    assert.notEqual(next.refresh_token, grant.refresh_token)
    assert.deepEqual([next.external_user_id, next.scopes], [USER, [...whoop.scopes]])
    assert.equal(peer.requestsTo('/oauth/oauth2/token').at(-1)!.form.get('scope'), 'offline')
    await assertFailure(whoop.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
    peer.fail('lost')
    await assertFailure(whoop.refresh(plainHttp, app, next, peer.now_ms), 'unavailable')
  })

  test('a grant is ended at the vendor, also when its access token has expired', async () => {
    for (const later_ms of [0, 3_600_000]) {
      const { peer, app, grant, pull } = await linkAccount()
      peer.now_ms += later_ms
      await whoop.revoke(plainHttp, app, grant, peer.now_ms)
      assert.equal(peer.grants.isGranted(USER), false)
      await assertFailure(pull('profile'), 'invalid_grant')
    }
  })
})

describe('WHOOP: errors', () => {
  test('a limit, a missing scope, an outage, half an answer and an expired token are distinguished', async () => {
    const { peer, pull } = await linkAccount(['offline', 'read:profile', 'read:cycles'])
    await assertFailure(pull('workouts'), 'scope_missing')
    peer.fail('outage', 'garbage')
    await assertFailure(pull('activity'), 'unavailable')
    await assertFailure(pull('activity'), 'unexpected')
    peer.left = 0
    await assertFailure(pull('activity'), 'rate_limited', 17_000)
    peer.now_ms += 3_600_000
    await assertFailure(pull('activity'), 'invalid_grant')
  })
})

describe('WHOOP: data', () => {
  test('a cycle is of the local day in its middle, with kilocalories of kilojoules; one without a score is left out', async () => {
    const { peer, pull } = await linkAccount()
    peer.put('cycle', whoopCycle(2, '2026-01-31T03:30:00.000Z', undefined, { score_state: 'PENDING_SCORE' }))
    const [day, ...none] = listRecords(await pull('activity'), 'activity')
    assert.deepEqual(none, [])
    assert.deepEqual([day!.key, day!.calendar_date, day!.source_type], ['1', '2026-01-30', 'watch'])
    const { calories_total, timezone_offset, heart_rate } = day!.document as Record<string, Record<string, number>>
    assert.deepEqual([Number(calories_total).toFixed(6), timezone_offset], ['2000.000000', -5 * 3600])
    assert.deepEqual([heart_rate!.avg_bpm, heart_rate!.max_bpm], [68, 141])
  })

  test('rule 4: two WHOOP cycles on one local date are two records or one by key, never a sum', async () => {
    const peer = await new WhoopPeer().start()
    peer.now_ms = Date.now()
    useVendorServer('whoop_v2', peer)
    const team = await teamAt('whoop_v2')
    const user_id = await team.user()
    const date = daysAgo(2)
    const score = (kilojoule: number) => ({ score: { strain: 1, kilojoule, average_heart_rate: 60, max_heart_rate: 100 } })
    const cycles = [
      whoopCycle(1, `${date}T05:30:00.000Z`, `${date}T15:00:00.000Z`, score(4184)),
      whoopCycle(2, `${date}T15:00:00.000Z`, `${daysAgo(1)}T04:30:00.000Z`, score(8368)),
    ]
    peer.put('cycle', ...cycles)
    await agree(team, 'whoop_v2', peer, user_id, USER)
    await run(team)
    const { body } = await team.api.get(`/v2/summary/activity/${user_id}?start_date=${daysAgo(9)}`)
    const days = (body.activity as Record<string, unknown>[]).map((day) => [day.calendar_date, day.calories_total])
    assert.deepEqual(
      days.toSorted((a, b) => Number(a[1]) - Number(b[1])).map(([of, kcal]) => [of, Math.round(Number(kcal))]),
      [
        [date, 1000],
        [date, 2000],
      ],
    )
  })

  test('a night has its recovery, the seconds of its stages, and the local day on which it ends', async () => {
    const { pull } = await linkAccount()
    const [night] = listRecords(await pull('sleep'), 'sleep')
    const { awake, light, rem, deep, total, score, efficiency, timezone_offset } = night!.document
    assert.deepEqual([night!.key, night!.calendar_date], [NIGHT, '2026-01-30'])
    assert.deepEqual([awake, light, rem, deep, total], [1800, 14_400, 6300, 6300, 27_000])
    assert.deepEqual([score, efficiency, timezone_offset], [92, 93.75, -5 * 3600])
    const { recovery_readiness_score, hr_resting, average_hrv, respiratory_rate, skin_temperature } = night!.document
    assert.deepEqual([recovery_readiness_score, hr_resting, average_hrv], [66, 52, 61.5])
    assert.deepEqual([respiratory_rate, skin_temperature], [16.1, 33.5])
  })

  test('a night is a night without the scope of recoveries, a nap is a nap, and one without a score is left out', async () => {
    const { peer, pull } = await linkAccount(['offline', 'read:profile', 'read:sleep'])
    const [start, end] = ['2026-01-31T18:00:00.000Z', '2026-01-31T19:00:00.000Z']
    peer.put('activity/sleep', whoopSleep('nap', 1, start, end, { nap: true }))
    peer.put('activity/sleep', whoopSleep('pending', 1, start, end, { score_state: 'PENDING_SCORE' }))
    const nights = listRecords(await pull('sleep'), 'sleep')
    assert.deepEqual(
      nights.map(({ key, document }) => [key, document.type, document.hr_resting]),
      [
        ['nap', 'acknowledged_nap', undefined],
        [NIGHT, 'long_sleep', undefined],
      ],
    )
  })

  test('workouts have meters, kilocalories and seconds in zones; a profile has centimeters, and its weight has no day', async () => {
    const { pull } = await linkAccount()
    const [workout] = listRecords(await pull('workouts'), 'workouts')
    const { distance, calories, average_hr, max_hr, hr_zones, time_start, time_end, timezone_offset } = workout!.document
    assert.deepEqual([workout!.key, workout!.calendar_date], [RUN, '2026-01-30'])
    assert.deepEqual([distance, Math.round(Number(calories)), average_hr, max_hr], [5000, 300, 140, 171])
    assert.deepEqual([hr_zones, timezone_offset], [[60, 120, 300, 600, 300, 60], -5 * 3600])
    assert.deepEqual([time_start, time_end], ['2026-01-31T02:00:00+00:00', '2026-01-31T02:30:00+00:00'])
    const account = await pull('profile')
    assert.equal(listRecords(account, 'profile')[0]!.document.height, 175)
    const [body] = listRecords(account, 'body')
    assert.deepEqual([body!.document, body!.calendar_date, body!.source_type], [{ weight: 70.5 }, null, 'app'])
  })

  test('pages of 25 records are read to the last one', async () => {
    const { peer, pull } = await linkAccount()
    const at = (minute: number) => new Date(Date.parse('2026-01-30T12:00:00Z') + minute * 60_000).toISOString()
    for (let i = 0; i < 55; i++) peer.put('activity/workout', whoopWorkout(`workout-${i}`, at(i), at(i + 1)))
    const keys = listRecords(await pull('workouts'), 'workouts').map(({ key }) => key)
    assert.deepEqual([keys.length, new Set(keys).size], [56, 56])
    const asked = peer
      .requestsTo('/developer/v2/activity/workout')
      .map(({ query }) => [query.get('limit'), query.get('nextToken')])
    assert.deepEqual(asked, [
      ['25', null],
      ['25', '25'],
      ['25', '50'],
    ])
  })

  test('a record that a notice names is asked for by its id, also if it cannot be read yet or was deleted', async () => {
    const { peer, pull } = await linkAccount()
    const [night] = listRecords(await pull('sleep', { ids: [NIGHT] }), 'sleep')
    assert.deepEqual([night!.key, night!.document.recovery_readiness_score], [NIGHT, 66])
    assert.equal(listRecords(await pull('workouts', { ids: [RUN] }), 'workouts').length, 1)
    peer.remove('activity/workout', RUN)
    await assertFailure(pull('workouts', { ids: [RUN] }), 'not_ready')
    assert.deepEqual((await pull('workouts', { ids: [`deleted:${RUN}`] }))[0], { kind: 'workouts', deleted_keys: [RUN] })
  })
})

describe('WHOOP: notices', () => {
  const peer = new WhoopPeer()
  const app = { client_id: 'fictional-client', client_secret: 'fictional-client-secret', details: null, urls: whoop.urls }
  const sent = async (
    { body, headers }: { body: string; headers: Record<string, string> },
    overrides: Partial<InboundNotification> = {},
    application = app,
  ) =>
    whoop.receive!(
      application,
      {
        method: 'POST',
        headers,
        query: {},
        body: Buffer.from(body),
        verify_token: 'the-token',
        now_ms: peer.now_ms,
        received_ms: peer.now_ms,
        ...overrides,
      },
      plainHttp,
    )

  test('a signed notice leads to a pull of the record that it names, and a replayed one to the same pull', async () => {
    const range = { from_ms: peer.now_ms - 3 * DAY_MS, to_ms: peer.now_ms + DAY_MS }
    const of = (resource: string, ids: string[]) => ({
      outcome: 'verified',
      changes: [{ external_user_id: USER, resource, ...range, ids }],
    })
    const given = peer.notice('workout.updated', RUN)
    for (let i = 0; i < 2; i++) assert.deepEqual(await sent(given), of('workouts', [RUN]))
    assert.deepEqual(await sent(peer.notice('workout.deleted', RUN)), of('workouts', [`deleted:${RUN}`]))
    // Without its recovery a night is still a night.
    assert.deepEqual(await sent(peer.notice('recovery.deleted', NIGHT)), of('sleep', [NIGHT]))
    assert.deepEqual(await sent(peer.notice('sleep.deleted', NIGHT)), of('sleep', [`deleted:${NIGHT}`]))
    for (const type of ['constructor.updated', '__proto__', ''])
      assert.deepEqual(await sent(peer.notice(type, RUN)), { outcome: 'verified', changes: [] }, type)
  })

  test('a wrong or missing signature, a changed body and a replay with another time are refused', async () => {
    const { body, headers } = peer.notice('workout.updated', RUN)
    const { 'x-whoop-signature': signature, 'x-whoop-signature-timestamp': timestamp } = headers
    const refused = [
      peer.notice('workout.updated', RUN, 'another-secret'),
      { body, headers: { 'x-whoop-signature-timestamp': timestamp } },
      { body, headers: { 'x-whoop-signature': signature } },
      { body, headers: { ...headers, 'x-whoop-signature-timestamp': String(Number(timestamp) + 1) } },
      { body: body.replace(RUN, NIGHT), headers },
    ]
    for (const given of refused) assert.equal((await sent(given)).outcome, 'refused', JSON.stringify(given.headers))
    const bare = { ...app, client_secret: '' }
    assert.equal((await sent(peer.notice('workout.updated', RUN, ''), {}, bare)).outcome, 'refused')
    assert.equal((await sent({ body, headers }, { method: 'GET' })).outcome, 'refused')
    assert.equal((await sent({ body, headers })).outcome, 'verified')
  })
})

test('the answers of the WHOOP test server agree with the official description, whoop-v2.openapi.yaml', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, pull } = await linkAccount()
  for (const resource of whoop.resources) await pull(resource)
  await pull('sleep', { ids: [NIGHT] })
  await pull('workouts', { ids: [RUN] })
  const compared = compareAnswers(readDescription('whoop/whoop-v2.openapi.yaml'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 9])
})
