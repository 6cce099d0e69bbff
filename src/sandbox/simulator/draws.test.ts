// Simulating orders with a blood draw.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getOrder, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { CREATED, CRITICAL, simulate, start, statuses, updates } from '../../../test/support/simulator.ts'

const order = async (team: TestTeam, method: string) => createOrder(team, { lab_test_id: await team.test(method) })

const lows = async (team: TestTeam, id: string) => statuses(await getOrder(team, id)).map((status) => status.split('.').at(-1))

describe('simulating draws', () => {
  test('a walk-in order goes from its requisition to its result without an appointment', async () => {
    const team = await createTestTeam()
    const { id } = await order(team, 'walk_in_test')
    await start(team, id)
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', 'completed'])
    assert.deepEqual(await team.events(id), [CREATED, ...updates(2)])
    const done = await getOrder(team, id)
    assert.ok(done.sample_id && done.expected_result_by_date)
    assert.equal((await team.api.get(`/v3/order/${id}/result`)).body.metadata.status, 'final')
  })

  test('a walk-in order with partial results emits their events only to a team with the feature', async () => {
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

  test('an at-home phlebotomy order waits for the appointment, and continues when it is booked', async () => {
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

  test('an on-site collection order is drawn, reported, and corrected on request', async () => {
    const team = await createTestTeam()
    const { id } = await order(team, 'on_site_collection')
    await start(team, id, { final_status: 'completed.on_site_collection.corrected' })
    await team.settle()
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created', 'draw_completed', 'completed', 'corrected'])
  })

  test('stops when a draw fails or is cancelled', async () => {
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

  test('rejects a status of another collection method', async () => {
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
