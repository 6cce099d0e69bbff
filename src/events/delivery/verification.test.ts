// Deliveries as receivers verify them: with the published packages, unchanged, and without code of this project.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook as Standard, WebhookVerificationError } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { createTestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, emitEvents, type Received } from '../../../test/support/webhook-receiver.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

const delivery = delivering()

/** The headers of one family, as a receiver passes them to the package. */
const family = ({ headers }: Received, prefix: 'svix' | 'webhook'): Record<string, string> =>
  Object.fromEntries(['id', 'timestamp', 'signature'].map((name) => [`${prefix}-${name}`, String(headers[`${prefix}-${name}`])]))

type Verify = (key: string, body: string | Buffer, request: Received) => unknown
const verifiers: Record<string, Verify> = {
  'standardwebhooks with webhook-*': (key, body, request) => new Standard(key).verify(body, family(request, 'webhook')),
  'svix with svix-*': (key, body, request) => new Svix(key).verify(body, family(request, 'svix')),
  'svix with webhook-*': (key, body, request) => new Svix(key).verify(body, family(request, 'webhook')),
}

async function sendEvent() {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  const deliver = async (): Promise<Received> => {
    await emitEvents(team)
    await delivery.drain()
    return target.received.at(-1)!
  }
  return { team, hook, deliver, received: await deliver() }
}

for (const [packaged, verify] of Object.entries(verifiers))
  describe(packaged, () => {
    test('the package verifies deliveries, also beyond ASCII, as text and as bytes', async () => {
      const { hook, received } = await sendEvent()
      assert.match(received.body, /ünïcode {2}.*ä reference /)
      verify(hook.key, received.body, received)
      verify(hook.key, Buffer.from(received.body), received)
    })

    test('the package rejects a changed body, even if only a space differs or it was serialized again', async () => {
      const { hook, received } = await sendEvent()
      const changed = [
        `${received.body} `,
        received.body.replace('ünïcode', 'unicode'),
        JSON.stringify(JSON.parse(received.body), null, 1),
      ]
      for (const body of changed) assert.throws(() => verify(hook.key, body, received), WebhookVerificationError)
    })

    test('the package rejects another key, another id and another time', async () => {
      const { hook, received } = await sendEvent()
      const other = (await sendEvent()).hook.key
      assert.throws(() => verify(other, received.body, received), WebhookVerificationError)
      const later = String(Number(received.headers['webhook-timestamp']) + 1)
      for (const change of [
        { 'webhook-id': 'msg_1', 'svix-id': 'msg_1' },
        { 'webhook-timestamp': later, 'svix-timestamp': later },
      ]) {
        const forged = { ...received, headers: { ...received.headers, ...change } }
        assert.throws(() => verify(hook.key, received.body, forged), WebhookVerificationError)
      }
    })

    test('the package verifies with both keys for a day after a rotation, then with the new key only', async () => {
      const { team, hook, deliver } = await sendEvent()
      assert.equal((await team.manage.post(`${hook.path}/secret/rotate`, {})).status, 204)
      const { key } = (await team.manage.get(`${hook.path}/secret`)).body
      assert.notEqual(key, hook.key)
      const during = await deliver()
      for (const either of [key, hook.key]) verify(either, during.body, during)
      assert.equal((await team.api.post('/v1/sandbox/clock/advance', { seconds: DAY_S + 1 })).status, 200)
      const after = await deliver()
      verify(key, after.body, after)
      assert.throws(() => verify(hook.key, after.body, after), WebhookVerificationError)
    })

    test('the package verifies with a secret chosen by the receiver, of any length', async () => {
      const team = await createTestTeam()
      const target = await receiver()
      for (const bytes of [24, 32, 75]) {
        const secret = Buffer.alloc(bytes, 'fictional').toString('base64')
        const hook = await endpoint(team, { url: target.url, secret })
        await team.manage.post(`${hook.path}/test`, { event_type: 'labtest.order.created' })
        await delivery.drain()
        verify(secret, target.received.at(-1)!.body, target.received.at(-1)!)
      }
    })
  })

test('standardwebhooks returns the verified body', async () => {
  const { hook, received } = await sendEvent()
  const body = new Standard(hook.key).verify(received.body, family(received, 'webhook'))
  assert.deepEqual(body, JSON.parse(received.body))
})
