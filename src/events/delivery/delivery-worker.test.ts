import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../../test/support/eventually.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import {
  ATTEMPTS,
  delivering,
  endpoint,
  makeDeliveriesDue,
  receiver,
  deliveryStates,
  emitEvents,
  type Received,
} from '../../../test/support/webhook-receiver.ts'

const delivery = delivering()

/** Verifies like a receiver: each token against the raw body. @returns whether each of the keys has signed */
function verifySignatures({ headers, body }: Received, ...keys: string[]): boolean[] {
  const tokens = String(headers['webhook-signature']).split(' ')
  return keys.map((key) => {
    const mac = createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
    return tokens.includes(
      `v1,${mac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`,
    )
  })
}

describe('an endpoint', () => {
  /**
   * The maximum number of attempts in flight for a receiver that answers a number at once and then leaves every further one
   * waiting.
   */
  async function inTheAir(quick: number): Promise<number> {
    const team = await createTestTeam()
    const held: (() => void)[] = []
    const target = await receiver((_received, response) => {
      if (target.received.length <= quick) response.end()
      else held.push(() => response.end())
    })
    await endpoint(team, { url: target.url })
    await emitEvents(team, Array<string>(quick + 60).fill('labtest.order.created'), { objects: 'each' })
    // The clock stands still, so that everything happens within a moment.
    const delivery = delivering({ now_ms: () => 1000, attempt_ms_max: 15_000 })
    const drained = delivery.drain()
    let [most, seen] = [0, -1]
    while (held.length === 0 || held.length !== seen) {
      seen = held.length
      await sleep(200)
    }
    await eventually(() => {
      most = Math.max(most, held.length)
      for (const answer of held.splice(0)) answer()
      return target.received.length >= quick + 60
    }, 'all events are received')
    for (const answer of held.splice(0)) answer()
    await drained
    return most
  }

  test('an endpoint has at most ten attempts in flight', async () => assert.equal(await inTheAir(0), 10))

  test('a fast endpoint has up to thirty attempts in flight', async () => assert.equal(await inTheAir(420), 30))
})

describe('an event', () => {
  test('an event arrives as it was stored, signed, under both names of the headers', async () => {
    const team = await createTestTeam()
    const target = await receiver()
    const { id, key } = await endpoint(team, { url: target.url })
    await emitEvents(team)
    await delivery.drain()
    assert.equal(target.received.length, 1)
    const [one] = target.received as [Received]
    const { data } = (await team.api.get('/v1/events')).body
    assert.deepEqual(JSON.parse(one.body), data[0].body)
    assert.equal(one.headers['webhook-id'], `msg_${data[0].id.replaceAll('-', '')}`)
    for (const name of ['id', 'timestamp', 'signature']) assert.equal(one.headers[`webhook-${name}`], one.headers[`svix-${name}`])
    assert.deepEqual(verifySignatures(one, key), [true])
    assert.equal(one.headers['content-type'], 'application/json')
    assert.equal(one.headers['user-agent'], 'Drawbridge/test')
    assert.ok(Math.abs(Date.now() / 1000 - Number(one.headers['webhook-timestamp'])) < 60)
    assert.deepEqual(await deliveryStates(team, id), { 'delivered after 1': 1 })
  })

  test('an event arrives only at enabled endpoints of its environment that subscribe to its type', async () => {
    const team = await createTestTeam()
    const target = await receiver()
    const at = (name: string) => `${target.url}/${name}`
    await endpoint(team, { url: at('all') })
    await endpoint(team, { url: at('empty'), filter_types: [] })
    await endpoint(team, { url: at('created'), filter_types: ['labtest.order.created'] })
    await endpoint(team, { url: at('other'), filter_types: ['daily.data.activity.created'] })
    await endpoint(team, { url: at('off'), disabled: true })
    await endpoint(await createTestTeam(), { url: at('stranger') })
    await emitEvents(team, ['labtest.order.created', 'labtest.order.updated'])
    await delivery.drain()
    const paths = target.received.map(({ path, body }) => `${path.replace('/hook/', '')} ${JSON.parse(body).event_type}`)
    assert.deepEqual(paths.sort(), [
      'all labtest.order.created',
      'all labtest.order.updated',
      'created labtest.order.created',
      'empty labtest.order.created',
      'empty labtest.order.updated',
    ])
  })

  test('an event of an object arrives after earlier events of the same object', async () => {
    const team = await createTestTeam()
    const target = await receiver((_received, response) => setTimeout(() => response.end(), Math.random() * 20))
    await endpoint(team, { url: target.url })
    const types = ['labtest.order.created', ...Array<string>(9).fill('labtest.order.updated')]
    await emitEvents(team, types)
    await delivery.drain()
    assert.deepEqual(
      target.received.map(({ body }) => JSON.parse(body).event_type),
      types,
    )
    const { data } = (await team.api.get('/v1/events')).body
    assert.deepEqual(
      target.received.map(({ headers }) => headers['webhook-id']),
      data.map((event: { id: string }) => `msg_${event.id.replaceAll('-', '')}`).reverse(),
    )
  })

  test('an event of a deleted user is not sent, whether the user is deleted before or after it is queued', async () => {
    const team = await createTestTeam()
    let status = 500
    const target = await receiver((_received, response) => response.writeHead(status).end())
    const { id } = await endpoint(team, { url: target.url })
    const before = await emitEvents(team)
    await team.api.delete(`/v2/user/${before}`)
    await delivery.drain()
    assert.equal(target.received.length, 0)
    const slow = delivering({ schedule_s: [0, 3600] })
    const later = await emitEvents(team)
    await slow.drain()
    assert.equal(target.received.length, 1)
    await team.api.delete(`/v2/user/${later}`)
    status = 200
    await makeDeliveriesDue(team)
    await slow.drain()
    assert.equal(target.received.length, 1)
    assert.deepEqual(await deliveryStates(team, id), { 'stopped after 1': 1 })
  })
})

