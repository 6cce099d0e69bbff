// Simulated kits whose patient registers later: the simulation waits for the registration. Source: lab-testing.md 24.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SECONDS_PER_DAY, kit, getOrder, advanceClock, patient, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import {
  CARRIER,
  CREATED,
  CRITICAL,
  LABORATORY,
  REGISTRATION,
  register,
  start,
  statuses,
  tracking,
  UNREGISTERED,
  UPDATED,
  updates,
} from '../../../test/support/simulator.ts'

describe('simulating a registrable kit', () => {
  test('waits in with_customer and continues after registration', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    await start(team, id)
    await team.settle()
    assert.deepEqual(statuses(await getOrder(team, id)), UNREGISTERED)
    assert.deepEqual(await team.jobs(), [])
    await advanceClock(team, 10 * SECONDS_PER_DAY)
    assert.deepEqual(statuses(await getOrder(team, id)), UNREGISTERED)
    assert.equal((await register(team, sample_id)).status, 200)
    assert.deepEqual(await team.jobs(), ['simulator.step'])
    await team.settle()
    const order = await getOrder(team, id)
    assert.deepEqual(statuses(order), [...UNREGISTERED, ...REGISTRATION, ...LABORATORY])
    assert.deepEqual(await team.events(), [CREATED, ...updates(4 + 2 + 3)])
    assert.deepEqual(order.patient_details?.first_name, patient.first_name)
    assert.ok(tracking(order)!.outbound[0] && tracking(order)!.inbound[0])
    assert.equal((await team.api.get(`/v3/order/${id}/result`)).status, 200)
    assert.deepEqual(await team.jobs(), [])
  })

  test('keeps the requested options while it waits', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    await start(team, id, { delay: '60', final_status: 'completed.testkit.completed' }, { interpretation: 'critical' })
    await advanceClock(team, 600)
    assert.deepEqual(statuses(await getOrder(team, id)), UNREGISTERED)
    await register(team, sample_id)
    await team.settle()
    const registered = await getOrder(team, id)
    assert.deepEqual(statuses(registered), [...UNREGISTERED, ...REGISTRATION])
    await advanceClock(team, 600)
    const order = await getOrder(team, id)
    assert.equal(order.interpretation, 'critical')
    assert.deepEqual(
      order.events.slice(-3).map((event) => (Date.parse(event.created_at) - Date.parse(registered.updated_at)) / 1000),
      [60, 120, 180],
    )
    assert.deepEqual(await team.events(), [CREATED, ...updates(4 + 2 + 2), CRITICAL, UPDATED])
  })

  test('a kit that is registered before or during shipment does not wait', async () => {
    for (const past of [0, 1, 2]) {
      const team = await createTestTeam()
      const { id, sample_id } = await kit(team)
      await advanceTo(team, id, ...['transit_customer', 'out_for_delivery'].slice(0, past))
      await register(team, sample_id)
      await start(team, id)
      await team.settle()
      assert.deepEqual(statuses(await getOrder(team, id)), [
        ...UNREGISTERED.slice(0, 2 + past),
        ...REGISTRATION,
        ...CARRIER.slice(past),
        ...LABORATORY,
      ])
    }
  })

  test('a kit that is registered during a simulation continues with the carrier', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    await start(team, id, { delay: '60' })
    await team.settle()
    await register(team, sample_id)
    await advanceClock(team, 3600)
    assert.deepEqual(statuses(await getOrder(team, id)), [
      ...UNREGISTERED.slice(0, 3),
      ...REGISTRATION,
      ...CARRIER.slice(1),
      ...LABORATORY,
    ])
    assert.deepEqual(await team.jobs(), [])
  })

  test('stays in its status without a registration, and a registration starts no simulation', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    await start(team, id, { final_status: 'collecting_sample.testkit.with_customer' })
    await team.settle()
    await register(team, sample_id)
    await team.settle()
    await advanceClock(team, SECONDS_PER_DAY)
    assert.deepEqual(statuses(await getOrder(team, id)), [...UNREGISTERED, ...REGISTRATION])
  })

  for (const [final_status, steps, waits] of [
    ['collecting_sample.testkit.out_for_delivery', CARRIER.slice(0, 2), false],
    ['failed.testkit.lost', [CARRIER[0], 'failed.testkit.lost'], false],
    ['cancelled.testkit.cancelled', ['cancelled.testkit.cancelled'], false],
    ['failed.testkit.failure_to_deliver_to_customer', [CARRIER[0], 'failed.testkit.failure_to_deliver_to_customer'], false],
    ['sample_with_lab.testkit.delivered_to_lab', LABORATORY.slice(0, 2), true],
    ['failed.testkit.failure_to_deliver_to_lab', [LABORATORY[0], 'failed.testkit.failure_to_deliver_to_lab'], true],
    ['failed.testkit.sample_error', [LABORATORY[1], 'failed.testkit.sample_error'], true],
  ] as [string, string[], boolean][])
    test(`stops at the requested status${waits ? ', after its registration' : ''}: ${final_status}`, async () => {
      const team = await createTestTeam()
      const { id, sample_id } = await kit(team)
      await start(team, id, { final_status })
      await team.settle()
      if (waits) {
        assert.deepEqual(statuses(await getOrder(team, id)), UNREGISTERED)
        await register(team, sample_id)
        await team.settle()
      }
      assert.deepEqual(statuses(await getOrder(team, id)), [
        ...(waits ? [...UNREGISTERED, ...REGISTRATION] : UNREGISTERED.slice(0, 2)),
        ...steps,
      ])
    })
})
