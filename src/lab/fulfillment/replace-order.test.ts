// Replacing wrong orders: what the new order takes over, the outcome of the old order, and rejected requests, which change nothing.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Order } from '../orders/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { labAccount, platformAccount } from '../../../test/support/lab-accounts.ts'
import {
  SECONDS_PER_DAY,
  kit,
  getOrder,
  advanceClock,
  createOrder,
  registration,
  shipping,
  advanceTo,
} from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam, type Reply } from '../../../test/support/server.ts'
import {
  staffAction,
  staffActionOk,
  finalReport,
  list,
  lowLevelStatuses,
  createAcceptedOrder,
  createKitOrder,
  outbound,
  production,
  scan,
  assertOk,
  createTestWith,
} from '../../../test/support/fulfillment.ts'

const replace = (
  team: TestTeam,
  order: { id: string },
  lab_test_id: string,
  overrides: Record<string, unknown> = {},
): Promise<Reply> => staffAction(team, order, 'replace', { lab_test_id, ...overrides })

/** As `replace`, for requests that succeed. */
const replaceOk = async (
  team: TestTeam,
  order: { id: string },
  lab_test_id: string,
  overrides?: Record<string, unknown>,
): Promise<Order> => getOrder(team, assertOk(await replace(team, order, lab_test_id, overrides)).body.order_id)

const members = ({ order_transaction: { orders } }: Order) =>
  orders.map(({ id, origin, parent_id, low_level_status }) => [id, origin, parent_id, low_level_status])

const listOrderEvents = async (team: TestTeam, { id }: { id: string }) =>
  (await team.api.get(`/v1/events?object_id=${id}`)).body.data.map(({ type, body }: { type: string; body: { data: Order } }) => [
    type,
    body.data.last_event.status,
    members(body.data),
  ])

const physician = { first_name: 'Ada', last_name: 'Example', npi: '1234567893' }

/** Checks that a rejected request changes neither the order nor its transaction, and creates no order. */
async function assertRejected(
  team: TestTeam,
  order: { id: string },
  lab_test_id: string,
  answer: unknown,
  overrides?: Record<string, unknown>,
) {
  const [before, events] = [await getOrder(team, order.id), await team.events()]
  const { status, body } = await replace(team, order, lab_test_id, overrides)
  assert.deepEqual([status, body], answer)
  assert.deepEqual([await getOrder(team, order.id), await team.events()], [before, events])
}

