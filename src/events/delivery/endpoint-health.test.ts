// Failing, overloaded and disabled endpoints, and the messages about them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import {
  delivering,
  endpoint,
  makeDeliveriesDue,
  receiver,
  deliveryStates,
  emitEvents,
} from '../../../test/support/webhook-receiver.ts'

const delivery = delivering({ schedule_s: [0, 3600, 3600, 3600, 3600] })

/** A receiver with configurable responses, and an endpoint that subscribes to messages about deliveries. */
async function scene(extra: Record<string, unknown> = {}) {
  const team = await createTestTeam()
  const said = { status: 200, headers: {} as Record<string, string> }
  const target = await receiver((_received, response) => response.writeHead(said.status, said.headers).end())
  const hook = await endpoint(team, { url: target.url, filter_types: ['labtest.order.created'], ...extra })
  const ear = await receiver()
  const types = ['message.attempt.failing', 'message.attempt.exhausted', 'message.attempt.recovered', 'endpoint.disabled']
  const listener = await endpoint(team, { url: ear.url, filter_types: types })
  const heard = () => ear.received.splice(0).map(({ body }) => JSON.parse(body))
  const again = async (times = 1) => {
    for (let i = 0; i < times; i++) {
      await makeDeliveriesDue(team)
      await delivery.drain()
    }
  }
  const disabled = async () => (await team.manage.get(hook.path)).body.disabled as boolean
  return { team, said, target, hook, listener, heard, again, disabled }
}

const readLease = async (team: TestTeam, webhook_id: string) =>
  (
    await team.db.pool.query(
      'select extract(epoch from paused_until - clock_timestamp())::float8 as pause_s, first_failure_at, failing_since from destination where team_id = $1 and id = $2',
      [team.team, webhook_id],
    )
  ).rows[0] as { pause_s: number | null; first_failure_at: string | null; failing_since: string | null }

/** The time until the next attempt, in seconds. */
const countWaiting = async (team: TestTeam) =>
  Number(
    (
      await team.db.pool.query(
        'select extract(epoch from due_at - clock_timestamp()) as s from delivery where team_id = $1 and due_at is not null',
        [team.team],
      )
    ).rows[0]?.s,
  )

describe('a message that keeps failing', () => {
  test('a failing message is reported after the fourth attempt, after the last, and when it is delivered later', async () => {
    const { team, said, hook, heard, again } = await scene()
    said.status = 500
    await emitEvents(team)
    await delivery.drain()
    await again(2)
    assert.deepEqual(heard(), [])
    await again()
    await delivery.drain()
    const [failing] = heard()
    const [{ id }] = (await team.manage.get(`${hook.path}/message`)).body.data
    const [last] = (await team.manage.get(`${hook.path}/message/${id}/attempt`)).body.data
    assert.deepEqual(failing, {
      type: 'message.attempt.failing',
      data: {
        appId: team.team,
        appUid: null,
        endpointId: hook.id,
        msgId: id,
        msgEventId: null,
        lastAttempt: { id: last.id, responseStatusCode: 500, timestamp: last.at },
      },
    })
    await again()
    await delivery.drain()
    assert.deepEqual(
      heard().map(({ type }) => type),
      ['message.attempt.exhausted'],
    )
    assert.deepEqual(await deliveryStates(team, hook.id), { 'failed after 5': 1 })
    said.status = 200
    await team.manage.post(`${hook.path}/message/${id}/resend`)
    await delivery.drain()
    await delivery.drain()
    assert.deepEqual(
      heard().map(({ type }) => type),
      ['message.attempt.recovered'],
    )
    await team.manage.post(`${hook.path}/message/${id}/resend`)
    await delivery.drain()
    await delivery.drain()
    assert.deepEqual(heard(), [])
  })

  test('a failing report is not reported itself', async () => {
    const { team, said, listener, heard, again } = await scene()
    await team.manage.patch(listener.path, { url: (await receiver((_r, response) => response.writeHead(500).end())).url })
    const ear = await receiver()
    await endpoint(team, { url: ear.url, filter_types: ['message.attempt.exhausted', 'message.attempt.failing'] })
    said.status = 500
    await emitEvents(team)
    await delivery.drain()
    await again(12)
    assert.deepEqual(await deliveryStates(team, listener.id), { 'failed after 5': 2 })
    assert.deepEqual(
      ear.received.map(({ body }) => JSON.parse(body).type),
      ['message.attempt.failing', 'message.attempt.exhausted'],
    )
    assert.deepEqual(heard(), [])
  })

  test('a failing message is not reported to endpoints that did not subscribe to reports by name', async () => {
    const { team, said, again } = await scene()
    const all = await receiver()
    await endpoint(team, { url: all.url })
    said.status = 500
    await emitEvents(team)
    await delivery.drain()
    await again(5)
    assert.equal(all.received.length, 1)
  })
})

