// Appointments of orders that have no requisition yet: reserved, confirmed by it, or expired.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import { lockOrder } from '../../lab/orders/change-order.ts'
import { appointmentOrder, listAppointments, assertAgreement, bookDirectly } from '../../../test/support/appointments.ts'
import { getOrder, advanceClock, createOrder, tenantOf, advanceTo } from '../../../test/support/orders.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { assertBookable } from './appointments.ts'
import { command } from '../../../test/support/commands.ts'
import { methods, lows, statuses, cancel, confirm, move, assertRefused } from '../../../test/support/appointment-steps.ts'

const CREATED = 'labtest.appointment.created'
const UPDATED = 'labtest.appointment.updated'

describe('before the requisition', () => {
  const bookable = async (team: TestTeam, id: string) =>
    team.db.tx(await tenantOf(team), async (tx) => assertBookable(tx, await lockOrder(tx, id)))

  test('rejects a booking before the requisition unless the option is enabled', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test', false)
    await assert.rejects(bookable(team, id), assertRefused('This order does not have a requisition yet.'))
    await command(cells, ['team', 'feature', team.team, 'pre_requisition_scheduling', 'on'])
    guard.invalidate(team.team)
    await bookable(team, id)
    await command(cells, ['team', 'feature', team.team, 'pre_requisition_scheduling', 'off'])
    guard.invalidate(team.team)
    await assert.rejects(bookable(team, id), assertRefused('This order does not have a requisition yet.'))
  })

  for (const method of methods)
    test(`${method}: the appointment is reserved, can be rescheduled, and is confirmed by the requisition`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, method, false)
      const appointment = await bookDirectly(team, id, method)
      const first = method === 'walk_in_test' ? ['reserved'] : ['pending', 'reserved']
      assert.deepEqual([await lows(team, id), await statuses(team, id)], [[], first])
      assert.deepEqual(await team.events(id), ['labtest.order.created'])
      assert.deepEqual(await team.events(appointment), [CREATED, ...first.map(() => UPDATED)])
      await assertAgreement(team)
      await move(team, id, method)
      assert.deepEqual([await lows(team, id), await statuses(team, id)], [[], [...first, 'reserved']])
      await assertAgreement(team)
      await advanceTo(team, id, 'requisition_created')
      assert.deepEqual(await lows(team, id), ['requisition_created', 'appointment_pending', 'appointment_scheduled'])
      assert.deepEqual(await statuses(team, id), [...first, 'reserved', 'scheduled'])
      await assertAgreement(team)
    })

  test('a requested appointment without a time is pending with and without the requisition', async () => {
    const team = await createTestTeam()
    const [first, second] = [
      await appointmentOrder(team, 'at_home_phlebotomy', false),
      await appointmentOrder(team, 'at_home_phlebotomy', false),
    ]
    await bookDirectly(team, first, 'at_home_phlebotomy', 'requested')
    await assertAgreement(team)
    await advanceTo(team, first, 'requisition_created')
    assert.deepEqual(await lows(team, first), ['requisition_created', 'appointment_pending'])
    await assertAgreement(team)
    await bookDirectly(team, second, 'at_home_phlebotomy', 'requested')
    await confirm(team, second)
    assert.deepEqual([await lows(team, second), await statuses(team, second)], [[], ['pending', 'reserved']])
    await advanceTo(team, second, 'requisition_created')
    assert.deepEqual(await statuses(team, second), ['pending', 'reserved', 'scheduled'])
    await assertAgreement(team)
  })

  test('the requisition does not confirm an appointment that the laboratory has yet to confirm', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test', false)
    await bookDirectly(team, id, 'walk_in_test', 'unconfirmed')
    await advanceTo(team, id, 'requisition_created')
    assert.deepEqual([await lows(team, id), await statuses(team, id)], [['requisition_created'], ['reserved']])
    await assertAgreement(team)
    await confirm(team, id)
    assert.deepEqual(await statuses(team, id), ['reserved', 'scheduled'])
    await assertAgreement(team)
  })

  for (const method of methods)
    test(`${method}: cancelling a reserved appointment does not change the order`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, method, false)
      await bookDirectly(team, id, method)
      await cancel(team, id)
      assert.deepEqual(await lows(team, id), [])
      await assertAgreement(team)
    })

  test('cancelling the order cancels an at-home appointment but keeps a PSC appointment', async () => {
    const team = await createTestTeam()
    for (const method of methods) {
      const id = await appointmentOrder(team, method, false)
      await bookDirectly(team, id, method)
      assert.equal((await team.api.post(`/v3/order/${id}/cancel`)).status, 200)
      assert.equal((await statuses(team, id)).at(-1), method === 'walk_in_test' ? 'reserved' : 'cancelled')
      await assertAgreement(team)
    }
  })
})

describe('an appointment whose requisition does not come', () => {
  const H = 3600
  test('is cancelled when its order is more than eight hours old, and the order stays', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test', false)
    const appointment = await bookDirectly(team, id, 'walk_in_test')
    const { created_at } = await getOrder(team, id)
    await advanceClock(team, 8 * H - 30)
    assert.deepEqual(await statuses(team, id), ['reserved'])
    await advanceClock(team, 60)
    const [one] = await listAppointments(team, id)
    assert.deepEqual([one!.event_status, one!.event_data], ['cancelled', { origin: 'system', reason: 'no_requisition' }])
    assert.equal(one!.events.at(-1)!.created_at, iso(addSeconds(new Date(created_at), 8 * H + 1)))
    assert.deepEqual(await lows(team, id), [])
    assert.equal((await team.events(appointment)).at(-1), UPDATED)
    await assertAgreement(team)
  })

  test('an appointment of an order scheduled for a date is cancelled only two hours before it begins', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), activate_by: '2100-01-31' })
    await bookDirectly(team, id, 'walk_in_test', 'confirmed', 24)
    await advanceClock(team, 22 * H - 60)
    assert.deepEqual(await statuses(team, id), ['reserved'])
    await advanceClock(team, 120)
    assert.deepEqual(await statuses(team, id), ['reserved', 'cancelled'])
    await assertAgreement(team)
  })

  test('rescheduling an appointment moves its expiry', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), activate_by: '2100-01-31' })
    await bookDirectly(team, id, 'walk_in_test', 'confirmed', 4)
    await move(team, id, 'walk_in_test', 10)
    await advanceClock(team, 3 * H)
    assert.deepEqual(await statuses(team, id), ['reserved', 'reserved'])
    await advanceClock(team, 6 * H)
    assert.deepEqual((await statuses(team, id)).at(-1), 'cancelled')
  })

  test('does not expire an appointment whose requisition arrived', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test', false)
    await bookDirectly(team, id, 'walk_in_test')
    await advanceTo(team, id, 'requisition_created')
    await advanceClock(team, 71 * H)
    assert.deepEqual(await statuses(team, id), ['reserved', 'scheduled'])
    await assertAgreement(team)
  })
})