describe('replacing a wrong order', async () => {
  const team = await production()
  const right = await createTestWith(team, 'walk_in_test', 'MAN-LIPID')

  test('replacing cancels the order and creates one with the right test for the same patient in the same transaction', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test', { clinical_notes: 'Fainted once.', priority: true, physician })
    await staffActionOk(team, order, 'accept')
    const { body } = assertOk(await replace(team, order, right, { notes: ' The wrong box was ticked. ' }))
    assert.deepEqual([body.parent_id, body.status, body.sample_id, body.changed], [order.id, 'ordered', null, true])
    const [before, fresh] = [await getOrder(team, order.id), await getOrder(team, body.order_id)]
    assert.deepEqual([fresh.origin, fresh.lab_test.id, fresh.notes], ['recreation', right, 'The wrong box was ticked.'])
    for (const name of [
      'user_id',
      'patient_details',
      'patient_address',
      'clinical_notes',
      'priority',
      'physician',
      'lab_account_id',
      'billing_type',
    ] as const)
      assert.deepEqual(fresh[name], order[name], name)
    const both = [
      [order.id, 'initial', null, 'cancelled'],
      [fresh.id, 'recreation', order.id, 'ordered'],
    ]
    assert.deepEqual([members(before), members(fresh)], [both, both])
    assert.equal(before.order_transaction.status, 'active')
    assert.equal((await lowLevelStatuses(team, order)).at(-1), 'cancelled.walk_in_test.cancelled')
    assert.deepEqual(await listOrderEvents(team, fresh), [['labtest.order.created', 'received.walk_in_test.ordered', both]])
    assert.deepEqual((await listOrderEvents(team, order))[0], ['labtest.order.updated', 'cancelled.walk_in_test.cancelled', both])
    const read = (await team.api.get(`/v3/order_transaction/${order.order_transaction.id}`)).body
    assert.deepEqual([read.status, read.orders.map(({ id }: Order) => id)], ['active', [order.id, fresh.id]])
  })

  test('replacing writes an audit entry, and the new order is in the queue and can be completed', async () => {
    const order = await createAcceptedOrder(team, 'on_site_collection')
    const fresh = await replaceOk(team, order, await createTestWith(team, 'on_site_collection', 'MAN-A1C', 'MAN-CBC'))
    const { data } = (await team.manage.get(`/team/${team.team}/production/audit?operation=replace_order`)).body
    assert(data.some(({ object }: { object: string }) => object === order.id))
    const items = (await list(team)).filter(({ order_id }) => [order.id, fresh.id].includes(order_id))
    assert.deepEqual(
      items.map((item) => [item.order_id, item.work_type]),
      [[fresh.id, 'accept']],
    )
    await staffActionOk(team, fresh, 'accept')
    await staffActionOk(team, fresh, 'draw')
    await staffActionOk(team, fresh, 'result', finalReport)
    const { order_transaction } = await getOrder(team, order.id)
    assert.deepEqual([order_transaction.status, (await getOrder(team, fresh.id)).status], ['completed', 'completed'])
  })

  test('replacing an order after its draw requires a new draw', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    await staffActionOk(team, order, 'accept')
    await staffActionOk(team, order, 'draw')
    const fresh = await replaceOk(team, order, right)
    await staffActionOk(team, fresh, 'accept')
    assert.equal((await list(team)).find(({ order_id }) => order_id === fresh.id)?.work_type, 'draw')
    assert.equal(fresh.expected_result_by_date, null)
  })

  test('replacing a cancelled or failed order keeps its status', async () => {
    const cancelled = await createAcceptedOrder(team, 'walk_in_test')
    assertOk(await team.api.post(`/v3/order/${cancelled.id}/cancel`))
    const failed = await createAcceptedOrder(team, 'on_site_collection')
    await advanceTo(team, failed.id, 'requisition_created', 'draw_completed', 'sample_error')
    const onSite = await createTestWith(team, 'on_site_collection', 'MAN-BMP')
    for (const [order, lab_test_id] of [
      [cancelled, right],
      [failed, onSite],
    ] as const) {
      const events = await lowLevelStatuses(team, order)
      const fresh = await replaceOk(team, order, lab_test_id)
      assert.deepEqual([fresh.origin, fresh.last_event.status.split('.').at(-1)], ['recreation', 'ordered'])
      assert.deepEqual(await lowLevelStatuses(team, order), events)
      assert.deepEqual((await getOrder(team, order.id)).order_transaction, fresh.order_transaction)
    }
  })

  test('replacing a scheduled order creates an order scheduled for the same date', async () => {
    const apart = await createTestTeam('production-us')
    const order = await createAcceptedOrder(apart, 'testkit', { activate_by: '2100-01-31' })
    const fresh = await replaceOk(apart, order, await createTestWith(apart, 'testkit', 'MAN-LIPID'))
    assert.equal(fresh.activate_by, '2100-01-31')
    assert.deepEqual(await list(apart), [])
    assertOk(await apart.api.call('PATCH', `/v3/order/${fresh.id}`, { activate_by: null }))
    assert.deepEqual(
      (await list(apart)).map(({ order_id }) => order_id),
      [fresh.id],
    )
  })

  test('replacing an order whose date has come creates an unscheduled order', async () => {
    const apart = await createTestTeam()
    const order = await createAcceptedOrder(apart, 'testkit', { activate_by: '2100-01-31' })
    await advanceClock(apart, 80 * 366 * SECONDS_PER_DAY)
    assert.equal((await replaceOk(apart, order, await createTestWith(apart, 'testkit', 'MAN-LIPID'))).activate_by, null)
  })

  test('repeated and concurrent requests replace an order once, and the new order can be replaced again', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    const replies = await Promise.all([1, 2, 3].map(() => replace(team, order, right)))
    const bodies = replies.map((reply) => assertOk(reply).body)
    assert.deepEqual(bodies.map(({ changed }) => changed).toSorted(), [false, false, true])
    assert.equal(new Set(bodies.map(({ order_id }) => order_id)).size, 1)
    const { order_id } = bodies[0]
    const third = await createTestWith(team, 'walk_in_test', 'MAN-CBC')
    const detail = `The order was already replaced by order ${order_id}; replace that order instead`
    await assertRejected(team, order, third, [400, { detail }])
    const last = await replaceOk(team, { id: order_id }, third)
    assert.deepEqual(members(last), [
      [order.id, 'initial', null, 'cancelled'],
      [order_id, 'recreation', order.id, 'cancelled'],
      [last.id, 'recreation', order_id, 'ordered'],
    ])
    assert.deepEqual((await getOrder(team, order.id)).order_transaction, last.order_transaction)
  })
})

