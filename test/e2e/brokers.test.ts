// Pipelines against a real broker: what arrives, how it arrives, and that it arrives whatever happens to the broker and to us.
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { Channel, ChannelModel, GetMessage } from 'amqplib'
import rhea from 'rhea'
import { createTestTeam } from '../support/server.ts'
import { makePipelinesDue, path, pipe, createTestPipelines, emitEvent, countQueued } from '../support/brokers.ts'
import { endpoint, receiver } from '../support/webhook-receiver.ts'
import { caller, connectionOf, demoIn, runCli, stopAll, folder, onDatabase, serving } from '../support/program.ts'
import { startRabbitMq, skipWithoutRabbitMq, type Rabbit } from '../support/rabbitmq.ts'
import { eventually } from '../support/eventually.ts'

const pipelines = createTestPipelines()

describe('with a broker', { skip: skipWithoutRabbitMq }, () => {
  let broker: Rabbit
  let connection: ChannelModel
  let channel: Channel
  const opened = async () => {
    connection = await broker.connect()
    connection.on('error', () => {})
    channel = await connection.createChannel()
    channel.on('error', () => {})
  }
  before(async () => {
    broker = await startRabbitMq()
    await broker.start()
    await opened()
  })
  after(() => broker.remove())

  /** An exchange and a queue that is bound to it. */
  async function bound(pattern = '#') {
    const name = `test-${randomUUID()}`
    await channel.assertExchange(name, 'topic', { durable: true })
    await channel.assertQueue(name, { durable: true })
    await channel.bindQueue(name, name, pattern)
    return name
  }
  async function queue() {
    const name = `test-${randomUUID()}`
    await channel.assertQueue(name, { durable: true })
    return name
  }
  /** Everything in a queue, oldest first. */
  async function emptied(name: string): Promise<GetMessage[]> {
    const found: GetMessage[] = []
    for (let one = await channel.get(name, { noAck: true }); one; one = await channel.get(name, { noAck: true })) found.push(one)
    return found
  }
  /** As a consumer of AMQP 1.0 sees a queue. */
  async function received(hub: string): Promise<rhea.Message[]> {
    const { messageCount: count } = await channel.checkQueue(hub)
    if (count === 0) return []
    const { port } = new URL(broker.uri)
    const consumer = rhea
      .create_container()
      .connect({ host: '127.0.0.1', port: Number(port), username: 'guest', password: 'guest', reconnect: false })
    const found: rhea.Message[] = []
    await new Promise<void>((resolve, reject) => {
      const missing = () => reject(new Error(`only ${found.length} of ${count} arrived`))
      setTimeout(missing, 10_000).unref()
      consumer.on('disconnected', missing)
      const link = consumer.open_receiver({ source: { address: `/amq/queue/${hub}` }, credit_window: count })
      link.on('message', ({ message }) => {
        found.push(message!)
        if (found.length === count) resolve()
      })
    })
    consumer.close()
    return found
  }
  const toRabbit = (exchange: string) => ({ rabbitmq: { uri: broker.uri, exchange } })
  const toHub = (hub: string, overrides = {}) => ({
    azure_amqp: { connection_string: broker.connection_string, default_event_hub: `/amq/queue/${hub}`, ...overrides },
  })
  const bodyOf = ({ content, properties }: GetMessage): string =>
    (properties.contentEncoding === 'gzip' ? gunzipSync(content) : content).toString()

  describe('RabbitMQ', () => {
    test('gets the stored bytes under their type, plain up to 1 KiB and compressed above', async () => {
      const team = await createTestTeam()
      const name = await bound()
      await pipe(team, toRabbit(name))
      const small = await emitEvent(team, { type: 'labtest.order.created', bytes: 1024 })
      const large = await emitEvent(team, { type: 'labtest.order.updated', bytes: 1025 })
      await pipelines.drain()
      const [first, second] = await emptied(name)
      assert.equal(first!.fields.routingKey, 'labtest.order.created')
      assert.equal(first!.properties.contentType, 'application/json')
      assert.equal(first!.properties.contentEncoding, undefined)
      assert.equal(first!.content.toString(), small.body)
      assert.equal(first!.properties.messageId, small.key)
      assert.equal(first!.properties.deliveryMode, 2)
      assert.equal(second!.fields.routingKey, 'labtest.order.updated')
      assert.equal(second!.properties.contentEncoding, 'gzip')
      assert.equal(gunzipSync(second!.content).toString(), large.body)
      assert.deepEqual(await countQueued(team), [])
    })

    test('receives retries of an event until a queue is bound for it, and other events meanwhile', async () => {
      const team = await createTestTeam()
      const name = await bound('labtest.order.updated')
      await pipe(team, toRabbit(name))
      await emitEvent(team, { type: 'labtest.order.created' })
      const other = await emitEvent(team, { type: 'labtest.order.updated' })
      await pipelines.drain()
      assert.deepEqual((await emptied(name)).map(bodyOf), [other.body])
      assert.deepEqual(await countQueued(team), ['rabbitmq after 1'])
      await makePipelinesDue(team)
      await pipelines.drain()
      assert.deepEqual(await countQueued(team), ['rabbitmq after 2'])
      await channel.bindQueue(name, name, '#')
      await makePipelinesDue(team)
      await pipelines.drain()
      assert.deepEqual(
        (await emptied(name)).map(({ fields }) => fields.routingKey),
        ['labtest.order.created'],
      )
      assert.deepEqual(await countQueued(team), [])
    })

    test('receives the event after the missing exchange or the wrong password is fixed', async () => {
      const team = await createTestTeam()
      const name = await bound()
      await pipe(team, toRabbit(`${name}-missing`))
      const emitted = await emitEvent(team)
      await pipelines.drain()
      assert.deepEqual(await countQueued(team), ['rabbitmq after 0'])
      await pipe(team, { rabbitmq: { uri: broker.uri.replace('guest@', 'wrong@'), exchange: name } })
      await pipelines.drain()
      assert.deepEqual(await countQueued(team), ['rabbitmq after 0'])
      await pipe(team, toRabbit(name))
      await pipelines.drain()
      assert.deepEqual((await emptied(name)).map(bodyOf), [emitted.body])
    })

    test('an unreachable broker does not delay other brokers', async () => {
      const [dead, sound] = [await createTestTeam(), await createTestTeam()]
      const [name, hub] = [await bound(), await queue()]
      await pipe(dead, { rabbitmq: { uri: 'amqp://guest:guest@127.0.0.1:1', exchange: name }, ...toHub(hub) })
      await pipe(sound, toRabbit(name))
      const [first, second] = [await emitEvent(dead), await emitEvent(sound)]
      await pipelines.drain()
      assert.deepEqual(await countQueued(dead), ['rabbitmq after 0'])
      assert.deepEqual((await emptied(name)).map(bodyOf), [second.body])
      assert.deepEqual(
        (await emptied(hub)).map(({ content }) => content.toString()),
        [first.body],
      )
    })
  })

  describe('Event Hubs, simulated by a broker of the same protocol,', () => {
    const content = (message: rhea.Message): Buffer => message.body.content

    test('get the properties of the reference API, plain below 1 KiB and compressed from there on', async () => {
      const team = await createTestTeam()
      const hub = await queue()
      await pipe(team, toHub(hub))
      const small = await emitEvent(team, { bytes: 1023 })
      const large = await emitEvent(team, { bytes: 1024, user_id: small.user_id })
      await pipelines.drain()
      const [first, second] = await received(hub)
      const shared = { 'event-type': 'labtest.order.created', 'team-id': team.team, 'user-id': small.user_id }
      assert.deepEqual({ ...first!.application_properties }, { ...shared, 'idempotency-key': small.key })
      assert.equal(content(first!).toString(), small.body)
      assert.deepEqual(
        { ...second!.application_properties },
        { ...shared, 'idempotency-key': large.key, 'content-encoding': 'gzip' },
      )
      assert.equal(gunzipSync(content(second!)).toString(), large.body)
    })

    test('receive all bodies compressed if the pipeline is configured so', async () => {
      const team = await createTestTeam()
      const hub = await queue()
      await pipe(team, toHub(hub, { compression: 'always' }))
      const small = await emitEvent(team)
      await pipelines.drain()
      const [only] = await received(hub)
      assert.equal(only!.application_properties!['content-encoding'], 'gzip')
      assert.equal(gunzipSync(content(only!)).toString(), small.body)
    })

    test('are selected by the first matcher that matches, otherwise the default', async () => {
      const team = await createTestTeam()
      const [rest, results, orders] = [await queue(), await queue(), await queue()]
      const event_hub_matchers = [
        { event_type_regex: '^labtest\\.(result|match_review)\\.', event_hub: `/amq/queue/${results}` },
        { event_type_prefix: 'labtest.order', event_hub: `/amq/queue/${orders}` },
        { event_type_prefix: 'labtest.result', event_hub: `/amq/queue/${rest}` },
      ]
      await pipe(team, toHub(rest, { event_hub_matchers }))
      for (const type of ['labtest.order.updated', 'labtest.result.critical', 'labtest.appointment.created'])
        await emitEvent(team, { type })
      await pipelines.drain()
      const types = async (hub: string) => (await received(hub)).map((message) => message.application_properties!['event-type'])
      assert.deepEqual(await types(rest), ['labtest.appointment.created'])
      assert.deepEqual(await types(results), ['labtest.result.critical'])
      assert.deepEqual(await types(orders), ['labtest.order.updated'])
    })

    test('receive the events of each user in order', async () => {
      const team = await createTestTeam()
      const hub = await queue()
      await pipe(team, toHub(hub))
      const users = await Promise.all(Array.from({ length: 4 }, () => team.user()))
      const emitted = new Map(users.map((user_id) => [user_id, [] as string[]]))
      for (let i = 0; i < 40; i++) {
        const event = await emitEvent(team, { user_id: users[i % 4]!, bytes: 300 + ((i * 37) % 900) })
        emitted.get(event.user_id)!.push(event.key)
      }
      await pipelines.drain()
      const found = new Map(users.map((user_id) => [user_id, [] as string[]]))
      for (const { application_properties } of await received(hub))
        found.get(application_properties!['user-id'])!.push(application_properties!['idempotency-key'])
      assert.deepEqual(found, emitted)
    })

    test('that do not exist delay only the later events of the same user', async () => {
      const team = await createTestTeam()
      const hub = await queue()
      const missing = { event_type_prefix: 'labtest.result', event_hub: `/exchange/missing-${hub}` }
      await pipe(team, toHub(hub, { event_hub_matchers: [missing] }))
      const critical = await emitEvent(team, { type: 'labtest.result.critical' })
      const later = await emitEvent(team, { user_id: critical.user_id })
      const other = await emitEvent(team)
      await pipelines.drain()
      assert.deepEqual(
        (await received(hub)).map((message) => content(message).toString()),
        [other.body],
      )
      assert.deepEqual(await countQueued(team), ['azure_amqp after 1', 'azure_amqp after 0'])
      await pipe(team, toHub(hub))
      await pipelines.drain()
      assert.deepEqual(
        (await received(hub)).map((message) => content(message).toString()),
        [critical.body, later.body],
      )
    })
  })

  test('endpoints and several brokers receive the same event, each in its format', async () => {
    const team = await createTestTeam()
    const [name, hub, target] = [await bound(), await queue(), await receiver()]
    await endpoint(team, { url: target.url })
    await pipe(team, { ...toRabbit(name), ...toHub(hub) }, { names: ['svix'] })
    const { body, key } = await emitEvent(team)
    await pipelines.drain()
    assert.deepEqual((await emptied(name)).map(bodyOf), [body])
    assert.deepEqual(
      (await emptied(hub)).map((message) => message.content.toString()),
      [body],
    )
    assert.deepEqual(
      target.received.map((request) => request.body),
      [body],
    )
    assert.equal(target.received[0]!.headers['webhook-id'], key)
  })

  test('a broker that is killed and restarted receives every event, over every protocol', async () => {
    const team = await createTestTeam()
    const [name, hub] = [await bound(), await queue()]
    await pipe(team, { ...toRabbit(name), ...toHub(hub) })
    const emitted: string[] = []
    const tell = async (count: number) => {
      for (let i = 0; i < count; i++) emitted.push((await emitEvent(team, { bytes: 200 + i * 100 })).key)
    }
    await tell(15)
    await pipelines.drain()
    await tell(15)
    await Promise.all([pipelines.drain(), broker.kill()])
    await tell(5)
    await pipelines.drain()
    assert((await countQueued(team)).length >= 10)
    await broker.start()
    await opened()
    await makePipelinesDue(team)
    await pipelines.drain()
    assert.deepEqual(await countQueued(team), [])
    const missing = (bodies: unknown[]) => emitted.filter((key) => !bodies.includes(key))
    assert.deepEqual(missing((await emptied(name)).map(({ properties }) => properties.messageId)), [])
    const keys = (await received(hub)).map(({ application_properties }) => application_properties!['idempotency-key'])
    assert.deepEqual(missing(keys), [])
  })

  test('killed workers lose no events', { timeout: 120_000 }, async (t) => {
    const dataDir = folder('pipelines')
    after(stopAll)
    // A worker too, which is not killed.
    const server = await serving(dataDir, { CELLS: 'sandbox-us' })
    const { org_id, teams, management_key, api_keys } = demoIn(dataDir)
    const [name, hub] = [await bound(), await queue()]
    const team = teams.us!
    const enabled = ['rabbitmq', 'azure_amqp']
    const asked = await fetch(`${server.url}/v1/org/${org_id}${path()}`, {
      method: 'POST',
      headers: { 'x-management-key': management_key, 'content-type': 'application/json' },
      body: JSON.stringify({
        team_ids: [team],
        preferences: { preferred: 'rabbitmq', enabled },
        ...toRabbit(name),
        ...toHub(hub),
      }),
    })
    assert.equal(asked.status, 200)
    const user = await caller(server.url, api_keys['sandbox-us']).post('/v2/user', { client_user_id: 'fictional-user' })

    const hire = async () => {
      const worker = runCli('work', { DATA_DIR: dataDir, CELLS: 'sandbox-us' })
      await worker.says(/Worker started/)
      return worker
    }
    const workers = [await hire()]
    const connection = { ...connectionOf(dataDir), options: '-c search_path=sandbox_us' }
    const emitted: string[] = []
    const tell = (count: number) =>
      onDatabase(connection, async (client) => {
        for (const end = emitted.length + count; emitted.length < end;) {
          const { rows } = await client.query<{ id: string }>(
            `with emitted as (
               insert into event (id, team_id, type, object_id, user_id, created_at, body)
               select gen_random_uuid(), $1, 'labtest.order.updated', gen_random_uuid(), $2, clock_timestamp(), '{"event_type":"labtest.order.updated"}'
               from generate_series(1, 20) returning id),
             announced as (insert into event_outbox (team_id, event_ids) select $1, array_agg(id) from emitted)
             select id from emitted`,
            [team, user.body.user_id],
          )
          for (const { id } of rows) emitted.push(`msg_${id.replaceAll('-', '')}`)
        }
      })
    for (let kills = 0; kills < 2; kills++) {
      const telling = tell(400)
      await sleep(randomInt(20, 300))
      const victim = workers.shift()!
      victim.child.kill('SIGKILL')
      await Promise.all([telling, victim.exitStatus])
      workers.push(await hire())
    }
    const pending = () =>
      onDatabase(connection, async (client) => {
        const { rows } = await client.query<{ n: number }>(
          'select (select count(*) from event_outbox)::int + (select count(*) from delivery where due_at is not null)::int as n',
        )
        return rows[0]!.n
      })
    await eventually(async () => (await pending()) === 0, 'everything is sent', 120_000)
    const found = [
      (await emptied(name)).map(({ properties }) => properties.messageId as string),
      (await received(hub)).map(({ application_properties }) => application_properties!['idempotency-key'] as string),
    ]
    for (const keys of found) {
      const taken = new Set(keys)
      assert.deepEqual(
        emitted.filter((key) => !taken.has(key)),
        [],
      )
      t.diagnostic(`${emitted.length} events, ${keys.length - emitted.length} of them more than once`)
    }
    for (const worker of workers) worker.child.kill('SIGTERM')
    for (const worker of workers) assert.equal(await worker.exitStatus, 0)
    assert.equal(await server.end('SIGTERM'), 0)
  })
})
