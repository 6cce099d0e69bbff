// Bookings that wait for a confirmation: by the operator, or by the laboratory.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { listAppointments, assertAgreement } from '../../../test/support/appointments.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import {
  atLab,
  book,
  cancel,
  move,
  read,
  siteWithSchedule,
  walkIn,
  assertRefused,
  lows,
  option,
  findBookingKey,
} from '../../../test/support/psc-booking.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { resolvePendingBooking, listPendingBookings } from './pending-bookings.ts'

describe('PSC bookings with manual confirmation', () => {
  const query = (code: string) => `lab=quest&site_codes=${code}`

  test('a synchronous booking gets 502, and nothing is booked', async () => {
    const team = await createTestTeam('production-us')
    await siteWithSchedule('HAND-1', { confirms: 'by_hand' })
    const id = await walkIn(team)
    const reply = await book(team, id, await findBookingKey(team, query('HAND-1')))
    assert.equal(reply.status, 502)
    assert.deepEqual([await listAppointments(team, id), await lows(team, id)], [[], ['ordered', 'requisition_created']])
  })

  for (const [yes, status, last] of [
    [true, 'confirmed', 'appointment_scheduled'],
    [false, undefined, 'requisition_created'],
  ] as const)
    test(`a booking is pending until it is ${yes ? 'confirmed' : 'declined'}`, async () => {
      const team = await createTestTeam('production-us')
      await siteWithSchedule('HAND-2', { confirms: 'by_hand', places: 9 })
      const id = await walkIn(team)
      const headers = { 'x-idempotency-key': randomUUID() }
      const key = await findBookingKey(team, query('HAND-2'))
      const { status: answered, body } = await book(team, id, key, { async_confirmation: true }, headers)
      assert.deepEqual([answered, body.status, body.event_status, body.can_reschedule], [200, 'pending', 'pending', false])
      assertRefused(await move(team, id, key), 400, 'This appointment cannot be rescheduled.')
      assert((await listPendingBookings(team.db.queries, 100)).some((booking) => booking.id === body.id))
      assert.equal(await team.db.tx(team.tenant, (tx) => resolvePendingBooking(tx, body.id, yes)), true)
      assert.equal(await team.db.tx(team.tenant, (tx) => resolvePendingBooking(tx, body.id, yes)), false)
      assert.equal((await read(team, id)).body.status, status)
      assert.equal((await lows(team, id)).at(-1), last)
      assert.deepEqual((await book(team, id, key, { async_confirmation: true }, headers)).body, body)
      await assertAgreement(team)
      await advanceClock(team, 2 * 86_400)
      assert.equal((await read(team, id)).body.status, status)
    })

  test('an unconfirmed booking expires after its timeout', async () => {
    const team = await createTestTeam('production-us')
    await siteWithSchedule('HAND-3', { confirms: 'by_hand' })
    const id = await walkIn(team)
    const more = { async_confirmation: true, async_confirmation_timeout_millisecond: 120_000 }
    const { body } = await book(team, id, await findBookingKey(team, query('HAND-3')), more)
    await advanceClock(team, 115)
    assert.equal((await read(team, id)).body.status, 'pending')
    await advanceClock(team, 10)
    assertRefused(await read(team, id), 404, 'Appointment not found.')
    const [one] = await listAppointments(team, id)
    assert.deepEqual([one!.event_status, one!.event_data], ['cancelled', { origin: 'provider', reason: 'not_confirmed' }])
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created'])
    assert.deepEqual(await team.events(body.id), [
      'labtest.appointment.created',
      'labtest.appointment.updated',
      'labtest.appointment.updated',
    ])
    await assertAgreement(team)
  })
})

describe('bookings at Sonora Quest that the laboratory confirms', () => {
  const QUERY = 'lab=sonora_quest&zip_code=85004'
  const arranged = async () => {
    const team = await createTestTeam()
    await option(team, 'lab_confirmed_scheduling')
    await atLab(team, 'sonora_quest')
    const id = await walkIn(team)
    const { status, body } = await book(team, id, await findBookingKey(team, QUERY))
    assert.deepEqual([status, body.status, body.provider, body.can_reschedule], [200, 'reserved', 'sonora_quest', false])
    await assertAgreement(team)
    return { team, id, body }
  }

  test('an appointment is reserved until the laboratory confirms it, and then the order is scheduled', async () => {
    const { team, id, body } = await arranged()
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created'])
    await team.db.tx(team.tenant, (tx) => resolvePendingBooking(tx, body.id, true))
    assert.deepEqual((await lows(team, id)).slice(2), ['appointment_pending', 'appointment_scheduled'])
    const { body: confirmed } = await read(team, id)
    assert.deepEqual([confirmed.status, confirmed.can_reschedule], ['confirmed', false])
    await assertAgreement(team)
  })

  test('a booking that the laboratory declines does not change the order', async () => {
    const { team, id, body } = await arranged()
    await team.db.tx(team.tenant, (tx) => resolvePendingBooking(tx, body.id, false))
    assert.deepEqual(await lows(team, id), ['ordered', 'requisition_created'])
    await assertAgreement(team)
  })

  test('the appointment can only be rescheduled or cancelled with the laboratory', async () => {
    const { team, id } = await arranged()
    assertRefused(await move(team, id, await findBookingKey(team, QUERY, 1)), 400, 'This appointment cannot be rescheduled.')
    assertRefused(await cancel(team, id), 400, 'This appointment can only be cancelled with the laboratory.')
  })

  test('for teams without the option a booking is confirmed immediately', async () => {
    const team = await createTestTeam()
    await atLab(team, 'sonora_quest')
    const id = await walkIn(team)
    assert.equal((await book(team, id, await findBookingKey(team, QUERY))).body.status, 'confirmed')
  })
})
