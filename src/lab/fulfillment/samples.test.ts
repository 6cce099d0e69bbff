// Samples: drawn, rejected, blocked, not processed, or lost.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { advanceTo, getOrder } from '../../../test/support/orders.ts'
import {
  staffAction,
  orderAtLab,
  staffActionOk,
  finalReport,
  lowLevelStatuses,
  createAcceptedOrder,
  production,
} from '../../../test/support/fulfillment.ts'

const team = await production()
const details = [
  'sample_quantity_not_sufficient',
  'sample_contaminated',
  'sample_improper_collection',
  'sample_hemolyzed',
  'sample_stability_exceeded',
]
const methods = ['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection']

for (const status_detail of [...details, undefined])
  test(`a sample can be rejected once: ${status_detail ?? 'without a reason'}`, async () => {
    const order = await orderAtLab(team)
    assert.equal((await staffActionOk(team, order, 'reject', { status_detail })).changed, true)
    assert.equal((await staffActionOk(team, order, 'reject', { status_detail })).changed, false)
    assert.equal(
      (await lowLevelStatuses(team, order)).at(-1),
      `failed.testkit.sample_error${status_detail ? ` ${status_detail}` : ''}`,
    )
    assert.equal((await staffAction(team, order, 'result', finalReport)).status, 400)
  })

describe('blocked processing', () => {
  test('processing continues when a block is resolved', async () => {
    const order = await orderAtLab(team)
    await staffActionOk(team, order, 'block', { status_detail: 'demographic_information_mismatch' })
    assert.equal(
      (await staffActionOk(team, order, 'block', { status_detail: 'demographic_information_mismatch' })).changed,
      false,
    )
    await staffActionOk(team, order, 'resolve')
    assert.equal((await staffActionOk(team, order, 'resolve')).changed, false)
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual((await lowLevelStatuses(team, order)).slice(-4), [
      'sample_with_lab.testkit.delivered_to_lab',
      'sample_with_lab.testkit.lab_processing_blocked demographic_information_mismatch',
      'sample_with_lab.testkit.delivered_to_lab',
      'completed.testkit.completed',
    ])
  })

  test('blocked processing can end in a result or a rejected sample', async () => {
    const [tested, rejected] = [await orderAtLab(team), await orderAtLab(team)]
    for (const order of [tested, rejected]) await staffActionOk(team, order, 'block')
    await staffActionOk(team, tested, 'result', finalReport)
    await staffActionOk(team, rejected, 'reject', { status_detail: 'sample_contaminated' })
    assert.equal((await getOrder(team, tested.id)).status, 'completed')
    assert.equal((await getOrder(team, rejected.id)).status, 'failed')
  })
})

test('staff can stop processing of a kit or report it lost, and a closed order is not changed', async () => {
  const [stopped, lost] = [await orderAtLab(team), await createAcceptedOrder(team, 'testkit')]
  await staffActionOk(team, stopped, 'do_not_process')
  assert.equal((await staffActionOk(team, stopped, 'do_not_process')).changed, false)
  await advanceTo(team, lost.id, 'requisition_created', 'transit_customer')
  await staffActionOk(team, lost, 'lost')
  assert.equal((await staffActionOk(team, lost, 'lost')).changed, false)
  assert.equal((await lowLevelStatuses(team, stopped)).at(-1), 'cancelled.testkit.do_not_process')
  assert.equal((await lowLevelStatuses(team, lost)).at(-1), 'failed.testkit.lost')
  for (const what of ['reject', 'block', 'lost']) assert.deepEqual((await staffAction(team, stopped, what)).status, 400)
})

for (const method of methods)
  test(`an action that the lifecycle does not allow is rejected with the transition error: ${method}`, async () => {
    const order = await createAcceptedOrder(team, method)
    for (const [what, to] of [
      ['reject', 'sample_error'],
      ['block', 'lab_processing_blocked'],
      ['do_not_process', 'do_not_process'],
      ['lost', 'lost'],
      ['draw', 'draw_completed'],
    ]) {
      const { status, body } = await staffAction(team, order, what!)
      assert.deepEqual([status, body], [400, { detail: `Transition from ordered to ${to} is not allowed` }], what)
    }
    assert.equal((await team.events(order.id)).length, 1)
  })

describe('recording a draw', () => {
  test('a draw is recorded once, with the given time', async () => {
    const order = await createAcceptedOrder(team, 'on_site_collection')
    await staffActionOk(team, order, 'accept')
    const { created_at } = order
    assert.equal((await staffActionOk(team, order, 'draw', { collected_at: created_at })).changed, true)
    assert.equal((await staffActionOk(team, order, 'draw')).changed, false)
    await staffActionOk(team, order, 'result', finalReport)
    const { metadata } = (await team.api.get(`/v3/order/${order.id}/result`)).body
    assert.equal(metadata.date_collected, created_at)
  })

  test('a draw in the future or before the order is rejected', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    await staffActionOk(team, order, 'accept')
    for (const collected_at of ['2100-01-31T00:00:00Z', '2020-01-31T00:00:00Z']) {
      const { status, body } = await staffAction(team, order, 'draw', { collected_at })
      assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'collected_at']])
    }
  })

  test('an at-home draw requires an appointment', async () => {
    const order = await createAcceptedOrder(team, 'at_home_phlebotomy')
    await staffActionOk(team, order, 'accept')
    assert.equal((await staffAction(team, order, 'draw')).status, 400)
    await staffActionOk(team, order, 'visit', { status: 'appointment_scheduled' })
    assert.equal((await staffActionOk(team, order, 'visit', { status: 'appointment_scheduled' })).changed, false)
    await staffActionOk(team, order, 'visit', { status: 'appointment_cancelled' })
    assert.equal((await staffAction(team, order, 'draw')).status, 400)
    await staffActionOk(team, order, 'visit', { status: 'appointment_scheduled' })
    assert.equal((await staffActionOk(team, order, 'draw')).changed, true)
  })

  test('on-site and kit orders have no appointment', async () => {
    for (const method of ['on_site_collection', 'testkit']) {
      const order = await createAcceptedOrder(team, method)
      await staffActionOk(team, order, 'accept')
      assert.deepEqual((await staffAction(team, order, 'visit', { status: 'appointment_scheduled' })).body, {
        detail: 'Transition from requisition_created to appointment_scheduled is not allowed',
      })
    }
  })
})
