// Status transitions of appointments and of their orders, together. Modules above provide the API for them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { updateOrder, lockOrder } from '../../lab/orders/change-order.ts'
import {
  appointmentOrder,
  listAppointments,
  assertAgreement,
  bookDirectly,
  createBooking,
  applyAppointmentEvent,
} from '../../../test/support/appointments.ts'
import { getOrder, advanceClock, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { assertBookable, startAppointment, bookAppointment, completeAppointment, type Reply } from './appointments.ts'
import { methods, lows, statuses, cancel, confirm, move, assertRefused } from '../../../test/support/appointment-steps.ts'

const CREATED = 'labtest.appointment.created'
const UPDATED = 'labtest.appointment.updated'

describe('an appointment booked and confirmed with a requisition', () => {
  for (const method of methods)
    test(`${method}: books the appointment and emits pending and scheduled events`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, method)
      const appointment = await bookDirectly(team, id, method)
      assert.deepEqual(await lows(team, id), ['requisition_created', 'appointment_pending', 'appointment_scheduled'])
      assert.deepEqual(await statuses(team, id), ['scheduled'])
      assert.deepEqual(await team.events(appointment), [CREATED, UPDATED])
      const { rows } = await team.db.pool.query<{ body: string }>('select body from event where object_id = $1', [appointment])
      for (const { body } of rows) {
        const { data } = JSON.parse(body)
        assert.deepEqual([data.id, data.order_id, data.status, data.can_reschedule], [appointment, id, 'confirmed', true])
      }
      await assertAgreement(team)
    })

  for (const method of methods)
    test(`${method}: reschedules the appointment`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, method)
      const appointment = await bookDirectly(team, id, method)
      await move(team, id, method)
      const again = method === 'walk_in_test' ? ['appointment_pending', 'appointment_scheduled'] : ['appointment_scheduled']
      assert.deepEqual((await lows(team, id)).slice(3), again)
      assert.deepEqual(await statuses(team, id), ['scheduled', 'scheduled'])
      const [one] = await listAppointments(team, id)
      assert.deepEqual(one!.event_data, { origin: 'patient', is_reschedule: true })
      assert.deepEqual(await team.events(appointment), [CREATED, UPDATED, UPDATED])
      await assertAgreement(team)
    })

  for (const method of methods)
    test(`${method}: allows a new booking after cancellation`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, method)
      const first = await bookDirectly(team, id, method)
      await cancel(team, id)
      await assertAgreement(team)
      assert.equal((await lows(team, id)).at(-1), 'appointment_cancelled')
      const second = await bookDirectly(team, id, method)
      assert.deepEqual((await lows(team, id)).slice(-2), ['appointment_pending', 'appointment_scheduled'])
      assert.deepEqual(
        (await listAppointments(team, id)).map((appointment) => [appointment.id, appointment.event_status]),
        [
          [first, 'cancelled'],
          [second, 'scheduled'],
        ],
      )
      await assertAgreement(team)
    })

  test('rejects a second active appointment, in code and by the table constraint', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test')
    await bookDirectly(team, id, 'walk_in_test')
    const detail = 'Order is not in a state that allows booking an appointment.'
    await assert.rejects(
      team.db.tx(team.tenant, async (tx) => assertBookable(tx, await lockOrder(tx, id))),
      assertRefused(detail),
    )
    await assert.rejects(bookDirectly(team, id, 'walk_in_test'), /appointment__one_active/)
    await assertAgreement(team)
  })
})

describe('an at-home appointment', () => {
  test('a requested appointment is scheduled later', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'at_home_phlebotomy')
    await bookDirectly(team, id, 'at_home_phlebotomy', 'requested')
    assert.equal((await lows(team, id)).at(-1), 'appointment_pending')
    await assertAgreement(team)
    await confirm(team, id)
    assert.equal((await lows(team, id)).at(-1), 'appointment_scheduled')
    assert.deepEqual(await statuses(team, id), ['pending', 'scheduled'])
    await assertAgreement(team)
  })

  test('completing an at-home appointment records the draw on the order', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'at_home_phlebotomy')
    await bookDirectly(team, id, 'at_home_phlebotomy')
    await applyAppointmentEvent(team, id, (_tx, _open, lockedAppointment) => startAppointment(lockedAppointment))
    await assertAgreement(team)
    await applyAppointmentEvent(team, id, (_tx, lockedOrder, lockedAppointment) =>
      completeAppointment(lockedOrder, lockedAppointment),
    )
    assert.deepEqual((await lows(team, id)).slice(-2), ['appointment_scheduled', 'draw_completed'])
    assert.deepEqual(await statuses(team, id), ['scheduled', 'in_progress', 'completed'])
    await assertAgreement(team)
  })

  test('an at-home appointment is completed when its order reaches a draw status', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'at_home_phlebotomy')
    await bookDirectly(team, id, 'at_home_phlebotomy')
    await advanceTo(team, id, 'draw_completed')
    assert.deepEqual(await statuses(team, id), ['scheduled', 'completed'])
    await assertAgreement(team)
  })

  for (const [hours, refundable] of [
    [25, true],
    [24, false],
    [23, false],
  ] as const)
    test(`cancelling the order ${hours} h ahead cancels the at-home appointment ${refundable ? 'with' : 'without'} a refund`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, 'at_home_phlebotomy')
      const appointment = await bookDirectly(team, id, 'at_home_phlebotomy', 'confirmed', hours)
      assert.equal((await team.api.post(`/v3/order/${id}/cancel`)).status, 200)
      const [one] = await listAppointments(team, id)
      assert.deepEqual(
        [one!.event_status, one!.event_data, one!.internalData.refundable],
        ['cancelled', { origin: 'system', reason: 'order_cancelled', refundable }, refundable],
      )
      assert.deepEqual((await lows(team, id)).at(-1), 'cancelled')
      assert.deepEqual(await team.events(appointment), [CREATED, UPDATED, UPDATED])
      await assertAgreement(team)
    })
})

