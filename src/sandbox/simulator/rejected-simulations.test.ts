// Simulations that are refused. Source: lab-testing.md 24.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { kit, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { simulate, start } from '../../../test/support/simulator.ts'

describe('rejected simulations', () => {
  test('rejects a final status that is unknown, not in full form, or of another modality', async () => {
    const team = await createTestTeam()
    const [known, unknown] = [await createOrder(team), await kit(team)]
    for (const [order, final_status] of [
      [known, 'completed'],
      [known, 'done.testkit.done'],
      [known, 'completed.walk_in_test.completed'],
      [known, 'received.testkit.awaiting_registration'],
      [known, 'received.testkit.testkit_registered'],
      [unknown, 'received.testkit.requisition_bypassed'],
      [unknown, 'sample_with_lab.testkit.partial_results'],
    ] as const) {
      const { status, body } = await simulate(team, order.id, { final_status })
      assert.deepEqual([status, body], [400, { detail: "final_status is not a status of this order's lifecycle" }], final_status)
    }
    assert.ok(!(await team.jobs()).includes('simulator.step'))
  })

  test('rejects a final status that the order has, cannot reach, or reaches only through its patient', async () => {
    const team = await createTestTeam()
    const [known, unknown] = [await createOrder(team), await kit(team)]
    await advanceTo(team, known.id, 'requisition_created', 'transit_customer', 'with_customer')
    for (const [order, from, final_status] of [
      [known, 'with_customer', 'collecting_sample.testkit.transit_customer'],
      [known, 'with_customer', 'received.testkit.ordered'],
      [known, 'with_customer', 'cancelled.testkit.cancelled'],
      [known, 'with_customer', 'collecting_sample.testkit.with_customer'],
      [unknown, 'awaiting_registration', 'received.testkit.testkit_registered'],
      [unknown, 'awaiting_registration', 'received.testkit.registered'],
      [unknown, 'awaiting_registration', 'received.testkit.ordered'],
    ] as const) {
      const low = final_status.split('.')[2]!.replace('testkit_', '')
      const { status, body } = await simulate(team, order.id, { final_status })
      assert.deepEqual([status, body], [400, { detail: `An order in status ${from} cannot reach ${low}` }])
    }
    assert.ok(!(await team.jobs()).includes('simulator.step'))
  })

  for (const [low, ...past] of [
    ['cancelled'],
    ['lost', 'requisition_created', 'transit_customer'],
    ['do_not_process', 'requisition_created', 'transit_customer'],
    ['sample_error', 'requisition_created', 'transit_customer', 'with_customer', 'delivered_to_lab'],
  ] as [string, ...string[]][])
    test(`rejects an order that is ${low}`, async () => {
      const team = await createTestTeam()
      const { id } = await createOrder(team)
      await advanceTo(team, id, ...past, low)
      const { status, body } = await simulate(team, id)
      assert.deepEqual([status, body], [400, { detail: `An order in status ${low} can no longer change` }])
    })

  test('rejects a completed order', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    await start(team, id)
    await team.settle()
    const { status, body } = await simulate(team, id)
    assert.deepEqual([status, body], [400, { detail: 'An order in status completed cannot reach completed' }])
  })

  test('rejects a delay that is negative, longer than an hour, or not a number', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    for (const [delay, type] of [
      ['-1', 'greater_than_equal'],
      ['3601', 'less_than_equal'],
      ['1.5', 'int_parsing'],
      ['soon', 'int_parsing'],
    ]) {
      const { status, body } = await simulate(team, id, { delay: delay! })
      assert.deepEqual([status, body.detail[0].loc, body.detail[0].type], [422, ['query', 'delay'], type])
    }
    await start(team, id, { delay: '3600' })
  })

  test('rejects an unknown order', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const theirs = await createOrder(other)
    for (const id of [randomUUID(), theirs.id]) {
      const { status, body } = await simulate(team, id)
      assert.deepEqual([status, body], [404, { detail: "Order doesn't exist" }])
    }
    assert.equal((await simulate(team, 'not-an-id')).status, 422)
    assert.deepEqual(await other.jobs(), [])
  })

  test('returns 404 in production', async () => {
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team)
    for (const order_id of [id, randomUUID()]) {
      const { status, body } = await simulate(team, order_id)
      assert.deepEqual([status, body], [404, { detail: 'Not Found' }])
    }
    assert.deepEqual(await team.jobs(), ['orders.dispatch'])
  })
})
