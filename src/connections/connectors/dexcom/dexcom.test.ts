// The connector to Dexcom against a server that speaks the vendor's public protocol.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { DexcomPeer, type StoredValue } from '../../../../test/support/vendors/dexcom.ts'
import {
  collectAll,
  assertFailure,
  plainHttp,
  REDIRECT,
  listSamples,
  openConsentPage,
  codeRequest,
} from '../../../../test/support/vendors/vendor-server.ts'
import { dexcom } from './dexcom.ts'

const egv = (
  systemTime: string,
  displayTime: string,
  value: number | null,
  overrides: Partial<StoredValue> = {},
): StoredValue => ({
  recordId: `record-${systemTime}`,
  systemTime,
  displayTime,
  transmitterId: 'fictional',
  transmitterTicks: 1_234_567,
  value,
  status: null,
  trend: 'flat',
  trendRate: 0.1,
  unit: 'mg/dL',
  rateUnit: 'mg/dL/min',
  displayDevice: 'iOS',
  transmitterGeneration: 'g7',
  transmitterGenerationVariant: 'g7',
  displayApp: 'G7',
  ...overrides,
})

async function linkAccount() {
  const peer = await new DexcomPeer().start()
  const app = peer.app()
  const code = peer.grants.agree(peer.user, ['offline_access'], REDIRECT)
  const grant = await dexcom.exchange(plainHttp, app, { code, redirect_uri: REDIRECT, code_verifier: '', now_ms: peer.now_ms })
  const pull = async (start: string, end: string) => {
    const request = {
      resource: 'glucose' as const,
      from_ms: Date.parse(start),
      to_ms: Date.parse(end),
      time_zone: 'America/Phoenix',
    }
    return listSamples(await collectAll(dexcom.pull(plainHttp, app, grant.access_token, request)), 'glucose')
  }
  return { peer, app, grant, pull }
}

test('Dexcom: the consent page brings a grant that names the user; its lifetime is given in seconds or in milliseconds', async () => {
  const peer = await new DexcomPeer().start()
  const app = peer.app()
  const page = dexcom.authorizeUrl(app, { redirect_uri: REDIRECT, state: 'state-1', scopes: dexcom.scopes, code_challenge: '' })
  const back = await openConsentPage(page)
  const asked = codeRequest(peer, back.get('code')!)
  const grant = await dexcom.exchange(plainHttp, app, asked)
  assert.deepEqual([grant.external_user_id, grant.expires_at_ms], [peer.user, peer.now_ms + 7_200_000])
  const inMilliseconds: typeof plainHttp = async (request) => {
    const answer = await plainHttp(request)
    return { ...answer, text: answer.text.replace('"expires_in":7200', '"expires_in":7200000') }
  }
  assert.equal((await dexcom.refresh(inMilliseconds, app, grant, peer.now_ms)).expires_at_ms, peer.now_ms + 7_200_000)
})

test('Dexcom: a refresh token is used once; a wrong secret and a lost answer do not end the grant by themselves', async () => {
  const { peer, app, grant } = await linkAccount()
  await assertFailure(dexcom.refresh(plainHttp, { ...app, client_secret: 'wrong' }, grant, peer.now_ms), 'unexpected')
  const next = await dexcom.refresh(plainHttp, app, grant, peer.now_ms)
  await assertFailure(dexcom.refresh(plainHttp, app, grant, peer.now_ms), 'invalid_grant')
  peer.fail('lost')
  await assertFailure(dexcom.refresh(plainHttp, app, next, peer.now_ms), 'unavailable')
})

test('Dexcom clock skew: values have the time of the system, and a wrong clock of the display does not move them', async () => {
  const { peer, pull } = await linkAccount()
  peer.values.push(
    egv('2026-01-31T09:00:00Z', '2026-01-31T02:00:00-07:00', 90),
    // A receiver says no offset: its clock is an hour and seven minutes off, and then eight years.
    egv('2026-01-31T09:05:00', '2026-01-31T03:12:00', 99, { displayDevice: 'receiver' }),
    egv('2026-01-31T09:10:00', '2018-01-01T00:00:00', 108, { displayDevice: 'receiver' }),
  )
  const found = await pull('2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z')
  assert.deepEqual(found.map(({ at_ms, zone_s }) => [new Date(at_ms).toISOString(), zone_s]).toSorted(), [
    ['2026-01-31T09:00:00.000Z', -25_200],
    ['2026-01-31T09:05:00.000Z', -21_600],
    ['2026-01-31T09:10:00.000Z', null],
  ])
})

test('Dexcom: values are in mmol/L, and one that was not measured is left out', async () => {
  const { peer, pull } = await linkAccount()
  peer.values.push(
    egv('2026-01-31T09:00:00Z', '2026-01-31T02:00:00-07:00', 90),
    egv('2026-01-31T09:05:00Z', '2026-01-31T02:05:00-07:00', null),
  )
  const [sample, ...none] = await pull('2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z')
  assert.deepEqual(none, [])
  assert.deepEqual([sample!.value.toFixed(3), sample!.type, sample!.source_type], ['4.995', 'automatic', 'automatic'])
})

test('Dexcom: pulls request the data that the account has, in ranges of at most 30 days; an account without values returns an empty list', async () => {
  const { peer, pull } = await linkAccount()
  assert.deepEqual(await pull('2025-01-01T00:00:00Z', '2026-02-01T00:00:00Z'), [])
  peer.values.push(
    egv('2025-12-01T00:00:00Z', '2025-12-01T00:00:00Z', 90),
    egv('2026-01-31T09:00:00Z', '2026-01-31T02:00:00-07:00', 95),
  )
  assert.equal((await pull('2025-01-01T00:00:00Z', '2026-02-01T00:00:00Z')).length, 2)
  const asked = peer.requestsTo('/v3/users/self/egvs').map(({ query }) => [query.get('startDate'), query.get('endDate')])
  assert.deepEqual(asked, [
    ['2025-12-01T00:00:00', '2025-12-31T00:00:00'],
    ['2025-12-31T00:00:00', '2026-01-30T00:00:00'],
    ['2026-01-30T00:00:00', '2026-01-31T09:00:01'],
  ])
})

test('Dexcom: a limit, an expired token, an outage and half an answer are distinguished', async () => {
  const { peer, pull } = await linkAccount()
  const range = ['2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z'] as const
  peer.fail('outage', 'garbage')
  await assertFailure(pull(...range), 'unavailable')
  await assertFailure(pull(...range), 'unexpected')
  peer.left = 0
  await assertFailure(pull(...range), 'rate_limited', null)
  peer.now_ms += 7_200_000
  await assertFailure(pull(...range), 'invalid_grant')
})

test('the answers of the Dexcom test server agree with a transcription of the description, dexcom-v3.openapi-transcribed.json', async (t) => {
  if (noDescriptions) return t.skip(noDescriptions)
  const { peer, pull } = await linkAccount()
  peer.values.push(
    egv('2026-01-31T09:00:00Z', '2026-01-31T02:00:00-07:00', 90),
    egv('2026-01-31T09:05:00', '2026-01-31T02:05:00', null),
  )
  await pull('2026-01-31T00:00:00Z', '2026-02-01T00:00:00Z')
  const compared = compareAnswers(readDescription('dexcom/dexcom-v3.openapi-transcribed.json'), peer.answers)
  assert.deepEqual([compared.differences, compared.operations.size], [[], 3])
})