describe('an appointment at a service center', () => {
  test('cancelling the order keeps the PSC appointment, which can be cancelled afterwards', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test')
    await bookDirectly(team, id, 'walk_in_test')
    assert.equal((await team.api.post(`/v3/order/${id}/cancel`)).status, 200)
    assert.deepEqual(await statuses(team, id), ['scheduled'])
    await assert.rejects(
      move(team, id, 'walk_in_test'),
      assertRefused('Order is not in a state that allows rescheduling an appointment.'),
    )
    await cancel(team, id)
    assert.deepEqual(await statuses(team, id), ['scheduled', 'cancelled'])
    assert.equal((await lows(team, id)).at(-1), 'cancelled')
    await assertAgreement(team)
  })

  test('completing a PSC appointment does not change its order', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test')
    await bookDirectly(team, id, 'walk_in_test')
    await applyAppointmentEvent(team, id, (_tx, lockedOrder, lockedAppointment) =>
      completeAppointment(lockedOrder, lockedAppointment),
    )
    assert.equal((await lows(team, id)).at(-1), 'appointment_scheduled')
    await assert.rejects(move(team, id, 'walk_in_test'), assertRefused('This appointment has been cancelled or completed.'))
    await assert.rejects(cancel(team, id), assertRefused('This appointment has been cancelled or completed.'))
    await assertAgreement(team)
  })

  for (const low of ['partial_results', 'completed', 'redraw_available', 'sample_error'])
    test(`a PSC appointment is completed when its order reaches ${low}`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, 'walk_in_test')
      await bookDirectly(team, id, 'walk_in_test')
      await advanceTo(team, id, low)
      assert.deepEqual(await statuses(team, id), ['scheduled', 'completed'])
      await assertAgreement(team)
    })

  for (const [reply, first] of [
    ['unanswered', 'pending'],
    ['unconfirmed', 'reserved'],
  ] as [Reply, string][]) {
    test(`${reply}: does not change the order before confirmation`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, 'walk_in_test')
      await bookDirectly(team, id, 'walk_in_test', reply)
      assert.deepEqual(await lows(team, id), ['requisition_created'])
      assert.deepEqual([await statuses(team, id), (await listAppointments(team, id))[0]!.can_reschedule], [[first], false])
      await assert.rejects(move(team, id, 'walk_in_test'), assertRefused('This appointment cannot be rescheduled.'))
      await assertAgreement(team)
      await confirm(team, id)
      assert.deepEqual((await lows(team, id)).slice(1), ['appointment_pending', 'appointment_scheduled'])
      assert.deepEqual(await statuses(team, id), [first, 'scheduled'])
      await assertAgreement(team)
    })

    test(`${reply}: does not change the order when the booking fails`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, 'walk_in_test')
      await bookDirectly(team, id, 'walk_in_test', reply)
      await cancel(team, id)
      assert.deepEqual(await lows(team, id), ['requisition_created'])
      await assertAgreement(team)
    })

    test(`${reply}: cancels the appointment when the sample arrives without it`, async () => {
      const team = await createTestTeam()
      const id = await appointmentOrder(team, 'walk_in_test')
      await bookDirectly(team, id, 'walk_in_test', reply)
      await advanceTo(team, id, 'completed')
      assert.deepEqual(await statuses(team, id), [first, 'cancelled'])
      await assertAgreement(team)
    })
  }
})

describe('erasure', () => {
  test('erasing a deleted user deletes the appointments with the orders', async () => {
    const team = await createTestTeam()
    const id = await appointmentOrder(team, 'walk_in_test')
    await bookDirectly(team, id, 'walk_in_test')
    const { user_id } = await getOrder(team, id)
    assert.equal((await team.api.delete(`/v2/user/${user_id}`)).status, 200)
    await advanceClock(team, 8 * 86_400)
    assert.deepEqual(await listAppointments(team, id), [])
  })
})

test('rolls back appointment and order when a step fails', async () => {
  const team = await createTestTeam()
  const id = await appointmentOrder(team, 'walk_in_test')
  await assert.rejects(
    team.db.tx(team.tenant, (tx) =>
      updateOrder(tx, id, async (lockedOrder) => {
        await bookAppointment(tx, lockedOrder, createBooking(tx.now, 'walk_in_test'), 'confirmed')
        throw new Error('on the way')
      }),
    ),
  )
  assert.deepEqual([await lows(team, id), await listAppointments(team, id)], [['requisition_created'], []])
  await assertAgreement(team)
})
