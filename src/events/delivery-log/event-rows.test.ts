// Events as rows, one event with its deliveries, failures by cause, and the health of endpoints.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { delivering, emitEvents, endpoint, receiver } from '../../../test/support/webhook-receiver.ts'

const delivery = delivering({ schedule_s: [0, 0] })

/** A team with two endpoints, of which one refuses everything. */
async function scene() {
  const team = await createTestTeam()
  const [good, bad] = [await receiver(), await receiver((_received, response) => response.writeHead(503).end('<b>busy</b>'))]
  const hooks = [await endpoint(team, { url: good.url }), await endpoint(team, { url: bad.url })]
  const get = async (path: string) => {
    const { status, body } = await team.api.get(`/console/v1/${path}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  return { team, good, bad, hooks, get }
}

describe('the rows of events', () => {
  test('have the states of their deliveries, newest first, page by page', async () => {
    const { team, get } = await scene()
    const user_id = await emitEvents(team, ['labtest.order.created', 'labtest.order.updated'])
    await delivery.drain()
    const { data } = await get('events')
    assert.deepEqual(
      data.map(({ type, user_id: about, deliveries }: Record<string, unknown>) => [type, about, deliveries]),
      ['labtest.order.updated', 'labtest.order.created'].map((type) => [
        type,
        user_id,
        { pending: 0, delivered: 1, failed: 1, stopped: 0 },
      ]),
    )
    const first = await get('events?limit=1')
    const second = await get(`events?limit=1&next_cursor=${first.next_cursor}`)
    assert.deepEqual([...first.data, ...second.data], data)
    assert.equal(second.next_cursor, null)
    assert.deepEqual((await get('events?order_direction=asc')).data, data.toReversed())
  })

  test('are filtered by type, object, user, time and state of delivery', async () => {
    const { team, hooks, get } = await scene()
    const user_id = await emitEvents(team, ['labtest.order.created'])
    await delivery.drain()
    await team.manage.patch(hooks[1]!.path, { disabled: true })
    await emitEvents(team, ['labtest.order.updated', 'labtest.order.updated'], { objects: 'each' })
    const { data } = await get('events')
    const places = async (query: string) =>
      (await get(`events?${query}`)).data.map(({ id }: { id: string }) => data.findIndex((row: { id: string }) => row.id === id))
    assert.deepEqual(await places('type=labtest.order.created'), [2])
    assert.deepEqual(await places('type=labtest.order.created&type=labtest.order.updated'), [0, 1, 2])
    assert.deepEqual(await places(`object_id=${data[1].object_id}`), [1])
    assert.deepEqual(await places(`user_id=${user_id}`), [2])
    assert.deepEqual(await places('delivery_state=failed'), [2])
    assert.deepEqual(await places('delivery_state=stopped'), [])
    assert.deepEqual(await places('since=2100-01-01T00:00:00Z'), [])
    assert.deepEqual(await places('until=2100-01-01T00:00:00Z&since=2020-01-01T00:00:00Z'), [0, 1, 2])
    assert.equal((await places('delivery_state=pending')).length, 0)
    await delivery.drain()
    assert.equal(
      (await team.api.get(`/console/v1/events?type=x&next_cursor=${(await get('events?limit=1')).next_cursor}`)).status,
      400,
    )
  })
})

describe('the rows of events that failed', () => {
  test('are filtered by destination, and by the status or the reason of a failed attempt', async () => {
    const { team, hooks, get } = await scene()
    const refused = await endpoint(team, { url: 'http://127.0.0.1:1/', filter_types: ['labtest.order.updated'] })
    await emitEvents(team, ['labtest.order.created', 'labtest.order.updated'])
    await delivery.drain()
    const typesOf = async (query: string) => (await get(`events?${query}`)).data.map(({ type }: { type: string }) => type)
    const both = ['labtest.order.updated', 'labtest.order.created']
    assert.deepEqual(await typesOf(`destination_id=${hooks[0]!.id}`), both)
    assert.deepEqual(await typesOf(`destination_id=${hooks[0]!.id}&delivery_state=failed`), [])
    assert.deepEqual(await typesOf(`destination_id=${hooks[1]!.id}&delivery_state=failed`), both)
    assert.deepEqual(await typesOf(`destination_id=${refused.id}`), ['labtest.order.updated'])
    assert.deepEqual(await typesOf(`destination_id=${hooks[1]!.id}&response_status=503`), both)
    assert.deepEqual(await typesOf(`destination_id=${hooks[0]!.id}&response_status=503`), [])
    assert.deepEqual(await typesOf('response_status=500'), [])
    assert.deepEqual(await typesOf('error=ECONNREFUSED'), ['labtest.order.updated'])
    const other = await createTestTeam()
    assert.deepEqual((await other.api.get(`/console/v1/events?destination_id=${hooks[1]!.id}`)).body.data, [])
  })
})

describe('one event', () => {
  test('has its body, its destinations and every attempt with request, response and time', async () => {
    const { team, good, hooks, get } = await scene()
    await team.manage.put(`${hooks[0]!.path}/headers`, { headers: { authorization: 'swordfish' } })
    await emitEvents(team)
    await delivery.drain()
    const [row] = (await get('events')).data
    const { body, destinations, attempts, ...rest } = await get(`events/${row.id}`)
    assert.deepEqual(rest, row)
    assert.deepEqual(body, JSON.parse(good.received[0]!.body))
    const stateOf = (id: string) =>
      destinations.find((destination: { destination_id: string }) => destination.destination_id === id)
    assert.deepEqual([stateOf(hooks[0]!.id).state, stateOf(hooks[0]!.id).kind], ['delivered', 'webhook'])
    assert.deepEqual([stateOf(hooks[1]!.id).state, stateOf(hooks[1]!.id).attempts], ['failed', 2])
    const ofGood = attempts.filter(({ destination_id }: { destination_id: string }) => destination_id === hooks[0]!.id)
    assert.deepEqual(
      [ofGood.length, ofGood[0].response_status, ofGood[0].succeeded, ofGood[0].response_body],
      [1, 200, true, 'thanks'],
    )
    assert.equal(ofGood[0].request_headers.authorization, '(withheld)')
    assert.equal(ofGood[0].request_headers['webhook-signature'], good.received[0]!.headers['webhook-signature'])
    const ofBad = attempts.filter(({ destination_id }: { destination_id: string }) => destination_id === hooks[1]!.id)
    assert.deepEqual(
      ofBad.map(({ response_status, response_body }: Record<string, unknown>) => [response_status, response_body]),
      [
        [503, '<b>busy</b>'],
        [503, '<b>busy</b>'],
      ],
    )
  })

  test('is not found by another team, and not when its user is deleted', async () => {
    const { team, get } = await scene()
    const user_id = await emitEvents(team)
    await delivery.drain()
    const [{ id }] = (await get('events')).data
    const other = await createTestTeam()
    assert.equal((await other.api.get(`/console/v1/events/${id}`)).status, 404)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await team.api.get(`/console/v1/events/${id}`)).status, 404)
    assert.deepEqual((await get('events')).data, [])
  })
})

describe('failures of deliveries', () => {
  test('are grouped by destination and cause, the most frequent first', async () => {
    const { team, hooks, get } = await scene()
    const refused = await endpoint(team, { url: 'http://127.0.0.1:1/', filter_types: ['labtest.order.updated'] })
    await emitEvents(team, ['labtest.order.created', 'labtest.order.updated'])
    await delivery.drain()
    const { data, is_complete } = await get('delivery_failures?hours=1')
    assert.equal(is_complete, true)
    assert.deepEqual(
      data.map((group: Record<string, unknown>) => [
        group.destination_id,
        group.response_status,
        group.error,
        group.attempts,
        group.messages,
      ]),
      [
        [hooks[1]!.id, 503, null, 4, 2],
        [refused.id, null, 'ECONNREFUSED', 2, 1],
      ],
    )
    const [newest] = (await get('events')).data
    assert.equal(data[0].last_message_id, newest.message_id)
    const other = await createTestTeam()
    assert.deepEqual((await other.api.get('/console/v1/delivery_failures')).body, { data: [], is_complete: true })
  })

  test('are not among them when their event is about a deleted user', async () => {
    const { team, get } = await scene()
    const user_id = await emitEvents(team)
    await delivery.drain()
    assert.equal((await get('delivery_failures')).data.length, 1)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.deepEqual((await get('delivery_failures')).data, [])
  })

  test('are counted with the successes of each destination over time', async () => {
    const { team, hooks, get } = await scene()
    await emitEvents(team, ['labtest.order.created', 'labtest.order.updated'])
    await delivery.drain()
    for (const hours of [1, 24, 720]) {
      const { step_s, starts, data } = await get(`delivery_attempt_counts?hours=${hours}`)
      assert((starts.length - 1) * step_s >= hours * 3600 && starts.length <= 121, `${hours}: ${starts.length} of ${step_s} s`)
      const sumsOf = (id: string) => {
        const { delivered, failed } = data.find((counts: { destination_id: string }) => counts.destination_id === id)
        assert.deepEqual([delivered.length, failed.length], [starts.length, starts.length])
        return [delivered, failed].map((counts: number[]) => counts.reduce((sum, n) => sum + n, 0))
      }
      assert.deepEqual(sumsOf(hooks[0]!.id), [2, 0])
      assert.deepEqual(sumsOf(hooks[1]!.id), [0, 4])
    }
    const other = await createTestTeam()
    assert.deepEqual((await other.api.get('/console/v1/delivery_attempt_counts')).body.data, [])
  })

  test('show in the health of the endpoint that fails, and not of others', async () => {
    const { team, hooks, get } = await scene()
    await emitEvents(team)
    await delivery.drain()
    await team.db.pool.query(
      'update destination set first_failure_at = created_at from webhook w where w.id = destination.id and w.id = $1',
      [hooks[1]!.id],
    )
    const stateOf = async (id: string) =>
      (await get('endpoint_health')).data.find((destination: { destination_id: string }) => destination.destination_id === id)
    assert.deepEqual(await stateOf(hooks[0]!.id), {
      destination_id: hooks[0]!.id,
      kind: 'webhook',
      state: 'ok',
      failing_since: null,
      paused_until: null,
      pending: 0,
      oldest_pending_at: null,
      retrying: 0,
    })
    const failing = await stateOf(hooks[1]!.id)
    assert(['failing', 'paused'].includes(failing.state))
    assert.notEqual(failing.failing_since, null)
    await team.manage.patch(hooks[1]!.path, { disabled: true })
    assert.equal((await stateOf(hooks[1]!.id)).state, 'disabled')
  })
})
