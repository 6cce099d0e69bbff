// The connector to Withings against a server that speaks the vendor's public protocol.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { assertFailure, plainHttp, REDIRECT, openConsentPage } from '../../../../test/support/vendors/vendor-server.ts'
import { linkedToWithings as linked, WITHINGS_SCOPES as ALL } from '../../../../test/support/vendors/withings-records.ts'
import { WithingsPeer } from '../../../../test/support/vendors/withings.ts'
import type { InboundNotification } from '../connector.ts'
import { withings } from './withings.ts'

describe('Withings: consent and tokens', () => {
  test('the consent page is asked for with scopes between commas, and its code brings a grant', async () => {
    const peer = await new WithingsPeer().start()
    const app = peer.app()
    const page = withings.authorizeUrl(app, { redirect_uri: REDIRECT, state: 'state-1', scopes: ALL, code_challenge: '' })
    const back = await openConsentPage(page)
    assert.equal(back.get('state'), 'state-1')
    assert.equal(new URL(page).searchParams.get('scope'), ALL.join())
    const code = back.get('code')!
    const grant = await withings.exchange(plainHttp, app, {
      code,
      redirect_uri: REDIRECT,
      code_verifier: '',
      now_ms: peer.now_ms,
    })
    assert.deepEqual([grant.external_user_id, grant.scopes, grant.expires_at_ms], ['363', ALL, peer.now_ms + 10_800_000])
    assert.equal(peer.requestsTo('/v2/oauth2')[0]!.form.get('action'), 'requesttoken')
    const again = { code, redirect_uri: REDIRECT, code_verifier: '', now_ms: peer.now_ms }
    await assertFailure(withings.exchange(plainHttp, app, again), 'invalid_grant')
  })

  test('a refresh replaces both tokens, and the old refresh token ends once the new access token is used', async () => {
    const { peer, app, grant, pull } = await linked()
    const next = await withings.refresh(plainHttp, app, grant, peer.now_ms)
    assert.notEqual(next.refresh_token, grant.refresh_token)
    assert.equal(next.external_user_id, '363')
    await pull('body', {}, next.access_token)
    await assertFailure(withings.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
  })

  test('an answer to a refresh that is lost leaves the old refresh token valid', async () => {
    const { peer, app, grant } = await linked()
    peer.fail('lost')
    await assertFailure(withings.refresh(plainHttp, app, grant, peer.now_ms), 'unavailable')
    assert.notEqual((await withings.refresh(plainHttp, app, grant, peer.now_ms)).access_token, grant.access_token)
  })

  test('a wrong secret of the application does not end a grant', async () => {
    const { peer, app, grant } = await linked()
    const wrong = { ...app, client_secret: 'wrong' }
    await assertFailure(withings.refresh(plainHttp, wrong, grant, peer.now_ms), 'unexpected')
  })

  test('a grant is ended with a signature over a nonce', async () => {
    const { peer, app, grant } = await linked()
    await withings.revoke(plainHttp, app, grant, peer.now_ms)
    assert.equal(peer.grants.isGranted('363'), false)
    await assertFailure(withings.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
  })
})

describe('Withings: errors', () => {
  test('Withings 200-with-error: HTTP 200 with a status in the body is an error, not an empty answer', async () => {
    const { peer, pull } = await linked()
    await assertFailure(pull('body', {}, 'an-expired-token'), 'invalid_grant')
    const { pull: without } = await linked(['user.metrics'])
    await assertFailure(without('sleep'), 'scope_missing')
    peer.left = 0
    await assertFailure(pull('activity'), 'rate_limited', 60_000)
  })

  test('an access token is valid for three hours', async () => {
    const { peer, pull } = await linked()
    peer.now_ms += 10_800_000
    await assertFailure(pull('body'), 'invalid_grant')
  })

  test('an outage and half an answer are not data', async () => {
    const { peer, pull } = await linked()
    peer.fail('outage', 'garbage')
    await assertFailure(pull('body'), 'unavailable')
    await assertFailure(pull('body'), 'unexpected')
  })
})

describe('Withings: notifications', () => {
  const notified = (form: Record<string, string>, overrides: Partial<InboundNotification> = {}) =>
    withings.receive(
      { client_id: '', client_secret: '', details: null, urls: withings.urls },
      {
        method: 'POST',
        headers: {},
        query: { token: 'the-secret' },
        body: Buffer.from(new URLSearchParams(form).toString()),
        verify_token: 'the-secret',
        now_ms: Date.parse('2026-01-31T12:00:00Z'),
        received_ms: Date.parse('2026-01-31T12:00:00Z'),
        ...overrides,
      },
    )

  test('each category is subscribed to once, with a secret in the address', async () => {
    const { peer, app, grant } = await linked()
    const asked = {
      callback_url: 'https://drawbridge.example/n/1',
      verify_token: 'the-secret',
      access_token: grant.access_token,
      now_ms: peer.now_ms,
    }
    await withings.subscribe(plainHttp, app, asked)
    const { renew_at_ms } = await withings.subscribe(plainHttp, app, asked)
    assert.deepEqual(
      peer.subscriptions.map(({ appli }) => appli),
      [1, 2, 4, 16, 44, 46, 54],
    )
    assert(peer.subscriptions.every(({ callbackurl }) => callbackurl === 'https://drawbridge.example/n/1?token=the-secret'))
    assert(renew_at_ms! > peer.now_ms)
  })

  test('a notification without the secret of the address is refused, a probe with it is answered', () => {
    for (const query of [{}, { token: 'guessed' }, { token: 'the-secret-and-more' }])
      assert.equal(notified({ userid: '363', appli: '1' }, { query }).outcome, 'refused')
    assert.equal(notified({ userid: '363', appli: '1' }, { query: { token: '' }, verify_token: '' }).outcome, 'refused')
    const probe = notified({}, { method: 'HEAD', body: Buffer.alloc(0) })
    assert.deepEqual(probe, { outcome: 'unsigned', answer: { status: 200, body: {} }, changes: [] })
  })

  test('a notification leads to pulls of the data of its category, in a limited range', () => {
    const range = {
      startdate: String(Date.parse('2026-01-31T06:00:00Z') / 1000),
      enddate: String(Date.parse('2026-01-31T06:00:00Z') / 1000),
    }
    assert.deepEqual(notified({ userid: '363', appli: '4', ...range }), {
      outcome: 'unsigned',
      changes: [
        {
          external_user_id: '363',
          resource: 'blood_pressure',
          from_ms: Date.parse('2026-01-31T06:00:00Z'),
          to_ms: Date.parse('2026-01-31T06:00:01Z'),
        },
      ],
    })
    const day = notified({ userid: '363', appli: '16', date: '2026-01-30' })
    assert(day.outcome === 'unsigned')
    assert.deepEqual(
      day.changes.map(({ resource }) => resource),
      ['activity', 'workouts', 'steps'],
    )
    const long = notified({ userid: '363', appli: '1', startdate: '0', enddate: '9999999999' })
    assert(long.outcome === 'unsigned')
    const { from_ms, to_ms } = long.changes[0]!
    assert.deepEqual([to_ms - from_ms, to_ms], [7 * 86_400_000, Date.parse('2026-02-01T12:00:00Z')])
    const odd = notified({ userid: '1 or 2', appli: '1' })
    assert.equal(odd.outcome, 'refused')
  })
})

test('the answers of the Withings test server agree with the official description, withings.openapi.yaml', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, app, grant, pull } = await linked()
  for (const resource of ['body', 'activity', 'steps', 'sleep', 'workouts'] as const) await pull(resource)
  await withings.subscribe(plainHttp, app, {
    callback_url: REDIRECT,
    verify_token: 'x',
    access_token: grant.access_token,
    now_ms: peer.now_ms,
  })
  await withings.revoke(plainHttp, app, grant, peer.now_ms)
  // The description of high-frequency sleep shows one entry of its list.
  const compared = compareAnswers(readDescription('withings/withings.openapi.yaml'), peer.answers, { lists: ['series'] })
  assert.deepEqual(compared.differences, [])
  assert.equal(compared.operations.size, 10)
})