describe('replacing an order at the wrong laboratory', () => {
  test('replacing an order at the wrong laboratory uses an account of the right one', async () => {
    const team = await createTestTeam()
    const order = await createAcceptedOrder(team, 'walk_in_test')
    const quest = await team.test('walk_in_test')
    const fresh = await replaceOk(team, order, quest)
    assert.equal(order.lab_account_id, await platformAccount(team, 'manual'))
    assert.equal(fresh.lab_account_id, await platformAccount(team, fresh.lab_test.lab!.slug))
    const back = await replaceOk(team, fresh, await createTestWith(team, 'walk_in_test', 'MAN-LIPID'))
    assert.deepEqual([back.lab_test.lab!.slug, back.lab_account_id], ['manual', order.lab_account_id])
  })

  test('replacing is rejected if no account accepts the order, or if the account requires an ordering physician', async () => {
    const team = await createTestTeam()
    const quest = await team.test('walk_in_test')
    const lab = (await team.api.get(`/v3/lab_tests/${quest}`)).body.lab.slug
    const [unnamed, named] = [
      await createAcceptedOrder(team, 'walk_in_test'),
      await createAcceptedOrder(team, 'walk_in_test', { physician }),
    ]
    const account = await labAccount(team, { lab, delegated_flow: 'order_delegated' })
    await assertRejected(team, unnamed, quest, [
      400,
      { detail: 'Orders under this lab account must include the ordering physician' },
    ])
    assert.equal((await replaceOk(team, named, quest)).lab_account_id, account)
    await labAccount(team, { lab })
    await assertRejected(team, unnamed, quest, [400, { detail: 'Several lab accounts match this order; specify lab_account_id' }])
  })
})

