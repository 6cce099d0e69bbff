// The bodies of events of health data end before the events, and every operation says so. Events of orders stay whole.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam, expire, type TestTeam } from '../../../test/support/server.ts'
import { delivering, deliveryStates, emitEvents, endpoint, receiver } from '../../../test/support/webhook-receiver.ts'
import { contents } from '../../app/contents.ts'
import { bodyCleanup, eventCleanup } from '../../platform/queue/event-retention.ts'
import { deliveryCleanups, isStillToSend } from './delivery-rows.ts'

const delivery = delivering({ schedule_s: [0] })
const bodies = bodyCleanup(7, isStillToSend)
const ACTIVITY = 'daily.data.activity.created'
const ORDER = 'labtest.order.created'
const LONG_AGO = { since: '2026-01-01T00:00:00+00:00' }

async function scene() {
  const team = await createTestTeam()
  let status = 200
  const target = await receiver((_received, response) => response.writeHead(status).end())
  const hook = await endpoint(team, { url: target.url })
  return { team, target, hook, respondWith: (next: number) => (status = next) }
}

/** As if everything that the team has were so many days older; then what is overdue is deleted. */
async function age({ db, team }: TestTeam, days: number): Promise<void> {
  for (const [table, column] of [
    ['event', 'expires_at'],
    ['event_body', 'retained_from'],
    ['delivery', 'created_at'],
  ])
    await db.pool.query(`update ${table} set ${column} = ${column} - make_interval(days => $2) where team_id = $1`, [team, days])
  await expire(db, bodies, eventCleanup, ...deliveryCleanups)
}

const storedBodies = async ({ db, team }: TestTeam): Promise<number> =>
  (await db.pool.query('select from event_body where team_id = $1', [team])).rowCount!
const listEvents = async (team: TestTeam) =>
  (await team.api.get('/v1/events')).body.data.map(({ type, body }: { type: string; body: unknown }) => [type, body !== null])
const followEvents = async (team: TestTeam) =>
  (await team.api.get('/v1/events/follow')).body.data.map(({ type, body }: { type: string; body: unknown }) => [
    type,
    typeof body,
  ])
const messages = async (team: TestTeam, path: string) =>
  (await team.manage.get(`${path}/message`)).body.data as { id: string; event_id: string; event_type: string; state: string }[]

