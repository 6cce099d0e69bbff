// The conformance suite of destinations: every kind of destination receives events by the same rules, from a real peer of its protocol.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import type { Channel, ChannelModel } from 'amqplib'
import { generateVaultKey, Vault } from '../../src/platform/crypto/vault.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { startBlobStorage, startPubSub } from '../support/broker-peers.ts'
import { createTestPipelines, emitEvent, makePipelinesDue, path, pipe } from '../support/brokers.ts'
import { skipWithoutRabbitMq, startRabbitMq, type Rabbit } from '../support/rabbitmq.ts'
import { createTestTeam, type TestTeam } from '../support/server.ts'
import { endpoint, receiver } from '../support/webhook-receiver.ts'

/** A destination of a team and its peer. */
interface Peer {
  /** The bodies of the events that have arrived, in order. */
  bodies(): Promise<string[]>
  /** From now on it rejects events or is unreachable, or works again. */
  fail(): Promise<void>
  recover(): Promise<void>
  /** The team removes it. */
  remove(): Promise<void>
}

const { port, requests, refusals } = await startPubSub()
const KEY = Buffer.from('a fictional key of an account').toString('base64')
// What waits for a retry becomes due when a test says so.
const schedules = { schedule_s: Array<number>(8).fill(1000), broker_schedule_s: [1000] }
const options = { ...schedules, pubsub_emulator_host: `127.0.0.1:${port}` }
const delivery = createTestPipelines(options)

let rabbit: Rabbit
let connection: ChannelModel
let channel: Channel
/** The body of a message, which may be compressed. */
const decode = (bytes: Buffer): string => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()

/** Everything in a queue, oldest first. */
async function readQueue(name: string): Promise<string[]> {
  const bodies: string[] = []
  for (let message = await channel.get(name); message; message = await channel.get(name)) bodies.push(decode(message.content))
  await channel.recover()
  return bodies
}

const removePipeline = async (team: TestTeam) => void (await team.manage.delete(`${path()}?team_id=${team.team}`))

const peers: Record<string, (team: TestTeam) => Promise<Peer>> = {
  async 'a webhook endpoint'(team) {
    let isWorking = true
    const accepted: string[] = []
    const target = await receiver(({ body }, response) => {
      if (isWorking) accepted.push(body)
      response.writeHead(isWorking ? 200 : 500).end()
    })
    const hook = await endpoint(team, { url: target.url })
    return {
      bodies: async () => accepted,
      fail: async () => void (isWorking = false),
      recover: async () => void (isWorking = true),
      remove: async () => void (await team.manage.delete(hook.path)),
    }
  },
  async RabbitMQ(team) {
    const name = `test-${randomUUID()}`
    await channel.assertExchange(name, 'topic', { durable: true })
    await channel.assertQueue(name, { durable: true })
    await channel.bindQueue(name, name, '#')
    await pipe(team, { rabbitmq: { uri: rabbit.uri, exchange: name } })
    return {
      bodies: () => readQueue(name),
      fail: async () => void (await channel.unbindQueue(name, name, '#')),
      recover: async () => void (await channel.bindQueue(name, name, '#')),
      remove: () => removePipeline(team),
    }
  },
  async 'Event Hubs'(team) {
    const name = `test-${randomUUID()}`
    await channel.assertQueue(name, { durable: true })
    const hub = (address: string) =>
      pipe(team, { azure_amqp: { connection_string: rabbit.connection_string, default_event_hub: address } })
    await hub(`/amq/queue/${name}`)
    return {
      bodies: () => readQueue(name),
      fail: () => hub(`/exchange/missing-${name}`),
      recover: () => hub(`/amq/queue/${name}`),
      remove: () => removePipeline(team),
    }
  },
  async 'Blob Storage'(team) {
    const storage = await startBlobStorage(KEY)
    const matcher = { event_type_prefix: '', blob_storage: storage.containerOf('events') }
    const hub = { connection_string: rabbit.connection_string, default_event_hub: 'none', event_hub_matchers: [matcher] }
    await pipe(team, { azure_amqp: hub })
    return {
      bodies: async () => storage.blobs.map(({ body }) => body),
      fail: async () => void (storage.status = 503),
      recover: async () => void (storage.status = 201),
      remove: () => removePipeline(team),
    }
  },
  async 'Pub/Sub'(team) {
    const topic = `topic-${randomUUID()}`
    const name = `projects/fictional-clinic/topics/${topic}`
    await pipe(team, { cloud_pubsub: { project: 'fictional-clinic', topic, message_ordering: true } })
    const published = () => requests.filter((request) => request.topic === name).flatMap(({ messages }) => messages)
    return {
      bodies: async () => published().map(({ data }) => decode(Buffer.from(data as Uint8Array))),
      fail: async () => void refusals.set(name, status.UNAVAILABLE),
      recover: async () => void refusals.delete(name),
      remove: () => removePipeline(team),
    }
  },
}