describe('an endpoint', () => {
  test('an endpoint that returns 410 is disabled at once; its pending deliveries stop and can be recovered', async () => {
    const { team, said, target, hook, heard, disabled } = await scene()
    said.status = 500
    await emitEvents(team)
    await delivery.drain()
    said.status = 410
    await emitEvents(team)
    await delivery.drain()
    await delivery.drain()
    assert.equal(await disabled(), true)
    assert.deepEqual(
      heard().map(({ type, data }) => [type, data.endpointId]),
      [['endpoint.disabled', hook.id]],
    )
    assert.deepEqual(await deliveryStates(team, hook.id), { 'stopped after 1': 1, 'failed after 1': 1 })
    await emitEvents(team)
    await delivery.drain()
    assert.equal(target.received.length, 2)
    said.status = 200
    await team.manage.patch(hook.path, { disabled: false })
    await delivery.drain()
    assert.equal(target.received.length, 2)
    await team.manage.post(`${hook.path}/recover`, { since: '2026-01-01T00:00:00Z' })
    await team.settle()
    await delivery.drain()
    assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 2 })
  })

  test('an endpoint that has failed for five days is disabled, and the report has the start of the failure', async () => {
    const { team, said, hook, heard, again, disabled } = await scene()
    said.status = 500
    await emitEvents(team)
    await delivery.drain()
    const shift = (column: string, hours: number) =>
      team.db.pool.query(`update destination set ${column} = clock_timestamp() - make_interval(hours => $2) where id = $1`, [
        hook.id,
        hours,
      ])
    assert.notEqual((await readLease(team, hook.id)).first_failure_at, null)
    await shift('first_failure_at', 13)
    await again()
    assert.notEqual((await readLease(team, hook.id)).failing_since, null)
    await shift('failing_since', 119)
    await again()
    assert.equal(await disabled(), false)
    await shift('failing_since', 121)
    await emitEvents(team)
    await delivery.drain()
    await delivery.drain()
    assert.equal(await disabled(), true)
    const [{ type, data }] = heard().filter((message) => message.type === 'endpoint.disabled')
    assert.equal(type, 'endpoint.disabled')
    const ago_h = (Date.now() - Date.parse(data.failSince)) / 3_600_000
    assert.ok(ago_h > 120.9 && ago_h < 121.1)
  })

  test('one success resets the failure period of an endpoint', async () => {
    const { team, said, hook } = await scene()
    said.status = 500
    await emitEvents(team)
    await delivery.drain()
    assert.notEqual((await readLease(team, hook.id)).first_failure_at, null)
    said.status = 200
    await emitEvents(team)
    await delivery.drain()
    assert.equal((await readLease(team, hook.id)).first_failure_at, null)
  })

  test('an overloaded endpoint is paused with all its deliveries, and other endpoints are not', async () => {
    const { team, said, target, hook } = await scene()
    const other = await receiver()
    await endpoint(team, { url: other.url, filter_types: ['labtest.order.created'] })
    Object.assign(said, { status: 429, headers: { 'retry-after': '40' } })
    await emitEvents(team)
    await delivery.drain()
    const { pause_s } = await readLease(team, hook.id)
    assert.ok(pause_s! > 30 && pause_s! <= 40, `${pause_s}`)
    await emitEvents(team)
    await delivery.drain()
    assert.equal(target.received.length, 1)
    assert.equal(other.received.length, 2)
  })

  test('an endpoint can delay the next attempt with Retry-After, but not make it earlier', async () => {
    for (const [status, header, from, to] of [
      [503, '20000', 19_000, 20_001],
      [503, '5', 2800, 4400],
      [500, '20000', 2800, 4400],
    ] as const) {
      const { team, said } = await scene()
      Object.assign(said, { status, headers: { 'retry-after': header } })
      await emitEvents(team)
      await delivery.drain()
      const s = await countWaiting(team)
      assert.ok(s > from && s < to, `${status} ${header}: ${s}`)
    }
  })

  test('a disabled endpoint is sent nothing, and nothing is queued for it', async () => {
    const { team, target, hook } = await scene()
    await emitEvents(team)
    await team.manage.patch(hook.path, { disabled: true })
    await delivery.drain()
    assert.equal(target.received.length, 0)
    assert.deepEqual(await deliveryStates(team, hook.id), {})
  })

  test('an endpoint with a rate limit is never sent more than that at once, and receives everything eventually', async () => {
    const { team, target, hook } = await scene({ rate_limit: 3 })
    await emitEvents(team, Array<string>(8).fill('labtest.order.created'), { objects: 'each' })
    // Its clock stands still: on a busy machine the next delivery would be due before the first ones are recorded.
    await delivering({ now_ms: () => 1000 }).drain()
    assert.equal(target.received.length, 3)
    assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 3, 'pending after 0': 5 })
    const patient = delivering()
    patient.start()
    await eventually(() => target.received.length >= 8, 'all events are received')
    await patient.stop()
    assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 8 })
  })

  test('an endpoint that never responds does not delay another', async () => {
    const team = await createTestTeam()
    const silent = await receiver(() => {})
    const quick = await receiver()
    await endpoint(team, { url: silent.url })
    await endpoint(team, { url: quick.url })
    const patient = delivering({ attempt_ms_max: 60_000 })
    for (let i = 0; i < 5; i++) await emitEvents(team, Array<string>(10).fill('labtest.order.created'), { objects: 'each' })
    patient.start()
    await eventually(() => quick.received.length >= 50, 'the quick endpoint has received all events')
    assert.ok(silent.received.length <= 10)
    silent.server.closeAllConnections()
    silent.server.close()
    await patient.stop()
  })
})

