// The connector to Strava against a server that speaks the vendor's public protocol.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { StravaPeer, type StoredActivity } from '../../../../test/support/vendors/strava.ts'
import {
  assertFailure,
  plainHttp,
  listRecords,
  REDIRECT,
  linkWithCode,
  openConsentPage,
  codeRequest,
} from '../../../../test/support/vendors/vendor-server.ts'
import type { InboundNotification, PullRequest } from '../connector.ts'
import { strava } from './strava.ts'

const ATHLETE = 134_815
const ALL = ['read', 'activity:read', 'activity:read_all']
const WEEK: Omit<PullRequest, 'resource'> = {
  from_ms: Date.parse('2026-01-25T00:00:00Z'),
  to_ms: Date.parse('2026-02-01T00:00:00Z'),
  time_zone: null,
}

const run = (id: number, overrides: Partial<StoredActivity> = {}): StoredActivity => ({
  id,
  athlete: { id: ATHLETE },
  name: 'A fictional run',
  type: 'Run',
  sport_type: 'TrailRun',
  start_date: '2026-01-31T06:30:00Z',
  start_date_local: '2026-01-30T23:30:00Z',
  timezone: '(GMT-07:00) America/Phoenix',
  elapsed_time: 1800,
  moving_time: 1740,
  distance: 5012.4,
  total_elevation_gain: 24.5,
  elev_high: 352.1,
  elev_low: 331.5,
  average_speed: 2.88,
  max_speed: 3.9,
  average_watts: 175.3,
  device_watts: true,
  max_watts: 512,
  weighted_average_watts: 182,
  average_heartrate: 140.3,
  max_heartrate: 164,
  calories: 410.2,
  manual: false,
  ...overrides,
})

async function linkAccount(scopes = ALL) {
  const peer = await new StravaPeer().start()
  peer.athletes.set(ATHLETE, { firstname: 'Fictional', sex: 'F', weight: 68.5 })
  peer.activities.push(
    run(1),
    run(2, {
      start_date: '2026-01-27T12:00:00Z',
      sport_type: 'Ride',
      device_watts: false,
      timezone: 'Mars',
      start_date_local: '2026-01-27T13:00:00Z',
    }),
    run(3, { start_date: '2026-01-28T12:00:00Z', manual: true }),
    run(4, { start_date: '2026-01-20T12:00:00Z' }),
    run(9, { athlete: { id: 77 }, name: 'of another user' }),
  )
  return linkWithCode(strava, peer, peer.grants.agree(String(ATHLETE), scopes, REDIRECT), WEEK)
}