const countStates = async (team: TestTeam): Promise<Record<string, number>> => {
  const State = T.Object({ state: T.String(), n: T.Integer() })
  const rows = await team.db.queries.many(
    State,
    sql`select state, count(*) as n from delivery where team_id = ${team.team} group by 1`,
  )
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
}

describe('destinations', { skip: skipWithoutRabbitMq }, () => {
  before(async () => {
    rabbit = await startRabbitMq()
    await rabbit.start()
    connection = await rabbit.connect()
    channel = await connection.createChannel()
  })
  after(async () => {
    await connection.close()
    await rabbit.remove()
  })

  for (const [name, open] of Object.entries(peers))
    describe(name, () => {
      const scene = async () => {
        const team = await createTestTeam()
        return { team, peer: await open(team), user_id: await team.user() }
      }

      test(`${name} receives the stored bytes of each event once, and the log records them`, async () => {
        const { team, peer } = await scene()
        const small = await emitEvent(team)
        const large = await emitEvent(team, { bytes: 5000 })
        await delivery.drain()
        await delivery.drain()
        assert.deepEqual((await peer.bodies()).sort(), [small.body, large.body].sort())
        assert.deepEqual(await countStates(team), { delivered: 2 })
      })

      test(`${name} receives the events of a user in order`, async () => {
        const { team, peer, user_id } = await scene()
        const bodies: string[] = []
        for (let i = 0; i < 30; i++) {
          bodies.push((await emitEvent(team, { user_id, bytes: 300 + i })).body)
          // The order of a webhook is that of an object, which each of these events has for itself.
          if (name === 'a webhook endpoint') await delivery.drain()
        }
        await delivery.drain()
        assert.deepEqual(await peer.bodies(), bodies)
      })

      test(`${name} receives events that it rejected or that could not reach it once it works again`, async () => {
        const { team, peer, user_id } = await scene()
        await peer.fail()
        const first = await emitEvent(team, { user_id })
        const second = await emitEvent(team, { user_id, bytes: 2000 })
        await delivery.drain()
        assert.deepEqual(await peer.bodies(), [])
        assert.deepEqual(await countStates(team), { pending: 2 })
        await peer.recover()
        await makePipelinesDue(team)
        await delivery.drain()
        assert.deepEqual(new Set(await peer.bodies()), new Set([first.body, second.body]))
        assert.deepEqual(await countStates(team), { delivered: 2 })
      })

      test(`${name} receives nothing about a user who was deleted meanwhile`, async () => {
        const { team, peer, user_id } = await scene()
        await peer.fail()
        await emitEvent(team, { user_id })
        const other = await emitEvent(team)
        await delivery.drain()
        await team.api.delete(`/v2/user/${user_id}`)
        await peer.recover()
        await makePipelinesDue(team)
        await delivery.drain()
        assert.deepEqual(await peer.bodies(), [other.body])
      })

      test(`${name} receives nothing while its secrets cannot be decrypted, and everything afterwards`, async () => {
        const { team, peer } = await scene()
        const keys = [generateVaultKey()]
        const { body } = await emitEvent(team)
        await createTestPipelines({ ...options, vault: new Vault(() => keys) }).drain()
        assert.deepEqual(await peer.bodies(), [])
        await makePipelinesDue(team)
        await delivery.drain()
        assert.deepEqual(await peer.bodies(), [body])
      })

      test(`${name} receives nothing after its team has removed it`, async () => {
        const { team, peer } = await scene()
        await peer.fail()
        await emitEvent(team)
        await delivery.drain()
        await peer.recover()
        await peer.remove()
        await makePipelinesDue(team)
        await emitEvent(team)
        await delivery.drain()
        assert.deepEqual(await peer.bodies(), [])
      })
    })
})