describe('the body of an event of health data', () => {
  test('is deleted seven days after the event was delivered, which every operation says, and the event stays listed', async () => {
    const { team, target, hook } = await scene()
    await emitEvents(team, [ACTIVITY])
    await delivery.drain()
    await age(team, 6)
    assert.deepEqual(await listEvents(team), [[ACTIVITY, true]])
    await age(team, 2)
    assert.equal(await storedBodies(team), 0)
    assert.deepEqual(await listEvents(team), [[ACTIVITY, false]])
    assert.deepEqual(await followEvents(team), [[ACTIVITY, 'object']])
    const [message] = await messages(team, hook.path)
    assert.deepEqual([message!.event_type, message!.state], [ACTIVITY, 'delivered'])
    assert.equal((await team.manage.get(`${hook.path}/message/${message!.id}`)).body.body, null)
    assert.equal((await team.api.get(`/console/v1/events/${message!.event_id}`)).body.body, null)
    const resent = await team.manage.post(`${hook.path}/message/${message!.id}/resend`)
    assert.deepEqual([resent.status, /body of this event is deleted/.test(resent.body.detail)], [400, true])
    assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 1 })
    assert.equal((await team.manage.post(`${hook.path}/replay`, { ...LONG_AGO, which: 'all' })).status, 200)
    await team.settle()
    await delivery.drain()
    assert.equal(target.received.length, 1)
    assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 1 })
  })

  test('is not replayed to a new endpoint when it is deleted, and the counts say so', async () => {
    const { team } = await scene()
    await emitEvents(team, [ACTIVITY, ORDER])
    await delivery.drain()
    await age(team, 8)
    const target = await receiver()
    const later = await endpoint(team, { url: target.url })
    const { body } = await team.api.get(`/console/v1/endpoints/${later.id}/event_counts`)
    assert.deepEqual([body.missing, body.without_body], [1, 1])
    await team.manage.post(`${later.path}/replay`, { ...LONG_AGO, which: 'missing' })
    await team.settle()
    await delivery.drain()
    assert.deepEqual(
      target.received.map((request) => JSON.parse(request.body).event_type),
      [ORDER],
    )
    const unqueued = (await team.api.get(`/v1/events?type=${ACTIVITY}`)).body.data[0].id as string
    const path = `${later.path}/message/msg_${unqueued.replaceAll('-', '')}/resend`
    assert.equal((await team.manage.post(path)).status, 400)
  })

  for (const [status, disabled] of [
    [500, false],
    [410, true],
  ] as const)
    test(`stays for thirty days if the endpoint ${disabled ? 'is disabled' : 'has failed'}, so that it can be recovered byte for byte`, async () => {
      const { team, target, hook, respondWith } = await scene()
      respondWith(status)
      await emitEvents(team, [ACTIVITY])
      await delivery.drain()
      await age(team, 8)
      // It is looked at once more, when its event ends.
      assert.equal(await bodies.overdueFor(team.db, team.db), undefined)
      await age(team, 21)
      assert.equal(await storedBodies(team), 1)
      respondWith(200)
      assert.equal((await team.manage.patch(hook.path, { disabled: false })).status, 200)
      assert.equal(
        (await team.manage.post(`${hook.path}/message/${(await messages(team, hook.path))[0]!.id}/resend`)).status,
        200,
      )
      await delivery.drain()
      const [first, again] = target.received
      assert.equal(again!.body, first!.body)
      assert.equal(again!.headers['webhook-id'], first!.headers['webhook-id'])
      await age(team, 2)
      assert.equal(await storedBodies(team), 0)
      assert.deepEqual(await listEvents(team), [])
      assert.deepEqual(await messages(team, hook.path), [])
    })

  test('stays while a delivery is pending or the event waits for its deliveries, and is sent then', async () => {
    const { team, target, hook } = await scene()
    await emitEvents(team, [ACTIVITY])
    await age(team, 8)
    await delivery.drain()
    await team.db.pool.query(
      `update delivery set state = 'pending', due_at = now() + interval '1 hour' where destination_id = $1`,
      [hook.id],
    )
    await emitEvents(team, [ACTIVITY])
    await age(team, 8)
    assert.equal(await storedBodies(team), 2)
    await team.db.pool.query('update delivery set due_at = now() where destination_id = $1', [hook.id])
    await delivery.drain()
    assert.equal(target.received.length, 3)
  })

  test('ends with its event also if a delivery of it is younger, which is then listed no more', async () => {
    const { team, respondWith } = await scene()
    respondWith(500)
    await emitEvents(team, [ACTIVITY])
    await delivery.drain()
    await age(team, 29)
    const target = await receiver()
    const later = await endpoint(team, { url: target.url })
    await team.manage.post(`${later.path}/replay`, { ...LONG_AGO, which: 'missing' })
    await team.settle()
    await delivery.drain()
    assert.equal(target.received.length, 1)
    assert.equal((await messages(team, later.path)).length, 1)
    await age(team, 2)
    assert.deepEqual(await messages(team, later.path), [])
    assert.equal((await team.db.pool.query('select from delivery where destination_id = $1', [later.id])).rowCount, 1)
  })

  test('ends with its event also if the days for bodies were raised in between', async () => {
    const { team, respondWith } = await scene()
    respondWith(500)
    await emitEvents(team, [ACTIVITY])
    await delivery.drain()
    await age(team, 2)
    await expire(team.db, bodyCleanup(1, isStillToSend))
    await age(team, 29)
    assert.equal(await storedBodies(team), 0)
    assert.deepEqual(await listEvents(team), [])
  })

  test('is deleted after seven days if the team has no endpoint', async () => {
    const team = await createTestTeam()
    await emitEvents(team, [ACTIVITY])
    await age(team, 6)
    assert.equal(await storedBodies(team), 1)
    await age(team, 2)
    assert.equal(await storedBodies(team), 0)
    assert.deepEqual(await listEvents(team), [[ACTIVITY, false]])
    await age(team, 23)
    assert.deepEqual(await listEvents(team), [])
  })

  test('is erased at once with its user', async () => {
    const { team } = await scene()
    const user = await emitEvents(team, [ACTIVITY])
    await delivery.drain()
    assert.equal((await team.api.delete(`/v2/user/${user}`)).status, 200)
    await team.api.post('/v1/sandbox/clock/advance', { seconds: 8 * 86_400 })
    assert.equal(await storedBodies(team), 0)
  })

  test('is stored once, however many endpoints it goes to', async () => {
    const { team, target } = await scene()
    await endpoint(team, { url: target.url })
    await emitEvents(team, [ACTIVITY])
    await delivery.drain()
    const [one, other] = target.received
    assert.equal(one!.body, other!.body)
    const { rows } = await team.db.pool.query<{ row: string }>(
      `select to_jsonb(d)::text as row from delivery d where team_id = $1
       union all select body from event_body where team_id = $1 union all select coalesce(body, '') from event where team_id = $1`,
      [team.team],
    )
    assert.equal(rows.filter(({ row }) => row.includes('ünïcode')).length, 1)
  })
})

describe('an event that is no event of health data', () => {
  test('stays whole and can be sent again after ten years', async () => {
    const { team, target, hook } = await scene()
    await emitEvents(team, [ORDER, 'lab_report.parsing_job.created'])
    await delivery.drain()
    await age(team, 3650)
    assert.deepEqual(await listEvents(team), [
      ['lab_report.parsing_job.created', true],
      [ORDER, true],
    ])
    const [{ id }] = (await team.api.get(`/v1/events?type=${ORDER}`)).body.data
    assert.equal((await team.manage.post(`${hook.path}/message/msg_${id.replaceAll('-', '')}/resend`)).status, 200)
    await delivery.drain()
    assert.equal(target.received.at(-1)!.body, target.received.find(({ body }) => body.includes(ORDER))!.body)
  })

  test('has a type of an order, an appointment, a result, a review or a report: all others expire', async () => {
    const team = await createTestTeam()
    const types = contents.eventTypes.filter(({ family }) => family !== 'operational').map(({ name }) => name)
    await emitEvents(team, types)
    const { rows } = await team.db.pool.query<{ type: string }>(
      'select distinct type from event where team_id = $1 and expires_at is null',
      [team.team],
    )
    const lasting = types.filter((type) => /^(labtest|lab_report)\./.test(type))
    assert(lasting.length >= 9)
    assert.deepEqual(rows.map(({ type }) => type).toSorted(), lasting.toSorted())
  })
})
