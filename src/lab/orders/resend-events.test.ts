// Resending the latest event of orders, and reading the orders of a transaction. Source: lab-testing.md 12, 22.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { randomUUID } from 'node:crypto'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  countDuplicates,
  SECONDS_PER_DAY,
  kit,
  getOrder,
  advanceClock,
  createOrder,
  advanceTo,
} from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { timeAfter } from '../../../test/support/teams.ts'

const resend = ({ api }: TestTeam, body: Record<string, unknown>) => api.post('/v3/order/resend_events', body)

const EventRow = T.Object({ id: T.String(), type: T.String(), object_id: T.String(), body: T.String(), created_at: T.String() })
const listEvents = ({ db, team }: TestTeam, object_id: string) =>
  db.queries.many(
    EventRow,
    sql`select id, type, object_id, body, created_at from event where team_id = ${team} and object_id = ${object_id} order by id`,
  )

describe('resending events of orders', () => {
  test('resending repeats the latest event of each order with the same bytes, a new id and the present time', async () => {
    const team = await createTestTeam()
    const [first, second] = [await createOrder(team), await kit(team)]
    await advanceTo(team, first.id, 'requisition_created', 'transit_customer')
    await advanceClock(team, SECONDS_PER_DAY)
    const earlier = await Promise.all([first, second].map(({ id }) => listEvents(team, id)))
    const { status, body } = await resend(team, { order_ids: [second.id, first.id] })
    assert.equal(status, 200)
    assert.deepEqual(body, { order_ids: [first.id, second.id] }, 'in the order of their age')
    for (const [i, { id }] of [first, second].entries()) {
      const events = await listEvents(team, id)
      assert.deepEqual(events.slice(0, -1), earlier[i])
      const [latest, again] = [events.at(-2)!, events.at(-1)!]
      assert.deepEqual([again.type, again.body], [latest.type, latest.body])
      assert.notEqual(again.id, latest.id)
      assert.ok(Date.parse(again.created_at) - Date.parse(latest.created_at) >= SECONDS_PER_DAY * 1000)
    }
    assert.equal((await team.events()).length, 5 + 2)
  })

  test('resending does not change the orders and can be repeated', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    for (let n = 0; n < 3; n++)
      assert.deepEqual((await resend(team, { order_ids: [order.id, order.id] })).body, { order_ids: [order.id] })
    assert.deepEqual(await team.events(), Array(4).fill('labtest.order.created'))
    assert.equal(new Set((await listEvents(team, order.id)).map((event) => event.body)).size, 1)
    assert.deepEqual(await getOrder(team, order.id), order)
  })

  test('resending ignores the orders of a deleted user until the deletion is undone', async () => {
    const team = await createTestTeam()
    const [hidden, other] = [await createOrder(team), await createOrder(team)]
    const asked = { order_ids: [hidden.id, other.id] }
    await team.api.delete(`/v2/user/${hidden.user_id}`)
    const before = await listEvents(team, hidden.id)
    assert.deepEqual((await resend(team, asked)).body, { order_ids: [other.id] })
    assert.deepEqual(await listEvents(team, hidden.id), before)
    await team.api.post(`/v2/user/undo_delete?user_id=${hidden.user_id}`)
    assert.deepEqual((await resend(team, asked)).body, asked)
  })

  test('resending ignores ids that are not orders of the team', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const theirs = await createOrder(other)
    for (const order_ids of [[], [randomUUID()], [theirs.id]]) {
      const { status, body } = await resend(team, { order_ids })
      assert.deepEqual([status, body], [200, { order_ids: [] }])
    }
    assert.deepEqual(await team.events(), [])
    assert.deepEqual(await other.events(), ['labtest.order.created'])
  })

  test('resending by time uses the time of the latest event, including both bounds', async () => {
    const team = await createTestTeam()
    const old = await createOrder(team)
    const moved = await createOrder(team)
    await advanceClock(team, SECONDS_PER_DAY)
    await advanceTo(team, moved.id, 'requisition_created')
    const fresh = await createOrder(team)
    const last = (await getOrder(team, moved.id)).last_event.created_at
    const first = (await getOrder(team, old.id)).last_event.created_at
    const found = async (body: Record<string, unknown>) => (await resend(team, body)).body.order_ids
    assert.deepEqual(await found({ start_at: last }), [moved.id, fresh.id], 'until now')
    assert.deepEqual(await found({ start_at: first }), [old.id, moved.id, fresh.id])
    assert.deepEqual(await found({ start_at: await timeAfter(team, -2 * SECONDS_PER_DAY), end_at: first }), [old.id])
    assert.deepEqual(
      await found({
        start_at: await timeAfter(team, -2 * SECONDS_PER_DAY),
        end_at: await timeAfter(team, -2 * SECONDS_PER_DAY + 1),
      }),
      [],
    )
    assert.deepEqual(await found({ start_at: last, order_ids: [old.id, moved.id] }), [moved.id], 'both say')
    assert.deepEqual(await found({ end_at: first, order_ids: [old.id, moved.id] }), [old.id])
  })

  const refused: [string, Record<string, unknown>, string[], string][] = [
    ['without saying which', {}, ['body'], 'value_error'],
    ['with an end alone', { end_at: '2024-05-06T00:00:00Z' }, ['body'], 'value_error'],
    ['with null for both', { order_ids: null, start_at: null }, ['body'], 'value_error'],
    [
      'with an end before the start',
      { start_at: '2024-05-06T00:00:01Z', end_at: '2024-05-06T00:00:00Z' },
      ['body', 'end_at'],
      'value_error',
    ],
    ['with a start in the future', { start_at: '2999-01-01T00:00:00Z' }, ['body', 'end_at'], 'value_error'],
    [
      'for more than 60 days',
      { start_at: '2024-01-01T00:00:00Z', end_at: '2024-03-01T00:00:01Z' },
      ['body', 'start_at'],
      'value_error',
    ],
    ['for more than 60 days until now', { start_at: '2024-01-01T00:00:00Z' }, ['body', 'start_at'], 'value_error'],
    ['with an invalid id', { order_ids: ['x'] }, ['body', 'order_ids', '0'], 'uuid_parsing'],
    ['with more than 1,000 ids', { order_ids: Array(1001).fill(randomUUID()) }, ['body', 'order_ids'], 'too_long'],
    ['with an invalid time', { start_at: 'yesterday' }, ['body', 'start_at'], 'datetime_parsing'],
  ]
  for (const [how, body, loc, type] of refused)
    test(`rejects a resend request ${how}`, async () => {
      const team = await createTestTeam()
      const { status, body: refusal } = await resend(team, body)
      assert.deepEqual([status, refusal.detail[0].loc.map(String), refusal.detail[0].type], [422, loc, type])
    })

  test('a resend window of exactly 60 days is accepted', async () => {
    const { status, body } = await resend(await createTestTeam(), { start_at: '2024-01-01', end_at: '2024-03-01T00:00:00Z' })
    assert.deepEqual([status, body], [200, { order_ids: [] }])
  })

  test('a resend of 1,000 orders is accepted and one of more is rejected', async () => {
    const team = await createTestTeam()
    await countDuplicates(team, await createOrder(team), 999, 3600)
    const start_at = await timeAfter(team, -SECONDS_PER_DAY)
    assert.equal((await resend(team, { start_at })).body.order_ids.length, 1000)
    await createOrder(team)
    const { status, body } = await resend(team, { start_at })
    assert.deepEqual([status, body], [400, { detail: 'More than 1000 orders match; narrow the window' }])
    assert.equal((await team.events()).length, 2001)
  })
})

