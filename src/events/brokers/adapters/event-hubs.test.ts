// Tests against a peer that speaks AMQP 1.0 and exposes what a broker would hide, and one that accepts blobs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import rhea from 'rhea'
import { startBlobStorage } from '../../../../test/support/broker-peers.ts'
import { createTestTeam } from '../../../../test/support/server.ts'
import { makePipelinesDue, pipe, createTestPipelines, emitEvent, countQueued } from '../../../../test/support/brokers.ts'

const MIB = 1024 * 1024
const KEY = Buffer.from('a fictional key of an account').toString('base64')
// Makes deliveries that wait for a retry due, however slow the machine is.
const pipelines = createTestPipelines({ broker_schedule_s: [1000] })

interface Arrived {
  hub: string
  type: string
  user: string
  key: string
  partition: unknown
}
const arrived: Arrived[] = []
/** Types that are rejected, as if the hub were full. */
const unwelcome = new Set<string>()

const container = rhea.create_container()
container.sasl_server_mechanisms.enable_plain((user: string, password: string) => user === 'send' && password === KEY)
container.on('receiver_open', ({ receiver }) => receiver!.set_target({ address: receiver!.target.address }))
container.on('message', ({ message, receiver, delivery }) => {
  const { application_properties: properties, message_annotations } = message!
  if (unwelcome.has(properties!['event-type'])) return delivery!.reject({ condition: 'amqp:resource-limit-exceeded' })
  arrived.push({
    hub: receiver!.target.address,
    type: properties!['event-type'],
    user: properties!['user-id'],
    key: properties!['idempotency-key'],
    partition: message_annotations!['x-opt-partition-key'],
  })
  delivery!.accept()
})
container.on('disconnected', () => {})
const broker = container.listen({ port: 0, host: '127.0.0.1', receiver_options: { autoaccept: false } } as never)
await once(broker, 'listening')
after(() => broker.close())
const { port } = broker.address() as AddressInfo
const connection_string = (key = KEY) =>
  `Endpoint=sb://127.0.0.1:${port}/;SharedAccessKeyName=send;SharedAccessKey=${key};UseDevelopmentEmulator=true`
const hubs = (event_hub_matchers: unknown[] = [], key = KEY) => ({
  azure_amqp: { connection_string: connection_string(key), default_event_hub: 'events', event_hub_matchers },
})

const storage = await startBlobStorage(KEY)
const { blobs, containerOf } = storage
const messagesOf = (user: string) => arrived.filter((message) => message.user === user)

describe('a hub', () => {
  test('a hub receives each event with its user as the partition key, signed with the key of the policy', async () => {
    const team = await createTestTeam()
    await pipe(
      team,
      hubs([{ event_type_prefix: 'labtest.result', event_hub: 'results' }], Buffer.from('other').toString('base64')),
    )
    const order = await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), ['azure_amqp after 0'])
    await pipe(team, hubs([{ event_type_prefix: 'labtest.result', event_hub: 'results' }]))
    const result = await emitEvent(team, { type: 'labtest.result.critical', user_id: order.user_id })
    await pipelines.drain()
    const partition = order.user_id
    assert.deepEqual(messagesOf(order.user_id), [
      { hub: 'events', type: order.type, user: order.user_id, key: order.key, partition },
      { hub: 'results', type: result.type, user: order.user_id, key: result.key, partition },
    ])
  })

  test('a hub that rejects an event receives later events of the same user only after it', async () => {
    const team = await createTestTeam()
    await pipe(team, hubs())
    const type = 'labtest.appointment.created'
    unwelcome.add(type)
    const first = await emitEvent(team, { type })
    const second = await emitEvent(team, { user_id: first.user_id })
    const other = await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual(messagesOf(first.user_id), [])
    assert.equal(messagesOf(other.user_id).length, 1)
    const third = await emitEvent(team, { user_id: first.user_id })
    await pipelines.drain()
    assert.deepEqual(messagesOf(first.user_id), [])
    unwelcome.delete(type)
    await makePipelinesDue(team)
    await pipelines.drain()
    assert.deepEqual(
      messagesOf(first.user_id).map(({ key }) => key),
      [first.key, second.key, third.key],
    )
  })
})

describe('a container', () => {
  test('a container stores events routed by a matcher with signature and documented name', async () => {
    const team = await createTestTeam()
    await pipe(team, hubs([{ event_type_regex: 'result', blob_storage: containerOf('results') }]))
    const small = await emitEvent(team, { type: 'labtest.result.critical' })
    const large = await emitEvent(team, { type: 'labtest.result.critical', bytes: 5000, user_id: small.user_id })
    await pipelines.drain()
    const own = blobs.filter(({ name }) => name.includes(team.team))
    const instant = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00`
    const named = (key: string, end: string) =>
      new RegExp(`^/results/${team.team}/${small.user_id}/${instant}#labtest\\.result\\.critical#${key}\\.json${end}$`)
    assert.match(own[0]!.name, named(small.key, ''))
    assert.match(own[1]!.name, named(large.key, '\\.gz'))
    assert.deepEqual(
      own.map(({ type, encoding, body }) => ({ type, encoding, body })),
      [
        { type: 'application/json', encoding: undefined, body: small.body },
        { type: 'application/json', encoding: 'gzip', body: large.body },
      ],
    )
    assert.deepEqual(messagesOf(small.user_id), [])
  })

  test('a matching container receives events too large for a hub; without one they stay queued', async () => {
    const team = await createTestTeam()
    const matchers = [
      { event_type_prefix: 'labtest.order', event_hub: 'orders' },
      { event_type_prefix: 'labtest', blob_storage: containerOf('overflow') },
    ]
    await pipe(team, hubs(matchers))
    const over = await emitEvent(team, { bytes: 2 * MIB })
    const fits = await emitEvent(team, { bytes: 900_000, user_id: over.user_id })
    await emitEvent(team, { type: 'daily.data.steps.created', bytes: 2 * MIB })
    await pipelines.drain()
    assert.deepEqual(
      blobs.filter(({ name }) => name.includes(over.user_id)).map(({ name, body }) => [name.split('/')[1], body === over.body]),
      [['overflow', true]],
    )
    assert.deepEqual(
      messagesOf(over.user_id).map(({ hub, key }) => [hub, key]),
      [['orders', fits.key]],
    )
    assert.deepEqual(await countQueued(team), ['azure_amqp after 1'])
  })

  test('a container that rejects a blob receives it later, under the same name', async () => {
    const team = await createTestTeam()
    const storageOf = (key: string) => hubs([{ event_type_prefix: '', blob_storage: containerOf('later', key) }])
    await pipe(team, storageOf(Buffer.from('other').toString('base64')))
    const emitted = await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), ['azure_amqp after 1'])
    storage.status = 503
    await pipe(team, storageOf(KEY))
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), ['azure_amqp after 2'])
    storage.status = 201
    await makePipelinesDue(team)
    await pipelines.drain()
    assert.deepEqual(
      blobs.filter(({ name }) => name.includes(team.team)).map(({ body }) => body),
      [emitted.body],
    )
  })
})
