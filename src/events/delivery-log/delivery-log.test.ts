import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { contents } from '../../app/contents.ts'

const operationalTypes = contents.eventTypes.filter(({ family }) => family === 'operational')
const eventTypes = contents.eventTypes.filter(({ family }) => family !== 'operational')

const delivery = delivering({ schedule_s: [0, 0] })
const LONG_AGO = '2026-01-01T00:00:00+00:00'

async function scene() {
  const team = await createTestTeam()
  let status = 200
  const target = await receiver((_received, response) => response.writeHead(status).end('x'.repeat(30_000)))
  const hook = await endpoint(team, { url: target.url })
  const messages = async (query = '') => (await team.manage.get(`${hook.path}/message${query}`)).body.data
  const post = (path: string, body?: unknown) => team.manage.post(`${hook.path}/${path}`, body)
  return { team, target, hook, messages, post, answer: (next: number) => (status = next) }
}

describe('the log of an endpoint', () => {
  test('the delivery log lists messages newest first, page by page, filtered by state and type', async () => {
    const { team, hook, messages, answer } = await scene()
    await emitEvents(team, ['labtest.order.created', 'labtest.order.updated'])
    await delivery.drain()
    answer(500)
    await emitEvents(team, ['labtest.order.created'])
    await delivery.drain()
    const all = await messages()
    assert.deepEqual(
      all.map(({ event_type, state, attempts }: Record<string, unknown>) => [event_type, state, attempts]),
      [
        ['labtest.order.created', 'failed', 2],
        ['labtest.order.updated', 'delivered', 1],
        ['labtest.order.created', 'delivered', 1],
      ],
    )
    assert.equal((await messages('?state=failed')).length, 1)
    assert.equal((await messages('?event_type=labtest.order.updated')).length, 1)
    const first = (await team.manage.get(`${hook.path}/message?limit=2`)).body
    const second = (await team.manage.get(`${hook.path}/message?limit=2&next_cursor=${first.next_cursor}`)).body
    assert.deepEqual([...first.data, ...second.data], all)
    assert.equal(second.next_cursor, null)
  })

  test('the delivery log returns a message with the body that is sent', async () => {
    const { team, target, hook, messages } = await scene()
    await emitEvents(team)
    await delivery.drain()
    const [{ id }] = await messages()
    const { body } = await team.manage.get(`${hook.path}/message/${id}`)
    assert.deepEqual(body.body, JSON.parse(target.received[0]!.body))
    assert.equal(target.received[0]!.headers['svix-id'], id)
  })

  test('the delivery log returns each attempt with its request, without custom header values, and the start of the response', async () => {
    const { team, target, hook, messages, answer } = await scene()
    await team.manage.put(`${hook.path}/headers`, { headers: { authorization: 'swordfish', 'x-clinic': 'tunafish' } })
    answer(500)
    await emitEvents(team)
    await delivery.drain()
    assert.equal(target.received[0]!.headers.authorization, 'swordfish')
    assert.equal(target.received[0]!.headers['x-clinic'], 'tunafish')
    const [{ id }] = await messages()
    const { body } = await team.manage.get(`${hook.path}/message/${id}/attempt`)
    assert.equal(body.data.length, 2)
    for (const [i, attempt] of body.data.entries()) {
      const sent = target.received[1 - i]!.headers
      assert.deepEqual(
        [attempt.response_status, attempt.succeeded, attempt.trigger, attempt.error],
        [500, false, 'scheduled', null],
      )
      assert.equal(attempt.response_body, 'x'.repeat(4096))
      assert.equal(attempt.message_id, id)
      for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'svix-signature', 'user-agent', 'content-type'])
        assert.equal(attempt.request_headers[name], sent[name])
      assert.equal(attempt.request_headers.authorization, '(withheld)')
      assert.equal(attempt.request_headers['x-clinic'], '(withheld)')
    }
    const { rows } = await team.db.pool.query('select response_body from delivery_attempt where team_id = $1', [team.team])
    assert.equal(rows[0].response_body.length, 20_000)
  })

  test('the delivery log states why an attempt got no response', async () => {
    const team = await createTestTeam()
    const silent = await receiver(() => {})
    const slow = await endpoint(team, { url: silent.url })
    const gone = await endpoint(team, { url: 'http://127.0.0.1:1/' })
    await emitEvents(team)
    await delivering({ schedule_s: [0], attempt_ms_max: 750 }).drain()
    const errorOf = async (path: string) => {
      const [{ id }] = (await team.manage.get(`${path}/message`)).body.data
      const [attempt] = (await team.manage.get(`${path}/message/${id}/attempt?limit=1`)).body.data
      return [attempt.response_status, attempt.error]
    }
    assert.deepEqual(await errorOf(slow.path), [null, 'timeout'])
    assert.deepEqual(await errorOf(gone.path), [null, 'ECONNREFUSED'])
  })

  test('the delivery log returns 404 to another team and for unknown messages', async () => {
    const { team, hook, messages } = await scene()
    const stranger = await scene()
    await emitEvents(team)
    await delivery.drain()
    const [{ id }] = await messages()
    for (const rest of ['', '/attempt']) {
      const path = `/message/${id}${rest}`
      assert.equal((await stranger.team.manage.get(`${stranger.hook.path}${path}`)).status, 404)
      assert.equal((await stranger.team.manage.get(`${hook.path}${path}`)).status, 404)
      assert.equal((await team.manage.get(`${hook.path}/message/nonsense${rest}`)).status, 404)
    }
    assert.equal((await stranger.post(`message/${id}/resend`)).status, 404)
    assert.deepEqual(await deliveryStates(stranger.team, stranger.hook.id), {})
  })
})