describe('order transactions', () => {
  let team: TestTeam
  before(async () => {
    team = await createTestTeam()
  })

  test('a transaction shows its order with both status field names', async () => {
    const order = await kit(team)
    await advanceClock(team, 60)
    await advanceTo(team, order.id, 'transit_customer')
    const moved = await getOrder(team, order.id)
    const { status, body } = await team.api.get(`/v3/order_transaction/${order.order_transaction.id}`)
    assert.equal(status, 200)
    assert.deepEqual(body, {
      id: order.order_transaction.id,
      team_id: team.team,
      status: 'active',
      orders: [
        {
          id: order.id,
          origin: 'initial',
          parent_id: null,
          last_status: 'transit_customer',
          last_status_created_at: moved.last_event.created_at,
          low_level_status: 'transit_customer',
          low_level_status_created_at: moved.last_event.created_at,
          created_at: order.created_at,
          updated_at: moved.updated_at,
        },
      ],
    })
    assert.notEqual(moved.last_event.created_at, order.created_at)
  })

  test('a transaction is cancelled with its order and completed when its order failed', async () => {
    for (const [steps, status] of [
      [['cancelled'], 'cancelled'],
      [['requisition_created', 'transit_customer', 'lost'], 'completed'],
      [['requisition_created', 'transit_customer', 'do_not_process'], 'cancelled'],
    ] as const) {
      const { id, order_transaction } = await createOrder(team)
      await advanceTo(team, id, ...steps)
      const { body } = await team.api.get(`/v3/order_transaction/${order_transaction.id}`)
      assert.equal(body.status, status)
      assert.equal((await getOrder(team, id)).order_transaction.status, status)
    }
  })

  test('reading an unknown transaction or one of another team returns 404', async () => {
    const theirs = await createOrder(await createTestTeam())
    for (const id of [randomUUID(), theirs.order_transaction.id]) {
      const { status, body } = await team.api.get(`/v3/order_transaction/${id}`)
      assert.deepEqual([status, body], [404, { detail: 'Order transaction not found' }])
    }
    assert.equal((await team.api.get('/v3/order_transaction/not-an-id')).status, 422)
  })
})