test('both keys sign after a secret is rotated, and a day later only the new one', async () => {
  const { team, target, hook } = await scene()
  await team.manage.post(`${hook.path}/secret/rotate`, {})
  const tokens = async () => {
    await emitEvents(team)
    await delivery.drain()
    return String(target.received.at(-1)!.headers['svix-signature']).split(' ').length
  }
  assert.equal(await tokens(), 2)
  await team.api.post('/v1/sandbox/clock/advance', { seconds: 86_399 - 60 })
  assert.equal(await tokens(), 2)
  await team.api.post('/v1/sandbox/clock/advance', { seconds: 3600 })
  assert.equal(await tokens(), 1)
})

test('deliveries buffered by a killed process are sent again when its lease has ended', async () => {
  const { team, target, hook } = await scene()
  await emitEvents(team)
  await emitEvents(team)
  // A process that claims and is killed before it has recorded anything.
  const dead = delivering({ attempt_ms_max: 1 })
  await dead.drain()
  const sent = target.received.length
  await team.db.queries.run(sql`
    update delivery set state = 'pending', attempts = 0, due_at = ${dbNow}, leased_until = ${dbNowPlus(30)} where team_id = ${team.team} and destination_id = ${hook.id}`)
  await team.db.queries.run(sql`
    update destination set owner = gen_random_uuid(), leased_until = ${dbNowPlus(30)} where team_id = ${team.team} and id = ${hook.id}`)
  await delivery.drain()
  assert.equal(target.received.length, sent)
  await team.db.queries.run(sql`
    update delivery set leased_until = ${dbNow} where team_id = ${team.team} and destination_id = ${hook.id}`)
  await team.db.queries.run(sql`
    update destination set leased_until = ${dbNow} where team_id = ${team.team} and id = ${hook.id}`)
  await delivering().drain()
  assert.equal(target.received.length, sent + 2)
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 2 })
})
