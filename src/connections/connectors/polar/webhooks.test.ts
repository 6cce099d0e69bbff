// The webhook of an application at Polar, which the server makes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { compareAnswers, noDescriptions, readDescription } from '../../../../test/support/vendors/descriptions.ts'
import { PolarPeer } from '../../../../test/support/vendors/polar.ts'
import { assertFailure, plainHttp } from '../../../../test/support/vendors/vendor-server.ts'
import { polar } from './polar.ts'

/** An address that answers as ours does; without it Polar makes no webhook. */
async function receiver(status = 200): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/polar`
}

async function subscribe(peer: PolarPeer, callback_url: string, details: Record<string, unknown> | null = null) {
  const request = { callback_url, verify_token: 'x', access_token: null, now_ms: peer.now_ms }
  const { renew_at_ms, details: received } = await polar.subscribe(plainHttp, peer.app(details), request)
  assert.equal(renew_at_ms, peer.now_ms + 7 * 86_400_000)
  return received
}
const countCreatedWebhooks = (peer: PolarPeer) =>
  peer.requests.filter(({ method, path }) => method === 'POST' && path === '/v3/webhooks').length

test('the webhook is made once, its key is returned, and one that Polar has ended is activated', async () => {
  const peer = await new PolarPeer().start()
  const url = await receiver()
  const details = await subscribe(peer, url)
  assert.deepEqual([details, peer.createdWebhook!.info.url], [{ webhook_secret: peer.createdWebhook!.secret }, url])
  Object.assign(peer.createdWebhook!.info, { active: false, events: ['SLEEP'] })
  assert.equal(await subscribe(peer, url, details), undefined)
  assert.deepEqual(
    [peer.createdWebhook!.info.active, peer.createdWebhook!.info.events.length, countCreatedWebhooks(peer)],
    [true, 4, 1],
  )
  if (noDescriptions) return
  const { differences, operations } = compareAnswers(readDescription('polar/accesslink-v3.openapi.yaml'), peer.answers)
  assert.deepEqual([differences, [...operations].toSorted()], [[], ['getWebhook', 'updateWebhook']])
})

test('a webhook whose key was lost with the answer is replaced, and one with a key that leads elsewhere stays', async () => {
  const peer = await new PolarPeer().start()
  const url = await receiver()
  await subscribe(peer, url)
  const lost = peer.createdWebhook!.secret
  const details = await subscribe(peer, url)
  assert.notEqual(details!.webhook_secret, lost)
  assert.equal(await subscribe(peer, await receiver(), details), undefined)
  assert.deepEqual([peer.createdWebhook!.info.url, countCreatedWebhooks(peer)], [url, 2])
})

test('an address that does not answer, a wrong secret and an outage make no webhook', async () => {
  const peer = await new PolarPeer().start()
  await assertFailure(subscribe(peer, await receiver(404)), 'unexpected')
  const request = { callback_url: await receiver(), verify_token: 'x', access_token: null, now_ms: peer.now_ms }
  const app = { ...peer.app(), client_secret: 'wrong' }
  await assertFailure(polar.subscribe(plainHttp, app, request), 'invalid_grant')
  peer.fail('outage')
  await assertFailure(polar.subscribe(plainHttp, peer.app(), request), 'unavailable')
  assert.equal(peer.createdWebhook, undefined)
})
