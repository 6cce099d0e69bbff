// The subscriber of a team's project at Google Health, which this server makes as the service account of the team.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { createTestTeam, url, vault } from '../../../../test/support/server.ts'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { GoogleHealthPeer } from '../../../../test/support/vendors/google-health.ts'
import { CLIENT, assertFailure, plainHttp } from '../../../../test/support/vendors/vendor-server.ts'
import { readServiceAccount } from '../../../settings/service-account.ts'
import { notificationToken } from '../../credentials/preparation.ts'
import { googleHealth } from './google-health.ts'
import { subscribe } from './subscribers.ts'
import { notifiedTypes } from './webhooks.ts'

const EMAIL = 'health@team.example'
const details = { project_number: '1234567890', service_account_email: EMAIL }

/** A peer at which a team has an application, and what a subscription of the team needs. */
async function createSubscriber() {
  const peer = await new GoogleHealthPeer().start()
  peer.actsAs.add(EMAIL)
  const team = await createTestTeam()
  await team.manage.post('/team_custom_credentials/sandbox/us', {
    team_id: team.team,
    provider: 'google_health',
    ...CLIENT,
    details,
  })
  const private_key = peer.operator.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const request = {
    callback_url: `${url}/v2/link/webhook/sandbox-us/${team.team}/google_health`,
    verify_token: notificationToken(vault, team.cell, team.team, 'google_health'),
    access_token: null,
    now_ms: peer.now_ms,
    googleAccount: { client_email: peer.operator_email, private_key },
  }
  return { peer, team, request }
}

test('is made once, verified at the address of the team, and looked at again after a week', async (t) => {
  const { peer, request } = await createSubscriber()
  const first = await subscribe(plainHttp, peer.app(details), request)
  assert.deepEqual(first, { renew_at_ms: peer.now_ms + 7 * 86_400_000 })
  assert.equal(peer.subscribers.size, 1)
  const [name, subscriber] = [...peer.subscribers][0]!
  assert.match(name, /^projects\/1234567890\/subscribers\/[a-z][a-z0-9-]{2,34}[a-z0-9]$/)
  assert.equal(subscriber.endpointUri, request.callback_url)
  assert.deepEqual(subscriber.subscriberConfigs, [{ dataTypes: notifiedTypes, subscriptionCreatePolicy: 'AUTOMATIC' }])
  const asked = peer.requests.length
  await subscribe(plainHttp, peer.app(details), request)
  assert.deepEqual(
    peer.requests.slice(asked).map(({ method, path }) => `${method} ${path.split('/').at(-1)}`),
    ['POST token', `POST ${encodeURIComponent(EMAIL)}:generateAccessToken`, 'GET subscribers'],
  )
  if (noDescriptions) return void t.diagnostic(noDescriptions)
  const found = compareAnswers(readDescription('google-health/health-v4.openapi-converted.json'), peer.answers)
  assert.deepEqual(found.differences, [])
})

test('is found among the subscribers of a project on all pages, gets the types that it lacks, and replaces one with another secret', async () => {
  const { peer, request } = await createSubscriber()
  const base = 'projects/1234567890/subscribers'
  for (const id of ['one', 'two', 'three']) peer.subscribers.set(`${base}/${id}`, { endpointUri: `https://other.example/${id}` })
  await subscribe(plainHttp, peer.app(details), request)
  const own = [...peer.subscribers.keys()].at(-1)!
  peer.subscribers.set(own, { ...peer.subscribers.get(own)!, subscriberConfigs: [{ dataTypes: ['steps'] }] })
  peer.subscribers.set(`${base}/of-before`, { endpointUri: request.callback_url })
  await subscribe(plainHttp, peer.app(details), request)
  assert.deepEqual([...peer.subscribers.keys()], [`${base}/one`, `${base}/two`, `${base}/three`, own])
  assert.deepEqual(peer.subscribers.get(own)!.subscriberConfigs, [
    { dataTypes: notifiedTypes, subscriptionCreatePolicy: 'AUTOMATIC' },
  ])
})

test('is left to the team without an account of the operator, or if the credentials name none', async () => {
  const { peer, request } = await createSubscriber()
  for (const [app, googleAccount] of [
    [peer.app(details), undefined],
    [peer.app(null), request.googleAccount],
    [peer.app({ project_number: '1' }), request.googleAccount],
  ] as const)
    assert.deepEqual(await subscribe(plainHttp, app, { ...request, googleAccount }), { renew_at_ms: null })
  assert.deepEqual(peer.requests, [])
})

test('is not made with another key, for an account that has not allowed it, at an address that does not answer, or during an outage', async () => {
  const { peer, request } = await createSubscriber()
  const app = peer.app(details)
  const another = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string
  const forged = { client_email: peer.operator_email, private_key: another }
  await assertFailure(subscribe(plainHttp, app, { ...request, googleAccount: forged }), 'unexpected')
  peer.actsAs.clear()
  await assertFailure(subscribe(plainHttp, app, request), 'scope_missing')
  peer.actsAs.add(EMAIL)
  await assertFailure(subscribe(plainHttp, app, { ...request, verify_token: 'guessed' }), 'unexpected')
  await assertFailure(subscribe(plainHttp, app, { ...request, callback_url: `${url}/elsewhere` }), 'unexpected')
  peer.fail('outage')
  await assertFailure(subscribe(plainHttp, app, request), 'unavailable')
  peer.fail('none', 'garbage')
  await assertFailure(subscribe(plainHttp, app, request), 'unexpected')
  assert.deepEqual([...peer.subscribers.keys()], [])
  assert.equal(googleHealth.subscribe, subscribe)
})

test('a key file is read as JSON and in base64, and other texts are rejected', () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  const file = JSON.stringify({ type: 'service_account', client_email: 'a@b.example', private_key: key })
  const account = { client_email: 'a@b.example', private_key: key }
  assert.deepEqual(readServiceAccount(file), account)
  assert.deepEqual(readServiceAccount(Buffer.from(file).toString('base64')), account)
  for (const other of [
    '',
    '{}',
    'x',
    'null',
    '[]',
    file.replace('service_account', 'authorized_user'),
    file.replace('PRIVATE', 'PUBLIC'),
  ])
    assert.equal(readServiceAccount(other), undefined, other.slice(0, 20))
})