describe('an attempt', () => {
  const refused: Record<string, Parameters<typeof receiver>[0]> = {
    'that is answered 500': (_received, response) => response.writeHead(500).end('no'),
    'that is answered 404': (_received, response) => response.writeHead(404).end(),
    'that is reset': (_received, _response, request) => request.socket.destroy(),
    'that is not answered in time': () => {},
    'whose answer does not end in time': (_received, response) => response.writeHead(200).write('…'),
    'that is answered with another place': (_received, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  }
  for (const [what, answer] of Object.entries(refused))
    test(`${what} counts as a failed attempt`, async () => {
      const team = await createTestTeam()
      const target = await receiver(answer)
      const { id } = await endpoint(team, { url: target.url })
      await emitEvents(team)
      await delivering({ schedule_s: [0, 0], attempt_ms_max: 750 }).drain()
      assert.deepEqual(await deliveryStates(team, id), { 'failed after 2': 1 })
      assert.deepEqual([...new Set(target.received.map(({ path }) => path))], ['/hook'])
      const ids = new Set(target.received.map(({ headers }) => headers['webhook-id']))
      assert.equal(ids.size, 1)
      assert.equal(new Set(target.received.map(({ body }) => body)).size, 1)
    })

  test('retries until an attempt succeeds', async () => {
    const team = await createTestTeam()
    let asked = 0
    const target = await receiver((_received, response) => response.writeHead(++asked < 4 ? 500 : 204).end())
    const { id } = await endpoint(team, { url: target.url })
    await emitEvents(team)
    await delivery.drain()
    assert.deepEqual(await deliveryStates(team, id), { 'delivered after 4': 1 })
  })

  test('a failing delivery is attempted eight times', async () => {
    const team = await createTestTeam()
    const target = await receiver((_received, response) => response.writeHead(500).end())
    const { id } = await endpoint(team, { url: target.url })
    await emitEvents(team)
    await delivery.drain()
    assert.equal(target.received.length, ATTEMPTS)
    assert.deepEqual(await deliveryStates(team, id), { 'failed after 8': 1 })
  })
})
