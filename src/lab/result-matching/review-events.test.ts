// Review events, which name no user: at endpoints, brokers and in the event feed. Source: events.md 4.8.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiveResult, deliveryFor, acceptedOrder } from '../../../test/support/results.ts'
import { pipe, createTestPipelines, countQueued } from '../../../test/support/brokers.ts'
import { endpoint, receiver } from '../../../test/support/webhook-receiver.ts'
import { createTestTeam } from '../../../test/support/server.ts'

const CREATED = 'labtest.match_review.created'
const pipelines = createTestPipelines()

test('a review event reaches endpoints, broker queues and the event feed, and names no user', async () => {
  const team = await createTestTeam()
  const order = await acceptedOrder(team)
  const { url, received } = await receiver()
  await endpoint(team, { url, filter_types: [CREATED] })
  const dead = { rabbitmq: { uri: 'amqp://events:swordfish@127.0.0.1:1/tunafish', exchange: 'marlin' } }
  await pipe(team, dead, { names: ['svix'], event_type_prefixes: [CREATED] })
  const { next_cursor } = (await team.api.get(`/v1/events/follow?type=${CREATED}`)).body
  const { raw_result_id: id } = await receiveResult(team, await deliveryFor(team, order, { sample_id: null }))
  await pipelines.drain()
  assert.equal(received.length, 1)
  const body = JSON.parse(received[0]!.body)
  assert.deepEqual(Object.keys(body), ['event_type', 'data', 'team_id'])
  assert.deepEqual([body.event_type, body.data.id, body.data.status], [CREATED, id, 'pending_customer_review'])
  assert.match((await countQueued(team)).join(), /^rabbitmq after \d$/)
  const feed = (await team.api.get(`/v1/events/follow?type=${CREATED}&next_cursor=${next_cursor}`)).body
  assert.deepEqual(
    feed.data.map((event: { body: string }) => JSON.parse(event.body)),
    [body],
  )
  const listed = (await team.api.get(`/v1/events?object_id=${id}`)).body.data
  assert.deepEqual(
    listed.map((event: { body: unknown }) => event.body),
    [body],
  )
})
