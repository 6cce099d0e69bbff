// Scheduled orders, and dispatching orders to their laboratory on their date. Source: lab-testing.md 6.2, 6.3.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { teamNow } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  SECONDS_PER_DAY,
  jobRunTimes,
  kit,
  orderBody,
  getOrder,
  advanceClock,
  createOrder,
  tenantOf,
  advanceTo,
} from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

/** The team's date plus a number of days. */
async function dayIn(team: TestTeam, days: number): Promise<string> {
  const now = teamNow(await tenantOf(team))
  return new Date(now.getTime() + days * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10)
}

/** Seconds from the team's time to the start of a day. */
async function secondsTo(team: TestTeam, day: string): Promise<number> {
  return (Date.parse(day) - teamNow(await tenantOf(team)).getTime()) / 1000
}

const midnight = (day: string) => `${day}T00:00:00+00:00`
const patch = ({ api }: TestTeam, id: string, activate_by: unknown) => api.patch(`/v3/order/${id}`, { activate_by })

/** The events in an order: time, status and detail. */
const listEvents = async (team: TestTeam, id: string) =>
  (await getOrder(team, id)).events.map(({ created_at, status, status_detail }) => [created_at, status, status_detail])

const ORDERED = 'received.testkit.ordered'

describe('scheduled orders', () => {
  test('an order with a past date is rejected', async () => {
    const team = await createTestTeam()
    const { status, body } = await team.api.post('/v3/order', await orderBody(team, { activate_by: await dayIn(team, -1) }))
    assert.deepEqual([status, body], [400, { detail: 'activate_by must not be in the past' }])
    assert.deepEqual(await team.events(), [])
    assert.deepEqual(await team.jobs(), [])
  })

  test('an order for today is dispatched at once', async () => {
    const team = await createTestTeam('production-us')
    const today = await dayIn(team, 0)
    const order = await createOrder(team, { activate_by: today })
    assert.equal(order.activate_by, today)
    assert.deepEqual(await jobRunTimes(team), [order.created_at])
  })

  test('an order for a future date is dispatched at the start of that day', async () => {
    const team = await createTestTeam('production-us')
    const day = await dayIn(team, 3)
    const order = await createOrder(team, { activate_by: day })
    assert.equal(order.activate_by, day)
    assert.deepEqual(await jobRunTimes(team), [midnight(day)])
    await advanceClock(team, (await secondsTo(team, day)) - 60)
    assert.deepEqual(await listEvents(team, order.id), [[order.created_at, ORDERED, null]])
    assert.deepEqual(await team.jobs(), ['orders.dispatch'])
    await advanceClock(team, 3 * 3600)
    assert.deepEqual(await listEvents(team, order.id), [
      [order.created_at, ORDERED, null],
      [midnight(day), ORDERED, 'fulfillment_error'],
    ])
    assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
    assert.deepEqual(await team.jobs(), [])
  })

  test('a scheduled order in the sandbox is dispatched on its date without a further event', async () => {
    const team = await createTestTeam()
    const day = await dayIn(team, 1)
    const order = await createOrder(team, { activate_by: day })
    assert.deepEqual(await team.jobs(), [])
    await advanceClock(team, 2 * SECONDS_PER_DAY)
    assert.deepEqual(await team.events(), ['labtest.order.created'])
    assert.deepEqual(await getOrder(team, order.id), order)
  })

  test('a scheduled order that is cancelled is not dispatched', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team, { activate_by: await dayIn(team, 1) })
    await team.api.post(`/v3/order/${id}/cancel`)
    await advanceClock(team, 2 * SECONDS_PER_DAY)
    assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
    assert.deepEqual(await team.jobs(), [])
    assert.equal((await getOrder(team, id)).last_event.status, 'cancelled.testkit.cancelled')
  })
})

describe('orders for a laboratory without a link', () => {
  test('a failed dispatch is recorded once and emits an event without changing the status', async () => {
    const team = await createTestTeam('production-us')
    const order = await createOrder(team)
    await team.settle()
    const after = await getOrder(team, order.id)
    assert.deepEqual(after.events.slice(0, 1), order.events)
    assert.deepEqual(
      after.events.map(({ status, status_detail }) => [status, status_detail]),
      [
        [ORDERED, null],
        [ORDERED, 'fulfillment_error'],
      ],
    )
    assert.ok(after.last_event.id > order.last_event.id)
    assert.deepEqual([after.status, after.order_transaction.status], ['received', 'active'])
    assert.equal(after.order_transaction.orders[0]!.low_level_status, 'ordered')
    assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
    const [event] = (await team.api.get('/v1/events')).body.data
    assert.deepEqual(event.body.data, after)
  })

  test('duplicate dispatches record the failure once', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team)
    await team.db.queries.run(sql`
      insert into job (id, team_id, name, payload, run_at, due_at)
      select gen_random_uuid(), team_id, name, payload, run_at, due_at from job where team_id = ${team.team}`)
    assert.deepEqual(await team.jobs(), ['orders.dispatch', 'orders.dispatch'])
    await team.settle()
    assert.equal((await getOrder(team, id)).events.length, 2)
    assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
  })

  test('an order with a failed dispatch can be cancelled, and a kit shows the failure after it awaits registration', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await kit(team)
    await team.settle()
    assert.deepEqual(
      (await getOrder(team, id)).events.map(({ status, status_detail }) => [status, status_detail]),
      [
        [ORDERED, null],
        ['received.testkit.awaiting_registration', null],
        ['received.testkit.awaiting_registration', 'fulfillment_error'],
      ],
    )
    assert.equal((await team.api.post(`/v3/order/${id}/cancel`)).status, 200)
  })

  test('an order that has already advanced is not dispatched', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team)
    await advanceTo(team, id, 'requisition_created')
    const before = await getOrder(team, id)
    await team.settle()
    assert.deepEqual(await getOrder(team, id), before)
  })
})