describe('Strava: consent and tokens', () => {
  test('the consent page is asked for with scopes between commas, and its code brings a grant with the id of the athlete', async () => {
    const peer = await new StravaPeer().start()
    const app = peer.app()
    const page = strava.authorizeUrl(app, { redirect_uri: REDIRECT, state: 'state-1', scopes: ALL, code_challenge: '' })
    const back = await openConsentPage(page)
    assert.deepEqual([back.get('state'), back.get('scope')], ['state-1', ALL.join()])
    const asked = codeRequest(peer, back.get('code')!)
    const grant = await strava.exchange(plainHttp, app, asked)
    assert.deepEqual([grant.external_user_id, grant.expires_at_ms], [String(ATHLETE), peer.now_ms + 21_600_000])
    await assertFailure(strava.exchange(plainHttp, app, asked), 'invalid_grant')
  })

  test('each answer may have a new refresh token: the old one dies at once, and the id of the athlete stays', async () => {
    const { peer, app, grant } = await linkAccount()
    const next = await strava.refresh(plainHttp, app, grant, peer.now_ms)
    assert.notEqual(next.refresh_token, grant.refresh_token)
    assert.equal(next.external_user_id, String(ATHLETE))
    await assertFailure(strava.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
  })

  test('a lost answer or a wrong secret of the application does not end the grant', async () => {
    const { peer, app, grant } = await linkAccount()
    await assertFailure(strava.refresh(plainHttp, { ...app, client_secret: 'wrong' }, grant, peer.now_ms), 'unexpected')
    peer.fail('lost')
    await assertFailure(strava.refresh(plainHttp, app, grant, peer.now_ms), 'unavailable')
  })

  test('a grant is ended at the vendor', async () => {
    const { peer, app, grant, pull } = await linkAccount()
    await strava.revoke(plainHttp, app, grant, peer.now_ms)
    assert.equal(peer.grants.isGranted(String(ATHLETE)), false)
    assert.equal(peer.requestsTo('/oauth/token').length, 1)
    await assertFailure(pull('profile'), 'invalid_grant')
  })

  test('a grant whose access token has expired is refreshed, and then ended at the vendor', async () => {
    const { peer, app, grant } = await linkAccount()
    peer.now_ms = grant.expires_at_ms!
    await strava.revoke(plainHttp, app, grant, peer.now_ms)
    assert.equal(peer.grants.isGranted(String(ATHLETE)), false)
    // The user may have ended it already: then there is nothing to end.
    await assertFailure(strava.revoke(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
  })
})

describe('Strava: errors', () => {
  test('limits are over at the next quarter of an hour, or at midnight in UTC', async () => {
    const { peer, pull } = await linkAccount()
    peer.now_ms = Date.parse('2026-01-31T12:10:00Z')
    peer.usage = [200, 700]
    await assertFailure(pull('profile'), 'rate_limited', 300_000)
    peer.usage = [3, 2000]
    await assertFailure(pull('profile'), 'rate_limited', 11 * 3_600_000 + 50 * 60_000)
  })

  test('a scope that the user did not grant is not an end of the grant', async () => {
    const { pull } = await linkAccount(['read'])
    await assertFailure(pull('workouts'), 'scope_missing')
    assert.equal((await pull('profile')).length, 1)
  })

  test('an outage and half an answer are not data', async () => {
    const { peer, pull } = await linkAccount()
    peer.fail('outage', 'garbage')
    await assertFailure(pull('workouts'), 'unavailable')
    await assertFailure(pull('workouts'), 'unexpected')
  })
})

describe('Strava: data', () => {
  test('activities of all pages become workouts of the local day on which they start', async () => {
    const { peer, pull } = await linkAccount()
    const workouts = listRecords(await pull('workouts'), 'workouts')
    assert.deepEqual(
      workouts.map(({ key, calendar_date, source_type, document }) => [
        key,
        calendar_date,
        source_type,
        document.timezone_offset,
      ]),
      [
        ['1', '2026-01-30', 'unknown', -7 * 3600],
        ['2', '2026-01-27', 'unknown', 3600],
        ['3', '2026-01-28', 'app', -7 * 3600],
      ],
    )
    const { document } = workouts[0]!
    assert.equal((document.sport as { slug: string }).slug, 'trail_running')
    assert.deepEqual(
      [document.title, document.time_start, document.time_end, document.calories, document.average_hr, document.device_watts],
      ['A fictional run', '2026-01-31T06:30:00+00:00', '2026-01-31T07:00:00+00:00', 410.2, 140, 175.3],
    )
    assert.deepEqual([workouts[1]!.document.device_watts, workouts[1]!.document.average_watts], [null, 175.3])
    assert.equal(peer.requestsTo('/api/v3/athlete/activities').length, 3)
  })

  test('an athlete has a profile', async () => {
    const { pull } = await linkAccount()
    const [profile] = listRecords(await pull('profile'), 'profile')
    assert.deepEqual([profile!.key, profile!.document.sex], ['', 'female'])
  })

  test('a corrected activity keeps its id, and one that is gone is reported as deleted', async () => {
    const { peer, pull } = await linkAccount()
    peer.activities[0]!.distance = 6000
    const [corrected] = listRecords(await pull('workouts', { ids: ['1'] }), 'workouts')
    assert.deepEqual([corrected!.key, corrected!.document.distance], ['1', 6000])
    peer.activities.splice(0, 1)
    assert.deepEqual(await pull('workouts', { ids: ['1'] }), [{ kind: 'workouts', deleted_keys: ['1'] }])
  })
})

describe('Strava: values out of bounds', () => {
  test('an activity that would end after the year 2100 is left out, and the others are stored', async () => {
    const { peer, pull } = await linkAccount()
    for (const elapsed_time of [1e300, 8.64e12, 3e9]) {
      peer.activities[1]!.elapsed_time = elapsed_time
      const keys = listRecords(await pull('workouts'), 'workouts').map(({ key }) => key)
      assert.deepEqual(keys, ['1', '3'], String(elapsed_time))
    }
  })

  test('the range of an event that is dated in the future ends after it begins, and counts from now', () => {
    const peer = new StravaPeer()
    const app = { client_id: 'fictional-client', client_secret: '', details: null, urls: strava.urls }
    const event = peer.event({
      object_type: 'activity',
      object_id: 9,
      owner_id: ATHLETE,
      event_time: peer.now_ms / 1000 + 30 * 86_400,
    })
    const outcome = strava.receive(app, {
      method: 'POST',
      headers: event.headers,
      query: { token: 'the-secret' },
      body: Buffer.from(event.body),
      verify_token: 'the-secret',
      now_ms: peer.now_ms,
      received_ms: peer.now_ms,
    })
    assert(outcome.outcome === 'unsigned')
    const change = outcome.changes[0]!
    assert.deepEqual([change.from_ms, change.to_ms], [peer.now_ms - 86_400_000, peer.now_ms + 86_400_000])
  })
})

describe('Strava: notifications', () => {
  const NOW = Date.parse('2026-01-31T12:00:00Z')
  const peer = new StravaPeer()
  const app = { client_id: 'fictional-client', client_secret: 'fictional-client-secret', details: null, urls: strava.urls }
  const receive = (overrides: Partial<InboundNotification>) =>
    strava.receive(app, {
      method: 'POST',
      headers: {},
      query: { token: 'the-secret' },
      body: Buffer.alloc(0),
      verify_token: 'the-secret',
      now_ms: NOW,
      received_ms: NOW,
      ...overrides,
    })
  const sent = (
    { body, headers }: { body: string; headers: Record<string, string> },
    overrides: Partial<InboundNotification> = {},
  ) => receive({ body: Buffer.from(body), headers, ...overrides })
  const created = { object_type: 'activity', object_id: 9, owner_id: ATHLETE }

  test('Strava unsigned: an event without a signature leads only to a pull, which takes nothing of other athletes', async () => {
    const outcome = sent(peer.event(created))
    assert.equal(outcome.outcome, 'unsigned')
    assert(outcome.outcome === 'unsigned')
    const [change] = outcome.changes
    assert.deepEqual([change!.external_user_id, change!.resource, change!.ids], [String(ATHLETE), 'workouts', ['9']])
    const { pull } = await linkAccount()
    assert.deepEqual(await pull('workouts', { ids: change!.ids! }), [])
    const ending = sent(
      peer.event({ object_type: 'athlete', object_id: ATHLETE, owner_id: ATHLETE, updates: { authorized: 'false' } }),
    )
    assert(ending.outcome === 'unsigned')
    assert.deepEqual([ending.revoked_accounts, ending.changes.length], [undefined, 1])
  })

  test('a signature is checked when there is one, and then the end of a grant is believed', () => {
    assert.equal(sent(peer.event(created, true)).outcome, 'verified')
    const ended = { object_type: 'athlete', object_id: ATHLETE, owner_id: ATHLETE, updates: { authorized: 'false' } }
    const outcome = sent(peer.event(ended, true))
    assert.deepEqual(outcome, { outcome: 'verified', changes: [], revoked_accounts: [String(ATHLETE)] })
    const { body, headers } = peer.event(created, true)
    assert.equal(sent({ body: body.replace('"create"', '"delete"'), headers }).outcome, 'refused')
    assert.equal(sent({ body, headers }, { received_ms: NOW + 600_000 }).outcome, 'refused')
    assert.equal(sent({ body, headers: { 'x-strava-signature': 'nonsense' } }).outcome, 'refused')
    assert.equal(sent({ body, headers }, { query: {} }).outcome, 'refused')
  })

  test('a body without an event is rejected', () => {
    for (const body of ['', '[]', '{"object_type":"activity"}', '{"owner_id":{"$gt":""},"object_id":1}'])
      assert.equal(receive({ body: Buffer.from(body) }).outcome, 'refused', body)
  })

  test('the handshake is answered with its challenge, and only with the token of the subscription', () => {
    const query = { 'hub.mode': 'subscribe', 'hub.challenge': '15f7d1a9', 'hub.verify_token': 'the-secret' }
    const outcome = receive({ method: 'GET', query })
    assert.deepEqual(outcome, {
      outcome: 'verified',
      answer: { status: 200, body: { 'hub.challenge': '15f7d1a9' } },
      changes: [],
    })
    assert.equal(receive({ method: 'GET', query: { ...query, 'hub.verify_token': 'guessed' } }).outcome, 'refused')
    assert.equal(receive({ method: 'GET', query: {} }).outcome, 'refused')
  })

  /** A place for notifications that answers handshakes as the framework does. */
  async function callback(t: TestContext): Promise<string> {
    const server = createServer((request, response) => {
      const query = Object.fromEntries(new URL(request.url!, 'http://here').searchParams)
      const { answer } = receive({ method: 'GET', query })
      response.writeHead(answer?.status ?? 403).end(JSON.stringify(answer?.body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/n/1`
  }

  test('an application has one subscription, which a new address replaces', async (t) => {
    const server = await new StravaPeer().start()
    const subscribe = (callback_url: string, verify_token = 'the-secret') =>
      strava.subscribe(plainHttp, server.app(), { callback_url, verify_token, access_token: null, now_ms: NOW })
    const here = await callback(t)
    await subscribe(here)
    await subscribe(here)
    assert.equal(server.requests.filter(({ method }) => method === 'POST').length, 1)
    await subscribe(`${here}-moved`)
    assert.deepEqual(
      server.subscriptions.map(({ callback_url }) => callback_url),
      [`${here}-moved?token=the-secret`],
    )
    await assertFailure(subscribe(`${here}-lost`, 'another-secret'), 'unexpected')
  })
})

test('the answers of the Strava test server agree with the official description, strava-v3.swagger-merged.json', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, pull } = await linkAccount()
  await pull('workouts')
  await pull('profile')
  // The description has heart rates in the list of activities, and leaves them out of a single one.
  const extraFields = ['average_heartrate', 'max_heartrate']
  const compared = compareAnswers(readDescription('strava/strava-v3.swagger-merged.json'), peer.answers, { extraFields })
  assert.deepEqual(compared.differences, [])
  assert.equal(compared.operations.size, 3)
})