describe('sending again', () => {
  test('a resend is kept while the previous attempt is not recorded yet', async () => {
    const team = await createTestTeam()
    const target = await receiver((request, response) => {
      const resend = () => team.manage.post(`${hook.path}/message/${request.headers['webhook-id']}/resend`)
      // The receiver has the message and has not answered.
      if (target.received.length > 1) response.end()
      else void resend().then(() => response.end())
    })
    const hook = await endpoint(team, { url: target.url })
    await emitEvents(team)
    await delivery.drain()
    assert.equal(target.received.length, 2)
    assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 1 })
    const [{ id }] = (await team.manage.get(`${hook.path}/message`)).body.data
    const attempts = (await team.manage.get(`${hook.path}/message/${id}/attempt`)).body.data
    assert.deepEqual(
      attempts.map(({ trigger }: { trigger: string }) => trigger),
      ['manual', 'scheduled'],
    )
  })

  test('a resend sends the same id and bytes with a new signature and is marked as manual', async () => {
    const { team, target, hook, messages, post } = await scene()
    await emitEvents(team)
    await delivery.drain()
    const [{ id }] = await messages()
    const reply = await post(`message/${id}/resend`)
    assert.equal(reply.status, 200)
    assert.deepEqual([reply.body.id, reply.body.state, reply.body.attempts], [id, 'pending', 0])
    await delivery.drain()
    const [first, second] = target.received
    assert.equal(target.received.length, 2)
    assert.deepEqual([second!.body, second!.headers['webhook-id']], [first!.body, first!.headers['webhook-id']])
    const { body } = await team.manage.get(`${hook.path}/message/${id}/attempt`)
    assert.deepEqual(
      body.data.map(({ trigger }: { trigger: string }) => trigger),
      ['manual', 'scheduled'],
    )
  })

  test('recovery and replay send failed messages and messages from before the endpoint existed', async () => {
    const { team, target, hook, answer, post } = await scene()
    await emitEvents(team, ['labtest.order.created'])
    await delivery.drain()
    answer(500)
    await emitEvents(team, ['labtest.order.updated'])
    await delivery.drain()
    answer(200)
    const late = await endpoint(team, { url: `${target.url}/late`, filter_types: ['labtest.order.created'] })
    target.received.length = 0
    const sent = () => target.received.splice(0).map(({ path, body }) => `${path} ${JSON.parse(body).event_type}`)
    const replayed = async () => {
      await team.settle()
      await delivery.drain()
      return sent().sort()
    }
    assert.equal((await post('recover', { since: LONG_AGO })).status, 200)
    assert.deepEqual(await replayed(), ['/hook labtest.order.updated'])
    assert.equal((await team.manage.post(`${late.path}/replay`, { since: LONG_AGO })).status, 200)
    assert.deepEqual(await replayed(), ['/hook/late labtest.order.created'])
    await post('replay', { since: LONG_AGO })
    assert.deepEqual(await replayed(), [])
    await post('replay', { since: LONG_AGO, which: 'all' })
    assert.deepEqual(await replayed(), ['/hook labtest.order.created', '/hook labtest.order.updated'])
    await post('replay', { since: LONG_AGO, until: '2026-01-02T00:00:00Z', which: 'all' })
    assert.deepEqual(await replayed(), [])
    assert.equal((await post('replay', { since: '2026-02-01T00:00:00Z', until: LONG_AGO })).status, 422)
    assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 2 })
  })

  test('the counts of a span say what a recovery will send, and afterwards what came of it', async () => {
    const { team, hook, post, answer } = await scene()
    await emitEvents(team, ['labtest.order.created'])
    await delivery.drain()
    answer(500)
    await emitEvents(team, ['labtest.order.updated', 'labtest.order.updated'], { objects: 'each' })
    await delivery.drain()
    const late = await endpoint(team, { url: 'http://127.0.0.1:1/', filter_types: ['labtest.order.updated'] })
    const countsOf = async (id: string, query = `since=${encodeURIComponent(LONG_AGO)}`) => {
      const { status, body } = await team.api.get(`/console/v1/endpoints/${id}/event_counts?${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      const { pending, delivered, failed, stopped, missing, is_complete } = body
      assert.equal(is_complete, true)
      return { pending, delivered, failed, stopped, missing }
    }
    const nothing = { pending: 0, delivered: 0, failed: 0, stopped: 0, missing: 0 }
    assert.deepEqual(await countsOf(hook.id), { ...nothing, delivered: 1, failed: 2 })
    assert.deepEqual(await countsOf(late.id), { ...nothing, missing: 2 })
    assert.deepEqual(await countsOf(hook.id, 'since=2100-01-01T00:00:00Z&until=2100-01-02T00:00:00Z'), nothing)
    answer(200)
    await post('recover', { since: LONG_AGO })
    await team.settle()
    assert.deepEqual(await countsOf(hook.id), { ...nothing, delivered: 1, pending: 2 })
    await delivery.drain()
    assert.deepEqual(await countsOf(hook.id), { ...nothing, delivered: 3 })
    const path = `/console/v1/endpoints/${hook.id}/event_counts`
    assert.equal((await team.api.get(`${path}?since=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z`)).status, 422)
    assert.equal((await (await createTestTeam()).api.get(`${path}?since=2026-02-01T00:00:00Z`)).status, 404)
  })

  test('a replay continues over more than one page of events', async () => {
    const { team, target, hook } = await scene()
    await team.manage.patch(hook.path, { disabled: true })
    const user = await team.user()
    for (let i = 0; i < 3; i++)
      await emitEvents(team, Array<string>(400).fill('labtest.order.updated'), { user: user, objects: 'each' })
    await delivery.drain()
    await team.manage.patch(hook.path, { disabled: false })
    await team.manage.post(`${hook.path}/replay`, { since: LONG_AGO })
    await team.settle()
    await delivery.drain()
    assert.equal(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size, 1200)
  })

  test('a resend is rejected while the endpoint is disabled', async () => {
    const { team, hook, post, messages } = await scene()
    await emitEvents(team)
    await delivery.drain()
    const [{ id }] = await messages()
    await team.manage.patch(hook.path, { disabled: true })
    assert.equal((await post(`message/${id}/resend`)).status, 400)
    assert.equal((await post('replay', { since: LONG_AGO })).status, 400)
    assert.equal((await post('recover', { since: LONG_AGO })).status, 400)
    assert.equal((await post('test', { event_type: 'labtest.order.created' })).status, 400)
  })
})

describe('a test', () => {
  test('a test message is sent to one endpoint regardless of its filter, signed and logged like any other', async () => {
    const { team, target, hook, post, messages } = await scene()
    await endpoint(team, { url: `${target.url}/other` })
    await team.manage.patch(hook.path, { filter_types: ['labtest.order.created'] })
    const { body } = await post('test', { event_type: 'daily.data.sleep.created' })
    await delivery.drain()
    assert.deepEqual(
      target.received.map(({ path, headers }) => [path, headers['webhook-id']]),
      [['/hook', body.id]],
    )
    assert.equal(JSON.parse(target.received[0]!.body).team_id, team.team)
    assert.deepEqual((await messages())[0], { ...body, state: 'delivered', attempts: 1, next_attempt_at: null })
    assert.equal((await post('test', { event_type: 'no.such.type' })).status, 422)
  })

  test('a test message can have every event type, and its body has only the keys of the envelope', async () => {
    const { team } = await scene()
    const types = `/team/${team.team}/sandbox/event_type`
    const { data } = (await team.manage.get(types)).body
    assert.equal(data.length, 198)
    for (const { name } of eventTypes) {
      const { status, body } = await team.manage.get(`${types}/${name}/sample`)
      assert.equal(status, 200)
      const keys = name.startsWith('labtest.match_review.') ? [] : ['client_user_id', 'user_id']
      assert.deepEqual(
        Object.keys(body).sort(),
        ['client_user_id', 'data', 'event_type', 'team_id', 'user_id'].filter(
          (key) => keys.includes(key) || !key.includes('user_id'),
        ),
      )
      assert.equal(Array.isArray(body.data), name.startsWith('continuous_query.'))
    }
    for (const { name } of operationalTypes)
      assert.deepEqual(Object.keys((await team.manage.get(`${types}/${name}/sample`)).body), ['type', 'data'])
    assert.equal((await team.manage.get(`${types}/no.such.type/sample`)).status, 422)
  })
})

test('the delivery metric counts attempts by outcome per interval, and is empty when nothing was sent', async () => {
  const { team, answer } = await scene()
  const metric = async (query = '') => (await team.manage.get(`/team/${team.team}/sandbox/event_delivery_metric${query}`)).body
  assert.deepEqual(await metric(), { status: 'success', data: { resultType: 'matrix', result: [] } })
  await emitEvents(team)
  await delivery.drain()
  answer(500)
  await emitEvents(team)
  await delivery.drain()
  for (const [interval, step] of Object.entries({ '5m': 300, '15m': 900, '1h': 3600, '1d': 86_400 })) {
    const { result } = (await metric(`?interval=${interval}`)).data
    assert.deepEqual(
      result.map((series: { metric: unknown; values: [number, string][] }) => [
        series.metric,
        series.values.reduce((sum, [, n]) => sum + Number(n), 0),
        series.values[1]![0] - series.values[0]![0],
      ]),
      [
        [{ destination: 'webhook', outcome: 'success' }, 1, step],
        [{ destination: 'webhook', outcome: 'failure' }, 2, step],
      ],
    )
  }
  assert.equal((await team.manage.get(`/team/${team.team}/sandbox/event_delivery_metric?interval=2h`)).status, 422)
})
