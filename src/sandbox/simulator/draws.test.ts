// Simulating orders whose blood is drawn.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { orderOf, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { CREATED, CRITICAL, simulate, start, statuses, updates } from '../../../test/support/simulator.ts'

const order = async (team: TestTeam, method: string) => createOrder(team, { lab_test_id: await team.test(method) })

const lows = async (team: TestTeam, id: string) => statuses(await orderOf(team, id)).map((status) => status.split('.').at(-1))

describe('simulating', () => {
  test('a walk-in goes from its requisition to its result, with no visit', async () => {
    const team = await createTestTeam()
    const { id } = await order(team, 'walk_in_test')
    await start(team, id)
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', 'completed'])
    assert.deepEqual(await team.events(id), [CREATED, ...updates(2)])
    const done = await orderOf(team, id)
    assert.ok(done.sample_id && done.expected_result_by_date)
    assert.equal((await team.api.get(`/v3/order/${id}/result`)).body.metadata.status, 'final')
  })

  test('a walk-in with partial results shows them, and tells of them only to a team that wants to hear', async () => {
    for (const partial_webhooks_enabled of [false, true]) {
      const team = await createTestTeam()
      await team.manage.patch(`/team/${team.team}`, { sandbox: { partial_webhooks_enabled } })
      const { id } = await order(team, 'walk_in_test')
      await start(team, id, { final_status: 'sample_with_lab.walk_in_test.partial_results' })
      await team.settle()
      assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', 'partial_results'])
      assert.deepEqual(await team.events(id), [CREATED, ...updates(partial_webhooks_enabled ? 2 : 1)])
      assert.equal((await team.api.get(`/v3/order/${id}/result`)).body.metadata.status, 'partial')
      await start(team, id)
      await team.settle()
      assert.deepEqual((await lows(team, id)).slice(-2), ['partial_results', 'completed'])
    }
  })

  test('a draw at home waits for the visit, and goes on when it is booked', async () => {
    const team = await createTestTeam()
    const { id } = await order(team, 'at_home_phlebotomy')
    await start(team, id, {}, { interpretation: 'critical' })
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created'])
    assert.deepEqual(await team.jobs(), [])
    await advanceTo(team, id, 'appointment_pending')
    await team.settle()
    assert.deepEqual((await lows(team, id)).at(-1), 'appointment_pending')
    await advanceTo(team, id, 'appointment_scheduled')
    await team.settle()
    assert.deepEqual((await lows(team, id)).slice(2), [
      'appointment_pending',
      'appointment_scheduled',
      'draw_completed',
      'completed',
    ])
    assert.deepEqual(await team.events(id), [CREATED, ...updates(4), CRITICAL, ...updates(1)])
  })

  test('a draw on site is taken, reported, and corrected when asked to', async () => {
    const team = await createTestTeam()
    const { id } = await order(team, 'on_site_collection')
    await start(team, id, { final_status: 'completed.on_site_collection.corrected' })
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', 'draw_completed', 'completed', 'corrected'])
  })

  test('stops where a draw fails or is cancelled', async () => {
    const team = await createTestTeam()
    for (const [method, target, taken] of [
      ['walk_in_test', 'failed.walk_in_test.sample_error', ['ordered', 'requisition_created', 'sample_error']],
      ['on_site_collection', 'cancelled.on_site_collection.cancelled', ['ordered', 'cancelled']],
      [
        'on_site_collection',
        'failed.on_site_collection.sample_error',
        ['ordered', 'requisition_created', 'draw_completed', 'sample_error'],
      ],
    ] as const) {
      const { id } = await order(team, method)
      await start(team, id, { final_status: target })
      await team.settle()
      assert.deepEqual(await lows(team, id), taken)
    }
  })

  test('is refused for a status of another way of taking samples', async () => {
    const team = await createTestTeam()
    const { id } = await order(team, 'walk_in_test')
    for (const final_status of [
      'collecting_sample.at_home_phlebotomy.draw_completed',
      'collecting_sample.testkit.transit_lab',
      'completed.testkit.completed',
    ])
      assert.equal((await simulate(team, id, { final_status })).status, 400)
  })
})