test('an order under manual fulfillment is dispatched without an event', async () => {
  const team = await createTestTeam('production-us')
  const lab_test_id = await team.test()
  await team.db.queries.run(sql`
    update lab_test set lab_id = (select id from lab where slug = 'manual') where id = ${lab_test_id} and team_id = ${team.team}`)
  const order = await createOrder(team, { lab_test_id })
  assert.equal(order.lab_test.lab?.slug, 'manual')
  await team.settle()
  assert.deepEqual(await team.events(), ['labtest.order.created'])
  assert.deepEqual(await getOrder(team, order.id), order)
})

describe('changing the date of a scheduled order', () => {
  test('changing the date returns the order, emits no event and dispatches the order on the new date', async () => {
    for (const [first, second] of [
      [2, 5],
      [5, 2],
    ] as const) {
      const team = await createTestTeam('production-us')
      const order = await createOrder(team, { activate_by: await dayIn(team, first) })
      const day = await dayIn(team, second)
      const { status, body } = await patch(team, order.id, day)
      assert.equal(status, 200)
      assert.deepEqual([body.status, body.message], ['success', 'order updated'])
      assert.deepEqual(body.order, { ...order, activate_by: day, updated_at: body.order.updated_at })
      assert.deepEqual(await getOrder(team, order.id), body.order)
      assert.deepEqual(await team.events(), ['labtest.order.created'])
      await advanceClock(team, 7 * SECONDS_PER_DAY)
      assert.deepEqual(await listEvents(team, order.id), [
        [order.created_at, ORDERED, null],
        [midnight(day), ORDERED, 'fulfillment_error'],
      ])
      assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
    }
  })

  test('changing the date to today dispatches the order at once', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team, { activate_by: await dayIn(team, 2) })
    const today = await dayIn(team, 0)
    assert.equal((await patch(team, id, today)).body.order.activate_by, today)
    await team.settle()
    assert.equal((await getOrder(team, id)).last_event.status_detail, 'fulfillment_error')
  })

  test('clearing the date dispatches the order at once, and the order can be scheduled again', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team, { activate_by: await dayIn(team, 2) })
    const { status, body } = await patch(team, id, null)
    assert.deepEqual([status, body.order.activate_by, body.message], [200, null, 'order updated'])
    await team.settle()
    assert.equal((await getOrder(team, id)).last_event.status_detail, 'fulfillment_error')
    assert.equal((await patch(team, id, await dayIn(team, 3))).status, 200)
    await advanceClock(team, 5 * SECONDS_PER_DAY)
    assert.equal((await getOrder(team, id)).events.length, 2)
  })

  test('changing the date to the past is rejected', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team, { activate_by: await dayIn(team, 2) })
    const { status, body } = await patch(team, order.id, await dayIn(team, -1))
    assert.deepEqual([status, body], [400, { detail: 'activate_by must not be in the past' }])
    assert.deepEqual(await getOrder(team, order.id), order)
  })

  test('changing the date is rejected for an order that was not scheduled at creation', async () => {
    const team = await createTestTeam()
    for (const order of [await createOrder(team), await kit(team)])
      for (const date of [await dayIn(team, 2), null]) {
        const { status, body } = await patch(team, order.id, date)
        assert.deepEqual(
          [status, body],
          [400, { detail: 'An order created for immediate processing cannot be scheduled afterwards' }],
        )
        assert.deepEqual(await getOrder(team, order.id), order)
      }
  })

  for (const steps of [['cancelled'], ['requisition_created'], ['requisition_created', 'transit_customer']])
    test(`changing the date is rejected for an order in status ${steps.at(-1)}`, async () => {
      const team = await createTestTeam()
      const { id } = await createOrder(team, { activate_by: await dayIn(team, 2) })
      await advanceTo(team, id, ...steps)
      for (const date of [await dayIn(team, 3), null]) {
        const { status, body } = await patch(team, id, date)
        assert.deepEqual([status, body], [400, { detail: `An order in status ${steps.at(-1)} can no longer be scheduled` }])
      }
    })

  test('changing the date requires the field, which can be null or a valid date', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { activate_by: await dayIn(team, 2) })
    for (const [body, type] of [
      [{}, 'missing'],
      [{ activate_by: 'soon' }, 'date_from_datetime_parsing'],
      [{ activate_by: 5 }, 'string_type'],
    ] as const) {
      const reply = await team.api.patch(`/v3/order/${id}`, body)
      assert.deepEqual([reply.status, reply.body.detail[0].loc, reply.body.detail[0].type], [422, ['body', 'activate_by'], type])
    }
  })

  test('changing the date of an order of another team returns 404', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const theirs = await createOrder(other, { activate_by: await dayIn(other, 2) })
    for (const id of [randomUUID(), theirs.id]) {
      const { status, body } = await patch(team, id, null)
      assert.deepEqual([status, body], [404, { detail: "This order doesn't exist." }])
    }
    assert.deepEqual(await getOrder(other, theirs.id), theirs)
    assert.deepEqual(await team.jobs(), [])
  })
})