describe('rejected replacements', async () => {
  const team = await production()
  const right = await createTestWith(team, 'testkit', 'MAN-LIPID')

  test('replacing is rejected once the order can no longer be cancelled', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    await staffActionOk(team, order, 'accept')
    await staffActionOk(team, order, 'tracking', outbound)
    const cannot = (status: string) => [
      400,
      { error: 'Bad Request', message: `Transition from ${status} to cancelled is not allowed`, status_code: 400 },
    ]
    await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
    await assertRejected(team, order, right, cannot('transit_customer'))
    await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
    await staffActionOk(team, order, 'scan', scan('inbound', 'delivered'))
    await assertRejected(team, order, right, cannot('delivered_to_lab'))
    await staffActionOk(team, order, 'result', finalReport)
    await assertRejected(team, order, right, cannot('completed'))
    const redrawn = await createAcceptedOrder(team, 'walk_in_test')
    await advanceTo(team, redrawn.id, 'requisition_created', 'redraw_available')
    await assertRejected(team, redrawn, await createTestWith(team, 'walk_in_test', 'MAN-LIPID'), cannot('redraw_available'))
  })

  test('replacing is rejected for the same test, another collection method, and a test that cannot be ordered', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    await assertRejected(team, order, order.lab_test.id, [400, { detail: 'The order already has this lab test' }])
    const detail = 'The lab test has collection method walk_in_test; the order has testkit'
    await assertRejected(team, order, await createTestWith(team, 'walk_in_test', 'MAN-LIPID'), [400, { detail }])
    const body = { name: 'Fictional Draft', method: 'testkit', description: '-', lab_slug: 'manual', provider_ids: ['MAN-CBC'] }
    const { id } = assertOk(await team.api.post('/v3/lab_tests', body)).body
    await assertRejected(team, order, id, [400, { detail: `Lab test ${id} is not active` }])
  })

  test('replacing is rejected if the patient is unknown or the user is deleted', async () => {
    const detail = 'The kit of this order has not been registered'
    await assertRejected(team, await createKitOrder(team), right, [400, { detail }])
    const order = await createAcceptedOrder(team, 'testkit')
    assertOk(await team.api.delete(`/v2/user/${order.user_id}`))
    await assertRejected(team, order, right, [404, { detail: "This order doesn't exist." }])
  })

  test('replacing is rejected with a test of another team and for an order of another team', async () => {
    const other = await production()
    const order = await createAcceptedOrder(team, 'testkit')
    await assertRejected(team, order, await createTestWith(other, 'testkit', 'MAN-LIPID'), [
      404,
      { detail: 'Test does not exist' },
    ])
    const foreign = await createAcceptedOrder(other, 'testkit')
    const { status, body } = await replace(team, foreign, right)
    assert.deepEqual([status, body], [404, { detail: "This order doesn't exist." }])
    assert.equal((await lowLevelStatuses(other, foreign)).length, 1)
  })

  test('replacing is rejected without a test and with notes that are too long', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    for (const [body, field] of [
      [{}, 'lab_test_id'],
      [{ lab_test_id: null }, 'lab_test_id'],
      [{ lab_test_id: 'the right one' }, 'lab_test_id'],
      [{ lab_test_id: right, notes: 'x'.repeat(2001) }, 'notes'],
    ] as const) {
      const reply = await staffAction(team, order, 'replace', body)
      assert.deepEqual([reply.status, reply.body.detail[0].loc], [422, ['body', field]])
    }
    assert.equal((await lowLevelStatuses(team, order)).length, 1)
  })

  test('replacing is rejected if the new test has unanswered questions, and keeps answers that both tests need', async () => {
    const apart = await createTestTeam()
    const question = { id: 1, code: 'HOURS', type: 'numeric', required: true, value: 'How many hours?', sequence: 1, answers: [] }
    const aoe = JSON.stringify({ questions: [{ ...question, constraint: null, default: null }] })
    const [plain, first, second] = [
      await createTestWith(apart, 'walk_in_test', 'MAN-A1C'),
      await createTestWith(apart, 'walk_in_test', 'MAN-LIPID'),
      await createTestWith(apart, 'walk_in_test', 'MAN-LIPID', 'MAN-CBC'),
    ]
    const { id } = await apart.db.plainTx((tx) =>
      tx.one(T.Object({ id: T.Integer() }), sql`update marker set aoe = ${aoe} where provider_id = 'MAN-LIPID' returning id`),
    )
    const aoe_answers = [{ marker_id: id, question_id: 1, answer: '9' }]
    const detail = 'Missing required questions - "How many hours?"'
    await assertRejected(apart, await createOrder(apart, { lab_test_id: plain }), first, [400, { detail }])
    const answered = await createOrder(apart, { lab_test_id: first, aoe_answers })
    const fresh = await replaceOk(apart, answered, second)
    const last = await replaceOk(apart, fresh, plain)
    await assertRejected(apart, last, second, [400, { detail }])
    await apart.db.plainTx((tx) => tx.run(sql`update marker set aoe = null where id = ${id}`))
  })
})

test('replacing a registered kit ships a new kit to the address of the first', async () => {
  const team = await createTestTeam()
  const order = await kit(team, { lab_test_id: await createTestWith(team, 'testkit') })
  await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-R1' })
  assertOk(await team.api.post('/v3/order/testkit/register', registration('FICTIONAL-R1')))
  const fresh = await replaceOk(team, order, await createTestWith(team, 'testkit', 'MAN-LIPID'))
  assert.equal(fresh.shipping_details!.receiver_name, shipping.receiver_name)
  assert.deepEqual([fresh.sample_id, fresh.patient_details!.last_name], [null, 'Fictional'])
})
